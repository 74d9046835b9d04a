import { describe, expect, test } from 'vitest';
import {
  collect,
  type Manifest,
  nodeManifest,
  serviceManifest,
  sliceManifest,
  type Told,
  told,
} from '../../test/kube/support.ts';
import type { IPFamily } from './ip.ts';
import type { KubeProxyConfiguration } from './kube-proxy-configuration.ts';
import { kubeProxyVersion } from './kube-proxy-version.ts';
import { type ProxyState, proxyStates } from './proxy-state.ts';

interface Settings {
  readonly minor?: number;
  readonly nodeName?: string;
  readonly configuration?: KubeProxyConfiguration;
}

function statesOf(
  objects: readonly Manifest[],
  { minor = 36, nodeName = 'node-a', configuration = {} }: Settings = {},
): Told<Readonly<Record<IPFamily, ProxyState>>> {
  return told((report) => {
    const cluster = collect(objects, report);
    const node = cluster.nodes.find(({ name }) => name === nodeName);
    const settings = {
      nodeName,
      node,
      interfaces: undefined,
      configuration,
      version: kubeProxyVersion(minor),
    };
    return proxyStates(cluster, settings, report);
  });
}

test('an IPv4-mapped endpoint is no address to iptables, where it is written as given', () => {
  const objects = [
    serviceManifest({}),
    sliceManifest({ endpoints: [{ addresses: ['::ffff:10.244.1.10'] }] }),
  ];
  expect(statesOf(objects, { minor: 31 }).problems).toEqual([]);
  expect(statesOf(objects, { minor: 30 }).problems).toEqual([
    'error mapped-address at endpoints[0].addresses[0]: kube-proxy 1.30 writes ::ffff:10.244.1.10 as it is, which iptables does not take: its rules would not load',
  ]);
});

/** `destination` of what policy Cluster uses, then of what policy Local uses. */
function endpointsOf(
  objects: readonly Manifest[],
  settings: Settings = {},
  family: IPFamily = 'IPv4',
): string {
  const [port] = statesOf(objects, settings).value[family].servicePorts;
  const { cluster = [], local = [] } = port?.endpoints ?? {};
  const names = (list: typeof cluster) => list.map(({ destination }) => destination).join(' ');
  return local.length === 0 ? names(cluster) : `${names(cluster)} | ${names(local)}`;
}

const LOCAL = { type: 'NodePort', externalTrafficPolicy: 'Local', ports: [{ port: 80, nodePort: 30080 }] };

const at = (address: string, rest: Manifest = {}) => ({ addresses: [address], ...rest });

// EndpointSliceCache.addEndpoints.
describe('endpoints of a service port:', () => {
  test('they come from all slices of the Service and are sorted as texts', () => {
    expect(
      endpointsOf([
        serviceManifest({}),
        sliceManifest({ endpoints: [at('10.0.0.2'), at('10.0.0.10')] }),
        sliceManifest({ endpoints: [at('10.0.0.1')] }, { name: 'web-2' }),
        sliceManifest({ endpoints: [at('10.9.9.9')] }, { name: 'other', namespace: 'default' }),
      ]),
    ).toBe('10.0.0.10:8080 10.0.0.1:8080 10.0.0.2:8080');
  });

  test('a slice port belongs to the service port with its name and protocol, whatever the numbers', () => {
    const objects = [
      serviceManifest({ ports: [{ name: 'http', port: 80, targetPort: 1234 }] }),
      sliceManifest({
        ports: [
          { name: 'http', port: 8080, protocol: 'TCP' },
          { name: 'http', port: 8081, protocol: 'TCP' },
          { name: 'http', port: 9, protocol: 'UDP' },
          { name: 'https', port: 80, protocol: 'TCP' },
          { name: '', port: 80, protocol: 'TCP' },
        ],
      }),
    ];
    expect(endpointsOf(objects)).toBe('10.244.1.10:8080 10.244.1.10:8081');
  });

  test('slices of the other family do not count', () => {
    const dual = { clusterIPs: ['10.96.0.50', 'fd00::50'], ipFamilies: ['IPv4', 'IPv6'] };
    const objects = [
      serviceManifest(dual),
      sliceManifest({}),
      sliceManifest({ addressType: 'IPv6', endpoints: [at('fd00::a')] }, { name: 'web-6' }),
    ];
    expect(endpointsOf(objects)).toBe('10.244.1.10:8080');
    expect(endpointsOf(objects, {}, 'IPv6')).toBe('[fd00::a]:8080');
  });

  test('an endpoint is local by the name of its node alone', () => {
    const objects = [
      serviceManifest(LOCAL),
      sliceManifest({
        endpoints: [
          at('10.0.0.1', { nodeName: 'node-a' }),
          at('10.0.0.2', { nodeName: 'Node-A' }),
          at('10.0.0.3'),
          at('10.0.0.4', { nodeName: '' }),
        ],
      }),
    ];
    const all = '10.0.0.1:8080 10.0.0.2:8080 10.0.0.3:8080 10.0.0.4:8080';
    expect(endpointsOf(objects)).toBe(`${all} | 10.0.0.1:8080`);
    expect(endpointsOf(objects, { nodeName: '' })).toBe(all);
  });

  test('IPv6 addresses keep their text up to 1.30', () => {
    const objects = [
      serviceManifest({ clusterIP: 'fd00::50' }),
      sliceManifest({ addressType: 'IPv6', endpoints: [at('FD00::A'), at('fd00::a')] }),
    ];
    expect(endpointsOf(objects, { minor: 30 }, 'IPv6')).toBe('[FD00::A]:8080 [fd00::a]:8080');
    expect(endpointsOf(objects, { minor: 31 }, 'IPv6')).toBe('[fd00::a]:8080');
    const source = (minor: number) =>
      statesOf(objects, { minor }).value.IPv6.servicePorts[0]?.endpoints.cluster[0]?.sourceAddress;
    expect([28, 29, 30, 31].map(source)).toEqual(['fd00::a', 'fd00::a', 'FD00::A', 'fd00::a']);
  });
});

describe('of two endpoints with the same address and port', () => {
  const draining = { conditions: { ready: false, serving: true, terminating: true } };
  const twice = (first: Manifest, second: Manifest) => [
    serviceManifest(LOCAL),
    sliceManifest({ endpoints: [at('10.0.0.1', first)] }, { name: 'web-a' }),
    sliceManifest({ endpoints: [at('10.0.0.1', second), at('10.0.0.2')] }, { name: 'web-b' }),
  ];
  const here = { nodeName: 'node-a' };
  const both = '10.0.0.1:8080 10.0.0.2:8080';

  test.each<[string, Manifest, Manifest, string, string]>([
    ['elsewhere, then here', {}, here, `${both} | 10.0.0.1:8080`, `${both} | 10.0.0.1:8080`],
    ['here, then elsewhere', here, {}, `${both} | 10.0.0.1:8080`, both],
    [
      'ready, then draining',
      here,
      { ...here, ...draining },
      '10.0.0.2:8080 | 10.0.0.1:8080',
      `${both} | 10.0.0.1:8080`,
    ],
    ['draining, then ready', draining, {}, '10.0.0.2:8080', both],
    [
      'draining here, then ready elsewhere',
      { ...here, ...draining },
      {},
      '10.0.0.2:8080 | 10.0.0.1:8080',
      both,
    ],
  ])(
    '%s: up to 1.35 a later local one wins, since 1.36 a later one that is not terminating',
    (_title, first, second, old, young) => {
      expect(endpointsOf(twice(first, second), { minor: 35 })).toBe(old);
      expect(endpointsOf(twice(first, second), { minor: 36 })).toBe(young);
    },
  );
});

describe('an address of the wrong family in a slice', () => {
  const objects = [serviceManifest({}), sliceManifest({ endpoints: [at('fd00::a'), at('10.0.0.1')] })];

  test('is skipped up to 1.32', () => {
    expect(statesOf(objects, { minor: 32 }).problems).toEqual([
      'warning wrong-family at endpoints[0].addresses[0]: fd00::a is skipped: the slice is of address type IPv4',
    ]);
    expect(endpointsOf(objects, { minor: 32 })).toBe('10.0.0.1:8080');
  });

  test('would make rules that do not load since 1.33', () => {
    expect(statesOf(objects, { minor: 33 }).problems).toEqual([
      'error wrong-family at endpoints[0].addresses[0]: fd00::a in a slice of address type IPv4; kube-proxy 1.33 does not check that and its rules would not load',
    ]);
  });
});

// The informers' label selectors; 1.36 has one for Services and another one for slices.
describe('labels that take an object away from kube-proxy, whatever their value:', () => {
  const label = (name: string) => ({
    'kubernetes.io/service-name': 'web',
    [`service.kubernetes.io/${name}`]: '',
  });
  const counts = (name: string, minor: number) => {
    const labels = label(name);
    const service = statesOf(
      [serviceManifest({}, { metadata: { name: 'web', namespace: 'shop', labels } })],
      {
        minor,
      },
    ).value.IPv4.servicePorts.length;
    const endpoints = endpointsOf([serviceManifest({}), sliceManifest({}, { labels })], { minor });
    return [service === 1, endpoints !== ''];
  };

  test.each([
    ['service-proxy-name', 28, [false, false]],
    ['service-proxy-name', 35, [false, false]],
    ['service-proxy-name', 36, [false, true]],
    ['headless', 28, [false, false]],
    ['headless', 35, [false, false]],
    ['headless', 36, [true, false]],
  ])('%s in 1.%i (on a Service, on a slice): %j', (name, minor, expected) => {
    expect(counts(name, minor)).toEqual(expected);
  });

  test('a note says so', () => {
    const labels = label('service-proxy-name');
    const metadata = { name: 'web', namespace: 'shop', labels };
    expect(statesOf([serviceManifest({}, { metadata })]).problems).toEqual([
      'note service-skipped at metadata.labels["service.kubernetes.io/service-proxy-name"]: kube-proxy 1.36 does not look at Services with the label service.kubernetes.io/service-proxy-name',
    ]);
    expect(
      statesOf([serviceManifest({}), sliceManifest({}, { labels: label('headless') })]).problems,
    ).toEqual([
      'note slice-skipped at metadata.labels["service.kubernetes.io/headless"]: kube-proxy 1.36 does not look at EndpointSlices with the label service.kubernetes.io/headless',
    ]);
  });
});

// Which annotation counts, and from which version on hints alone decide.
describe('hints need', () => {
  const objects = (annotations: Manifest) => [
    serviceManifest({}, { metadata: { name: 'web', namespace: 'shop', annotations } }),
    sliceManifest({
      endpoints: [
        at('10.0.0.1', { hints: { forZones: [{ name: 'zone-a' }] } }),
        at('10.0.0.2', { hints: { forZones: [{ name: 'zone-b' }] } }),
      ],
    }),
    nodeManifest({}, { metadata: { name: 'node-a', labels: { 'topology.kubernetes.io/zone': 'zone-a' } } }),
  ];
  const MODE = 'service.kubernetes.io/topology-mode';
  const HINTS = 'service.kubernetes.io/topology-aware-hints';
  const followed = (annotations: Manifest, minor: number, gates: Manifest = {}) => {
    const featureGates = new Map(Object.entries(gates).map(([name, on]) => [name, on === true]));
    return endpointsOf(objects(annotations), { minor, configuration: { featureGates } }) === '10.0.0.1:8080';
  };

  test.each<[Manifest, boolean]>([
    [{}, false],
    [{ [MODE]: 'Auto' }, true],
    [{ [MODE]: 'auto' }, true],
    [{ [MODE]: 'example.com/anything' }, true],
    [{ [MODE]: '' }, false],
    [{ [MODE]: 'Disabled' }, false],
    [{ [MODE]: 'disabled' }, false],
    [{ [MODE]: 'DISABLED' }, true],
    [{ [HINTS]: 'Auto' }, true],
    [{ [HINTS]: 'disabled', [MODE]: 'Auto' }, false],
    [{ [HINTS]: '', [MODE]: 'Auto' }, false],
    [{ [HINTS]: 'Auto', [MODE]: 'Disabled' }, true],
  ])('an annotation up to 1.30: %j: %s', (annotations, expected) => {
    expect(followed(annotations, 28)).toBe(expected);
    expect(followed(annotations, 30)).toBe(expected);
    expect(followed(annotations, 31)).toBe(true);
    expect(followed(annotations, 36)).toBe(true);
  });

  test.each<[number, Manifest, boolean]>([
    [28, { TopologyAwareHints: false }, false],
    [32, { TopologyAwareHints: false }, false],
    [33, { TopologyAwareHints: false }, true],
    [30, { ServiceTrafficDistribution: true }, true],
    [29, { ServiceTrafficDistribution: true }, false],
    [31, { ServiceTrafficDistribution: false }, false],
    [33, { ServiceTrafficDistribution: false }, true],
  ])('in 1.%i with the gates %j, without an annotation: %s', (minor, gates, expected) => {
    expect(followed({}, minor, gates)).toBe(expected);
  });
});

describe('Endpoints objects', () => {
  const endpoints = (metadata: Manifest = {}) => ({
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name: 'web', namespace: 'shop', ...metadata },
    subsets: [{ addresses: [{ ip: '10.0.0.9' }], ports: [{ port: 9090 }] }],
  });

  test('count where the Service has no slice', () => {
    expect(endpointsOf([serviceManifest({}), endpoints()])).toBe('10.0.0.9:9090');
  });

  test('are left aside, with a note, where it has one', () => {
    const objects = [serviceManifest({}), sliceManifest({}), endpoints()];
    expect(endpointsOf(objects)).toBe('10.244.1.10:8080');
    expect(statesOf(objects).problems).toEqual([
      'note endpoints-unused: the Service has EndpointSlices, which count',
    ]);
  });

  test('are named where no Service has a use for them', () => {
    expect(statesOf([serviceManifest({}), endpoints({ name: 'rancher.io-local-path' })]).problems).toEqual([
      'note endpoints-unused: no rules: there is no Service shop/rancher.io-local-path that gets any',
    ]);
  });

  // The controller copies the labels to the slices that it makes.
  test('hand on the labels that hide a slice from kube-proxy', () => {
    const objects = [serviceManifest({}), endpoints({ labels: { 'service.kubernetes.io/headless': '' } })];
    expect(endpointsOf(objects)).toBe('');
    expect(statesOf(objects).problems).toEqual([
      'note endpoints-unused: kube-proxy 1.36 does not look at EndpointSlices with the label service.kubernetes.io/headless',
    ]);
  });
});

test('a slice whose Service gets no rules is named', () => {
  expect(statesOf([sliceManifest({})]).problems).toEqual([
    'note slice-without-service at metadata.labels: no rules: there is no Service shop/web that gets any',
  ]);
});

test('service ports are sorted by namespace, name, port name and protocol, byte by byte', () => {
  const named = (namespace: string, name: string, ...ports: Manifest[]) =>
    serviceManifest({ ports }, { metadata: { namespace, name } });
  const objects = [
    named('b', 'a', { port: 1 }),
    named('a', 'b', { name: 'z', port: 1 }, { name: 'b', port: 1 }),
    named('a', 'a-b', { port: 1 }),
    named('a', 'a', { port: 1, protocol: 'UDP' }, { port: 1 }, { port: 1, protocol: 'SCTP' }),
    named('a-b', 'a', { port: 1 }),
  ];
  const order = (list: readonly Manifest[]) =>
    statesOf(list).value.IPv4.servicePorts.map((port) => `${port.servicePortName} ${port.protocol}`);
  expect(order(objects)).toEqual([
    'a/a SCTP',
    'a/a TCP',
    'a/a UDP',
    'a/a-b TCP',
    'a/b:b TCP',
    'a/b:z TCP',
    'a-b/a TCP',
    'b/a TCP',
  ]);
  expect(order(objects.toReversed())).toEqual(order(objects));
});

// `len(endpointsMap[svcName])` over all of svcPortMap: ready or not, but of service ports of this family alone.
test('endpoints are counted per service port, usable or not, after duplicates are gone', () => {
  const notReady = { conditions: { ready: false } };
  const objects = [
    serviceManifest({ ports: [{ port: 80 }, { name: 'b', port: 81 }] }),
    sliceManifest({
      ports: [
        { name: '', port: 8080, protocol: 'TCP' },
        { name: 'b', port: 8081, protocol: 'TCP' },
        { name: 'c', port: 8082, protocol: 'TCP' },
      ],
      endpoints: [at('10.0.0.1'), at('10.0.0.1'), at('10.0.0.2', notReady), at('10.0.0.3', notReady)],
    }),
    sliceManifest({}, { name: 'orphan', labels: { 'kubernetes.io/service-name': 'orphan' } }),
  ];
  const { IPv4, IPv6 } = statesOf(objects).value;
  expect([IPv4.totalEndpoints, IPv6.totalEndpoints]).toEqual([6, 0]);
});

describe('what the configuration makes of a state:', () => {
  const only = (state: ProxyState) => ({
    masqueradeAll: state.masqueradeAll,
    masqueradeBit: state.masqueradeBit,
    localhostNodePorts: state.localhostNodePorts,
    tcpBeLiberal: state.tcpBeLiberal,
  });

  test('defaults', () => {
    const { IPv4, IPv6 } = statesOf([]).value;
    const plain = { masqueradeAll: false, masqueradeBit: 14, tcpBeLiberal: false };
    expect(only(IPv4)).toEqual({ ...plain, localhostNodePorts: true });
    expect(only(IPv6)).toEqual({ ...plain, localhostNodePorts: false });
  });

  test.each<[KubeProxyConfiguration, boolean]>([
    [{ localhostNodePorts: false }, false],
    [{ nodePortAddresses: ['192.168.0.0/24'] }, false],
    [{ nodePortAddresses: ['192.168.0.0/24', '127.0.0.0/8'] }, true],
    [{ nodePortAddresses: ['fd00::/8'] }, true],
    [{ nodePortAddresses: ['127.0.0.0/8'], localhostNodePorts: false }, false],
  ])('localhost node ports with %j: %s', (configuration, expected) => {
    expect(statesOf([], { configuration }).value.IPv4.localhostNodePorts).toBe(expected);
  });

  test('tcpBeLiberal has an effect since 1.29', () => {
    const configuration = { tcpBeLiberal: true };
    expect(statesOf([], { configuration, minor: 28 }).value.IPv4.tcpBeLiberal).toBe(false);
    expect(statesOf([], { configuration, minor: 29 }).value.IPv6.tcpBeLiberal).toBe(true);
  });
});
