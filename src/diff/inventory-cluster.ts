import type { Origin } from '../diagnostics.ts';
import {
  type Cluster,
  cidrContains,
  type EndpointSlice,
  type IPAddress,
  type Node,
  type Protocol,
  parseCIDR,
  parseIP,
  type Service,
} from '../kube/index.ts';
import type { Family } from '../netfilter/index.ts';
import { hostOf } from './infer.ts';
import type { ProgrammedEndpoint, ProgrammedServicePort } from './inventory.ts';

/** The node of a dump, whatever its name. */
export const NODE_OF_DUMP = 'node-of-the-dump';

const ORIGIN: Origin = { file: 'the dump', format: 'yaml', start: 0, end: 0, path: [] };

/** Stands for endpoints on other nodes, of which a dump shows only that there are some. */
const REMOTE: ProgrammedEndpoint = { destination: '192.0.2.1:1', local: false, cluster: true };

/**
 * Services and endpoints that compile to what a dump programs: a Service of its own for each service port. Where a
 * rule lets the node through its source ranges, the node gets an address inside of one.
 */
export function clusterOf(inventory: readonly ProgrammedServicePort[]): Cluster {
  const services: Service[] = [];
  const endpointSlices: EndpointSlice[] = [];
  for (const item of inventory) {
    const service = serviceOf(item);
    if (service === undefined) continue;
    services.push(service);
    const hidden = item.onlyRemote && item.endpoints.every(({ local }) => local);
    const endpoints = hidden ? [...item.endpoints, REMOTE] : item.endpoints;
    // Terminating endpoints are used where no other one is local, and all endpoints are left to the rest.
    const local = endpoints.filter((endpoint) => endpoint.local);
    const draining = endpoints.some(({ cluster }) => cluster) && local.every(({ cluster }) => !cluster);
    for (const [index, endpoint] of endpoints.entries()) {
      const slice = sliceOf(service, endpoint, endpoint.local && draining, index);
      if (slice !== undefined) endpointSlices.push(slice);
    }
  }
  const node: Node = {
    name: NODE_OF_DUMP,
    zone: '',
    internalIPs: (['ipv4', 'ipv6'] as const).flatMap((family) => nodeAddress(inventory, family)),
    externalIPs: [],
    podCIDRs: [],
    version: undefined,
    origin: ORIGIN,
  };
  return {
    services,
    skippedServices: [],
    endpointSlices,
    mirroredSlices: [],
    nodes: [node],
    pods: [],
    workloads: [],
    configurations: [],
  };
}

/** An address inside of the source ranges that let the node through, and outside of all others. */
function nodeAddress(inventory: readonly ProgrammedServicePort[], family: Family): IPAddress[] {
  const rangesOf = ({ sourceRanges }: ProgrammedServicePort) =>
    sourceRanges
      .filter((text) => text.includes(':') === (family === 'ipv6'))
      .flatMap((text) => parseCIDR(text) ?? []);
  const ranged = inventory
    .map((item) => ({ ranges: rangesOf(item), allowed: item.nodeAllowed.includes(family) }))
    .filter(({ ranges }) => ranges.length > 0);
  const fits = (ip: IPAddress) =>
    ranged.every(({ ranges, allowed }) => ranges.some((cidr) => cidrContains(cidr, ip)) === allowed);
  const candidates = ranged
    .flatMap(({ ranges, allowed }) => (allowed ? ranges : []))
    .flatMap(({ text }) => parseIP(text.split('/')[0] ?? '') ?? []);
  const found = candidates.find(fits) ?? candidates[0];
  return found === undefined ? [] : [found];
}

function serviceOf(item: ProgrammedServicePort): Service | undefined {
  const [namespace = '', rest = ''] = item.name.split('/');
  const [name = '', portName = ''] = rest.split(':');
  const given = (texts: readonly string[]) =>
    texts.flatMap((text) => {
      const ip = parseIP(text);
      return ip === undefined ? [] : [{ given: text, ip }];
    });
  const clusterIPs = given(item.clusterIPs).map(({ ip }) => ({ family: ip.family, ip }));
  if (clusterIPs.length === 0 || item.port === undefined) return undefined;
  return {
    namespace,
    name,
    labels: new Map(),
    annotations: new Map(),
    type:
      item.loadBalancerIPs.length > 0 || item.healthCheckNodePort !== undefined
        ? 'LoadBalancer'
        : item.nodePort !== undefined
          ? 'NodePort'
          : 'ClusterIP',
    clusterIPs,
    ports: [
      {
        name: portName,
        protocol: item.protocol.toUpperCase() as Protocol,
        port: item.port,
        nodePort: item.nodePort ?? 0,
        targetPort: undefined,
      },
    ],
    externalIPs: given(item.externalIPs),
    loadBalancerIPs: given(item.loadBalancerIPs).map((address) => ({ ...address, ipMode: 'VIP' })),
    sourceRanges: item.sourceRanges.flatMap((text) => {
      const cidr = parseCIDR(text);
      return cidr === undefined ? [] : [{ given: text, cidr }];
    }),
    affinitySeconds: item.affinitySeconds,
    internalTrafficPolicy: item.internalPolicy,
    externalTrafficPolicy: item.externalPolicy,
    healthCheckNodePort: item.healthCheckNodePort ?? 0,
    template: {
      selector: new Map(),
      publishNotReadyAddresses: false,
      ipFamilies: [],
      ipFamilyPolicy: 'SingleStack',
      allocateLoadBalancerNodePorts: false,
      trafficDistribution: '',
    },
    origin: ORIGIN,
  };
}

function sliceOf(
  { namespace, name, ports }: Service,
  { destination, local }: ProgrammedEndpoint,
  draining: boolean,
  index: number,
): EndpointSlice | undefined {
  const ip = parseIP(hostOf(destination));
  const port = Number(destination.slice(destination.lastIndexOf(':') + 1));
  const [servicePort] = ports;
  if (ip === undefined || servicePort === undefined || !Number.isInteger(port)) return undefined;
  return {
    namespace,
    name: `${name} ${servicePort.name} ${servicePort.protocol} ${index}`,
    serviceName: name,
    labels: new Map(),
    addressType: ip.family,
    ports: [{ name: servicePort.name, protocol: servicePort.protocol, port }],
    endpoints: [
      {
        address: ip.text,
        canonicalAddress: ip.text,
        family: ip.family,
        nodeName: local ? NODE_OF_DUMP : undefined,
        ready: !draining,
        serving: true,
        terminating: draining,
        zoneHints: [],
        nodeHints: [],
        index: 0,
      },
    ],
    origin: ORIGIN,
  };
}
