import { expect, test } from 'vitest';
import { documents, type Manifest, ORIGIN, type Told, told } from '../../test/kube/support.ts';
import type { EndpointSlice } from './endpoint-slice.ts';
import { readEndpoints } from './endpoints.ts';
import type { JsonObject } from './fields.ts';

function read(value: Manifest): Told<readonly EndpointSlice[]> {
  return told((report) => readEndpoints(value as JsonObject, ORIGIN, report));
}

function endpointsManifest(subsets: readonly Manifest[] | null, metadata: Manifest = {}): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { namespace: 'shop', name: 'web', ...metadata },
    subsets,
  };
}

// newEndpointSlice and addressToEndpoint of the EndpointSliceMirroring controller (KEP-752).
test('each subset and family becomes a slice; ready says in which list an address stood', () => {
  const [value] = documents(`
apiVersion: v1
kind: Endpoints
metadata: {name: web, namespace: shop, labels: {app: web}, resourceVersion: "1"}
subsets:
- addresses:
  - {ip: 10.244.1.10, nodeName: node-a, targetRef: {kind: Pod, name: web-0, namespace: shop}}
  - {ip: "FD00::A", hostname: web-1}
  notReadyAddresses:
  - {ip: 10.244.1.11, nodeName: null}
  ports:
  - {name: http, port: 8080, protocol: TCP, appProtocol: http}
  - {name: dns, port: 53, protocol: UDP}
- addresses: [{ip: 10.244.1.12}]
  notReadyAddresses: null
  ports: [{port: 9090}]
`);
  const plain = { serving: true, terminating: false, zoneHints: [], nodeHints: [] };
  const common = { namespace: 'shop', serviceName: 'web', labels: new Map(), origin: ORIGIN };
  const ports = [
    { name: 'http', protocol: 'TCP', port: 8080 },
    { name: 'dns', protocol: 'UDP', port: 53 },
  ];
  expect(read(value as Manifest)).toEqual({
    problems: [],
    value: [
      {
        ...common,
        name: 'web subset 0 IPv4',
        addressType: 'IPv4',
        ports,
        endpoints: [
          {
            address: '10.244.1.10',
            canonicalAddress: '10.244.1.10',
            family: 'IPv4',
            nodeName: 'node-a',
            ready: true,
            index: 0,
            ...plain,
          },
          {
            address: '10.244.1.11',
            canonicalAddress: '10.244.1.11',
            family: 'IPv4',
            nodeName: undefined,
            ready: false,
            index: 0,
            ...plain,
          },
        ],
      },
      {
        ...common,
        name: 'web subset 0 IPv6',
        addressType: 'IPv6',
        ports,
        endpoints: [
          {
            address: 'FD00::A',
            canonicalAddress: 'fd00::a',
            family: 'IPv6',
            nodeName: undefined,
            ready: true,
            index: 1,
            ...plain,
          },
        ],
      },
      {
        ...common,
        name: 'web subset 1 IPv4',
        addressType: 'IPv4',
        ports: [{ name: '', protocol: 'TCP', port: 9090 }],
        endpoints: [
          {
            address: '10.244.1.12',
            canonicalAddress: '10.244.1.12',
            family: 'IPv4',
            nodeName: undefined,
            ready: true,
            index: 0,
            ...plain,
          },
        ],
      },
    ],
  });
});

test('subsets that are null or have no addresses say that there are no endpoints', () => {
  const none = {
    namespace: 'shop',
    name: 'web without subsets',
    serviceName: 'web',
    labels: new Map(),
    addressType: 'IPv4',
    ports: [],
    endpoints: [],
    origin: ORIGIN,
  };
  expect(read(endpointsManifest(null))).toEqual({ value: [none], problems: [] });
  expect(read(endpointsManifest([{ addresses: null, ports: null }]))).toEqual({
    value: [none],
    problems: [],
  });
});

test.each([
  [
    { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
    'note endpoints-skipped at metadata.labels["endpointslice.kubernetes.io/skip-mirror"]: not mirrored into EndpointSlices, so kube-proxy never sees it',
  ],
  [
    { annotations: { 'control-plane.alpha.kubernetes.io/leader': '{}' } },
    'note endpoints-skipped at metadata.annotations["control-plane.alpha.kubernetes.io/leader"]: a leader election record, no endpoints of a Service',
  ],
])('%j keeps the controller from mirroring', (metadata, problem) => {
  expect(read(endpointsManifest([{ addresses: [{ ip: '10.0.0.1' }] }], metadata))).toEqual({
    value: [],
    problems: [problem],
  });
});

test('the label has to say true', () => {
  const labels = { 'endpointslice.kubernetes.io/skip-mirror': 'false' };
  expect(read(endpointsManifest([{ addresses: [{ ip: '10.0.0.1' }] }], { labels })).value).toHaveLength(1);
});

// Names of Endpoints are subdomains (ValidateEndpointsName): provisioners keep their leader records in such.
test('a name may have dots', () => {
  const metadata = {
    name: 'rancher.io-local-path',
    annotations: { 'control-plane.alpha.kubernetes.io/leader': '{}' },
  };
  expect(read(endpointsManifest(null, metadata)).problems).toEqual([
    'note endpoints-skipped at metadata.annotations["control-plane.alpha.kubernetes.io/leader"]: a leader election record, no endpoints of a Service',
  ]);
});

test.each([
  [
    { addresses: [{ ip: 'web' }] },
    'error invalid-ip at subsets[0].addresses[0].ip: "web" is not an IP address',
  ],
  [
    { notReadyAddresses: [{}] },
    'error invalid-ip at subsets[0].notReadyAddresses[0].ip: "" is not an IP address',
  ],
  [
    { ports: [{ port: 0 }] },
    'error wrong-type at subsets[0].ports[0].port: found 0, expected a whole number from 1 to 65535',
  ],
  [
    { ports: [{ name: 'A', port: 1 }] },
    'error invalid-port-name at subsets[0].ports[0].name: "A" is not a port name (lower-case letters, digits and hyphens, at most 63 characters)',
  ],
])('%j is refused', (subset, problem) => {
  expect(read(endpointsManifest([subset])).problems).toEqual([problem]);
});
