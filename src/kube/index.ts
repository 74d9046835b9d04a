export {
  type Cluster,
  type CollectorOptions,
  clusterCollector,
  type FoundConfiguration,
  type InputObject,
} from './cluster.ts';
export type { Endpoint, EndpointSelection } from './endpoint-selection.ts';
export type { EndpointSlice } from './endpoint-slice.ts';
export {
  type CIDR,
  cidrContains,
  type IPAddress,
  type IPFamily,
  isLoopback,
  parseCIDR,
  parseIP,
} from './ip.ts';
export type { IpvsSettings } from './ipvs-settings.ts';
export { isCompiledKind, isReadKind } from './kinds.ts';
export {
  type KubeProxyConfiguration,
  type ProxyMode,
  readKubeProxyConfiguration,
} from './kube-proxy-configuration.ts';
export {
  behaviourChanges,
  isBefore,
  KNOWN_VERSIONS,
  type KubeProxyVersion,
  kubeProxyVersion,
  NEWEST_VERSION,
  OLDEST_VERSION,
  parseMinor,
  placeOfMinor,
  type VersionChange,
} from './kube-proxy-version.ts';
export type { LocalDetector } from './local-detection.ts';
export type { Node } from './node.ts';
export { type NetworkInterface, nodeIPs } from './node-addresses.ts';
export { type PodEndpointOptions, withPodEndpoints } from './pod-endpoints.ts';
export type { Protocol } from './protocol.ts';
export { type NodeSettings, type ProxyState, proxyStates } from './proxy-state.ts';
export type { Service, SkippedService } from './service.ts';
export { DEFAULT_NODE_PORTS, type ServiceRanges, withServiceAddresses } from './service-addresses.ts';
export { type ServicePort, servicePortName, usesEndpoints } from './service-port.ts';
export {
  type ResolvedSettings,
  resolveSettings,
  type SettingsFallback,
  type SettingsRequest,
} from './settings.ts';
export { reportUnknowns } from './unknowns.ts';
