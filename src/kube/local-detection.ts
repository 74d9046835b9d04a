import type { IPFamily } from './ip.ts';
import { type CIDR, parseCIDR } from './ip.ts';
import type { KubeProxyConfiguration } from './kube-proxy-configuration.ts';
import type { KubeProxyVersion } from './kube-proxy-version.ts';
import type { Node } from './node.ts';

/**
 * How kube-proxy tells traffic of this node's pods (or of the cluster's) from other traffic; undefined: it
 * cannot tell. Source: kube-proxy's LocalTrafficDetector, KEP-2450.
 */
export type LocalDetector =
  | { readonly by: 'source'; readonly cidr: string }
  | { readonly by: 'interface'; readonly name: string }
  | undefined;

/** The detector of one family; NodeCIDR needs the Node object. */
export function localDetector(
  configuration: KubeProxyConfiguration,
  node: Node | undefined,
  version: KubeProxyVersion,
  family: IPFamily,
): LocalDetector {
  switch (configuration.detectLocalMode ?? 'ClusterCIDR') {
    case 'ClusterCIDR':
      return bySource(
        (configuration.clusterCIDRs ?? []).map((given) => ({ given, cidr: parseCIDR(given) })),
        version,
        family,
      );
    case 'NodeCIDR':
      return bySource(node?.podCIDRs ?? [], version, family);
    case 'BridgeInterface':
      return byInterface(configuration.bridgeInterface);
    case 'InterfaceNamePrefix':
      return byInterface(configuration.interfaceNamePrefix && `${configuration.interfaceNamePrefix}+`);
  }
}

function bySource(
  cidrs: readonly { readonly given: string; readonly cidr: CIDR | undefined }[],
  version: KubeProxyVersion,
  family: IPFamily,
): LocalDetector {
  const found = cidrs.find(({ cidr }) => cidr?.family === family);
  if (found?.cidr === undefined) return undefined;
  const canonical = version.behaviour.clusterCIDR === 'canonical';
  return { by: 'source', cidr: canonical ? found.cidr.text : found.given };
}

function byInterface(name: string | undefined): LocalDetector {
  return name === undefined ? undefined : { by: 'interface', name };
}
