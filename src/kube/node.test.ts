import { describe, expect, test } from 'vitest';
import { documents, type Manifest, nodeManifest, ORIGIN, type Told, told } from '../../test/kube/support.ts';
import type { JsonObject } from './fields.ts';
import { type Node, readNode } from './node.ts';

function read(value: Manifest): Told<Node | undefined> {
  return told((report) => readNode(value as JsonObject, ORIGIN, report));
}

test('a Node as kubectl prints it is read without a word', () => {
  const [value] = documents(`
apiVersion: v1
kind: Node
metadata:
  annotations: {node.alpha.kubernetes.io/ttl: "0"}
  labels:
    kubernetes.io/hostname: ip-192-168-10-11.eu-central-1.compute.internal
    node-role.kubernetes.io/control-plane: ""
    topology.kubernetes.io/zone: eu-central-1a
    failure-domain.beta.kubernetes.io/zone: elsewhere
  name: ip-192-168-10-11.eu-central-1.compute.internal
spec:
  podCIDR: 10.244.1.0/24
  podCIDRs: [10.244.1.0/24, "FD00:10:244:1::1/64"]
  providerID: aws:///eu-central-1a/i-0123456789abcdef0
  taints: null
status:
  addresses:
  - {address: 192.168.10.11, type: InternalIP}
  - {address: 203.0.113.11, type: ExternalIP}
  - {address: "fd00::11", type: InternalIP}
  - {address: ip-192-168-10-11.eu-central-1.compute.internal, type: InternalDNS}
  - {address: ec2-203-0-113-11.example.com, type: ExternalDNS}
  - {address: ip-192-168-10-11, type: Hostname}
  allocatable: {cpu: "4", memory: 16Gi}
  nodeInfo: {kubeProxyVersion: v1.30.5-eks-1, kubeletVersion: v1.30.5-eks-1, operatingSystem: linux}
`);
  const cidr4 = { family: 'IPv4', text: '10.244.1.0/24', prefixLength: 24, bytes: [10, 244, 1, 0] };
  expect(read(value as Manifest)).toEqual({
    problems: [],
    value: {
      name: 'ip-192-168-10-11.eu-central-1.compute.internal',
      zone: 'eu-central-1a',
      internalIPs: [
        { family: 'IPv4', text: '192.168.10.11' },
        { family: 'IPv6', text: 'fd00::11' },
      ],
      externalIPs: [{ family: 'IPv4', text: '203.0.113.11' }],
      podCIDRs: [
        { given: '10.244.1.0/24', cidr: cidr4 },
        {
          given: 'FD00:10:244:1::1/64',
          cidr: expect.objectContaining({ family: 'IPv6', text: 'fd00:10:244:1::/64' }),
        },
      ],
      version: 'v1.30.5-eks-1',
      hasLabels: expect.any(Function),
      origin: ORIGIN,
    },
  });
});

test('a Node may say nothing but its name', () => {
  expect(read({ metadata: { name: 'node-a' }, spec: null, status: null })).toEqual({
    problems: [],
    value: {
      name: 'node-a',
      zone: '',
      internalIPs: [],
      externalIPs: [],
      podCIDRs: [],
      version: undefined,
      hasLabels: expect.any(Function),
      origin: ORIGIN,
    },
  });
});

test('podCIDR counts where podCIDRs is not there', () => {
  const cidrs = (spec: Manifest) =>
    read(nodeManifest({}, { spec })).value?.podCIDRs.map(({ cidr }) => cidr.text);
  expect(cidrs({ podCIDR: '10.244.1.0/24' })).toEqual(['10.244.1.0/24']);
  expect(cidrs({ podCIDR: '10.244.1.0/24', podCIDRs: ['10.244.2.0/24'] })).toEqual(['10.244.2.0/24']);
  expect(cidrs({ podCIDR: '', podCIDRs: null })).toEqual([]);
});

// Since 1.33 the API server leaves kubeProxyVersion empty (KEP-4004).
test('the version is that of kube-proxy, or else that of the kubelet', () => {
  const version = (nodeInfo: Manifest | null) => read(nodeManifest({ nodeInfo })).value?.version;
  expect(version({ kubeProxyVersion: 'v1.29.0', kubeletVersion: 'v1.30.0' })).toBe('v1.29.0');
  expect(version({ kubeProxyVersion: '', kubeletVersion: 'v1.33.1' })).toBe('v1.33.1');
  expect(version({ kubeletVersion: 'v1.34.0' })).toBe('v1.34.0');
  expect(version(null)).toBeUndefined();
});

// GetNodeHostIPs skips what it cannot parse.
test('an address or pod CIDR that cannot be read is left out with a warning', () => {
  const { value, problems } = read(
    nodeManifest(
      {
        addresses: [
          { type: 'InternalIP', address: '' },
          { type: 'InternalIP', address: '192.168.010.011' },
        ],
      },
      { spec: { podCIDRs: ['10.244.1.0'] } },
    ),
  );
  expect(value).toMatchObject({ internalIPs: [{ family: 'IPv4', text: '192.168.10.11' }], podCIDRs: [] });
  expect(problems).toEqual([
    'warning invalid-ip at status.addresses[0].address: "" is not an IP address and is left out',
    'warning invalid-cidr at spec.podCIDRs[0]: "10.244.1.0" is not a CIDR such as 10.244.1.0/24 and is left out',
  ]);
});

test('a Node needs the name of a node', () => {
  expect(read({ metadata: { name: 'Node_A' } }).problems).toEqual([
    'error invalid-name at metadata.name: "Node_A" is not a name of a Node (lower-case letters, digits, dots and hyphens, at most 253 characters)',
  ]);
});

describe('labels', () => {
  const node = (labels: Manifest, nodeInfo: Manifest = {}) =>
    read(nodeManifest({ nodeInfo }, { metadata: { name: 'node-a', labels } })).value;

  test.each<[string, Readonly<Record<string, string>>, boolean]>([
    ['none is wanted', {}, true],
    ['both', { disk: 'ssd', rack: '' }, true],
    ['another value', { disk: 'hdd' }, false],
    ['one of two', { disk: 'ssd', pool: 'a' }, false],
    ['an empty value is not one that is not there', { pool: '' }, false],
    ['those of the kubelet', { 'kubernetes.io/os': 'linux', 'kubernetes.io/hostname': 'node-a' }, true],
    ['another system', { 'kubernetes.io/os': 'windows' }, false],
  ])('%s', (_title, wanted, expected) => {
    const found = node({ disk: 'ssd', rack: '' })?.hasLabels?.(new Map(Object.entries(wanted)));
    expect(found).toBe(expected);
  });

  test('of a Node count before what the kubelet would set', () => {
    const wanted = new Map([['kubernetes.io/os', 'windows']]);
    expect(node({ 'kubernetes.io/os': 'windows' })?.hasLabels?.(wanted)).toBe(true);
    expect(node({}, { operatingSystem: 'windows' })?.hasLabels?.(wanted)).toBe(true);
  });
});
