/**
 * Rules of versions that nobody captured, and the two sides of each change of the layout: literal rules. Source: the
 * releases of kube-proxy on both sides; docs/versions.md says what is not verified.
 */
import { describe, expect, test } from 'vitest';
import { compile } from '../../src/compile/index.ts';
import { clusterCollector, kubeProxyVersion, readKubeProxyConfiguration } from '../../src/kube/index.ts';
import { printSave } from '../../src/netfilter/index.ts';

const ORIGIN = { file: 'test', format: 'json', start: 0, end: 0, path: [] } as const;

const service = (spec: object, status: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'shop' },
  spec: { clusterIP: '10.96.0.50', clusterIPs: ['10.96.0.50'], ...spec },
  status,
});

const slice = (name: string, port: number, ...endpoints: readonly object[]) => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name, namespace: 'shop', labels: { 'kubernetes.io/service-name': 'web' } },
  addressType: 'IPv4',
  ports: [{ name: '', port, protocol: 'TCP' }],
  endpoints,
});

const LOCAL = { addresses: ['10.244.1.10'], nodeName: 'node-a' };
const REMOTE = { addresses: ['10.244.2.11'], nodeName: 'node-b' };
const PORT = { port: 80, protocol: 'TCP' };

/** The IPv4 rules that hold `text`. */
function rules(
  minor: number,
  objects: readonly object[],
  text: string | RegExp,
  mode = 'iptables',
): string[] {
  const collector = clusterCollector(
    () => {},
    () => undefined,
  );
  for (const value of objects as readonly { apiVersion: string; kind: string }[])
    collector.add({ apiVersion: value.apiVersion, kind: value.kind, value: { ...value }, origin: ORIGIN });
  const context = { object: '', origin: ORIGIN, report: () => {} };
  const compilation = compile(
    collector.cluster(),
    {
      node: 'node-a',
      version: kubeProxyVersion(minor),
      configuration: {
        configuration: readKubeProxyConfiguration({ clusterCIDR: '10.244.0.0/16', mode }, context),
        origin: ORIGIN,
      },
    },
    () => {},
  );
  const save = [...printSave(compilation?.rules.IPv4.kernel ?? { family: 'ipv4', tables: [] })].join('');
  return save
    .split('\n')
    .filter((line) => (typeof text === 'string' ? line.includes(text) : text.test(line)))
    .map((line) => line.replaceAll('"', ''));
}

const plain = [service({ ports: [PORT] }), slice('a', 8080, LOCAL, REMOTE)];
const nodePort = [
  service({ type: 'NodePort', ports: [{ ...PORT, nodePort: 30080 }] }),
  slice('a', 8080, LOCAL, REMOTE),
];
const external = [service({ externalIPs: ['203.0.113.9'], ports: [PORT] }), slice('a', 8080, LOCAL, REMOTE)];

describe('1.18', () => {
  test('a port without a name has a colon, in the hash too', () => {
    expect(rules(18, plain, 'A KUBE-SERVICES -d')).toEqual([
      '-A KUBE-SERVICES -d 10.96.0.50/32 -p tcp -m comment --comment shop/web: cluster IP -m tcp --dport 80 -j KUBE-SVC-R3QLXARIJDVMZQ3A',
    ]);
    expect(rules(19, plain, 'A KUBE-SERVICES -d')[0]).toContain('shop/web cluster IP');
  });

  test('what is marked is masqueraded with the mark on', () => {
    expect(rules(18, plain, 'A KUBE-POSTROUTING')).toEqual([
      '-A KUBE-POSTROUTING -m comment --comment kubernetes service traffic requiring SNAT -m mark --mark 0x4000/0x4000 -j MASQUERADE --random-fully',
    ]);
    expect(rules(19, plain, 'A KUBE-POSTROUTING')).toHaveLength(3);
  });
});

test('up to 1.19 INPUT leads to KUBE-SERVICES, where external IPs are refused', () => {
  const empty = [service({ externalIPs: ['203.0.113.9'], ports: [PORT] })];
  const refused =
    '-d 203.0.113.9/32 -p tcp -m comment --comment shop/web has no endpoints -m tcp --dport 80 -j REJECT';
  expect(rules(19, empty, '203.0.113.9')[0]).toContain(`-A KUBE-SERVICES ${refused}`);
  expect(rules(20, empty, '203.0.113.9')[0]).toContain(`-A KUBE-EXTERNAL-SERVICES ${refused}`);
  expect(
    rules(19, empty, /^-A (INPUT|FORWARD) .*SERVICES$/).map((line) => line.replace(/ -m.* -j/, '')),
  ).toEqual(['-A INPUT KUBE-SERVICES', '-A INPUT KUBE-EXTERNAL-SERVICES', '-A FORWARD KUBE-SERVICES']);
  expect(
    rules(20, empty, /^-A (INPUT|FORWARD) .*SERVICES$/).map((line) => line.replace(/ -m.* -j/, '')),
  ).toEqual([
    '-A INPUT KUBE-EXTERNAL-SERVICES',
    '-A FORWARD KUBE-SERVICES',
    '-A FORWARD KUBE-EXTERNAL-SERVICES',
  ]);
  expect(rules(19, empty, ':KUBE-MARK-DROP')).toEqual([]);
  expect(rules(20, empty, ':KUBE-MARK-DROP')).toEqual([':KUBE-MARK-DROP - [0:0]']);
});

test('external IPs: two jumps and all masqueraded up to 1.20, one jump in 1.21, in KUBE-SVC from 1.22', () => {
  const to = '-d 203.0.113.9/32 -p tcp -m comment --comment shop/web external IP -m tcp --dport 80';
  const chain = /-j KUBE-SVC-(\w+)$/.exec(rules(20, external, 'A KUBE-SERVICES -d 10.96')[0] ?? '')?.[1];
  expect(rules(20, external, '203.0.113.9')).toEqual([
    `-A KUBE-SERVICES ${to} -j KUBE-MARK-MASQ`,
    `-A KUBE-SERVICES ${to} -m physdev ! --physdev-is-in -m addrtype ! --src-type LOCAL -j KUBE-SVC-${chain}`,
    `-A KUBE-SERVICES ${to} -m addrtype --dst-type LOCAL -j KUBE-SVC-${chain}`,
  ]);
  expect(rules(21, external, '203.0.113.9')).toEqual([
    `-A KUBE-SERVICES ! -s 10.244.0.0/16 ${to} -j KUBE-MARK-MASQ`,
    `-A KUBE-SERVICES ${to} -j KUBE-SVC-${chain}`,
  ]);
  expect(rules(22, external, '203.0.113.9')).toEqual([
    `-A KUBE-SERVICES ${to} -j KUBE-SVC-${chain}`,
    `-A KUBE-SVC-${chain} ! -s 10.244.0.0/16 ${to} -j KUBE-MARK-MASQ`,
  ]);
});

test('health check node ports are accepted from 1.21', () => {
  const balanced = [
    service(
      {
        type: 'LoadBalancer',
        externalTrafficPolicy: 'Local',
        healthCheckNodePort: 32000,
        ports: [{ ...PORT, nodePort: 30080 }],
      },
      { loadBalancer: { ingress: [{ ip: '203.0.113.9' }] } },
    ),
    slice('a', 8080, LOCAL, REMOTE),
  ];
  expect(rules(20, balanced, '32000')).toEqual([]);
  expect(rules(21, balanced, '32000')).toHaveLength(1);
  const numbered = rules(22, balanced, /KUBE-XLB-.*KUBE-SEP/);
  expect(numbered).toEqual([expect.stringContaining('--comment Balancing rule 0 for shop/web -j KUBE-SEP-')]);
  expect(rules(23, balanced, /KUBE-XLB-.*KUBE-SEP/)[0]).toContain('--comment shop/web -j KUBE-SEP-');
});

test('node ports are masqueraded in KUBE-NODEPORTS up to 1.21, in KUBE-SVC up to 1.23, in KUBE-EXT from 1.24', () => {
  const masquerading = (minor: number) =>
    rules(minor, nodePort, /(dport 30080|external destinations).*KUBE-MARK-MASQ/).map((line) =>
      line.slice(3, 15),
    );
  expect(masquerading(21)).toEqual(['KUBE-NODEPOR']);
  expect(masquerading(22)).toEqual([expect.stringMatching(/^KUBE-SVC/)]);
  expect(masquerading(24)).toEqual([expect.stringMatching(/^KUBE-EXT/)]);
});

test('established connections: two rules up to 1.22', () => {
  expect(rules(22, plain, 'forwarding conntrack').map((line) => /pod \w+/.exec(line)?.[0])).toEqual([
    'pod source',
    'pod destination',
  ]);
  expect(rules(23, plain, 'forwarding conntrack')).toHaveLength(1);
});

describe('1.24', () => {
  const local = [
    service({
      type: 'NodePort',
      externalTrafficPolicy: 'Local',
      ports: [{ ...PORT, nodePort: 30080 }],
    }),
    slice('a', 8080, REMOTE),
  ];

  test('traffic without a local endpoint is marked to be dropped; from 1.25 the filter table drops it', () => {
    expect(rules(24, local, 'no local endpoints')).toEqual([
      expect.stringMatching(
        /^-A KUBE-SVL-\w+ -m comment --comment shop\/web has no local endpoints -j KUBE-MARK-DROP$/,
      ),
    ]);
    expect(rules(25, local, 'no local endpoints')).toEqual([
      '-A KUBE-EXTERNAL-SERVICES -p tcp -m comment --comment shop/web has no local endpoints -m addrtype --dst-type LOCAL -m tcp --dport 30080 -j DROP',
    ]);
  });

  test('KUBE-FW ends in KUBE-MARK-DROP, once for each load-balancer IP', () => {
    const ranged = [
      service(
        { type: 'LoadBalancer', loadBalancerSourceRanges: ['198.51.100.0/24'], ports: [PORT] },
        { loadBalancer: { ingress: [{ ip: '203.0.113.9' }, { ip: '203.0.113.10' }] } },
      ),
      slice('a', 8080, LOCAL),
    ];
    const kinds = (minor: number) =>
      rules(minor, ranged, 'A KUBE-FW-').map((line) => / -j KUBE-([A-Z]+)/.exec(line)?.[1]);
    expect(kinds(24)).toEqual(['EXT', 'MARK', 'EXT', 'MARK']);
    expect(kinds(25)).toEqual(['EXT']);
    expect(kinds(27)).toEqual(['EXT', undefined]);
  });
});

test('KUBE-FIREWALL is kube-proxy’s from 1.27', () => {
  expect(rules(26, plain, 'KUBE-FIREWALL')).toEqual([]);
  expect(rules(27, plain, 'KUBE-FIREWALL')).toHaveLength(4);
});

describe('endpoints', () => {
  const chains = (minor: number, objects: readonly object[]) =>
    rules(minor, objects, '--to-destination').map((line) => line.replace(/.*--to-destination /, ''));

  test('of one address and two ports are one up to 1.21', () => {
    const twice = [service({ ports: [PORT] }), slice('a', 8080, LOCAL), slice('b', 8081, LOCAL)];
    expect(chains(21, twice)).toHaveLength(1);
    expect(chains(22, twice).sort()).toEqual(['10.244.1.10:8080', '10.244.1.10:8081']);
  });

  test('that are not ready have chains in 1.22 alone', () => {
    const unready = [
      service({ ports: [PORT] }),
      slice('a', 8080, LOCAL, { ...REMOTE, conditions: { ready: false } }),
    ];
    expect([21, 22, 23].map((minor) => chains(minor, unready).length)).toEqual([1, 2, 1]);
  });

  test('that terminate are the last resort from 1.26', () => {
    const draining = { ...LOCAL, conditions: { ready: false, serving: true, terminating: true } };
    const objects = [service({ ports: [PORT] }), slice('a', 8080, draining)];
    expect([20, 23, 25, 26, 28].map((minor) => chains(minor, objects).length)).toEqual([0, 0, 0, 1, 1]);
  });

  test('internalTrafficPolicy Local counts from 1.22, and takes them from all traffic up to 1.23', () => {
    const inner = [
      service({
        type: 'NodePort',
        internalTrafficPolicy: 'Local',
        ports: [{ ...PORT, nodePort: 30080 }],
      }),
      slice('a', 8080, LOCAL, REMOTE),
    ];
    expect([21, 22, 23, 24].map((minor) => chains(minor, inner).length)).toEqual([2, 1, 1, 2]);
  });
});

describe('ipvs mode', () => {
  test('filter chains come one by one', () => {
    const declared = (minor: number) =>
      rules(minor, plain, /^:KUBE-(IPVS|PROXY|SOURCE|NODE-PORT|FIREWALL|MARK-DROP)/, 'ipvs').map(
        (line) => line.split(' ')[0],
      );
    expect(declared(19)).toEqual([':KUBE-FIREWALL', ':KUBE-NODE-PORT']);
    expect(declared(20)).toEqual([':KUBE-FIREWALL', ':KUBE-MARK-DROP', ':KUBE-NODE-PORT']);
    expect(declared(21)).toEqual([':KUBE-NODE-PORT', ':KUBE-FIREWALL', ':KUBE-MARK-DROP', ':KUBE-NODE-PORT']);
    expect(declared(25)).toEqual([
      ':KUBE-NODE-PORT',
      ':KUBE-PROXY-FIREWALL',
      ':KUBE-SOURCE-RANGES-FIREWALL',
      ':KUBE-NODE-PORT',
    ]);
    expect(declared(29)).toEqual([
      ':KUBE-IPVS-FILTER',
      ':KUBE-IPVS-OUT-FILTER',
      ':KUBE-NODE-PORT',
      ':KUBE-PROXY-FIREWALL',
      ':KUBE-SOURCE-RANGES-FIREWALL',
      ':KUBE-NODE-PORT',
    ]);
  });
});
