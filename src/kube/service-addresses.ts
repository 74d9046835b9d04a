/**
 * Fills in what the API server would give to Services that were not applied yet: families, cluster IPs, node ports
 * and health check node ports. Source: initIPFamilyFields, allocClusterIPs and initNodePorts of the API server's
 * service storage. The numbers are ours: chosen by namespace and name, not by chance.
 */
import type { Report } from '../diagnostics.ts';
import { type Cluster, compareText } from './cluster.ts';
import { report as reportAt } from './fields.ts';
import type { CIDR, IPAddress, IPFamily } from './ip.ts';
import { addressPool, nodePortPool, type Pool } from './pool.ts';
import type { Service, ServicePortSpec } from './service.ts';

/** Where addresses come from; what is not there is left open. */
export interface ServiceRanges {
  /** One, or one of each family; the first is that of Services that ask for none. */
  readonly serviceCIDRs: readonly CIDR[];
  readonly nodePorts: { readonly first: number; readonly last: number } | undefined;
}

/** The API server's --service-node-port-range. */
export const DEFAULT_NODE_PORTS = { first: 30000, last: 32767 } as const;

interface Pools {
  readonly addresses: ReadonlyMap<IPFamily, Pool<IPAddress>>;
  readonly primary: IPFamily | undefined;
  readonly nodePorts: Pool<number> | undefined;
}

/** The cluster with all Services that can be given what they lack; each is named in a note, and in `invented`. */
export function withServiceAddresses(cluster: Cluster, ranges: ServiceRanges, report: Report): Cluster {
  const { serviceCIDRs, nodePorts } = ranges;
  if (serviceCIDRs.length === 0 && nodePorts === undefined) return cluster;
  const pools: Pools = {
    addresses: new Map(serviceCIDRs.map((cidr) => [cidr.family, addressPool(cidr, 'services')])),
    primary: serviceCIDRs[0]?.family,
    nodePorts: nodePorts && nodePortPool(nodePorts.first, nodePorts.last),
  };
  const open = cluster.skippedServices.flatMap((skipped) =>
    skipped.skipped === 'no cluster IP' ? [skipped.service] : [],
  );
  // What somebody has is taken before anything is handed out.
  for (const service of [...cluster.services, ...open]) reserveAll(service, pools);

  const services: Service[] = [];
  const withoutAddress = new Set<string>();
  const invented: string[] = [];
  const all = [...cluster.services, ...open].sort(
    (a, b) => compareText(a.namespace, b.namespace) || compareText(a.name, b.name),
  );
  for (const service of all) {
    const found = complete(service, pools, report);
    if (found.clusterIPs.length === 0) withoutAddress.add(`${found.namespace}/${found.name}`);
    else services.push(found);
    if (found !== service && found.clusterIPs.length > 0) invented.push(`${found.namespace}/${found.name}`);
  }
  if (invented.length === 0) return cluster;
  const from = [
    ...serviceCIDRs.map(({ text }) => text),
    ...(nodePorts === undefined ? [] : [`${nodePorts.first}-${nodePorts.last}`]),
  ];
  return {
    ...cluster,
    services,
    skippedServices: cluster.skippedServices.filter(
      (skipped) =>
        skipped.skipped !== 'no cluster IP' || withoutAddress.has(`${skipped.namespace}/${skipped.name}`),
    ),
    invented: [
      ...(cluster.invented ?? []),
      `those of ${countOf(invented, 'Service', 'Services')}, out of ${from.join(', ')}`,
    ],
  };
}

const MAX_LISTED = 3;

/** `2 Services (shop/api, shop/web)` */
export function countOf(names: readonly string[], one: string, many: string): string {
  const more = names.length > MAX_LISTED ? ', …' : '';
  return `${names.length} ${names.length === 1 ? one : many} (${names.slice(0, MAX_LISTED).join(', ')}${more})`;
}

function reserveAll(service: Service, { addresses, nodePorts }: Pools): void {
  for (const { family, ip } of service.clusterIPs) addresses.get(family)?.reserve(ip);
  for (const { nodePort } of service.ports) nodePorts?.reserve(nodePort);
  nodePorts?.reserve(service.healthCheckNodePort);
}

/** The Service itself where it lacks nothing that the pools could give. */
function complete(service: Service, pools: Pools, report: Report): Service {
  const clusterIPs = withClusterIPs(service, pools, report);
  const ports = withNodePorts(service, pools, report);
  const healthCheckNodePort = withHealthCheckPort(service, pools, report);
  const unchanged =
    clusterIPs === service.clusterIPs &&
    ports === service.ports &&
    healthCheckNodePort === service.healthCheckNodePort;
  if (unchanged) return service;
  const found = { ...service, clusterIPs, ports, healthCheckNodePort };
  noteInvented(service, found, report);
  return found;
}

function withClusterIPs(service: Service, pools: Pools, report: Report): Service['clusterIPs'] {
  const { namespace, name } = service;
  const families = pools.primary && familiesOf(service, pools.primary, pools, report);
  if (families === undefined) return service.clusterIPs;
  const missing = families.filter((family) => !service.clusterIPs.some((each) => each.family === family));
  if (missing.length === 0) return service.clusterIPs;
  const clusterIPs = [...service.clusterIPs];
  for (const family of missing) {
    const ip = pools.addresses.get(family)?.allocate(`${namespace}/${name}`);
    if (ip === undefined) {
      refuse(service, ['spec', 'clusterIP'], `no ${family} address is left in --service-cidr`, report);
      return service.clusterIPs;
    }
    clusterIPs.push({ family, ip });
  }
  return clusterIPs;
}

/** initIPFamilyFields; undefined, after an error, for what the API server would refuse. */
function familiesOf(
  service: Service,
  primary: IPFamily,
  { addresses }: Pools,
  report: Report,
): readonly IPFamily[] | undefined {
  const { clusterIPs, template } = service;
  const { ipFamilyPolicy } = template;
  const families = [...new Set([...clusterIPs.map(({ family }) => family), ...template.ipFamilies])];
  const wrong = (field: string, message: string) => {
    refuse(service, ['spec', field], message, report);
    return undefined;
  };
  // A Service of a cluster has its families; it stays as it is when the cluster becomes a dual-stack one. One that
  // requires both never had one alone there: it is a manifest.
  const lacksFamily = ipFamilyPolicy === 'RequireDualStack' && families.length === 1 && addresses.size === 2;
  if (clusterIPs.length > 0 && template.ipFamilies.length === clusterIPs.length && !lacksFamily) {
    return families;
  }
  if (ipFamilyPolicy === 'SingleStack' && families.length > 1 && clusterIPs.length < 2) {
    return wrong('ipFamilyPolicy', 'two families need the policy PreferDualStack or RequireDualStack');
  }
  const unserved = families.find((family) => !addresses.has(family));
  if (unserved !== undefined && clusterIPs.length === 0) {
    return wrong('ipFamilies', `${unserved} is asked for, and no --service-cidr is ${unserved}`);
  }
  if (ipFamilyPolicy === 'RequireDualStack' && addresses.size < 2 && families.length < 2) {
    return wrong('ipFamilyPolicy', 'RequireDualStack needs a --service-cidr of each family');
  }
  if (families.length === 0) families.push(primary);
  if (ipFamilyPolicy !== 'SingleStack' && families.length === 1 && addresses.size === 2) {
    families.push(families[0] === 'IPv4' ? 'IPv6' : 'IPv4');
  }
  return families.filter((family) => addresses.has(family));
}

function withNodePorts(service: Service, { nodePorts }: Pools, report: Report): Service['ports'] {
  const { namespace, name, type, template, ports } = service;
  const wanted = type === 'NodePort' || (type === 'LoadBalancer' && template.allocateLoadBalancerNodePorts);
  if (nodePorts === undefined || !wanted || ports.every(({ nodePort }) => nodePort !== 0)) return ports;
  // Ports of one number, as TCP and UDP, share a node port.
  const byNumber = new Map<number, number>();
  for (const { port, nodePort } of ports)
    if (nodePort !== 0 && !byNumber.has(port)) byNumber.set(port, nodePort);
  const found = ports.map((port): ServicePortSpec => {
    if (port.nodePort !== 0) return port;
    const shared = byNumber.get(port.port);
    const nodePort = shared ?? nodePorts.allocate(`${namespace}/${name}:${port.name || port.port}`) ?? 0;
    if (nodePort === 0) {
      refuse(service, ['spec', 'ports'], 'no node port is left in --service-node-port-range', report);
    }
    byNumber.set(port.port, nodePort);
    return { ...port, nodePort };
  });
  return found.some(({ nodePort }, index) => nodePort !== ports[index]?.nodePort) ? found : ports;
}

function withHealthCheckPort(service: Service, { nodePorts }: Pools, report: Report): number {
  const { namespace, name, type, externalTrafficPolicy, healthCheckNodePort } = service;
  const wanted = type === 'LoadBalancer' && externalTrafficPolicy === 'Local';
  if (nodePorts === undefined || !wanted || healthCheckNodePort !== 0) return healthCheckNodePort;
  const port = nodePorts.allocate(`${namespace}/${name} health check`);
  if (port !== undefined) return port;
  refuse(
    service,
    ['spec', 'healthCheckNodePort'],
    'no node port for health checks is left in --service-node-port-range',
    report,
  );
  return 0;
}

function noteInvented(before: Service, after: Service, report: Report): void {
  const parts: string[] = [];
  for (const { family, ip } of after.clusterIPs) {
    if (!before.clusterIPs.some((each) => each.family === family)) parts.push(`cluster IP ${ip.text}`);
  }
  after.ports.forEach(({ nodePort, port, protocol }, index) => {
    if (before.ports[index]?.nodePort !== nodePort)
      parts.push(`node port ${nodePort} for ${port}/${protocol}`);
  });
  if (after.healthCheckNodePort !== before.healthCheckNodePort) {
    parts.push(`health check node port ${after.healthCheckNodePort}`);
  }
  reportAt(contextOf(after, report), 'note', 'invented-address', ['spec'], `invented: ${parts.join(', ')}`);
}

function refuse(service: Service, path: readonly string[], message: string, report: Report): void {
  reportAt(contextOf(service, report), 'error', 'no-address-left', path, message);
}

function contextOf({ namespace, name, origin }: Service, report: Report) {
  return { object: `Service ${namespace}/${name}`, origin, report };
}
