import type { Report } from '../diagnostics.ts';
import type { Endpoint, EndpointSelection } from './endpoint-selection.ts';
import { gateIsOn, NO_GATES } from './feature-gates.ts';
import { report as reportAt } from './fields.ts';
import type { CIDR, IPAddress, IPFamily } from './ip.ts';
import type { KubeProxyConfiguration } from './kube-proxy-configuration.ts';
import type { KubeProxyVersion } from './kube-proxy-version.ts';
import type { Protocol } from './protocol.ts';
import type { GivenAddress, Service } from './service.ts';

/** One port of one Service in one family: kube-proxy's ServicePort. Addresses are texts to be written. */
export interface ServicePort {
  readonly namespace: string;
  readonly serviceName: string;
  readonly portName: string;
  readonly protocol: Protocol;
  /** `namespace/name:port`, or `namespace/name` where the port has no name. */
  readonly servicePortName: string;
  readonly clusterIP: string;
  readonly port: number;
  readonly nodePort: number;
  readonly externalIPs: readonly string[];
  readonly loadBalancerVIPs: readonly string[];
  readonly sourceRanges: readonly { readonly text: string; readonly cidr: CIDR }[];
  readonly healthCheckNodePort: number;
  readonly affinitySeconds: number | undefined;
  readonly internalPolicyLocal: boolean;
  readonly externalPolicyLocal: boolean;
  /** Reachable by more than its cluster IP: a node port, an external IP or a load-balancer IP. */
  readonly externallyAccessible: boolean;
  readonly endpoints: EndpointSelection;
  /** All endpoints on this node, usable or not. */
  readonly localEndpoints: readonly Endpoint[];
}

/** All that is known of a service port before its endpoints are chosen. */
export type ServicePortWithoutEndpoints = Omit<ServicePort, 'endpoints' | 'localEndpoints'>;

/**
 * The service ports of a Service in one family; none where it has no cluster IP of that family.
 * Source: newBaseServiceInfo and GetClusterIPByFamily.
 */
export function servicePorts(
  service: Service,
  family: IPFamily,
  version: KubeProxyVersion,
  configuration: KubeProxyConfiguration,
): ServicePortWithoutEndpoints[] {
  const clusterIP = service.clusterIPs.find((candidate) => candidate.family === family);
  if (clusterIP === undefined) return [];
  const gates = configuration.featureGates ?? NO_GATES;
  const write = ({ given, ip }: GivenAddress) =>
    version.behaviour.serviceAddresses === 'canonical' ? ip.text : given;
  const ofFamily = ({ ip }: { ip: IPAddress }) => ip.family === family;
  const modesCount = gateIsOn(version, gates, 'LoadBalancerIPMode');
  const externalIPs = service.externalIPs.filter(ofFamily).map(write);
  const loadBalancerVIPs = service.loadBalancerIPs
    .filter((ingress) => ofFamily(ingress) && !(modesCount && ingress.ipMode === 'Proxy'))
    .map(write);
  const externalTrafficPossible =
    service.type === 'LoadBalancer' ||
    service.type === 'NodePort' ||
    (version.behaviour.externalPolicyOfClusterIPServices && service.externalIPs.length > 0);
  const externalPolicyLocal = externalTrafficPossible && service.externalTrafficPolicy === 'Local';
  // The gate empties the list that rules are made from, and nothing else (1.36).
  const usedExternalIPs = gateIsOn(version, gates, 'AllowServiceExternalIPs') ? externalIPs : [];
  const ranges = sourceRanges(service, family, version);
  const internalPolicyLocal =
    service.internalTrafficPolicy === 'Local' && gateIsOn(version, gates, 'ServiceInternalTrafficPolicy');
  const { unnamedPort } = version.behaviour;
  const healthCheckNodePort =
    service.type === 'LoadBalancer' && externalPolicyLocal ? service.healthCheckNodePort : 0;
  // Field by field: a spread of what the ports have in common takes 2 µs, longer than all the rest.
  return service.ports.map((port) => ({
    namespace: service.namespace,
    serviceName: service.name,
    portName: port.name,
    protocol: port.protocol,
    servicePortName: servicePortName(service.namespace, service.name, port.name, unnamedPort),
    clusterIP: clusterIP.ip.text,
    port: port.port,
    nodePort: port.nodePort,
    externalIPs: usedExternalIPs,
    loadBalancerVIPs,
    sourceRanges: ranges,
    healthCheckNodePort,
    affinitySeconds: service.affinitySeconds,
    internalPolicyLocal,
    externalPolicyLocal,
    externallyAccessible: port.nodePort !== 0 || loadBalancerVIPs.length > 0 || externalIPs.length > 0,
  }));
}

/** kube-proxy's ServicePortName.String, which up to 1.18 had a colon behind the name without a port as well. */
export function servicePortName(
  namespace: string,
  name: string,
  portName: string,
  unnamedPort: KubeProxyVersion['behaviour']['unnamedPort'] = 'namespace/name',
): string {
  return portName === '' && unnamedPort === 'namespace/name'
    ? `${namespace}/${name}`
    : `${namespace}/${name}:${portName}`;
}

/** Whether traffic under policy Cluster, and under policy Local, can arrive at the service port. */
export function usesEndpoints(port: ServicePortWithoutEndpoints): { cluster: boolean; local: boolean } {
  return {
    // Also under external policy Local: pods and the node itself are sent to all endpoints.
    cluster: !port.internalPolicyLocal || port.externallyAccessible,
    local: port.internalPolicyLocal || (port.externalPolicyLocal && port.externallyAccessible),
  };
}

function sourceRanges(
  service: Service,
  family: IPFamily,
  version: KubeProxyVersion,
): ServicePort['sourceRanges'] {
  const ranges = service.sourceRanges.filter(({ cidr }) => cidr.family === family);
  if (version.behaviour.zeroSourceRangeMeansAll && ranges.some(({ cidr }) => cidr.prefixLength === 0))
    return [];
  const canonical = version.behaviour.sourceRanges === 'canonical';
  return ranges.map(({ given, cidr }) => ({ text: canonical ? cidr.text : given, cidr }));
}

/** As most Services of a large cluster: then there is nothing to say about other addresses. */
function hasOnlyClusterIPs({ externalIPs, loadBalancerIPs, sourceRanges }: Service): boolean {
  return externalIPs.length === 0 && loadBalancerIPs.length === 0 && sourceRanges.length === 0;
}

/** What surprises people about a Service's addresses: those of a family that it does not have. */
export function reportUnusedAddresses(service: Service, report: Report): void {
  if (hasOnlyClusterIPs(service)) return;
  const context = { object: `Service ${service.namespace}/${service.name}`, origin: service.origin, report };
  const families = new Set(service.clusterIPs.map(({ family }) => family));
  const tell = (kind: string, path: readonly (string | number)[], text: string, family: IPFamily) =>
    reportAt(
      context,
      'warning',
      'wrong-family',
      path,
      `${kind} ${text} is ignored: the Service has no ${family} cluster IP`,
    );
  service.externalIPs.forEach(({ given, ip }, index) => {
    if (!families.has(ip.family)) tell('external IP', ['spec', 'externalIPs', index], given, ip.family);
  });
  service.loadBalancerIPs.forEach(({ given, ip }) => {
    if (!families.has(ip.family))
      tell('load-balancer IP', ['status', 'loadBalancer', 'ingress'], given, ip.family);
  });
  for (const family of families) {
    const open =
      service.sourceRanges.length > 0 &&
      service.loadBalancerIPs.some(({ ip }) => ip.family === family) &&
      !service.sourceRanges.some(({ cidr }) => cidr.family === family);
    if (open) {
      reportAt(
        context,
        'warning',
        'source-ranges-of-other-family',
        ['spec', 'loadBalancerSourceRanges'],
        `no source range is ${family}, so the ${family} load-balancer IPs are open to all`,
      );
    }
  }
}

/**
 * Addresses that iptables reads otherwise than kube-proxy, or not at all, where a version writes them as they were
 * given: IPv4 addresses written as IPv6 ones (`::ffff:192.0.2.1`), and parts with a leading zero, which iptables takes
 * for octal numbers (xtables_numeric_to_ipaddr) and kube-proxy for decimal ones.
 */
export function reportMisreadAddresses(service: Service, version: KubeProxyVersion, report: Report): void {
  if (hasOnlyClusterIPs(service)) return;
  const context = { object: `Service ${service.namespace}/${service.name}`, origin: service.origin, report };
  const { serviceAddresses, sourceRanges } = version.behaviour;
  const families = new Set(service.clusterIPs.map(({ family }) => family));
  const checkAddress = ({ given, ip }: GivenAddress, path: readonly (string | number)[]) => {
    // Such an address gets no rules.
    if (!families.has(ip.family)) return;
    if (ip.family === 'IPv6' || !given.includes(':')) {
      check(given, path);
      return;
    }
    reportAt(
      context,
      'error',
      'mapped-address',
      path,
      `kube-proxy ${version.text} writes ${given} as it is, which iptables does not take: its rules would not load`,
      `write ${ip.text}`,
    );
  };
  const check = (given: string, path: readonly (string | number)[]) => {
    const parts = given.split('/')[0]?.split('.') ?? [];
    if (!parts.some((part) => /^0\d/.test(part))) return;
    const loads = parts.every((part) => !/^0\d*[89]/.test(part));
    reportAt(
      context,
      loads ? 'warning' : 'error',
      'octal-address',
      path,
      loads
        ? `kube-proxy ${version.text} writes ${given} as it is, and iptables reads ${octal(parts)}`
        : `kube-proxy ${version.text} writes ${given} as it is, which iptables does not take: its rules would not load`,
      'write it without leading zeros',
    );
  };
  if (serviceAddresses === 'as given') {
    service.externalIPs.forEach((address, index) => {
      checkAddress(address, ['spec', 'externalIPs', index]);
    });
    for (const address of service.loadBalancerIPs) {
      checkAddress(address, ['status', 'loadBalancer', 'ingress']);
    }
  }
  if (sourceRanges === 'as given') {
    service.sourceRanges.forEach(({ given }, index) => {
      check(given, ['spec', 'loadBalancerSourceRanges', index]);
    });
  }
}

function octal(parts: readonly string[]): string {
  return parts.map((part) => (part.startsWith('0') ? Number.parseInt(part, 8) : part)).join('.');
}

export type { Endpoint };
