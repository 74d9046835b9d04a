import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readInventory } from '../../src/diff/inventory.ts';
import { takeInventory } from '../../src/diff/reproduce.ts';
import { viewOf } from '../../src/diff/view.ts';
import { kubeProxyVersion } from '../../src/kube/index.ts';
import { type Family, type Ruleset, splitDumps } from '../../src/netfilter/index.ts';
import { expectedFolder, hasConformance } from '../support/shared.ts';
import { compileFiles } from './support/states.ts';

const FIXTURES = [
  'cluster-ip',
  'dual-stack',
  'external-ips',
  'hello1',
  'internal-local',
  'load-balancer',
  'load-balancer-local',
  'no-endpoints',
  'node-port',
  'node-port-local',
  'protocols',
  'session-affinity',
  'source-ranges',
];

describe('what rules program, compiled again, gives the same rules:', () => {
  test.each(FIXTURES)('fixtures/%s, in every version', async (fixture) => {
    for (let minor = 18; minor <= 36; minor++) {
      const version = kubeProxyVersion(minor);
      const { rulesets } = await compileFiles([join('fixtures', fixture)], { version, node: 'node-a' });
      const { otherChains, servicePorts } = takeInventory(rulesets, version);
      const expected = otherChains.filter(({ reason }) => reason !== 'no rule leads to it');
      expect(expected, `1.${minor}`).toEqual([]);
      expect(servicePorts.flatMap(({ chains }) => chains.filter(({ isRight }) => !isRight))).toEqual([]);
    }
  });
});

test('a chain with a name that is not the hash of its service port is told', () => {
  const text = `*nat
:KUBE-SERVICES - [0:0]
:KUBE-SVC-67NZLRHBNDSAWJRO - [0:0]
-A KUBE-SERVICES -d 10.96.0.50/32 -p tcp -m comment --comment "shop/other:http cluster IP" -m tcp --dport 80 -j KUBE-SVC-67NZLRHBNDSAWJRO
COMMIT
`;
  const [port] = readInventory(splitDumps(text, { family: 'ipv4' }).map(({ ruleset }) => viewOf(ruleset)));
  expect(port).toMatchObject({ name: 'shop/other:http', clusterIPs: ['10.96.0.50'], port: 80 });
  expect(port?.chains).toEqual([{ name: 'KUBE-SVC-67NZLRHBNDSAWJRO', isRight: false }]);
});

// What a dump cannot show: what its rules were not made from, or were made from twice.
const NOT_SHOWN: Readonly<Record<string, RegExp>> = {
  // External IPs are masqueraded by the pod CIDR where all traffic to cluster IPs is (up to 1.23).
  'masquerade-all': /external IP/,
  // Node ports that are open on no address.
  'nodeportaddresses-none-match': /nodeports; NOTE|kubelet|no rule leads to it|KUBE-NODEPORTS/,
  // Hints leave a local endpoint out of the one chain, and not of the other.
  'hints-etp-local': /statistic/,
  // Conntrack that is liberal has no rule for INVALID.
  'tcp-be-liberal': /INVALID/,
};

describe.skipIf(!hasConformance())('what the real kube-proxy programmed comes out the same again', () => {
  test.each(['1.23', '1.26', '1.28', '1.30', '1.36'])('in %s, every chain of every case', (version) => {
    const cases = expectedFolder(version, 'iptables');
    const wrong = readdirSync(cases).flatMap((name) => {
      const rulesets: Partial<Record<Family, Ruleset>> = {};
      for (const [file, family] of [['save.v4', 'ipv4'] as const, ['save.v6', 'ipv6'] as const]) {
        const [dump] = splitDumps(readFileSync(join(cases, name, file), 'utf8'), { family });
        if (dump !== undefined) rulesets[family] = dump.ruleset;
      }
      const known = NOT_SHOWN[name];
      return takeInventory(rulesets, kubeProxyVersion(Number(version.slice(2))))
        .otherChains.filter(({ reason }) => known?.test(reason) !== true && reason !== 'no rule leads to it')
        .map(({ chain, reason }) => `${name} ${chain}: ${reason}`);
    });
    expect(wrong).toEqual([]);
  });
});

// Nodes of people who run them; what does not come out the same, and why, is all that is listed.
const DUMPS: readonly (readonly [string, string, number, number, readonly string[]])[] = [
  ['01-aks-npm-v2-iptables-save.txt', '1.21', 41, 92, ['filter/KUBE-FIREWALL: kubelet’s']],
  ['03-kind-1.18-iptables-save.txt', '1.18', 4, 9, ['filter/KUBE-FIREWALL: kubelet’s']],
  [
    '21-flannel-docker-iptables-nvL-nat-listing.txt',
    '1.18',
    4,
    13,
    // Of a version before 1.16, or with an iptables before 1.6.2.
    [
      'nat/KUBE-POSTROUTING: has -A KUBE-POSTROUTING -m comment --comment "kubernetes service traffic requiring SNAT" -m mark --mark 0x4000/0x4000 -j MASQUERADE, not -A KUBE-POSTROUTING -m comment --comment "kubernetes service traffic requiring SNAT" -m mark --mark 0x4000/0x4000 -j MASQUERADE --random-fully',
    ],
  ],
  ['24-kubeadm-1.26-flannel-worker-iptables-save.txt', '1.26', 7, 29, []],
  ['26-kubeadm-1.33-flannel-nat-S-listing.txt', '1.36', 4, 15, []],
  ['43-kubeadm-1.23-libvirt-docker-foreign-dnat-nat-save.txt', '1.23', 5, 17, []],
];
const folder = join(import.meta.dirname, '..', '..', '..', 'shared', 'field', 'dumps');

describe.skipIf(!existsSync(folder))('dumps from the field', () => {
  test.each(DUMPS)('%s is of %s', (file, version, ports, equal, others) => {
    const rulesets: Partial<Record<Family, Ruleset>> = {};
    for (const { ruleset } of splitDumps(readFileSync(join(folder, file), 'utf8'), {}))
      rulesets[ruleset.family] = ruleset;
    const found = takeInventory(rulesets);
    expect(found.version.text).toBe(version);
    expect(found.servicePorts.length).toBe(ports);
    expect(found.servicePorts.flatMap(({ chains }) => chains.filter(({ isRight }) => !isRight))).toEqual([]);
    expect(found.otherChains.map(({ table, chain, reason }) => `${table}/${chain}: ${reason}`)).toEqual(
      others,
    );
    expect(found.equalChains).toBe(equal);
  });
});
