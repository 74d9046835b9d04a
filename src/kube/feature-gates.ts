import type { KubeProxyConfiguration } from './kube-proxy-configuration.ts';
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

/** A configuration that says nothing of gates. */
export const NO_GATES: ReadonlyMap<string, boolean> = new Map();

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

/** Gates that have no say: of some, kube-proxy would not even start. */
export function reportFeatureGates(
  { featureGates }: KubeProxyConfiguration,
  { behaviour, text }: KubeProxyVersion,
  tell: (gate: string, severity: 'warning' | 'note', code: string, message: string) => void,
): void {
  for (const [name, on] of featureGates ?? []) {
    const gate = behaviour.featureGates[name];
    if (name === 'AllAlpha' || name === 'AllBeta') continue;
    if (gate === undefined) {
      const message = `no feature gate of kube-proxy ${text} that shapes rules; kube-proxy does not start with one that it does not know`;
      tell(name, 'note', 'feature-gate-unused', message);
    } else if (gate.stage === 'locked' && !gate.default) {
      const message = `kube-proxy ${text} does not know this feature gate and does not start with it; it is off here`;
      tell(name, 'warning', 'feature-gate-unknown', message);
    } else if (gate.stage === 'locked' && gate.default !== on) {
      const message = `kube-proxy ${text} has this feature gate locked to ${gate.default} and does not start otherwise; compiled as ${gate.default}`;
      tell(name, 'warning', 'feature-gate-locked', message);
    }
  }
}
