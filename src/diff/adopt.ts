import { chainSuffix, virtualServerKey } from '../compile/index.ts';
import { type Cluster, type EndpointSlice, parseIP, type Service, servicePortName } from '../kube/index.ts';
import type { Family, Rule, Ruleset } from '../netfilter/index.ts';
import { hostOf } from './infer.ts';
import { type IpvsState, realServerText } from './ipvs-difference.ts';
import { readComment } from './names.ts';
import { jumpOf } from './rule-key.ts';
import { serviceChainParts } from './scope.ts';
import { trafficOf } from './shared-chain.ts';
import { rulesOf, type View, viewOf } from './view.ts';

/** A cluster with what its manifests leave open filled in from a dump. */
export interface AdoptedCluster {
  readonly cluster: Cluster;
  /** What was taken from the dump, in words. */
  readonly assumptions: readonly string[];
  /** Services whose endpoints the input does not hold: what the dump has of them is listed, not judged. */
  readonly unjudged: readonly string[];
  /** Services, as `namespace/name`, that got their address from the dump. */
  readonly addressed: ReadonlySet<string>;
}

/**
 * A manifest from a repository has no cluster IP, no node ports and no endpoints before it is applied. They are
 * taken from the dump where that shows them: by the comments of dispatch rules, or by the hash in the names of
 * the chains they lead to.
 */
export function adoptFromDump(
  cluster: Cluster,
  rulesets: Readonly<Partial<Record<Family, Ruleset>>>,
  nodeName: string,
  ipvs: { readonly state: IpvsState; readonly localEndpoints: ReadonlySet<string> } | undefined = undefined,
): AdoptedCluster {
  const rules = readDump(Object.values(rulesets).map((ruleset) => viewOf(ruleset)));
  const shown =
    ipvs === undefined
      ? rules
      : { ...rules, endpointsOf: endpointsOfIpvs(cluster, ipvs.state, ipvs.localEndpoints) };
  const assumptions: string[] = [];
  const unjudged: string[] = [];
  const addressed = new Set<string>();
  const services: Service[] = [];
  const left = cluster.skippedServices.filter((skipped) => {
    if (skipped.skipped !== 'no cluster IP') return true;
    const service = withAddresses(skipped.service, shown);
    if (service === undefined) return true;
    services.push(service);
    addressed.add(`${service.namespace}/${service.name}`);
    return false;
  });
  for (const service of cluster.services)
    services.push(withNodePorts(service, shown, service.type === 'NodePort'));
  if (addressed.size > 0) {
    assumptions.push(`addresses and node ports of ${listOf([...addressed])} (as in the dump)`);
  }

  const known = new Set(
    [...cluster.endpointSlices, ...cluster.mirroredSlices].map(
      ({ namespace, serviceName }) => `${namespace}/${serviceName}`,
    ),
  );
  const slices: EndpointSlice[] = [...cluster.endpointSlices];
  for (const service of services) {
    const name = `${service.namespace}/${service.name}`;
    if (known.has(name)) continue;
    const adopted = slicesOf(service, shown, nodeName);
    for (const slice of adopted) slices.push(slice);
    unjudged.push(`${name}: ${describe(adopted)}`);
  }
  return {
    cluster: {
      ...cluster,
      services: services.sort((a, b) => compare(a.namespace, b.namespace) || compare(a.name, b.name)),
      skippedServices: left,
      endpointSlices: slices,
    },
    assumptions,
    unjudged,
    addressed,
  };
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
const MAX_LISTED = 5;

function listOf(names: readonly string[]): string {
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : '';
  return names.slice(0, MAX_LISTED).join(', ') + more;
}

function describe(slices: readonly EndpointSlice[]): string {
  const destinations = slices.flatMap(({ ports, endpoints }) =>
    endpoints.map(({ address }) => `${address}:${ports[0]?.port ?? ''}`),
  );
  return destinations.length === 0 ? 'no endpoints in the dump' : listOf(destinations);
}

/** What a dump says of service ports, by the suffix of their chains. */
interface Shown {
  readonly clusterIPs: ReadonlyMap<string, ReadonlySet<string>>;
  readonly loadBalancerIPs: ReadonlyMap<string, ReadonlySet<string>>;
  readonly nodePorts: ReadonlyMap<string, number>;
  readonly healthCheckPorts: ReadonlyMap<string, number>;
  /** Destinations of endpoints, and whether a KUBE-SVL chain has them. */
  readonly endpointsOf: (suffix: string) => ReadonlyMap<string, boolean>;
}

function readDump(views: readonly View[]): Shown {
  const clusterIPs = new Map<string, Set<string>>();
  const loadBalancerIPs = new Map<string, Set<string>>();
  const nodePorts = new Map<string, number>();
  const healthCheckPorts = new Map<string, number>();
  const add = (map: Map<string, Set<string>>, suffix: string, address: string) => {
    const set = map.get(suffix) ?? new Set<string>();
    map.set(suffix, set.add(address));
  };
  for (const view of views) {
    for (const table of ['nat', 'filter']) {
      for (const rule of rulesOf(view, table, 'KUBE-SERVICES')) {
        const owner = ownerOf(rule);
        const address = trafficOf(rule)?.address;
        if (owner === undefined || address === undefined || parseIP(address) === undefined) continue;
        const kind = readComment(rule)?.kind;
        const target = serviceChainParts(jumpOf(rule) ?? '')?.kind;
        if (kind === 'load-balancer IP' || target === 'FW') add(loadBalancerIPs, owner, address);
        else if (kind === 'cluster IP' || target === 'SVC' || target === 'SVL' || table === 'filter') {
          add(clusterIPs, owner, address);
        }
      }
    }
    for (const table of ['nat', 'filter']) {
      for (const rule of rulesOf(
        view,
        table,
        table === 'nat' ? 'KUBE-NODEPORTS' : 'KUBE-EXTERNAL-SERVICES',
      )) {
        const owner = ownerOf(rule);
        const traffic = trafficOf(rule);
        if (owner === undefined || traffic === undefined) continue;
        if (table === 'nat' || traffic.address === 'LOCAL') nodePorts.set(owner, traffic.port);
      }
    }
    for (const rule of rulesOf(view, 'filter', 'KUBE-NODEPORTS')) {
      const words = readComment(rule);
      const port = trafficOf(rule)?.port;
      if (words?.kind === 'health check' && port !== undefined)
        healthCheckPorts.set(words.servicePortName, port);
    }
  }
  return {
    clusterIPs,
    loadBalancerIPs,
    nodePorts,
    healthCheckPorts,
    endpointsOf: (suffix) => endpointsOfChains(views, suffix),
  };
}

function endpointsOfChains(views: readonly View[], suffix: string): Map<string, boolean> {
  const found = new Map<string, boolean>();
  for (const view of views) {
    for (const kind of ['SVC', 'SVL']) {
      for (const rule of rulesOf(view, 'nat', `KUBE-${kind}-${suffix}`)) {
        for (const { target } of rulesOf(view, 'nat', jumpOf(rule) ?? '')) {
          if (target?.kind !== 'DNAT') continue;
          for (const text of target.destinations) found.set(text, found.get(text) === true || kind === 'SVL');
        }
      }
    }
  }
  return found;
}

/** The real servers of cluster IPs, by the suffix of their service port. */
function endpointsOfIpvs(
  { services }: Cluster,
  { virtualServers = [] }: IpvsState,
  local: ReadonlySet<string>,
): Shown['endpointsOf'] {
  const servers = new Map(
    virtualServers.flatMap(({ service, realServers }) =>
      service.by === 'address'
        ? [[virtualServerKey(service.protocol, service.address, service.port), realServers] as const]
        : [],
    ),
  );
  const endpoints = new Map<string, Map<string, boolean>>();
  for (const service of services) {
    for (const { suffix, index } of suffixesOf(service)) {
      const port = service.ports[index];
      const found = service.clusterIPs.flatMap(
        ({ ip }) =>
          servers.get(virtualServerKey(port?.protocol.toLowerCase() ?? '', ip.text, port?.port ?? 0)) ?? [],
      );
      const live = found.filter(({ weight }) => weight > 0).map(realServerText);
      endpoints.set(suffix, new Map(live.map((text) => [text, local.has(text)])));
    }
  }
  return (suffix) => endpoints.get(suffix) ?? new Map();
}

function ownerOf(rule: Rule): string | undefined {
  const target = serviceChainParts(jumpOf(rule) ?? '');
  if (target !== undefined) return target.suffix;
  const words = readComment(rule);
  return words && rule.protocol && chainSuffix(words.servicePortName + rule.protocol.protocol);
}

function suffixesOf(
  service: Service,
): { readonly suffix: string; readonly name: string; readonly index: number }[] {
  return service.ports.map((port, index) => {
    const name = servicePortName(service.namespace, service.name, port.name);
    return { suffix: chainSuffix(name + port.protocol.toLowerCase()), name, index };
  });
}

function withAddresses(service: Service, shown: Shown): Service | undefined {
  const suffixes = suffixesOf(service);
  const texts = new Set(suffixes.flatMap(({ suffix }) => [...(shown.clusterIPs.get(suffix) ?? [])]));
  const clusterIPs = [...texts].flatMap((text) => {
    const ip = parseIP(text);
    return ip === undefined ? [] : [{ family: ip.family, ip }];
  });
  if (clusterIPs.length === 0) return undefined;
  const balanced = new Set(suffixes.flatMap(({ suffix }) => [...(shown.loadBalancerIPs.get(suffix) ?? [])]));
  const loadBalancerIPs =
    service.loadBalancerIPs.length > 0 || service.type !== 'LoadBalancer'
      ? service.loadBalancerIPs
      : [...balanced].flatMap((given) => {
          const ip = parseIP(given);
          return ip === undefined ? [] : [{ given, ip, ipMode: 'VIP' as const }];
        });
  const health = suffixes
    .map(({ name }) => shown.healthCheckPorts.get(name))
    .find((port) => port !== undefined);
  return withNodePorts(
    {
      ...service,
      clusterIPs: clusterIPs.filter(
        ({ family }, i) => clusterIPs.findIndex((other) => other.family === family) === i,
      ),
      loadBalancerIPs,
      healthCheckNodePort: service.healthCheckNodePort || (health ?? 0),
    },
    shown,
    service.type !== 'ClusterIP',
  );
}

/** A Service of type NodePort has a node port for each of its ports; a manifest may leave them open. */
function withNodePorts(service: Service, shown: Shown, wanted: boolean): Service {
  if (!wanted || service.ports.every(({ nodePort }) => nodePort !== 0)) return service;
  const suffixes = suffixesOf(service);
  return {
    ...service,
    ports: service.ports.map((port, index) => ({
      ...port,
      nodePort: port.nodePort || (shown.nodePorts.get(suffixes[index]?.suffix ?? '') ?? 0),
    })),
  };
}

/** One slice for each endpoint port and family that the dump programs for the Service. */
function slicesOf(service: Service, shown: Shown, nodeName: string): EndpointSlice[] {
  return suffixesOf(service).flatMap(({ suffix, index }) => {
    const port = service.ports[index];
    if (port === undefined) return [];
    return [...shown.endpointsOf(suffix)].flatMap(([destination, isLocal], at): EndpointSlice[] => {
      const ip = parseIP(hostOf(destination));
      const number = Number(destination.slice(destination.lastIndexOf(':') + 1));
      if (ip === undefined || !Number.isInteger(number)) return [];
      return [
        {
          namespace: service.namespace,
          name: `${service.name} in the dump ${index} ${at}`,
          serviceName: service.name,
          labels: new Map(),
          addressType: ip.family,
          ports: [{ name: port.name, protocol: port.protocol, port: number }],
          endpoints: [
            {
              address: ip.text,
              canonicalAddress: ip.text,
              family: ip.family,
              // An endpoint of a KUBE-SVL chain is on this node, whatever its name.
              nodeName: isLocal ? nodeName : undefined,
              ready: true,
              serving: true,
              terminating: false,
              zoneHints: [],
              nodeHints: [],
              index: 0,
            },
          ],
          origin: service.origin,
        },
      ];
    });
  });
}
