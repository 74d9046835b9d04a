/** Random clusters and configurations under fast-check: whatever kube-proxy would take. */
import fc from 'fast-check';
import type { Manifest } from '../kube/support.ts';

export interface Scenario {
  readonly objects: readonly Manifest[];
  readonly configuration: Manifest;
  readonly node: string;
  readonly minor: number;
  readonly nfacct: boolean;
}

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

const FAMILIES = [['IPv4'], ['IPv6'], ['IPv4', 'IPv6'], ['IPv6', 'IPv4']] as const;
const POLICY = fc.constantFrom('Cluster', 'Local', null);
const PROTOCOL = fc.constantFrom('TCP', 'UDP', 'SCTP');
const NODES = ['node-a', 'node-b', 'node-c'] as const;
const ZONES = ['zone-a', 'zone-b'] as const;

const outsideIP = fc.oneof(
  fc.integer({ min: 1, max: 20 }).map((host) => `203.0.113.${host}`),
  fc.integer({ min: 1, max: 20 }).map((host) => `2001:db8::${host}`),
  fc.constant('2001:DB8:0:0::00AA'),
);

const sourceRange = fc.constantFrom(
  '192.0.2.0/24',
  '192.168.10.77/24',
  ' 10.0.0.0/8 ',
  '0.0.0.0/0',
  '2001:db8::/32',
  'fd00::1/8',
  '::/0',
);

const servicePort = fc.record(
  {
    name: fc.constantFrom('http', 'dns', 'b-1', ''),
    protocol: PROTOCOL,
    port: fc.constantFrom(53, 80, 443),
    nodePort: fc.constantFrom(0, 30080, 30081, 30082),
  },
  { requiredKeys: ['port'] },
);

const ingress = fc.oneof(
  fc.record({ ip: outsideIP, ipMode: maybe(fc.constantFrom('VIP', 'Proxy')) }),
  fc.constant({ hostname: 'lb.example.com' }),
);

const service = fc
  .record({
    type: fc.constantFrom('ClusterIP', 'NodePort', 'LoadBalancer', 'LoadBalancer', 'ExternalName'),
    headless: fc.integer({ min: 0, max: 20 }).map((dice) => dice === 0),
    families: fc.constantFrom(...FAMILIES),
    host: fc.integer({ min: 1, max: 250 }),
    ports: fc.array(servicePort, { minLength: 1, maxLength: 3 }),
    externalIPs: maybe(fc.array(outsideIP, { maxLength: 3 })),
    loadBalancerSourceRanges: maybe(fc.array(sourceRange, { maxLength: 3 })),
    externalTrafficPolicy: POLICY,
    internalTrafficPolicy: POLICY,
    healthCheckNodePort: fc.constantFrom(undefined, 0, 31234),
    affinity: maybe(fc.constantFrom(1, 10800, 86400)),
    ingress: maybe(fc.array(ingress, { maxLength: 3 })),
    annotations: fc.constantFrom({}, { 'service.kubernetes.io/topology-mode': 'Auto' }),
    label: fc.constantFrom('', '', '', '', 'service.kubernetes.io/service-proxy-name'),
  })
  .map(({ headless, families, host, affinity, ingress: list, annotations, label, ...spec }) => {
    const clusterIPs = headless
      ? ['None']
      : families.map((family) => (family === 'IPv4' ? `10.96.0.${host}` : `fd00:10:96::${host}`));
    return {
      annotations,
      labels: label === '' ? {} : { [label]: 'other' },
      spec: {
        ...spec,
        clusterIP: clusterIPs[0],
        clusterIPs,
        ipFamilies: families,
        ...(affinity === undefined
          ? {}
          : {
              sessionAffinity: 'ClientIP',
              sessionAffinityConfig: { clientIP: { timeoutSeconds: affinity } },
            }),
      },
      status: { loadBalancer: { ingress: list } },
    };
  });

const condition = fc.constantFrom(undefined, true, false, null);

const endpoint = fc.record({
  host: fc.integer({ min: 1, max: 12 }),
  conditions: fc.oneof(
    fc.constant({ ready: true, serving: true, terminating: false }),
    fc.record({ ready: condition, serving: condition, terminating: condition }),
  ),
  nodeName: fc.constantFrom(...NODES, undefined),
  hints: fc.oneof(
    fc.constant(undefined),
    fc.record({
      forZones: fc.subarray([...ZONES]).map((names) => names.map((name) => ({ name }))),
      forNodes: fc.subarray([...NODES]).map((names) => names.map((name) => ({ name }))),
    }),
  ),
});

const slice = fc
  .record({
    addressType: fc.constantFrom('IPv4', 'IPv6'),
    ports: fc.uniqueArray(
      fc.record({
        name: fc.constantFrom('http', 'dns', 'b-1', ''),
        protocol: PROTOCOL,
        port: fc.constantFrom(8080, 8081, 53, null),
      }),
      { maxLength: 5, selector: ({ name, protocol }) => `${name} ${protocol}` },
    ),
    endpoints: fc.array(endpoint, { maxLength: 8 }),
  })
  .map(({ addressType, ports, endpoints }) => ({
    addressType,
    ports,
    endpoints: endpoints.map(({ host, ...rest }) => ({
      addresses: [addressType === 'IPv4' ? `10.244.1.${host}` : `fd00:10:244::${host.toString(16)}`],
      ...rest,
    })),
  }));

const named = fc.record({
  namespace: fc.constantFrom('default', 'shop'),
  name: fc.constantFrom('web', 'db', 'x'),
});

const cluster = fc
  .uniqueArray(fc.tuple(named, service, fc.array(slice, { maxLength: 3 })), {
    maxLength: 5,
    selector: ([{ namespace, name }]) => `${namespace}/${name}`,
  })
  .map((services) =>
    services.flatMap(([metadata, { labels, annotations, ...rest }, slices]): Manifest[] => [
      { apiVersion: 'v1', kind: 'Service', metadata: { ...metadata, labels, annotations }, ...rest },
      ...slices.map((fields, index) => ({
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: {
          namespace: metadata.namespace,
          name: `${metadata.name}-${index}`,
          labels: { 'kubernetes.io/service-name': metadata.name },
        },
        ...fields,
      })),
    ]),
  );

const nodes = fc
  .record({
    zone: fc.constantFrom('', ...ZONES),
    addresses: fc.subarray(['192.168.10.11', 'fd00:192:168::11']),
    podCIDRs: fc.subarray(['10.244.1.0/24', 'fd00:10:244:1::/64']),
  })
  .map(({ zone, addresses, podCIDRs }): Manifest[] =>
    NODES.map((name) => ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels: { 'topology.kubernetes.io/zone': zone } },
      spec: { podCIDRs },
      status: { addresses: addresses.map((address) => ({ type: 'InternalIP', address })) },
    })),
  );

const GATES = [
  'AllowServiceExternalIPs',
  'LoadBalancerIPMode',
  'PreferSameTrafficDistribution',
  'ServiceTrafficDistribution',
  'TopologyAwareHints',
];

const configuration = fc
  .record({
    detection: fc.constantFrom(
      {},
      { clusterCIDR: '10.244.0.0/16' },
      { clusterCIDR: 'FD00:10:244::7/56,10.244.3.1/16' },
      { detectLocalMode: 'NodeCIDR' },
      { detectLocalMode: 'BridgeInterface', detectLocal: { bridgeInterface: 'br0' } },
      { detectLocalMode: 'InterfaceNamePrefix', detectLocal: { interfaceNamePrefix: 'veth' } },
    ),
    bindAddress: fc.constantFrom('', '0.0.0.0', '::', '192.168.10.99'),
    nodePortAddresses: fc.constantFrom(
      null,
      [],
      ['192.168.10.0/24'],
      ['127.0.0.0/8', 'fd00::/8'],
      ['10.0.0.0/8'],
      ['fd00::/8', '::/0'],
      ['192.168.10.0/24', '0.0.0.0/0', '127.0.0.0/8'],
    ),
    iptables: fc.record({
      masqueradeAll: fc.boolean(),
      masqueradeBit: fc.constantFrom(null, 0, 13, 31),
      localhostNodePorts: fc.constantFrom(null, true, false),
    }),
    conntrack: fc.record({ tcpBeLiberal: fc.boolean() }),
    featureGates: fc
      .subarray(GATES)
      .chain((names) =>
        fc
          .array(fc.boolean(), { minLength: names.length, maxLength: names.length })
          .map((values) => Object.fromEntries(names.map((name, index) => [name, values[index]]))),
      ),
  })
  .map(
    ({ detection, ...fields }): Manifest => ({
      apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
      kind: 'KubeProxyConfiguration',
      ...detection,
      ...fields,
    }),
  );

export const scenario: fc.Arbitrary<Scenario> = fc
  .record({
    nodes,
    cluster,
    configuration,
    node: fc.constantFrom(...NODES),
    minor: fc.integer({ min: 28, max: 36 }),
    nfacct: fc.boolean(),
  })
  .map(({ nodes: some, cluster: others, ...rest }) => ({ objects: [...some, ...others], ...rest }));
