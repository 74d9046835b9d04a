/** What kp-compile prints and writes in ipvs mode. */
import { existsSync, readdirSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { documents, KUBE_PROXY, NODE_A, WEB } from './support/manifests.ts';
import { linesOf, withoutComments, workspace } from './support/workspace.ts';

const space = workspace();
const IPVS = ['@cluster.yaml', '--proxy-mode', 'ipvs'];
const HEAD = '# node node-a, kube-proxy 1.36, ipvs mode\n';

beforeAll(() => {
  space.write('cluster.yaml', documents(NODE_A, WEB, KUBE_PROXY));
});

async function emitted(what: string, ...options: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await space.kpCompile([...IPVS, '--emit', what, ...options]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

describe('--emit', () => {
  test('rules is the default', async () => {
    const { stdout } = await space.kpCompile(IPVS);
    expect(stdout).toContain('# node node-a, kube-proxy 1.36, ipvs mode, IPv4\n');
    expect(await emitted('rules')).toBe(stdout);
    expect(await emitted('rules', '--family', 'ipv6')).toContain('-A KUBE-SERVICES -s ::1/128 -j RETURN\n');
    expect(await emitted('rules', '--format', 'restore')).not.toContain('-A PREROUTING');
  });

  test('ipset has all sets of both families, or of one', async () => {
    const text = await emitted('ipset');
    expect(text.startsWith(`${HEAD}# for ipset restore; may be run again\n`)).toBe(true);
    expect(text.match(/^create /gm)).toHaveLength(34);
    expect(text).toContain(
      'create KUBE-CLUSTER-IP hash:ip,port family inet hashsize 1024 maxelem 65536 -exist\nadd KUBE-CLUSTER-IP 10.96.0.50,tcp:80 -exist\n',
    );
    expect(text).toContain('create KUBE-6-LOAD-BALANCER-SOURCE-CID hash:ip,port,net family inet6 ');
    expect((await emitted('ipset', '--family', 'ipv4')).match(/^create /gm)).toHaveLength(17);
  });

  test('ipvsadm has no comment, which ipvsadm -R would end at, and never flushes', async () => {
    expect(await emitted('ipvsadm')).toBe(
      `-A -t 10.96.0.50:80 -s rr
-a -t 10.96.0.50:80 -r 10.244.1.10:8080 -m -w 1
-a -t 10.96.0.50:80 -r 10.244.2.10:8080 -m -w 1
-A -t 192.168.0.2:30080 -s rr
-a -t 192.168.0.2:30080 -r 10.244.1.10:8080 -m -w 1
`,
    );
    expect(await emitted('ipvsadm', '--ipvs-scheduler', 'mh')).toContain(
      '-A -t 10.96.0.50:80 -s mh -b mh-port\n',
    );
  });

  test('addr makes the interface', async () => {
    expect(withoutComments(await emitted('addr'))).toBe(
      'link add kube-ipvs0 type dummy\naddr replace 10.96.0.50/32 dev kube-ipvs0\n',
    );
  });

  test('sysctl follows strictARP, and says that timeouts are none', async () => {
    expect(withoutComments(await emitted('sysctl'))).toBe(
      'net.ipv4.vs.conntrack = 1\nnet.ipv4.vs.expire_nodest_conn = 1\nnet.ipv4.vs.expire_quiescent_template = 1\nnet.ipv4.ip_forward = 1\n',
    );
    expect(await emitted('sysctl', '--ipvs-strict-arp')).toContain(
      'net.ipv4.conf.all.arp_ignore = 1\nnet.ipv4.conf.all.arp_announce = 2\n',
    );
    expect(await emitted('sysctl', '--ipvs-tcp-timeout', '15m')).toContain(
      '# timeouts are no sysctls: ipvsadm --set 900 0 0\n',
    );
  });

  test('script goes from what others need to what traffic needs', async () => {
    const lines = linesOf(await emitted('script', '--ipvs-udp-timeout', '1m0s'));
    expect(lines.slice(0, 2)).toEqual(['#!/bin/sh', HEAD.trimEnd()]);
    expect(
      lines.filter((line) => /^(?:set|sysctl|ipvsadm|ipset|ip6?tables|virtual_servers|ip) .*/.test(line)),
    ).toEqual([
      'set -eu',
      'ipvsadm -Ln >/dev/null',
      'sysctl -q -w net.ipv4.vs.conntrack=1',
      'sysctl -q -w net.ipv4.vs.expire_nodest_conn=1',
      'sysctl -q -w net.ipv4.vs.expire_quiescent_template=1',
      'sysctl -q -w net.ipv4.ip_forward=1',
      'ipvsadm --set 0 0 60',
      "ipset restore <<'END_OF_INPUT'",
      "virtual_servers <<'END_OF_INPUT'",
      'ip link show dev kube-ipvs0 >/dev/null 2>&1 || ip link add kube-ipvs0 type dummy',
      "ip -batch - <<'END_OF_INPUT'",
    ]);
    expect(lines.filter((line) => line.startsWith('jump iptables filter INPUT'))).toEqual([
      'jump iptables filter INPUT -m comment --comment "kubernetes health check rules" -j KUBE-NODE-PORT',
      'jump iptables filter INPUT -m comment --comment "kube-proxy firewall rules" -j KUBE-PROXY-FIREWALL',
      'jump iptables filter INPUT -m comment --comment "kubernetes ipvs access filter" -j KUBE-IPVS-FILTER',
    ]);
    expect(lines.some((line) => /\bipvsadm (?:-C|--clear)\b|\bipset (?:flush|destroy)\b/.test(line))).toBe(
      false,
    );
  });

  test('script is there in iptables mode too, with the objects of counters', async () => {
    const { code, stdout } = await space.kpCompile(['@cluster.yaml', '--emit', 'script']);
    expect(code).toBe(0);
    expect(stdout).toContain(
      'nfacct get ct_state_invalid_dropped_pkts >/dev/null 2>&1 || nfacct add ct_state_invalid_dropped_pkts\n',
    );
    expect(stdout).toContain('\nchain iptables mangle KUBE-PROXY-CANARY\n');
    expect(stdout).not.toMatch(/ipvsadm|ipset/);
    const without = await space.kpCompile(['@cluster.yaml', '--emit', 'script', '--no-nfacct']);
    expect(without.stdout).not.toContain('nfacct get');
  });

  test('script is refused where addresses were invented', async () => {
    space.write('new.yaml', documents(NODE_A, WEB.replace('  clusterIP: 10.96.0.50\n', ''), KUBE_PROXY));
    const { code, stdout, stderr } = await space.kpCompile([
      ...['@new.yaml', '--service-cidr', '10.96.0.0/12', '--emit', 'script'],
    ]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('--emit script: addresses were invented');
  });
});

const FILES = ['ipset.restore', 'ipvsadm.restore', 'kube-ipvs0.batch', 'rules.v4', 'rules.v6', 'sysctl.conf'];

describe('--out-dir', () => {
  test('writes everything that --emit knows', async () => {
    await space.kpCompile([...IPVS, '--out-dir', '@out']);
    expect(readdirSync(space.path('out')).sort()).toEqual(FILES);
    for (const [name, what] of [
      ['ipset.restore', 'ipset'],
      ['ipvsadm.restore', 'ipvsadm'],
      ['kube-ipvs0.batch', 'addr'],
      ['sysctl.conf', 'sysctl'],
    ] as const) {
      expect(space.read(`out/${name}`)).toBe(await emitted(what));
    }
  });

  test('leaves nothing of ipvs mode where the mode is another one now', async () => {
    await space.kpCompile([...IPVS, '--out-dir', '@switched']);
    space.write('switched/notes.txt', 'kept');
    await space.kpCompile(['@cluster.yaml', '--out-dir', '@switched']);
    expect(readdirSync(space.path('switched')).sort()).toEqual(['notes.txt', 'rules.v4', 'rules.v6']);
  });
});

describe('--check', () => {
  test('covers all files of a folder', async () => {
    await space.kpCompile([...IPVS, '--out-dir', '@golden']);
    expect(await space.kpCompile([...IPVS, '--check', '@golden'])).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    });
    const { code, stdout } = await space.kpCompile([
      ...[...IPVS, '--check', '@golden', '--ipvs-scheduler', 'wrr', '--ipvs-strict-arp'],
    ]);
    expect(code).toBe(1);
    expect(stdout).toContain('--- golden/ipvsadm.restore\n');
    expect(stdout).toContain('--- golden/sysctl.conf\n');
    expect(stdout).not.toContain('golden/rules.v4');
  });

  test('takes one file together with --emit', async () => {
    space.write('sets.txt', await emitted('ipset'));
    expect(await space.kpCompile([...IPVS, '--emit', 'ipset', '--check', '@sets.txt'])).toMatchObject({
      code: 0,
      stdout: '',
    });
  });

  test('fails where a file is missing', async () => {
    await space.kpCompile(['@cluster.yaml', '--out-dir', '@rules-alone']);
    expect(existsSync(space.path('rules-alone/ipset.restore'))).toBe(false);
    const { code, stderr } = await space.kpCompile([...IPVS, '--check', '@rules-alone']);
    expect(code).toBe(2);
    expect(stderr).toContain('ipset.restore');
  });
});
