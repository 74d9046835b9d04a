import {
  cidrContains,
  type Endpoint,
  type IPAddress,
  isLoopback,
  type ProxyState,
  type ServicePort,
} from '../../kube/index.ts';
import type { RealServer, VirtualServer } from '../../netfilter/index.ts';
import type { SetEntries, SetName } from './sets.ts';

/** Load-balancer IPs that the node itself must not reach: none of their source ranges holds its address. */
export interface OutFilter {
  readonly address: string;
  readonly protocol: string;
  readonly port: number;
}

/** Which service port a virtual server is for, and as what. */
export interface VirtualServerOwner {
  readonly servicePortName: string;
  readonly kind: 'cluster IP' | 'external IP' | 'load-balancer IP' | 'node port';
}

/** The key of a virtual server among others: `tcp 10.96.0.1 443`. */
export function virtualServerKey(protocol: string, address: string, port: number): string {
  return `${protocol} ${address} ${port}`;
}

/** What the service ports of one family come to in ipvs mode. */
export interface IpvsServices {
  readonly entries: SetEntries;
  readonly virtualServers: readonly VirtualServer[];
  /** Addresses on kube-ipvs0, each once. */
  readonly boundAddresses: readonly string[];
  readonly outFilters: readonly OutFilter[];
  /** By virtualServerKey. */
  readonly owners: ReadonlyMap<string, VirtualServerOwner>;
}

/** What versions do in different ways. */
export interface ServiceLayout {
  /** The real servers of an address, under traffic policy Local or Cluster. */
  readonly endpointsOf: (port: ServicePort, local: boolean) => readonly Endpoint[];
  /** External and load-balancer IPs are bound to kube-ipvs0 even where another interface has them. */
  readonly bindsAddressesOfOthers: boolean;
}

/**
 * Set entries, virtual servers and addresses of all service ports. Source: the loop over service ports in
 * syncProxyRules of the ipvs proxier, 1.28 to 1.36.
 */
export function ipvsServices(state: ProxyState, layout: ServiceLayout): IpvsServices {
  const entries = new Map<SetName, Set<string>>();
  const virtualServers = new Map<string, VirtualServer>();
  const bound = new Set<string>();
  const outFilters: OutFilter[] = [];
  const owners = new Map<string, VirtualServerOwner>();
  const nodeIPs = nodePortIPs(state);
  // Addresses on other interfaces are local already; a second time, on kube-ipvs0, they would be taken down
  // together with the Service.
  const onOtherInterfaces = new Set(
    layout.bindsAddressesOfOthers ? [] : state.interfaceAddresses.map(({ text }) => text),
  );

  for (const port of state.servicePorts) {
    const protocol = port.protocol.toLowerCase() as 'tcp' | 'udp' | 'sctp';
    const insert = (set: SetName, entry: string) => {
      const known = entries.get(set);
      if (known === undefined) entries.set(set, new Set([entry]));
      else known.add(entry);
    };
    const serve = (
      kind: VirtualServerOwner['kind'],
      address: string,
      number: number,
      endpoints: readonly Endpoint[],
    ) => {
      const key = virtualServerKey(protocol, address, number);
      virtualServers.set(key, virtualServer(port, state, protocol, address, number, endpoints));
      owners.set(key, { servicePortName: port.servicePortName, kind });
    };
    const external = layout.endpointsOf(port, port.externalPolicyLocal);

    for (const { destination } of port.localEndpoints) {
      const { address, port: number } = splitDestination(destination);
      insert('KUBE-LOOP-BACK', `${address},${protocol}:${number},${address}`);
    }

    insert('KUBE-CLUSTER-IP', `${port.clusterIP},${protocol}:${port.port}`);
    serve('cluster IP', port.clusterIP, port.port, layout.endpointsOf(port, port.internalPolicyLocal));
    bound.add(port.clusterIP);

    for (const address of port.externalIPs) {
      const set = port.externalPolicyLocal ? 'KUBE-EXTERNAL-IP-LOCAL' : 'KUBE-EXTERNAL-IP';
      insert(set, `${address},${protocol}:${port.port}`);
      serve('external IP', address, port.port, external);
      if (!onOtherInterfaces.has(address)) bound.add(address);
    }

    for (const address of port.loadBalancerVIPs) {
      const entry = `${address},${protocol}:${port.port}`;
      insert('KUBE-LOAD-BALANCER', entry);
      if (port.externalPolicyLocal) insert('KUBE-LOAD-BALANCER-LOCAL', entry);
      if (port.sourceRanges.length > 0) {
        insert('KUBE-LOAD-BALANCER-FW', entry);
        for (const { cidr } of port.sourceRanges) {
          insert('KUBE-LOAD-BALANCER-SOURCE-CIDR', `${entry},${withoutFullLength(cidr.text)}`);
        }
        if (port.sourceRanges.some(({ cidr }) => cidrContains(cidr, state.nodeIP))) {
          insert('KUBE-LOAD-BALANCER-SOURCE-IP', `${entry},${address}`);
        } else outFilters.push({ address, protocol, port: port.port });
      }
      serve('load-balancer IP', address, port.port, external);
      if (!onOtherInterfaces.has(address)) bound.add(address);
    }

    if (port.nodePort !== 0) {
      // Without an address of the node kube-proxy leaves out all that follows, the health check port too.
      if (nodeIPs.length === 0) continue;
      insertNodePort(port, protocol, nodeIPs, insert);
      for (const { text } of nodeIPs) serve('node port', text, port.nodePort, external);
    }
    if (port.healthCheckNodePort !== 0) {
      insert('KUBE-HEALTH-CHECK-NODE-PORT', String(port.healthCheckNodePort));
    }
  }
  for (const address of bound) {
    const ips = entries.get('KUBE-IPVS-IPS') ?? new Set();
    entries.set('KUBE-IPVS-IPS', ips.add(address));
  }
  return {
    entries,
    virtualServers: [...virtualServers.values()],
    boundAddresses: [...bound],
    outFilters,
    owners,
  };
}

function insertNodePort(
  port: ServicePort,
  protocol: 'tcp' | 'udp' | 'sctp',
  nodeIPs: readonly IPAddress[],
  insert: (set: SetName, entry: string) => void,
): void {
  const [all, local] = NODE_PORT_SETS[protocol];
  // There is no bitmap for SCTP ports, hence a hash with each of the node's addresses.
  const members =
    protocol === 'sctp'
      ? nodeIPs.map(({ text }) => `${text},sctp:${port.nodePort}`)
      : [String(port.nodePort)];
  for (const member of members) {
    insert(all, member);
    if (port.externalPolicyLocal) insert(local, member);
  }
}

export const NODE_PORT_SETS: Readonly<Record<'tcp' | 'udp' | 'sctp', readonly [SetName, SetName]>> = {
  tcp: ['KUBE-NODE-PORT-TCP', 'KUBE-NODE-PORT-LOCAL-TCP'],
  udp: ['KUBE-NODE-PORT-UDP', 'KUBE-NODE-PORT-LOCAL-UDP'],
  sctp: ['KUBE-NODE-PORT-SCTP-HASH', 'KUBE-NODE-PORT-LOCAL-SCTP-HASH'],
};

function virtualServer(
  port: ServicePort,
  state: ProxyState,
  protocol: 'tcp' | 'udp' | 'sctp',
  address: string,
  number: number,
  endpoints: readonly Endpoint[],
): VirtualServer {
  const { scheduler } = state.ipvs;
  return {
    service: { by: 'address', protocol, address, port: number },
    scheduler,
    ...(port.affinitySeconds === undefined ? {} : { persistentSeconds: port.affinitySeconds }),
    // Maglev hashing looks at the source port too (flag 0x10, 1.27 and later).
    flags: scheduler === 'mh' ? ['mh-port'] : [],
    realServers: endpoints.map(
      ({ destination }): RealServer => ({
        ...splitDestination(destination),
        method: 'masquerade',
        weight: 1,
      }),
    ),
  };
}

/** Addresses on which node ports are served. Source: nodeIPs of syncProxyRules in the ipvs proxier. */
function nodePortIPs(state: ProxyState): readonly IPAddress[] {
  const { nodePortAddresses, interfaceAddresses, family } = state;
  const candidates =
    nodePortAddresses.match === 'addresses'
      ? nodePortAddresses.addresses
      : interfaceAddresses.filter((address) => address.family === family && !isLinkLocalIPv6(address));
  return candidates.filter((address) => !isLoopback(address));
}

function isLinkLocalIPv6({ text }: IPAddress): boolean {
  return /^fe[89ab][0-9a-f]:/.test(text);
}

/** `10.0.0.1:80`, `[fd00::1]:80` → their parts; the kernel prints addresses canonically, whoever wrote them. */
function splitDestination(destination: string): { address: string; port: number } {
  const colon = destination.lastIndexOf(':');
  const address = destination.slice(0, colon);
  return { address: address.replace(/^\[(.*)\]$/, '$1'), port: Number(destination.slice(colon + 1)) };
}

/** ipset prints a network of one address without its length. */
function withoutFullLength(cidr: string): string {
  return cidr.replace(cidr.includes(':') ? /\/128$/ : /\/32$/, '');
}
