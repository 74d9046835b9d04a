import { describe, expect, test } from 'vitest';
import { documents, type Manifest, ORIGIN, sliceManifest, type Told, told } from '../../test/kube/support.ts';
import { type EndpointSlice, readEndpointSlice } from './endpoint-slice.ts';
import type { JsonObject } from './fields.ts';

function read(value: Manifest, apiVersion = 'discovery.k8s.io/v1'): Told<EndpointSlice | undefined> {
  return told((report) => readEndpointSlice(apiVersion, value as JsonObject, ORIGIN, report));
}

function readQuietly(value: Manifest, apiVersion?: string): EndpointSlice {
  const { value: slice, problems } = read(value, apiVersion);
  expect(problems).toEqual([]);
  if (slice === undefined) throw new Error('not read');
  return slice;
}

test('an EndpointSlice as kubectl prints it is read without a word', () => {
  const [value] = documents(`
addressType: IPv4
apiVersion: discovery.k8s.io/v1
endpoints:
- addresses: [10.244.1.10]
  conditions: {ready: true, serving: true, terminating: false}
  deprecatedTopology: {kubernetes.io/hostname: node-z}
  hints: {forNodes: [{name: node-a}], forZones: [{name: zone-a}, {name: zone-b}]}
  hostname: web-0
  nodeName: node-a
  targetRef: {kind: Pod, name: web-0, namespace: shop, uid: 1b3e0f4e-0000-4000-8000-000000000000}
  zone: zone-a
- addresses: [10.244.1.11]
  conditions: {}
kind: EndpointSlice
metadata:
  annotations: {endpoints.kubernetes.io/last-change-trigger-time: "2024-03-05T09:10:00Z"}
  creationTimestamp: "2024-03-05T09:10:00Z"
  generateName: web-
  generation: 2
  labels: {endpointslice.kubernetes.io/managed-by: endpointslice-controller.k8s.io, kubernetes.io/service-name: web}
  managedFields: [{apiVersion: discovery.k8s.io/v1, manager: kube-controller-manager, operation: Update}]
  name: web-x7k2p
  namespace: shop
  ownerReferences: [{apiVersion: v1, blockOwnerDeletion: true, controller: true, kind: Service, name: web, uid: x}]
  resourceVersion: "18446744073709551615"
  uid: 1b3e0f4e-0000-4000-8000-000000000001
ports:
- {appProtocol: http, name: http, port: 8080, protocol: TCP}
- {name: "", port: 53, protocol: UDP}
`);
  const unhinted = { zoneHints: [], nodeHints: [] };
  expect(readQuietly(value as Manifest)).toEqual({
    namespace: 'shop',
    name: 'web-x7k2p',
    serviceName: 'web',
    labels: new Map([['kubernetes.io/service-name', 'web']]),
    addressType: 'IPv4',
    ports: [
      { name: 'http', protocol: 'TCP', port: 8080 },
      { name: '', protocol: 'UDP', port: 53 },
    ],
    endpoints: [
      {
        address: '10.244.1.10',
        canonicalAddress: '10.244.1.10',
        family: 'IPv4',
        nodeName: 'node-a',
        ready: true,
        serving: true,
        terminating: false,
        zoneHints: ['zone-a', 'zone-b'],
        nodeHints: ['node-a'],
        index: 0,
      },
      {
        address: '10.244.1.11',
        canonicalAddress: '10.244.1.11',
        family: 'IPv4',
        nodeName: undefined,
        ready: true,
        serving: true,
        terminating: false,
        ...unhinted,
        index: 1,
      },
    ],
    origin: ORIGIN,
  });
});

test('lists and mappings that are null are empty', () => {
  expect(readQuietly(sliceManifest({ endpoints: null, ports: null }))).toMatchObject({
    endpoints: [],
    ports: [],
  });
  const endpoint = { addresses: ['10.0.0.1'], conditions: null, hints: null, nodeName: null, zone: null };
  expect(readQuietly(sliceManifest({ endpoints: [endpoint] })).endpoints).toMatchObject([
    { ready: true, serving: true, terminating: false, nodeName: undefined, zoneHints: [], nodeHints: [] },
  ]);
});

// newBaseEndpointInfo: `ready == nil || *ready`, `serving == nil || *serving`, `terminating != nil && *terminating`.
describe('conditions that are not set count as ready, serving and not terminating:', () => {
  test.each([
    [{}, true, true, false],
    [{ ready: null, serving: null, terminating: null }, true, true, false],
    [{ ready: false }, false, true, false],
    [{ ready: false, serving: true, terminating: true }, false, true, true],
    [{ ready: false, serving: false, terminating: true }, false, false, true],
    [{ terminating: true }, true, true, true],
  ])('%j', (conditions, ready, serving, terminating) => {
    const slice = readQuietly(sliceManifest({ endpoints: [{ addresses: ['10.0.0.1'], conditions }] }));
    expect(slice.endpoints).toMatchObject([{ ready, serving, terminating }]);
  });
});

describe('ports:', () => {
  const portsOf = (...ports: Manifest[]) => read(sliceManifest({ ports }));

  // What the API server fills in (SetDefaults_EndpointPort); kubectl always prints both.
  test('a port without a name or protocol is the unnamed TCP port', () => {
    for (const port of [{ port: 80 }, { port: 80, name: null, protocol: null }]) {
      expect(portsOf(port)).toMatchObject({
        value: { ports: [{ name: '', protocol: 'TCP', port: 80 }] },
        problems: [],
      });
    }
  });

  test('a port without a number is skipped, as kube-proxy does', () => {
    for (const port of [{ name: 'http' }, { name: 'http', port: null }, { name: 'http', port: 0 }]) {
      expect(portsOf(port, { name: 'x', port: 1 })).toMatchObject({
        value: { ports: [{ name: 'x' }] },
        problems: ['note slice-port-without-number at ports[0]: kube-proxy skips a port without a number'],
      });
    }
  });

  test.each([
    [
      { name: 'HTTP', port: 80 },
      'error invalid-port-name at ports[0].name: "HTTP" is not a port name (lower-case letters, digits and hyphens, at most 63 characters)',
    ],
    [
      { port: 65536 },
      'error wrong-type at ports[0].port: found 65536, expected a whole number from 1 to 65535',
    ],
    [
      { port: 'http' },
      'error wrong-type at ports[0].port: found "http", expected a whole number from 1 to 65535',
    ],
    [
      { port: 80, protocol: 'udp' },
      'error wrong-type at ports[0].protocol: found "udp", expected one of TCP, UDP, SCTP',
    ],
  ])('%j is refused', (port, problem) => {
    expect(portsOf(port).problems).toEqual([problem]);
  });
});

describe('endpoints:', () => {
  const endpointsOf = (...endpoints: Manifest[]) => read(sliceManifest({ endpoints }));

  test('only the first address counts', () => {
    const { value, problems } = endpointsOf({ addresses: ['10.0.0.2', '10.0.0.1'] });
    expect(value?.endpoints.map(({ address }) => address)).toEqual(['10.0.0.2']);
    expect(problems).toEqual([
      'warning more-than-one-address at endpoints[0].addresses[1]: kube-proxy uses the first address of an endpoint alone',
    ]);
  });

  test('one without an address is skipped, and places in messages count it', () => {
    for (const addresses of [[], null, undefined]) {
      const { value, problems } = endpointsOf({ addresses }, { addresses: ['10.0.0.1'] });
      expect(value?.endpoints).toMatchObject([{ address: '10.0.0.1', index: 1 }]);
      expect(problems).toEqual([
        'note endpoint-without-address at endpoints[0]: kube-proxy skips an endpoint without an address',
      ]);
    }
  });

  test.each([
    [{ addresses: [1] }, 'error wrong-type at endpoints[0].addresses[0]: found 1, expected a string'],
    [{ addresses: ['x'] }, 'error invalid-ip at endpoints[0].addresses[0]: "x" is not an IP address'],
    [
      { addresses: ['10.0.0.1:80\n-A'] },
      'error invalid-ip at endpoints[0].addresses[0]: "10.0.0.1:80\\n-A" is not an IP address',
    ],
    [
      { addresses: ['10.0.0.1'], conditions: { ready: 'true' } },
      'error wrong-type at endpoints[0].conditions.ready: found "true", expected true or false',
    ],
    [
      { addresses: ['10.0.0.1'], hints: { forZones: ['zone-a'] } },
      'error wrong-type at endpoints[0].hints.forZones[0]: found "zone-a", expected a mapping',
    ],
  ])('%j is refused', (endpoint, problem) => {
    const found = endpointsOf(endpoint).problems.filter((line) => line.startsWith('error'));
    expect(found).toEqual([problem]);
  });

  test('an address keeps its text beside the canonical one', () => {
    const slice = readQuietly(
      sliceManifest({ addressType: 'IPv6', endpoints: [{ addresses: ['FD00:0::A'] }] }),
    );
    expect(slice.endpoints).toMatchObject([
      { address: 'FD00:0::A', canonicalAddress: 'fd00::a', family: 'IPv6' },
    ]);
  });

  // KEP-752: before 1.20 the node stood in the topology.
  test('v1beta1 may name the node in its topology; v1 may not', () => {
    const manifest = sliceManifest({
      endpoints: [
        { addresses: ['10.0.0.1'], topology: { 'kubernetes.io/hostname': 'node-b' } },
        { addresses: ['10.0.0.2'], nodeName: 'node-a', topology: { 'kubernetes.io/hostname': 'node-b' } },
      ],
    });
    const nodes = (apiVersion: string) =>
      readQuietly(manifest, apiVersion).endpoints.map(({ nodeName }) => nodeName);
    expect(nodes('discovery.k8s.io/v1beta1')).toEqual(['node-b', 'node-a']);
    expect(nodes('discovery.k8s.io/v1')).toEqual([undefined, 'node-a']);
  });
});

describe('kube-proxy has no use for', () => {
  test.each([
    [
      'a slice without the label of its Service',
      sliceManifest({}, { labels: null }),
      'note slice-without-service at metadata.labels: without the label kubernetes.io/service-name the slice belongs to no Service',
    ],
    [
      'a slice whose label is empty',
      sliceManifest({}, { labels: { 'kubernetes.io/service-name': '' } }),
      'note slice-without-service at metadata.labels: without the label kubernetes.io/service-name the slice belongs to no Service',
    ],
    [
      'host names',
      sliceManifest({ addressType: 'FQDN', endpoints: [{ addresses: ['example.com'] }] }),
      'note slice-skipped at addressType: kube-proxy has no use for slices of host names',
    ],
  ])('%s', (_title, manifest, problem) => {
    expect(read(manifest)).toEqual({ value: undefined, problems: [problem] });
  });
});

test.each([
  [
    { addressType: null },
    'error no-address-type at addressType: the slice has no address type (one of IPv4, IPv6, FQDN)',
  ],
  [
    { addressType: 'ipv4' },
    'error wrong-type at addressType: found "ipv4", expected one of IPv4, IPv6, FQDN',
  ],
])('a slice with %j is refused', (fields, problem) => {
  expect(read(sliceManifest(fields))).toEqual({ value: undefined, problems: [problem] });
});

test('the name of a slice may have dots', () => {
  expect(readQuietly(sliceManifest({}, { name: 'web.v1-x' })).name).toBe('web.v1-x');
});
