import type { KubeProxyVersion } from './kube-proxy-version.ts';

export type FeatureGateName =
  | 'AllowServiceExternalIPs'
  | 'ExternalPolicyForExternalIP'
  | 'LoadBalancerIPMode'
  | 'PreferSameTrafficDistribution'
  | 'ProxyTerminatingEndpoints'
  | 'ServiceInternalTrafficPolicy'
  | 'ServiceTrafficDistribution'
  | 'TopologyAwareHints';

/**
 * Whether a gate is on: what the configuration says of it, else of all gates of its stage (`AllAlpha`,
 * `AllBeta`), else its default; a gate that the version does not let one change keeps its default.
 */
export function gateIsOn(
  version: KubeProxyVersion,
  configured: ReadonlyMap<string, boolean>,
  name: FeatureGateName,
): boolean {
  const gate = version.behaviour.featureGates[name];
  if (gate === undefined) return false;
  switch (gate.stage) {
    case 'alpha':
      return configured.get(name) ?? configured.get('AllAlpha') ?? gate.default;
    case 'beta':
      return configured.get(name) ?? configured.get('AllBeta') ?? gate.default;
    case 'deprecated':
      return configured.get(name) ?? gate.default;
    case 'locked':
      return gate.default;
  }
}
