/** The command's words: help, version, options that cannot be understood, and the exit codes. */
import { beforeAll, describe, expect, test } from 'vitest';
import { main } from '../../src/cli/kp-compile.ts';
import { documents, KUBE_PROXY, NODE_A, WEB } from './support/manifests.ts';
import { workspace } from './support/workspace.ts';

const space = workspace();

beforeAll(() => {
  space.write('cluster.yaml', documents(NODE_A, WEB, KUBE_PROXY));
});

describe('--help', () => {
  test('goes to stdout, names every option, shows examples and ends with the exit codes of the suite', async () => {
    const { code, stdout, stderr } = await space.kpCompile(['--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const option of [
      ...['--node', '--interface', '--interfaces', '--config', '--kube-version', '--family', '--format'],
      ...['--out-dir', '--check', '--keep-going', '--nfacct', '--no-nfacct', '-f, --filename', '--strict'],
      ...['-q, --quiet', '-v, --verbose', '--color', '--version', '-h, --help'],
      ...['--mode, --proxy-mode', '--cluster-cidr', '--detect-local-mode', '--pod-bridge-interface'],
      ...['--pod-interface-name-prefix', '--masquerade-all[=true|false]', '--iptables-masquerade-bit'],
      ...['--iptables-localhost-nodeports[=true|false]', '--nodeport-addresses'],
      ...['--hostname-override', '--ipvs-strict-arp[=true|false]'],
      ...['--conntrack-tcp-be-liberal[=true|false]', '--feature-gates'],
    ]) {
      expect(stdout).toContain(`  ${option} `);
    }
    expect(stdout).toContain('1.18 … 1.36');
    expect(stdout).toContain('\nExamples:\n');
    expect(stdout).toContain('The jumps to them from built-in\n');
    expect(stdout.endsWith(EXIT_CODES)).toBe(true);
  });

  test('-h is the same', async () => {
    expect(await space.kpCompile(['-h'])).toEqual(await space.kpCompile(['--help']));
  });
});

const EXIT_CODES = `Exit codes:
  0   done
  1   the answer is no: differences, warnings under --strict, something left out by --keep-going
  2   the command was not understood, or an input could not be used; nothing was written
  70  a fault of this program
`;

test('--version prints the version of the package alone', async () => {
  expect(await space.kpCompile(['--version'])).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    stderr: '',
  });
});

describe('words that cannot be understood end with 2 and a line on stderr:', () => {
  test.each<[string, readonly string[], string]>([
    ['no input', [], 'nothing to compile: name files, directories or - (kp-compile --help shows examples)'],
    ['an unknown option', ['--frobnicate'], "unknown option '--frobnicate'"],
    ['an option without its value', ['@cluster.yaml', '--node'], "option '--node <name>' argument missing"],
    [
      'an unknown family',
      ['@cluster.yaml', '--family', 'ipx'],
      "option '--family <family>' argument 'ipx' is invalid. Allowed choices are ipv4, ipv6.",
    ],
    [
      'an unknown format',
      ['@cluster.yaml', '--format', 'json'],
      "option '--format <format>' argument 'json' is invalid. Allowed choices are save, restore.",
    ],
    [
      'an unknown colour choice',
      ['@cluster.yaml', '--color', 'red'],
      "option '--color <when>' argument 'red' is invalid. Allowed choices are auto, always, never.",
    ],
    [
      'writing and comparing at once',
      ['@cluster.yaml', '--out-dir', 'a', '--check', 'b'],
      '--out-dir writes and --check compares: choose one',
    ],
    [
      'writing all and choosing at once',
      ['@cluster.yaml', '--out-dir', 'a', '--emit', 'ipset'],
      '--out-dir writes all there is, --emit chooses what goes to stdout: choose one',
    ],
    [
      'an unknown thing to emit',
      ['@cluster.yaml', '--emit', 'nft'],
      "option '--emit <what>' argument 'nft' is invalid. Allowed choices are rules, ipset, ipvsadm, addr, sysctl, script.",
    ],
    [
      'sets of iptables mode',
      ['@cluster.yaml', '--emit', 'ipset'],
      '--emit ipset: there is none in iptables mode, only in ipvs mode (--proxy-mode ipvs); rules and script are there in any mode',
    ],
    [
      'an unknown scheduler',
      ['@cluster.yaml', '--mode', 'ipvs', '--ipvs-scheduler', 'lr'],
      '--ipvs-scheduler: found "lr", expected one of rr, wrr, lc, wlc, fo, ovf, lblc, lblcr, dh, sh, mh, sed, nq, twos',
    ],
    [
      'a timeout without a unit',
      ['@cluster.yaml', '--mode', 'ipvs', '--ipvs-udp-timeout', '300'],
      '--ipvs-udp-timeout: "300" is not a duration such as 15m0s',
    ],
    [
      'an excluded address without a length',
      ['@cluster.yaml', '--mode', 'ipvs', '--ipvs-exclude-cidrs', '192.0.2.1'],
      '--ipvs-exclude-cidrs: "192.0.2.1" is not a CIDR such as 192.0.2.0/24',
    ],
    [
      'a version that is too old',
      ['@cluster.yaml', '--kube-version', '1.17'],
      '--kube-version: "1.17" is not a version known here (1.18 … 1.36)',
    ],
    [
      'a version that is too new',
      ['@cluster.yaml', '--kube-version', '1.37'],
      '--kube-version: "1.37" is not a version known here (1.18 … 1.36)',
    ],
    [
      'a version that is none',
      ['@cluster.yaml', '--kube-version', 'stable'],
      '--kube-version: "stable" is not a version known here (1.18 … 1.36)',
    ],
    [
      'an unknown mode',
      ['@cluster.yaml', '--proxy-mode', 'userspace'],
      '--proxy-mode: found "userspace", expected one of iptables, ipvs, nftables',
    ],
    [
      'a cluster CIDR without a length',
      ['@cluster.yaml', '--cluster-cidr', '10.244.0.0'],
      '--cluster-cidr: "10.244.0.0" is not a CIDR such as 10.244.0.0/16',
    ],
    [
      'two cluster CIDRs of one family',
      ['@cluster.yaml', '--cluster-cidr', '10.244.0.0/16,10.245.0.0/16'],
      '--cluster-cidr: found "10.244.0.0/16,10.245.0.0/16", expected one CIDR, or one IPv4 and one IPv6 CIDR separated by a comma',
    ],
    [
      'an unknown way to detect local traffic',
      ['@cluster.yaml', '--detect-local-mode', 'bridge'],
      '--detect-local-mode: found "bridge", expected one of ClusterCIDR, NodeCIDR, BridgeInterface, InterfaceNamePrefix',
    ],
    [
      'a bridge that smuggles options in',
      ['@cluster.yaml', '--pod-bridge-interface', 'br0 -j ACCEPT'],
      '--pod-bridge-interface: "br0 -j ACCEPT" is not a name of a network interface (at most 15 characters, no blanks, slashes or quotes)',
    ],
    [
      'a mark bit beyond the mark',
      ['@cluster.yaml', '--iptables-masquerade-bit', '32'],
      '--iptables-masquerade-bit: found 32, expected a whole number from 0 to 31',
    ],
    [
      'a mark bit that is no number',
      ['@cluster.yaml', '--iptables-masquerade-bit', '0x4000'],
      '--iptables-masquerade-bit: found "0x4000", expected a whole number from 0 to 31',
    ],
    [
      'a boolean that is none',
      ['@cluster.yaml', '--masquerade-all=maybe'],
      '--masquerade-all: found "maybe", expected true or false',
    ],
    [
      'the value of a boolean as a word of its own',
      ['@cluster.yaml', '--masquerade-all', 'false'],
      '--masquerade-all: its value stands behind “=”, as for kube-proxy: --masquerade-all=false (an input of that name: ./false)',
    ],
    [
      'a node port address without a length',
      ['@cluster.yaml', '--nodeport-addresses', '192.168.0.2'],
      '--nodeport-addresses: "192.168.0.2" is not a CIDR such as 192.168.0.0/24, nor primary',
    ],
    [
      'primary beside a CIDR',
      ['@cluster.yaml', '--nodeport-addresses', 'primary,192.168.0.0/24'],
      '--nodeport-addresses: primary has to stand alone',
    ],
    [
      'a gate without a value',
      ['@cluster.yaml', '--feature-gates', 'AllAlpha'],
      '--feature-gates: found "", expected true or false',
    ],
    [
      'an address that is none',
      ['@cluster.yaml', '--bind-address', 'any'],
      '--bind-address: "any" is not an IP address',
    ],
    [
      'an interface without addresses',
      ['@cluster.yaml', '--interface', 'eth0'],
      '--interface: "eth0" is not NAME=ADDRESS/LENGTH[,…]',
    ],
    [
      'an interface with two lengths',
      ['@cluster.yaml', '--interface', 'eth0=192.168.0.2/24/24'],
      '--interface: interface eth0: "192.168.0.2/24/24" is not ADDRESS/LENGTH',
    ],
    [
      'an interface with a length that is none',
      ['@cluster.yaml', '--interface', 'eth0=192.168.0.2/33'],
      '--interface: interface eth0: "192.168.0.2/33" is not ADDRESS/LENGTH',
    ],
  ])('%s', async (_title, words, message) => {
    expect(await space.kpCompile(words)).toEqual({ code: 2, stdout: '', stderr: `kp-compile: ${message}\n` });
  });

  test('a misspelt option is answered with the one that was meant', async () => {
    expect(await space.kpCompile(['@cluster.yaml', '--famly', 'ipv4'])).toEqual({
      code: 2,
      stdout: '',
      stderr: "kp-compile: unknown option '--famly'\n(Did you mean --family?)\n",
    });
  });
});

describe("kube-proxy's boolean flags", () => {
  const masquerades = async (words: readonly string[]) => {
    const { code, stdout } = await space.kpCompile(['@cluster.yaml', '--format', 'restore', ...words]);
    return { code, all: /--dport 80 -j KUBE-MARK-MASQ/.test(stdout) };
  };

  test.each([
    ['--masquerade-all', true],
    ['--masquerade-all=true', true],
    ['--masquerade-all=1', true],
    ['--masquerade-all=T', true],
    ['--masquerade-all=false', false],
    ['--masquerade-all=0', false],
    ['--masquerade-all=F', false],
  ])('%s is understood as Go understands it', async (word, all) => {
    expect(await masquerades([word])).toEqual({ code: 0, all });
  });

  test('do not take the next word for their value', async () => {
    expect(await space.kpCompile(['--masquerade-all', '@cluster.yaml'])).toMatchObject({
      code: 0,
      stderr: '',
    });
  });

  test('may stand anywhere, and words after -- are inputs', async () => {
    expect(await space.kpCompile(['--conntrack-tcp-be-liberal', '--', '@cluster.yaml'])).toMatchObject({
      code: 0,
    });
    expect(await space.kpCompile(['--', '--masquerade-all'])).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('--masquerade-all: error: cannot be read: no such file or directory\n'),
    });
  });
});

describe("kube-proxy's flags win over the configuration:", () => {
  test.each<[string, readonly string[], RegExp]>([
    ['--cluster-cidr', ['--cluster-cidr', '10.1.0.0/16'], /! -s 10\.1\.0\.0\/16 -j KUBE-MARK-MASQ/],
    [
      '--detect-local-mode with --pod-bridge-interface',
      ['--detect-local-mode', 'BridgeInterface', '--pod-bridge-interface', 'cni0'],
      /! -i cni0 -j KUBE-MARK-MASQ/,
    ],
    [
      '--detect-local-mode with --pod-interface-name-prefix',
      ['--detect-local-mode', 'InterfaceNamePrefix', '--pod-interface-name-prefix', 'veth'],
      /! -i veth\+ -j KUBE-MARK-MASQ/,
    ],
    ['--iptables-masquerade-bit', ['--iptables-masquerade-bit', '3'], /-j MARK --or-mark 0x00000008/],
    [
      '--iptables-localhost-nodeports',
      ['--iptables-localhost-nodeports=false'],
      /--dst-type LOCAL ! -d 127\.0\.0\.0\/8 -j KUBE-NODEPORTS/,
    ],
    [
      '--nodeport-addresses',
      ['--nodeport-addresses', '192.168.0.0/24'],
      /-d 192\.168\.0\.2 -j KUBE-NODEPORTS/,
    ],
    [
      '--nodeport-addresses primary',
      ['--nodeport-addresses', 'primary'],
      /-d 192\.168\.0\.2 -j KUBE-NODEPORTS/,
    ],
    ['--hostname-override', ['--hostname-override', 'node-b'], /^# node node-b,/],
    ['--node', ['--node', 'node-b'], /^# node node-b,/],
    ['--no-nfacct', ['--no-nfacct'], /--ctstate INVALID -j DROP/],
    [
      '--nfacct',
      ['--nfacct'],
      /--ctstate INVALID -m nfacct --nfacct-name ct_state_invalid_dropped_pkts -j DROP/,
    ],
    ['--kube-version', ['--kube-version', '1.30'], /^# node node-a, kube-proxy 1\.30,/],
    ['--kube-version in full', ['--kube-version', 'v1.30.5'], /^# node node-a, kube-proxy 1\.30,/],
  ])('%s', async (_title, words, rule) => {
    const { code, stdout } = await space.kpCompile(['@cluster.yaml', '--format', 'restore', ...words]);
    expect(code).toBe(0);
    expect(stdout).toMatch(rule);
  });

  test('--conntrack-tcp-be-liberal', async () => {
    const { stdout } = await space.kpCompile(['@cluster.yaml', '--conntrack-tcp-be-liberal']);
    expect(stdout).not.toContain('INVALID');
  });

  test('--feature-gates', async () => {
    space.write(
      'external.yaml',
      documents(
        NODE_A,
        WEB.replace(
          '  ports:\n    - port: 80',
          '  externalIPs:\n    - 198.51.100.1\n  ports:\n    - port: 80',
        ),
        KUBE_PROXY,
      ),
    );
    const { stdout } = await space.kpCompile(['@external.yaml']);
    expect(stdout).toContain('"shop/web external IP"');
    const without = await space.kpCompile([
      '@external.yaml',
      '--feature-gates',
      'AllowServiceExternalIPs=false',
    ]);
    expect(without.code).toBe(0);
    expect(without.stdout).not.toContain('"shop/web external IP"');
    // The gate came with 1.36.
    const before = await space.kpCompile([
      '@external.yaml',
      '--kube-version',
      '1.35',
      '--feature-gates',
      'AllowServiceExternalIPs=false',
    ]);
    expect(before.stdout).toContain('"shop/web external IP"');
  });

  test('a mode that is not compiled yet is an error that says so', async () => {
    expect(await space.kpCompile(['@cluster.yaml', '--mode', 'nftables'])).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'error: the configuration asks for nftables mode; rules of the modes iptables and ipvs alone are known here\n  help: to compile those all the same, pass --proxy-mode iptables\n',
    });
  });

  test('primary needs 1.31', async () => {
    const at = (version: string) =>
      space.kpCompile(['@cluster.yaml', '--nodeport-addresses', 'primary', '--kube-version', version]);
    expect(await at('1.30')).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('kube-proxy 1.30 takes CIDRs alone, not primary (1.31 and later do)\n'),
    });
    expect(await at('1.31')).toMatchObject({ code: 0, stderr: '' });
  });
});

test('a fault of the program itself ends with 70, says so and shows where', async () => {
  let stderr = '';
  const code = await main([space.path('cluster.yaml')], {
    stdin: async function* () {},
    writeOut: () => Promise.reject(new TypeError('out of order')),
    writeError: (text) => {
      stderr += text;
    },
    outIsTerminal: false,
    errorIsTerminal: false,
    env: {},
  });
  expect(code).toBe(70);
  expect(stderr).toMatch(
    /^kp-compile: this is a fault of kp-compile itself; please report it\nTypeError: out of order\n {4}at /,
  );
});
