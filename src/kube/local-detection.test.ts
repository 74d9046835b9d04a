import { expect, test } from 'vitest';
import { ORIGIN } from '../../test/kube/support.ts';
import { type CIDR, parseCIDR } from './ip.ts';
import type { KubeProxyConfiguration } from './kube-proxy-configuration.ts';
import { kubeProxyVersion } from './kube-proxy-version.ts';
import { localDetector } from './local-detection.ts';
import type { Node } from './node.ts';

function nodeWith(podCIDRs: readonly string[]): Node {
  return {
    name: 'node-a',
    zone: '',
    internalIPs: [],
    externalIPs: [],
    podCIDRs: podCIDRs.map((given) => ({ given, cidr: parseCIDR(given) as CIDR })),
    version: undefined,
    origin: ORIGIN,
  };
}

function detect(configuration: KubeProxyConfiguration, node?: Node, minor = 36): string {
  return (['IPv4', 'IPv6'] as const)
    .map((family) => {
      const found = localDetector(configuration, node, kubeProxyVersion(minor), family);
      if (found === undefined) return 'nothing';
      return found.by === 'source' ? `-s ${found.cidr}` : `-i ${found.name}`;
    })
    .join(', ');
}

// getLocalDetectors.
test.each<[KubeProxyConfiguration, string]>([
  [{}, 'nothing, nothing'],
  [{ clusterCIDRs: ['10.244.0.0/16'] }, '-s 10.244.0.0/16, nothing'],
  [{ clusterCIDRs: ['fd00::/56'] }, 'nothing, -s fd00::/56'],
  [{ clusterCIDRs: ['fd00::/56', '10.244.0.0/16'] }, '-s 10.244.0.0/16, -s fd00::/56'],
  [
    { detectLocalMode: 'ClusterCIDR', clusterCIDRs: ['10.0.0.0/8'], bridgeInterface: 'br0' },
    '-s 10.0.0.0/8, nothing',
  ],
  [{ detectLocalMode: 'BridgeInterface', bridgeInterface: 'br0' }, '-i br0, -i br0'],
  [
    { detectLocalMode: 'InterfaceNamePrefix', interfaceNamePrefix: 'veth', clusterCIDRs: ['10.0.0.0/8'] },
    '-i veth+, -i veth+',
  ],
  [{ detectLocalMode: 'NodeCIDR', clusterCIDRs: ['10.0.0.0/8'] }, 'nothing, nothing'],
])('%j: %s', (configuration, expected) => {
  expect(detect(configuration)).toBe(expected);
});

test('NodeCIDR takes the first pod CIDR of each family from the Node', () => {
  const node = nodeWith(['fd00:1::/64', '10.244.1.0/24', '10.244.2.0/24']);
  expect(detect({ detectLocalMode: 'NodeCIDR' }, node)).toBe('-s 10.244.1.0/24, -s fd00:1::/64');
  expect(detect({ detectLocalMode: 'NodeCIDR' }, nodeWith([]))).toBe('nothing, nothing');
});

test('a CIDR is written as it was given before 1.31', () => {
  const configuration = { clusterCIDRs: ['10.244.7.1/16', 'FD00::1/56'] };
  expect(detect(configuration, undefined, 30)).toBe('-s 10.244.7.1/16, -s FD00::1/56');
  expect(detect(configuration, undefined, 31)).toBe('-s 10.244.0.0/16, -s fd00::/56');
});
