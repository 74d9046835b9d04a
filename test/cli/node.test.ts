/** Whose rules are compiled: the node's name, its version and its addresses. */
import { beforeAll, describe, expect, test } from 'vitest';
import { documents, KUBE_PROXY, NODE_A, NODE_B, WEB } from './support/manifests.ts';
import { linesOf, workspace } from './support/workspace.ts';

const space = workspace();

beforeAll(() => {
  space.write('one.yaml', documents(NODE_A, WEB, KUBE_PROXY));
  space.write('two.yaml', documents(NODE_A, NODE_B, WEB, KUBE_PROXY));
  space.write('none.yaml', documents(WEB, KUBE_PROXY));
});

/** The first line of what was compiled. */
async function head(words: readonly string[]): Promise<string | undefined> {
  return linesOf((await space.kpCompile(words)).stdout)[0];
}

const LOCAL = /KUBE-SVL-\S+ -m comment --comment "shop\/web -> (\S+)"/;

describe('the node', () => {
  test('is the only Node of the input', async () => {
    expect(await head(['@one.yaml'])).toBe('# node node-a, kube-proxy 1.36, iptables mode, IPv4');
  });

  test('has to be named where the input holds several, which are listed', async () => {
    expect(await space.kpCompile(['@two.yaml'])).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'error: the input holds 2 Nodes: node-a, node-b\n  help: say whose rules you want with --node NAME\n',
    });
  });

  test('is named by --node, before --hostname-override, before the configuration', async () => {
    space.write('override.yaml', `${KUBE_PROXY}hostnameOverride: node-b\n`);
    const inputs = ['@two.yaml', '--config', '@override.yaml'];
    expect(await head(inputs)).toMatch(/^# node node-b,/);
    expect(await head([...inputs, '--hostname-override', 'node-a'])).toMatch(/^# node node-a,/);
    expect(await head([...inputs, '--hostname-override', 'node-b', '--node', 'node-a'])).toMatch(
      /^# node node-a,/,
    );
  });

  test('may be named with blanks around and in capitals, as kube-proxy reads its hostname', async () => {
    const { stdout } = await space.kpCompile(['@two.yaml', '--node', ' Node-B\t']);
    expect(linesOf(stdout)[0]).toBe('# node node-b, kube-proxy 1.36, iptables mode, IPv4');
    expect(LOCAL.exec(stdout)?.[1]).toBe('10.244.2.10:8080');
  });

  test.each(['', ' '])('has a name: --node %j is an unset variable of a script', async (name) => {
    space.write('override.yaml', `${KUBE_PROXY}hostnameOverride: node-b\n`);
    for (const inputs of [['@two.yaml'], ['@two.yaml', '--config', '@override.yaml']]) {
      expect(await space.kpCompile([...inputs, '--node', name])).toEqual({
        code: 2,
        stdout: '',
        stderr: 'kp-compile: --node needs a name\n',
      });
    }
  });

  test('is not named by an empty hostname override, as for kube-proxy: the configuration decides then', async () => {
    space.write('override.yaml', `${KUBE_PROXY}hostnameOverride: node-b\n`);
    expect(await head(['@two.yaml', '--config', '@override.yaml', '--hostname-override', ''])).toMatch(
      /^# node node-b,/,
    );
    space.write('empty-name.yaml', `${KUBE_PROXY}hostnameOverride: ''\n`);
    expect(await head(['@one.yaml', '--config', '@empty-name.yaml'])).toMatch(/^# node node-a,/);
  });

  test('that is not in the input is fine: endpoints are local by its name, and a warning lists the Nodes', async () => {
    const { code, stdout, stderr } = await space.kpCompile(['@one.yaml', '--node', 'node-b']);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr:
        'warning: no Node node-b in the input, which has node-a\n  help: name one of these with --node, or add the Node object: its addresses, zone and pod CIDRs are not known\n',
    });
    expect(LOCAL.exec(stdout)?.[1]).toBe('10.244.2.10:8080');
    expect(stdout).toContain(
      '\n# assumed: no Node object node-b: its addresses, zone and pod CIDRs are not known\n',
    );
  });

  test('needs no warning where the input holds no Node at all', async () => {
    expect(await space.kpCompile(['@none.yaml', '--node', 'node-b'])).toMatchObject({ code: 0, stderr: '' });
  });

  test('that nobody names has no local endpoint, with a warning where that matters', async () => {
    const { code, stdout, stderr } = await space.kpCompile(['@none.yaml']);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr:
        'warning: no node is named, so no endpoint is local; shop/web with a traffic policy Local\n  help: say whose rules you want with --node NAME\n',
    });
    expect(linesOf(stdout).slice(0, 3)).toEqual([
      '# no node named, kube-proxy 1.36, iptables mode, IPv4',
      '# assumed: no node named: no endpoint is local',
      '# assumed: kube-proxy 1.36, the newest version known here',
    ]);
    expect(stdout).not.toMatch(LOCAL);
  });

  test('with a name that cannot be one is an error', async () => {
    expect(await space.kpCompile(['@one.yaml', '--node', 'node a'])).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'error: "node a" is not a name of a Node (lower-case letters, digits, dots and hyphens, at most 253 characters)\n  help: say whose rules you want with --node NAME\n',
    });
  });
});

describe('the version', () => {
  const versioned = (version: string) => {
    space.write('versioned.yaml', documents(NODE_A.replace('v1.36.0', version), WEB, KUBE_PROXY));
    return space.kpCompile(['@versioned.yaml']);
  };

  test.each([
    ['v1.28.15', '1.28'],
    ['v1.30.5+k3s1', '1.30'],
    ['v1.33.1-gke.1744000', '1.33'],
    ['v1.34.0-eks-5d3c1a9', '1.34'],
  ])('of the Node counts: %s', async (version, text) => {
    const { code, stdout, stderr } = await versioned(version);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(linesOf(stdout)[0]).toBe(`# node node-a, kube-proxy ${text}, iptables mode, IPv4`);
  });

  test('of a Node that is too new gives the newest rules, with a warning', async () => {
    const { code, stdout, stderr } = await versioned('v1.41.2');
    expect(code).toBe(0);
    expect(stderr).toBe(
      'versioned.yaml:10:21: warning: Node node-a: status.nodeInfo.kubeletVersion: the node runs v1.41.2; the newest version known here is 1.36, whose rules follow\n',
    );
    expect(linesOf(stdout).slice(0, 2)).toEqual([
      '# node node-a, kube-proxy 1.36, iptables mode, IPv4',
      '# assumed: the node runs v1.41.2: rules of 1.36',
    ]);
  });

  test('of a Node that is too old is an error that names the option', async () => {
    expect(await versioned('v1.17.17')).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'versioned.yaml:10:21: error: Node node-a: status.nodeInfo.kubeletVersion: the node runs v1.17.17; versions known here are 1.18 … 1.36\n  help: to see the rules of another version all the same, pass --kube-version 1.NN\n',
    });
  });

  test('given as an option wins over that of the Node, whatever it is', async () => {
    space.write('old.yaml', documents(NODE_A.replace('v1.36.0', 'v1.20.0'), WEB, KUBE_PROXY));
    expect(await head(['@old.yaml', '--kube-version', '1.31'])).toBe(
      '# node node-a, kube-proxy 1.31, iptables mode, IPv4',
    );
  });
});

describe('the addresses of the node', () => {
  const jumps = async (words: readonly string[], family = 'ipv4') => {
    const { code, stdout, stderr } = await space.kpCompile([
      ...['@one.yaml', '--format', 'restore', '--family', family, ...words],
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return [...stdout.matchAll(/ -d (\S+) -j KUBE-NODEPORTS$/gm)].map((match) => match[1]);
  };
  const everywhere = ['--nodeport-addresses', '192.168.0.0/16,127.0.0.0/8'];

  test('are its InternalIPs and those of lo', async () => {
    expect(await jumps(everywhere)).toEqual(['127.0.0.1', '192.168.0.2']);
  });

  test('are those of --interface, which may be repeated and hold several', async () => {
    expect(
      await jumps([
        ...everywhere,
        '--interface',
        'eth0=192.168.0.2/24,192.168.9.9/32',
        '--interface',
        'eth1=10.0.0.1/8',
      ]),
    ).toEqual(['127.0.0.1', '192.168.0.2', '192.168.9.9']);
  });

  test('are those of ip -j addr', async () => {
    space.write(
      'addr.json',
      JSON.stringify([
        { ifindex: 1, ifname: 'lo', addr_info: [{ family: 'inet', local: '127.0.0.1', prefixlen: 8 }] },
        {
          ifindex: 2,
          ifname: 'eth0',
          addr_info: [
            { family: 'inet', local: '192.168.7.7', prefixlen: 24 },
            { family: 'inet6', local: 'fd00::7', prefixlen: 64 },
            { family: 'inet6', local: 'fe80::7', prefixlen: 64 },
          ],
        },
      ]),
    );
    expect(await jumps([...everywhere, '--interfaces', '@addr.json'])).toEqual(['127.0.0.1', '192.168.7.7']);
    expect(
      await jumps(['--nodeport-addresses', 'fd00::/8,fe80::/10', '--interfaces', '@addr.json'], 'ipv6'),
    ).toEqual(['fd00::7', 'fe80::7']);
  });

  test('are no link-local ones unless given', async () => {
    expect(
      await jumps(['--nodeport-addresses', 'fe80::/10', '--interface', 'eth0=fe80::1/64'], 'ipv6'),
    ).toEqual(['fe80::1']);
  });

  test('are those of ip -o addr', async () => {
    space.write(
      'addr.txt',
      `1: lo    inet 127.0.0.1/8 scope host lo\\       valid_lft forever preferred_lft forever
2: eth0    inet 192.168.8.8/24 brd 192.168.8.255 scope global eth0\\       valid_lft forever preferred_lft forever
2: eth0    inet6 fe80::8/64 scope link \\       valid_lft forever preferred_lft forever
`,
    );
    expect(await jumps([...everywhere, '--interfaces', '@addr.txt'])).toEqual(['127.0.0.1', '192.168.8.8']);
  });

  test('cannot come from a file that is no such output', async () => {
    space.write('addr.bad', 'hello\n');
    expect(await space.kpCompile(['@one.yaml', '--interfaces', '@addr.bad'])).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^kp-compile: --interfaces: addr\.bad/),
    });
    expect(await space.kpCompile(['@one.yaml', '--interfaces', '@missing'])).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^kp-compile: --interfaces: .*no such file or directory/),
    });
  });

  test('that are not known are warned about where node ports depend on them', async () => {
    const { code, stderr } = await space.kpCompile([
      ...['@none.yaml', '--node', 'node-a', '--nodeport-addresses', '192.168.0.0/24'],
    ]);
    expect(code).toBe(0);
    expect(stderr).toBe(
      'warning: nodePortAddresses is set, but no IPv4 address of the node is known: its node ports may be missing\n  help: pass --interface NAME=ADDRESS/LENGTH or --interfaces FILE\n',
    );
  });
});
