import { expect, test } from 'vitest';
import {
  collect,
  type Manifest,
  nodeManifest,
  serviceManifest,
  sliceManifest,
  told,
} from '../../test/kube/support.ts';
import type { KubeProxyConfiguration } from './kube-proxy-configuration.ts';
import { kubeProxyVersion } from './kube-proxy-version.ts';
import { type NodeSettings, proxyStates } from './proxy-state.ts';
import { reportUnknowns } from './unknowns.ts';

const CIDR: KubeProxyConfiguration = { clusterCIDRs: ['10.244.0.0/16'] };

function unknowns(objects: readonly Manifest[], settings: Partial<NodeSettings> = {}): readonly string[] {
  return told((report) => {
    const cluster = collect(objects, () => {});
    const all: NodeSettings = {
      nodeName: 'node-a',
      node: cluster.nodes[0],
      interfaces: undefined,
      configuration: CIDR,
      version: kubeProxyVersion(36),
      ...settings,
    };
    reportUnknowns(
      cluster,
      proxyStates(cluster, all, () => {}),
      all,
      report,
    );
  }).problems;
}

const NODE = nodeManifest({ addresses: [{ type: 'InternalIP', address: '192.168.0.2' }] });
const LOCAL = { type: 'NodePort', externalTrafficPolicy: 'Local', ports: [{ port: 80, nodePort: 30080 }] };
const LOAD_BALANCER = serviceManifest(
  { type: 'LoadBalancer', loadBalancerSourceRanges: ['192.0.2.0/24'] },
  { status: { loadBalancer: { ingress: [{ ip: '203.0.113.1' }] } } },
);

test('nothing is said where all is known, or where it makes no difference', () => {
  expect(unknowns([NODE, serviceManifest(LOCAL), sliceManifest({})])).toEqual([]);
  expect(unknowns([serviceManifest({})])).toEqual([]);
  expect(unknowns([], { nodeName: '', configuration: {} })).toEqual([]);
});

test('no node and a policy Local', () => {
  expect(unknowns([serviceManifest(LOCAL)], { nodeName: '' })).toEqual([
    'warning no-node: no node is named, so no endpoint is local; shop/web with a traffic policy Local',
  ]);
  const two = { ...LOCAL, ports: [...LOCAL.ports, { name: 'b', port: 81, nodePort: 30081 }] };
  expect(unknowns([serviceManifest(two)], { nodeName: '' })).toEqual([
    'warning no-node: no node is named, so no endpoint is local; 2 service ports (shop/web, …) with a traffic policy Local',
  ]);
});

test('hints for zones and no Node', () => {
  const hinted = sliceManifest({
    endpoints: [{ addresses: ['10.0.0.1'], hints: { forZones: [{ name: 'zone-a' }] } }],
  });
  expect(unknowns([serviceManifest({}), hinted])).toEqual([
    'warning no-zone: endpoints have topology hints, but the zone of the node is not known; hints for zones are not followed',
  ]);
  expect(unknowns([NODE, serviceManifest({}), hinted])).toEqual([]);
});

test('source ranges and no address of the node', () => {
  expect(unknowns([LOAD_BALANCER])).toEqual([
    'warning no-node-address: the address of the node is not known, so shop/web may lack the rules that let the node itself through its source ranges',
  ]);
  const bindAddress = { family: 'IPv4', text: '192.168.0.2' } as const;
  expect(unknowns([LOAD_BALANCER], { configuration: { ...CIDR, bindAddress } })).toEqual([]);
});

test('no cluster CIDR of a family that has Services', () => {
  const dual = serviceManifest({ clusterIPs: ['10.96.0.50', 'fd00::50'], ipFamilies: ['IPv4', 'IPv6'] });
  const warning = (family: string) =>
    `warning no-cluster-cidr: no ${family} cluster CIDR is known: ${family} clients outside of the cluster that use cluster IPs are not masqueraded`;
  expect(unknowns([serviceManifest({})], { configuration: {} })).toEqual([warning('IPv4')]);
  expect(unknowns([dual], { configuration: CIDR })).toEqual([warning('IPv6')]);
  expect(unknowns([dual], { configuration: { masqueradeAll: true } })).toEqual([]);
  const bridge = { detectLocalMode: 'BridgeInterface', bridgeInterface: 'br0' } as const;
  expect(unknowns([dual], { configuration: bridge })).toEqual([]);
});

test('NodeCIDR and no pod CIDR', () => {
  const configuration = { detectLocalMode: 'NodeCIDR' } as const;
  expect(unknowns([NODE, serviceManifest({})], { configuration })).toEqual([
    'warning no-pod-cidr: detectLocalMode is NodeCIDR, but no pod CIDR of the node is known: traffic to cluster IPs is not masqueraded',
  ]);
});

test('nodePortAddresses and no address that they match', () => {
  const configuration = { ...CIDR, nodePortAddresses: ['10.0.0.0/8'] };
  const open = serviceManifest({ type: 'NodePort', ports: [{ port: 80, nodePort: 30080 }] });
  expect(unknowns([open], { configuration })).toEqual([
    'warning no-interfaces: nodePortAddresses is set, but no IPv4 address of the node is known: its node ports may be missing',
  ]);
  expect(unknowns([NODE, open], { configuration })).toEqual([
    'warning no-matching-interface: nodePortAddresses matches no IPv4 address of the node: its IPv4 node ports are not reachable',
  ]);
  expect(unknowns([NODE, serviceManifest({})], { configuration })).toEqual([]);
});
