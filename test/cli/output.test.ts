/** Where rules and messages go: formats, families, folders, golden files, and what lets a run fail. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { documents, KUBE_PROXY, NODE_A, WEB } from './support/manifests.ts';
import { linesOf, withoutComments, workspace } from './support/workspace.ts';

const space = workspace();

beforeAll(() => {
  space.write('cluster.yaml', documents(NODE_A, WEB, KUBE_PROXY));
  // A warning: nobody says what the cluster CIDR is. An error: an address that is none.
  space.write('warned.yaml', documents(NODE_A, WEB));
  space.write('broken.yaml', documents(NODE_A, WEB, KUBE_PROXY, BROKEN));
});

/** WEB without its slice. */
const SERVICE = WEB.slice(0, WEB.indexOf('---'));

const BROKEN = `apiVersion: v1
kind: Service
metadata:
  name: broken
  namespace: shop
spec:
  clusterIP: 10.96.0.999
  ports:
    - port: 80
`;
const BROKEN_ERROR =
  'broken.yaml:54:14: error: Service shop/broken: spec.clusterIP: "10.96.0.999" is not an IP address\n';
const CIDR_WARNING =
  'warning: no IPv4 cluster CIDR is known: IPv4 clients outside of the cluster that use cluster IPs are not masqueraded\n  help: pass --cluster-cidr, or the KubeProxyConfiguration of the node\n';

describe('stdout', () => {
  test('has the save format of the primary family by default', async () => {
    const { code, stdout, stderr } = await space.kpCompile(['@cluster.yaml']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.match(/^\*.*/gm)).toEqual(['*filter', '*mangle', '*nat']);
    expect(linesOf(stdout).slice(0, 3)).toEqual([
      '# node node-a, kube-proxy 1.36, iptables mode, IPv4',
      '# assumed: nfacct counters, which kube-proxy can make on ordinary nodes',
      '# as iptables-save prints it; iptables-restore without --noflush replaces all that these tables hold',
    ]);
    expect(stdout).toContain(
      '\n-A PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES\n',
    );
    expect(await space.kpCompile(['@cluster.yaml', '--format', 'save', '--family', 'ipv4'])).toMatchObject({
      stdout,
    });
  });

  test('has the restore format without built-in chains', async () => {
    const { stdout } = await space.kpCompile(['@cluster.yaml', '--format', 'restore']);
    expect(stdout.match(/^\*.*/gm)).toEqual(['*filter', '*nat']);
    expect(stdout).not.toMatch(/^(?::|-A )(?:INPUT|FORWARD|OUTPUT|PREROUTING|POSTROUTING) /m);
    expect(stdout).toContain('\n:KUBE-SERVICES - [0:0]\n');
    expect(linesOf(stdout)[2]).toBe(
      '# as kube-proxy feeds it to iptables-restore --noflush; the jumps from built-in chains come apart from it',
    );
  });

  test('has the family of the first address of the Node, unless another one is asked for', async () => {
    space.write('six.yaml', documents(NODE_A.replace('192.168.0.2', '"fd00::2"'), WEB, KUBE_PROXY));
    const six = await space.kpCompile(['@six.yaml']);
    expect(linesOf(six.stdout)[0]).toBe('# node node-a, kube-proxy 1.36, iptables mode, IPv6');
    expect(six.stdout).toContain('! -d ::1/128');
    expect(six.stdout).toContain('\n# as ip6tables-save prints it; ip6tables-restore without');
    const four = await space.kpCompile(['@six.yaml', '--family', 'ipv4']);
    expect(linesOf(four.stdout)[0]).toBe('# node node-a, kube-proxy 1.36, iptables mode, IPv4');
    const bound = await space.kpCompile(['@six.yaml', '--bind-address', '192.168.0.2']);
    expect(linesOf(bound.stdout)[0]).toBe('# node node-a, kube-proxy 1.36, iptables mode, IPv4');
  });

  test('does not say when or with which version of this program it was written', async () => {
    const { stdout } = await space.kpCompile(['@cluster.yaml']);
    const { stdout: version } = await space.kpCompile(['--version']);
    expect(stdout).not.toContain(version.trim());
    expect(stdout).not.toMatch(/\b20\d\d\b/);
  });
});

describe('inputs', () => {
  test('come from standard input as -', async () => {
    const { stdout } = await space.kpCompile(['@cluster.yaml']);
    const text = documents(NODE_A, WEB, KUBE_PROXY);
    expect(await space.kpCompile(['-'], { stdin: text })).toEqual({ code: 0, stdout, stderr: '' });
    expect(await space.kpCompile(['-f', '-'], { stdin: text })).toEqual({ code: 0, stdout, stderr: '' });
  });

  test('on standard input have places in messages', async () => {
    const { code, stderr } = await space.kpCompile(['-'], { stdin: BROKEN });
    expect(code).toBe(2);
    expect(stderr).toContain('<stdin>:7:14: error: Service shop/broken: spec.clusterIP: "10.96.0.999"');
  });

  test('named by -f and without it count alike, in any order', async () => {
    const { stdout } = await space.kpCompile(['@cluster.yaml']);
    space.write('parts/node.yaml', NODE_A);
    space.write('parts/web.yml', WEB);
    space.write(
      'parts/deep/kube-proxy.json',
      JSON.stringify({
        apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
        kind: 'KubeProxyConfiguration',
        clusterCIDR: '10.244.0.0/16',
      }),
    );
    space.write('parts/README.txt', 'not: [read');
    for (const words of [
      ['@parts'],
      ['-f', '@parts'],
      ['--filename', '@parts/web.yml', '@parts/node.yaml', '-f', '@parts/deep'],
      ['@parts/deep', '@parts/web.yml', '-f', '@parts/node.yaml'],
    ]) {
      expect(await space.kpCompile(words)).toEqual({ code: 0, stdout, stderr: '' });
    }
  });

  test('that cannot be found are an error', async () => {
    const { code, stdout, stderr } = await space.kpCompile(['@cluster.yaml', '@missing.yaml']);
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: '',
      stderr: 'missing.yaml: error: cannot be read: no such file or directory\n',
    });
  });

  test('without anything to compile are an error, and what was skipped is counted', async () => {
    space.write('deployment.yaml', 'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n');
    const { code, stdout, stderr } = await space.kpCompile(['@deployment.yaml']);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(
      'error: nothing to compile was read: no Service, EndpointSlice or Node in the input (skipped: 1 Deployment)\n',
    );
  });

  test('that are empty write nothing, and agree with no golden file, whatever else was asked for', async () => {
    space.write('empty.yaml', '');
    space.write('comment.yaml', '---\n# nothing yet\n');
    space.write('list.json', '{"kind":"List","apiVersion":"v1","items":[]}');
    space.write('configuration.yaml', KUBE_PROXY);
    mkdirSync(space.path('no-files'));
    expect(await space.kpCompile(['@cluster.yaml', '--out-dir', '@kept'])).toMatchObject({ code: 0 });
    const before = readFileSync(space.path('kept/rules.v4'), 'utf8');
    for (const input of [
      '-',
      '@empty.yaml',
      '@comment.yaml',
      '@list.json',
      '@configuration.yaml',
      '@no-files',
    ]) {
      for (const words of [[], ['--keep-going'], ['-q'], ['--check', '@kept'], ['--out-dir', '@kept']]) {
        const { code, stdout, stderr } = await space.kpCompile([input, ...words]);
        expect([input, words, code, stdout]).toEqual([input, words, 2, '']);
        expect(stderr).toContain('error: nothing to compile was read: ');
      }
    }
    expect(readFileSync(space.path('kept/rules.v4'), 'utf8')).toBe(before);
  });

  test('that hold a Node and no Service are a cluster without any', async () => {
    space.write('node.yaml', documents(NODE_A, KUBE_PROXY));
    expect(await space.kpCompile(['@node.yaml'])).toMatchObject({ code: 0, stderr: '' });
  });

  test('of a kind that is misspelt are named with their line', async () => {
    space.write('lower.yaml', documents(NODE_A, WEB.replace('kind: Service', 'kind: service'), KUBE_PROXY));
    const { code, stderr } = await space.kpCompile(['@lower.yaml']);
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^lower\.yaml:\d+:7: warning: service web: kind: found "service", expected Service; it is not read\n/,
    );
  });

  test('of other kinds are passed over in silence', async () => {
    space.write(
      'with-others.yaml',
      documents(NODE_A, WEB, KUBE_PROXY, 'apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\ndata: 7\n'),
    );
    expect(await space.kpCompile(['@with-others.yaml', '-v'])).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('--config', () => {
  test('wins over the configuration of the input', async () => {
    space.write('other.yaml', KUBE_PROXY.replace('10.244.0.0/16', '10.9.0.0/16'));
    const { code, stdout, stderr } = await space.kpCompile(['@cluster.yaml', '--config', '@other.yaml']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('! -s 10.9.0.0/16 ');
  });

  test('may name the dump itself, whose other objects still count', async () => {
    const { stdout } = await space.kpCompile(['@cluster.yaml']);
    expect(await space.kpCompile(['@cluster.yaml', '--config', '@cluster.yaml'])).toEqual({
      code: 0,
      stdout,
      stderr: '',
    });
  });

  test('takes the ConfigMap of kubeadm, whose messages point into it', async () => {
    const configMap = `apiVersion: v1
kind: ConfigMap
metadata:
  name: kube-proxy
  namespace: kube-system
data:
  config.conf: |-
    apiVersion: kubeproxy.config.k8s.io/v1alpha1
    kind: KubeProxyConfiguration
    clusterCIDR: 10.8.0.0/16
`;
    space.write('cm.yaml', configMap);
    const { code, stdout } = await space.kpCompile(['@warned.yaml', '--config', '@cm.yaml']);
    expect(code).toBe(0);
    expect(stdout).toContain('! -s 10.8.0.0/16 ');
    space.write('cm.yaml', configMap.replace('10.8.0.0/16', '10.8.0.0'));
    const { code: refused, stderr } = await space.kpCompile(['@warned.yaml', '--config', '@cm.yaml', '-q']);
    expect(refused).toBe(2);
    expect(stderr).toBe(
      'cm.yaml:7:16: error: ConfigMap kube-system/kube-proxy (config.conf): data["config.conf"]: clusterCIDR: "10.8.0.0" is not a CIDR such as 10.244.0.0/16\n',
    );
  });

  test('without a configuration in it is an error', async () => {
    expect(await space.kpCompile(['@cluster.yaml', '--config', '@warned.yaml', '-q'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('warned.yaml: error: no KubeProxyConfiguration in this file\n'),
    });
  });

  test('is needed where the input holds two that differ', async () => {
    space.write('second.yaml', KUBE_PROXY.replace('10.244', '10.9'));
    const { code, stdout, stderr } = await space.kpCompile(['@cluster.yaml', '@second.yaml']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('second.yaml:1:1: error: KubeProxyConfiguration: the input holds more than one');
    expect(stderr).toContain('  help: name the one to use with --config\n');
    expect(
      await space.kpCompile(['@cluster.yaml', '@second.yaml', '--config', '@second.yaml']),
    ).toMatchObject({ code: 0 });
  });
});

describe('--out-dir', () => {
  test('gets both families in the chosen format; stdout stays empty', async () => {
    for (const format of ['save', 'restore']) {
      const folder = `out/${format}/deep`;
      const words = ['@cluster.yaml', '--format', format];
      expect(await space.kpCompile([...words, '--out-dir', `@${folder}`])).toEqual({
        code: 0,
        stdout: '',
        stderr: '',
      });
      expect(readdirSync(space.path(folder)).sort()).toEqual(['rules.v4', 'rules.v6']);
      for (const [file, family] of [
        ['rules.v4', 'ipv4'],
        ['rules.v6', 'ipv6'],
      ] as const) {
        const { stdout } = await space.kpCompile([...words, '--family', family]);
        expect(space.read(`${folder}/${file}`)).toBe(stdout);
      }
    }
  });

  test('replaces what was there and leaves other files alone', async () => {
    space.write('again/rules.v4', 'old\n');
    space.write('again/notes.txt', 'mine\n');
    expect(await space.kpCompile(['@cluster.yaml', '--out-dir', '@again'])).toMatchObject({ code: 0 });
    expect(readdirSync(space.path('again')).sort()).toEqual(['notes.txt', 'rules.v4', 'rules.v6']);
    expect(space.read('again/rules.v4')).toContain('*filter\n');
    expect(space.read('again/notes.txt')).toBe('mine\n');
    expect(statSync(space.path('again/rules.v4')).mode & 0o777 & ~0o022).toBe(0o644);
  });

  test('is not touched where an input cannot be used', async () => {
    expect(await space.kpCompile(['@broken.yaml', '--out-dir', '@untouched'])).toMatchObject({
      code: 2,
      stdout: '',
    });
    expect(existsSync(space.path('untouched'))).toBe(false);
  });

  test('is not touched by --strict after a warning', async () => {
    expect(await space.kpCompile(['@warned.yaml', '--strict', '--out-dir', '@untouched'])).toMatchObject({
      code: 1,
      stdout: '',
    });
    expect(existsSync(space.path('untouched'))).toBe(false);
  });

  test.skipIf(!existsSync('/proc/self'))('that can never be made is refused at once', async () => {
    const { code, stderr } = await space.kpCompile(['@cluster.yaml', '--out-dir', '/proc/nowhere/rules']);
    expect(code).toBe(2);
    expect(stderr).toContain('kp-compile: cannot write to /proc/nowhere/rules: ');
  });

  test('holds nothing half-written where one of its files cannot be', async () => {
    space.write('half/rules.v4', 'old\n');
    mkdirSync(space.path('half/rules.v6'), { recursive: true });
    const { code, stdout, stderr } = await space.kpCompile(['@cluster.yaml', '--out-dir', '@half']);
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: '',
      stderr: 'kp-compile: half/rules.v6 is a directory\n',
    });
    expect(readdirSync(space.path('half')).sort()).toEqual(['rules.v4', 'rules.v6']);
    expect(space.read('half/rules.v4')).toBe('old\n');
  });

  test('that is a file is an error', async () => {
    space.write('file', '');
    expect(await space.kpCompile(['@cluster.yaml', '--out-dir', '@file'])).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^kp-compile: cannot write to file: /),
    });
  });

  test.skipIf(process.getuid?.() === 0)('that may not be written to is an error', async () => {
    mkdirSync(space.path('locked'));
    chmodSync(space.path('locked'), 0o555);
    expect(await space.kpCompile(['@cluster.yaml', '--out-dir', '@locked'])).toMatchObject({
      code: 2,
      stdout: '',
    });
    expect(readdirSync(space.path('locked'))).toEqual([]);
  });
});

describe('--check', () => {
  const golden = async (...words: readonly string[]) => {
    const { stdout } = await space.kpCompile(['@cluster.yaml', ...words]);
    return space.write('golden.txt', stdout);
  };

  test('is silent and done where the file is equal, in either format and family', async () => {
    for (const words of [[], ['--format', 'restore'], ['--family', 'ipv6']]) {
      await golden(...words);
      expect(await space.kpCompile(['@cluster.yaml', ...words, '--check', '@golden.txt'])).toEqual({
        code: 0,
        stdout: '',
        stderr: '',
      });
    }
  });

  test('does not count comment lines', async () => {
    await golden();
    space.write('golden.txt', `# reviewed by nobody\n${withoutComments(space.read('golden.txt'))}# end\n`);
    expect(await space.kpCompile(['@cluster.yaml', '--check', '@golden.txt'])).toMatchObject({
      code: 0,
      stdout: '',
    });
  });

  test('takes a file with line ends of Windows', async () => {
    await golden();
    space.write('golden.txt', space.read('golden.txt').replaceAll('\n', '\r\n'));
    expect(await space.kpCompile(['@cluster.yaml', '--check', '@golden.txt'])).toMatchObject({
      code: 0,
      stdout: '',
    });
  });

  test('prints a unified diff from the file to what would be compiled, and nothing else', async () => {
    await golden('--format', 'restore');
    space.write(
      'golden.txt',
      space
        .read('golden.txt')
        .replace('--dport 30080', '--dport 30081')
        .replace(/^-A KUBE-FIREWALL .*\n/m, ''),
    );
    const { code, stdout, stderr } = await space.kpCompile([
      '@cluster.yaml',
      '--format',
      'restore',
      '--check',
      '@golden.txt',
    ]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(linesOf(stdout).slice(0, 2)).toEqual(['--- golden.txt', '+++ compiled']);
    expect(
      linesOf(stdout)
        .slice(2)
        .filter((line) => /^[-+]/.test(line)),
    ).toEqual([
      '+-A KUBE-FIREWALL -m comment --comment "block incoming localnet connections" -d 127.0.0.0/8 ! -s 127.0.0.0/8 -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP',
      '--A KUBE-NODEPORTS -m comment --comment shop/web -m tcp -p tcp -d 127.0.0.0/8 --dport 30081 -m nfacct --nfacct-name localhost_nps_accepted_pkts -j KUBE-EXT-E3PXEPMWAWIUT6ZV',
      '+-A KUBE-NODEPORTS -m comment --comment shop/web -m tcp -p tcp -d 127.0.0.0/8 --dport 30080 -m nfacct --nfacct-name localhost_nps_accepted_pkts -j KUBE-EXT-E3PXEPMWAWIUT6ZV',
    ]);
    expect(stdout).toMatch(/^@@ -\d+,\d+ \+\d+,\d+ @@$/m);
    expect(stdout).not.toMatch(/^[-+ ]?#/m);
  });

  test('compares a folder with what --out-dir would write', async () => {
    await space.kpCompile(['@cluster.yaml', '--out-dir', '@committed']);
    const words = ['@cluster.yaml', '--check', '@committed'];
    expect(await space.kpCompile(words)).toEqual({ code: 0, stdout: '', stderr: '' });
    space.write(
      'committed/rules.v6',
      space.read('committed/rules.v6').replace(':KUBE-FORWARD - [0:0]\n', ''),
    );
    const { code, stdout } = await space.kpCompile(words);
    expect(code).toBe(1);
    expect(stdout).toContain('--- committed/rules.v6\n+++ compiled\n');
    expect(stdout).toContain('\n+:KUBE-FORWARD - [0:0]\n');
    expect(stdout).not.toContain('rules.v4');
  });

  test('cannot compare with what is not there', async () => {
    expect(await space.kpCompile(['@cluster.yaml', '--check', '@missing.txt'])).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^kp-compile: --check: .*no such file or directory/),
    });
    space.write('partial/rules.v4', space.read('committed/rules.v4'));
    expect(await space.kpCompile(['@cluster.yaml', '--check', '@partial'])).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^kp-compile: --check: .*rules\.v6/),
    });
  });

  test('does not answer for an input that cannot be used', async () => {
    await golden();
    expect(await space.kpCompile(['@broken.yaml', '--check', '@golden.txt'])).toEqual({
      code: 2,
      stdout: '',
      stderr: BROKEN_ERROR,
    });
    // What is left is equal; that something was left out still lets the check fail.
    expect(await space.kpCompile(['@broken.yaml', '--keep-going', '--check', '@golden.txt'])).toEqual({
      code: 1,
      stdout: '',
      stderr: BROKEN_ERROR,
    });
  });

  test('colours its diff where colours are wanted', async () => {
    await golden();
    space.write('golden.txt', space.read('golden.txt').replace('*mangle', '*raw'));
    const { stdout } = await space.kpCompile([
      '@cluster.yaml',
      '--check',
      '@golden.txt',
      '--color',
      'always',
    ]);
    expect(stdout).toContain('\x1b[31m-*raw\x1b[39m\n\x1b[32m+*mangle\x1b[39m\n');
  });
});

describe('an input that cannot be used', () => {
  test('lets nothing be written', async () => {
    expect(await space.kpCompile(['@broken.yaml'])).toEqual({ code: 2, stdout: '', stderr: BROKEN_ERROR });
  });

  test('is left out under --keep-going, which compiles the rest, names it and ends with 1', async () => {
    const { stdout } = await space.kpCompile(['@cluster.yaml']);
    expect(await space.kpCompile(['@broken.yaml', '--keep-going'])).toEqual({
      code: 1,
      stdout,
      stderr: BROKEN_ERROR,
    });
    expect(await space.kpCompile(['@broken.yaml', '--keep-going', '--out-dir', '@kept'])).toEqual({
      code: 1,
      stdout: '',
      stderr: BROKEN_ERROR,
    });
    expect(readdirSync(space.path('kept')).sort()).toEqual(['rules.v4', 'rules.v6']);
  });

  test('ends with 2 also under --keep-going where nothing can be compiled', async () => {
    space.write('nodes.yaml', documents(NODE_A, NODE_A.replace('node-a', 'node-b'), WEB));
    expect(await space.kpCompile(['@nodes.yaml', '--keep-going'])).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('messages', () => {
  test('of warnings do not change the exit code, unless --strict', async () => {
    const { code, stdout, stderr } = await space.kpCompile(['@warned.yaml']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: CIDR_WARNING });
    expect(stdout).toContain('*filter\n');
    expect(await space.kpCompile(['@warned.yaml', '--strict'])).toEqual({
      code: 1,
      stdout: '',
      stderr: CIDR_WARNING,
    });
    expect(await space.kpCompile(['@cluster.yaml', '--strict'])).toMatchObject({ code: 0, stderr: '' });
  });

  test('are errors alone under -q, which changes no exit code', async () => {
    expect(await space.kpCompile(['@warned.yaml', '-q'])).toMatchObject({ code: 0, stderr: '' });
    expect(await space.kpCompile(['@warned.yaml', '-q', '--strict'])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: '',
    });
    expect(await space.kpCompile(['@broken.yaml', '-q'])).toEqual({
      code: 2,
      stdout: '',
      stderr: BROKEN_ERROR,
    });
  });

  test('tell under -v what was skipped, and why', async () => {
    const headless = SERVICE.replace('10.96.0.50', 'None').replace('name: web', 'name: headless');
    space.write('skipped.yaml', documents(NODE_A, WEB, KUBE_PROXY, headless));
    expect(await space.kpCompile(['@skipped.yaml'])).toMatchObject({ code: 0, stderr: '' });
    expect(await space.kpCompile(['@skipped.yaml', '-v', '--strict'])).toMatchObject({
      code: 0,
      stderr:
        'skipped.yaml:56:14: note: Service shop/headless: spec.clusterIP: kube-proxy makes no rules for headless Services\n',
    });
  });

  test('of one kind are counted beyond the twentieth warning', async () => {
    const service = (index: number) =>
      SERVICE.replace('name: web', `name: web-${index}`)
        .replace('type: NodePort', 'type: ClusterIP')
        .replace('nodePort: 30080', 'protocol: TCP')
        .replace('  ports:', `  externalIPs:\n    - "2001:db8::${index}"\n  ports:`)
        .replace('10.96.0.50', `10.96.1.${index}`);
    space.write(
      'many.yaml',
      documents(NODE_A, KUBE_PROXY, ...Array.from({ length: 25 }, (_, index) => service(index + 1))),
    );
    const { stderr } = await space.kpCompile(['@many.yaml']);
    expect(linesOf(stderr)).toHaveLength(21);
    expect(linesOf(stderr).at(-1)).toBe('5 more warnings of the kind wrong-family; -v shows them all');
    expect(linesOf((await space.kpCompile(['@many.yaml', '-v'])).stderr)).toHaveLength(25);
  });
});

describe('colours', () => {
  const coloured = '\x1b[33mwarning: \x1b[39m';

  test.each<[string, readonly string[], boolean, Readonly<Record<string, string>>, boolean]>([
    ['are for terminals', [], true, {}, true],
    ['are not for pipes', [], false, {}, false],
    ['are not for those who set NO_COLOR', [], true, { NO_COLOR: '1' }, false],
    ['are for those whose NO_COLOR is empty', [], true, { NO_COLOR: '' }, true],
    ['are not for dumb terminals', [], true, { TERM: 'dumb' }, false],
    ['are there always when asked for', ['--color', 'always'], false, { NO_COLOR: '1' }, true],
    ['are never there when not wanted', ['--color=never'], true, {}, false],
    ['are up to the terminal under auto', ['--color=auto'], true, {}, true],
  ])('%s', async (_title, words, terminal, env, expected) => {
    const { stdout, stderr } = await space.kpCompile(['@warned.yaml', ...words], { terminal, env });
    expect(stderr.includes(coloured)).toBe(expected);
    expect(stderr.includes('\x1b')).toBe(expected);
    expect(stdout).not.toContain('\x1b');
  });
});
