import {
  type Cluster,
  type IPAddress,
  isLoopback,
  type KubeProxyConfiguration,
  type NetworkInterface,
  parseIP,
} from '../kube/index.ts';
import type { Family, Rule, Ruleset } from '../netfilter/index.ts';
import type { InferredSettings } from './infer.ts';
import type { IpvsState } from './ipvs-difference.ts';
import { runningMode, setOf } from './proxy-mode.ts';
import { jumpOf } from './rule-key.ts';
import { rulesOf, type View, viewOf } from './view.ts';

/** What the listings of a node in ipvs mode, and its rules, show of its kube-proxy's settings. */
export interface InferredIpvs {
  /** To be overridden by whatever the input or the options say. */
  readonly configuration: KubeProxyConfiguration;
  /** Addresses of the node that have virtual servers of node ports; undefined where there are none. */
  readonly interfaces: readonly NetworkInterface[] | undefined;
  readonly assumptions: InferredSettings['assumptions'];
  /** Local endpoints, as KUBE-LOOP-BACK has them: `10.244.1.10:8080`. */
  readonly localEndpoints: ReadonlySet<string>;
}

/**
 * Reads settings of ipvs mode off a node: the scheduler and the node's addresses off its virtual servers, local
 * detection off the rule for cluster IPs. undefined where the node has nothing of
 * that mode, or leftovers alone: its rules are of another one.
 */
export function inferIpvs(
  ipvs: IpvsState | undefined,
  rulesets: Readonly<Partial<Record<Family, Ruleset>>>,
  cluster: Cluster,
): InferredIpvs | undefined {
  const { virtualServers = [], sets = [], addresses = [] } = ipvs ?? {};
  const has =
    virtualServers.length > 0 || addresses.length > 0 || sets.some(({ members }) => members.length > 0);
  const views = Object.values(rulesets).map((ruleset) => viewOf(ruleset));
  const modes = views.map(runningMode);
  if (!has || (modes.includes('iptables') && !modes.includes('ipvs'))) return undefined;

  const assumptions: InferredSettings['assumptions'][number][] = [];
  const configuration: { -readonly [K in keyof KubeProxyConfiguration]: KubeProxyConfiguration[K] } = {
    mode: 'ipvs',
  };
  assumptions.push({
    about: 'mode',
    text: 'ipvs mode: the node lists sets, virtual servers or addresses of it',
  });
  const scheduler = schedulerOf(virtualServers, cluster);
  if (scheduler !== undefined) {
    configuration.ipvs = { scheduler };
    assumptions.push({ about: 'ipvs', text: `scheduler ${scheduler} (as in the listing)` });
  }
  for (const { fields, assumption } of localDetection(views)) {
    Object.assign(configuration, fields);
    assumptions.push(assumption);
  }
  return {
    configuration,
    interfaces: nodePortInterfaces(virtualServers, cluster),
    assumptions,
    localEndpoints: localEndpoints(sets),
  };
}

type VirtualServers = NonNullable<IpvsState['virtualServers']>;

/** The one that most virtual servers have; those of cluster IPs count where there are any. */
function schedulerOf(virtualServers: VirtualServers, cluster: Cluster): string | undefined {
  const clusterIPs = new Set(
    cluster.services.flatMap((service) => service.clusterIPs.map(({ ip }) => ip.text)),
  );
  const own = virtualServers.filter(
    ({ service }) => service.by === 'address' && clusterIPs.has(service.address),
  );
  const counts = new Map<string, number>();
  for (const { scheduler } of own.length > 0 ? own : virtualServers) {
    counts.set(scheduler, (counts.get(scheduler) ?? 0) + 1);
  }
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0];
}

/** Virtual servers on a node port of a Service that are at none of the Services' own addresses. */
function nodePortInterfaces(
  virtualServers: VirtualServers,
  cluster: Cluster,
): readonly NetworkInterface[] | undefined {
  const nodePorts = new Set<string>();
  const ofServices = new Set<string>();
  for (const { ports, clusterIPs, externalIPs, loadBalancerIPs } of cluster.services) {
    for (const { nodePort, protocol } of ports) nodePorts.add(`${protocol.toLowerCase()} ${nodePort}`);
    for (const { ip } of [...clusterIPs, ...externalIPs, ...loadBalancerIPs]) ofServices.add(ip.text);
  }
  const found = new Map<string, IPAddress>();
  for (const { service } of virtualServers) {
    if (service.by !== 'address' || !nodePorts.has(`${service.protocol} ${service.port}`)) continue;
    const ip = parseIP(service.address);
    if (ip !== undefined && !ofServices.has(ip.text) && !isLoopback(ip)) found.set(ip.text, ip);
  }
  return found.size === 0 ? undefined : [{ name: 'node', addresses: [...found.values()] }];
}

interface Detection {
  readonly fields: KubeProxyConfiguration;
  readonly assumption: InferredSettings['assumptions'][number];
}

/** Off the rule of KUBE-SERVICES that masquerades traffic to cluster IPs. */
function localDetection(views: readonly View[]): Detection[] {
  const rules = views.flatMap((view) =>
    rulesOf(view, 'nat', 'KUBE-SERVICES').filter(
      (rule) => setOf(rule) === 'KUBE-CLUSTER-IP' && jumpOf(rule) === 'KUBE-MARK-MASQ',
    ),
  );
  const clusterCIDRs = rules.flatMap(({ source }) =>
    source?.negated ? [`${source.address}/${source.prefix ?? ''}`] : [],
  );
  if (clusterCIDRs.length > 0) {
    const text = `cluster CIDR ${clusterCIDRs.join(',')} (as in the dump)`;
    return [{ fields: { clusterCIDRs }, assumption: { about: 'clusterCIDRs', text } }];
  }
  const name = rules.flatMap(({ inInterface }) => (inInterface?.negated ? [inInterface.name] : []))[0];
  if (name !== undefined) {
    const fields: KubeProxyConfiguration = name.endsWith('+')
      ? { detectLocalMode: 'InterfaceNamePrefix', interfaceNamePrefix: name.slice(0, -1) }
      : { detectLocalMode: 'BridgeInterface', bridgeInterface: name };
    const text = `local traffic by interface ${name} (as in the dump)`;
    return [{ fields, assumption: { about: 'detectLocalMode', text } }];
  }
  if (!rules.some(isForAll)) return [];
  const text = 'all traffic to cluster IPs is masqueraded (as in the dump)';
  return [{ fields: { masqueradeAll: true }, assumption: { about: 'masqueradeAll', text } }];
}

/** `dst,dst` without a source; without any detection kube-proxy writes `src,dst`. */
function isForAll({ matches }: Rule): boolean {
  return matches.some((match) => match.kind === 'set' && match.directions.join() === 'dst,dst');
}

/** `10.244.1.10,tcp:8080,10.244.1.10` of KUBE-LOOP-BACK → `10.244.1.10:8080`. */
function localEndpoints(sets: NonNullable<IpvsState['sets']>): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { name, members } of sets) {
    if (name !== 'KUBE-LOOP-BACK' && name !== 'KUBE-6-LOOP-BACK') continue;
    for (const { entry } of members) {
      const [, address = '', port = ''] = /^([^,]+),[a-z]+:(\d+)/.exec(entry) ?? [];
      if (address !== '') found.add(address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`);
    }
  }
  return found;
}
