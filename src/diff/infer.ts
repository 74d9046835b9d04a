import {
  type Cluster,
  type KubeProxyConfiguration,
  type KubeProxyVersion,
  type NetworkInterface,
  parseIP,
} from '../kube/index.ts';
import type { Family, Rule, Ruleset } from '../netfilter/index.ts';
import { readComment } from './names.ts';
import { setOf } from './proxy-mode.ts';
import { describeRange, recogniseVersion } from './recognise-version.ts';
import { jumpOf } from './rule-key.ts';
import { serviceChainParts } from './scope.ts';
import { rulesOf, type View, viewOf } from './view.ts';

/** What a dump shows of the settings of the kube-proxy that wrote it. */
export interface InferredSettings {
  /** To be overridden by whatever the input or the options say. */
  readonly configuration: KubeProxyConfiguration;
  /** Only where the dump restricts node ports to some addresses. */
  readonly interfaces: readonly NetworkInterface[] | undefined;
  /** Whether rules have nfacct counters; undefined where the dump has no place for them. */
  readonly nfacct: boolean | undefined;
  /** The version to compile for where no Node says one. */
  readonly version: KubeProxyVersion;
  readonly nodeName: string | undefined;
  /** In words, each with the part of the settings it is about. */
  readonly assumptions: readonly {
    readonly about: keyof KubeProxyConfiguration | 'version' | 'nfacct' | 'node';
    readonly text: string;
  }[];
}

type Assumption = InferredSettings['assumptions'][number];
type Draft = { -readonly [K in keyof KubeProxyConfiguration]: KubeProxyConfiguration[K] };

/**
 * Reads settings off the rules of a node: local detection and cluster CIDRs off the masquerade rules of cluster
 * IPs, the mark off KUBE-MARK-MASQ, node ports off the last rules of KUBE-SERVICES. Of several values that the
 * rules show, the most frequent counts: a few rules may have drifted.
 */
export function inferSettings(
  rulesets: Readonly<Partial<Record<Family, Ruleset>>>,
  cluster: Cluster,
): InferredSettings {
  const views = Object.values(rulesets).map((ruleset) => viewOf(ruleset));
  const configuration: Draft = {};
  const assumptions: Assumption[] = [];
  const assume = (about: Assumption['about'], text: string) =>
    assumptions.push({ about, text: `${text} (as in the dump)` });

  inferLocalDetection(views, configuration, assume);
  const bit = most(views.flatMap(masqueradeBits));
  if (bit !== undefined && bit !== 14) {
    configuration.masqueradeBit = bit;
    assume('masqueradeBit', `masquerade bit ${bit}`);
  }
  const interfaces = inferNodePorts(views, configuration, assume);

  const counters = views.map(hasCounters).filter((has) => has !== undefined);
  const nfacct = counters.length === 0 ? undefined : counters.includes(true);
  const recognised = recogniseVersion(views);
  const { version } = recognised;
  const range = describeRange(recognised);
  assumptions.push({
    about: 'version',
    text: `kube-proxy ${version.text}: the dump looks like ${range} (${recognised.reasons.join('; ')})`,
  });
  if (version.behaviour.honoursTcpBeLiberal && views.some(isLiberal)) {
    configuration.tcpBeLiberal = true;
    assume('tcpBeLiberal', 'conntrack is liberal with TCP, so INVALID packets are not dropped');
  }
  if (recognised.mode === 'ipvs') {
    configuration.mode = 'ipvs';
    assume('mode', 'ipvs mode');
  }
  const nodeName = inferNode(views, cluster);
  if (nodeName !== undefined) assume('node', `node ${nodeName}, whose endpoints are the local ones`);
  return { configuration, interfaces, nfacct, version, nodeName, assumptions };
}

function inferLocalDetection(
  views: readonly View[],
  configuration: Draft,
  assume: (about: Assumption['about'], text: string) => void,
): void {
  const cidrs: string[] = [];
  let told = false;
  for (const view of views) {
    const masquerades = masqueradesOfClusterIPs(view);
    const kinds = masquerades.map((rule) =>
      rule.source?.negated ? 'source' : rule.inInterface?.negated ? 'interface' : 'all',
    );
    switch (most(kinds)) {
      case 'source': {
        const cidr = most(
          masquerades.flatMap(({ source }) =>
            source?.negated ? [`${source.address}/${source.prefix ?? ''}`] : [],
          ),
        );
        if (cidr !== undefined) cidrs.push(cidr);
        break;
      }
      case 'interface': {
        const name = most(
          masquerades.flatMap(({ inInterface }) => (inInterface?.negated ? [inInterface.name] : [])),
        );
        if (setInterface(name, configuration, assume)) return;
        break;
      }
      case 'all':
        configuration.masqueradeAll = true;
        if (!told) assume('masqueradeAll', 'all traffic to cluster IPs is masqueraded');
        told = true;
        // What is local still shows where local traffic is sent to all endpoints.
        for (const cidr of podTraffic(view)) cidrs.push(cidr);
        if (setInterface(podInterface(view), configuration, assume)) return;
        break;
      case undefined:
        for (const cidr of podTraffic(view)) cidrs.push(cidr);
        if (setInterface(podInterface(view), configuration, assume)) return;
        break;
    }
  }
  if (cidrs.length > 0) {
    configuration.clusterCIDRs = cidrs;
    assume('clusterCIDRs', `cluster CIDR ${cidrs.join(',')}`);
  }
}

/** Interfaces go for both families; true once one is set. */
function setInterface(
  name: string | undefined,
  configuration: Draft,
  assume: (about: Assumption['about'], text: string) => void,
): boolean {
  if (name === undefined) return false;
  if (name.endsWith('+')) {
    configuration.detectLocalMode = 'InterfaceNamePrefix';
    configuration.interfaceNamePrefix = name.slice(0, -1);
  } else {
    configuration.detectLocalMode = 'BridgeInterface';
    configuration.bridgeInterface = name;
  }
  assume('detectLocalMode', `local traffic by interface ${name}`);
  return true;
}

/** `-i NAME` of "pod traffic for … external destinations". */
function podInterface(view: View): string | undefined {
  const names: string[] = [];
  for (const [name, { rules }] of view.tables.get('nat')?.chains ?? []) {
    if (serviceChainParts(name)?.kind !== 'EXT') continue;
    for (const { inInterface } of rules) if (inInterface?.negated === false) names.push(inInterface.name);
  }
  return most(names);
}

/**
 * KUBE-FORWARD is whole but for the rule that drops INVALID packets: kube-proxy leaves it out where it finds the
 * sysctl nf_conntrack_tcp_be_liberal set, whoever set it (1.29).
 */
function isLiberal(view: View): boolean {
  const rules = rulesOf(view, 'filter', 'KUBE-FORWARD');
  const accepts = rules.filter(({ target }) => target?.kind === 'ACCEPT');
  return accepts.length === 2 && rules.length === 2;
}

/** The jumps to KUBE-MARK-MASQ for cluster IPs in KUBE-SVC and KUBE-SVL chains; up to 1.21, in KUBE-SERVICES. */
function masqueradesOfClusterIPs(view: View): Rule[] {
  const isOfClusterIP = (rule: Rule) =>
    jumpOf(rule) === 'KUBE-MARK-MASQ' &&
    ['cluster IP', undefined].includes(readComment(rule)?.kind) &&
    // In ipvs mode; `src,dst` is what kube-proxy writes where nothing tells local traffic.
    rule.matches.every(
      (match) =>
        match.kind !== 'set' || (setOf(rule) === 'KUBE-CLUSTER-IP' && match.directions.join() === 'dst,dst'),
    );
  const found: Rule[] = rulesOf(view, 'nat', 'KUBE-SERVICES').filter(isOfClusterIP);
  for (const [name, { rules }] of view.tables.get('nat')?.chains ?? []) {
    const kind = serviceChainParts(name)?.kind;
    if (kind !== 'SVC' && kind !== 'SVL') continue;
    for (const rule of rules) {
      // These rules come first in their chain; balancing rules need not be looked at.
      if (jumpOf(rule) !== 'KUBE-MARK-MASQ') break;
      if (isOfClusterIP(rule)) found.push(rule);
    }
  }
  return found;
}

/** `-s CIDR` of "pod traffic for … external destinations", where no cluster IP shows it. */
function podTraffic(view: View): string[] {
  const sources: string[] = [];
  for (const [name, { rules }] of view.tables.get('nat')?.chains ?? []) {
    if (!['EXT', 'XLB'].includes(serviceChainParts(name)?.kind ?? '')) continue;
    for (const { source } of rules) {
      if (source !== undefined && !source.negated && source.prefix !== undefined)
        sources.push(`${source.address}/${source.prefix}`);
    }
  }
  const found = most(sources);
  return found === undefined ? [] : [found];
}

function masqueradeBits(view: View): number[] {
  return rulesOf(view, 'nat', 'KUBE-MARK-MASQ').flatMap(({ target }) => {
    const bit = target?.kind === 'MARK' ? Math.log2(target.value) : Number.NaN;
    return Number.isInteger(bit) ? [bit] : [];
  });
}

function inferNodePorts(
  views: readonly View[],
  configuration: Draft,
  assume: (about: Assumption['about'], text: string) => void,
): readonly NetworkInterface[] | undefined {
  const addresses: string[] = [];
  for (const view of views) {
    for (const { destination, target } of rulesOf(view, 'nat', 'KUBE-SERVICES')) {
      if (target?.kind !== 'jump' || target.chain !== 'KUBE-NODEPORTS') continue;
      if (destination === undefined) continue;
      if (!destination.negated) addresses.push(destination.address);
      else if (view.family === 'ipv4') {
        configuration.localhostNodePorts = false;
        assume('localhostNodePorts', 'no node ports on 127.0.0.0/8');
      }
    }
  }
  if (addresses.length === 0) return undefined;
  configuration.nodePortAddresses = addresses.map(
    (address) => `${address}/${address.includes(':') ? 128 : 32}`,
  );
  assume('nodePortAddresses', `node ports are open on ${addresses.join(', ')} alone`);
  return [{ name: 'node', addresses: addresses.flatMap((address) => parseIP(address) ?? []) }];
}

/** Whether the dump has nfacct counters where 1.31 and later write them; undefined without KUBE-FORWARD. */
function hasCounters(view: View): boolean | undefined {
  const rules = [...rulesOf(view, 'filter', 'KUBE-FORWARD'), ...rulesOf(view, 'nat', 'KUBE-NODEPORTS')];
  if (rules.length === 0) return undefined;
  return rules.some(({ matches }) => matches.some(({ kind }) => kind === 'nfacct'));
}

/** The node on which the endpoints of KUBE-SVL chains are: those are local ones. */
function inferNode(views: readonly View[], cluster: Cluster): string | undefined {
  if (cluster.nodes.length === 1) return cluster.nodes[0]?.name;
  const local = new Set<string>();
  for (const view of views) {
    for (const [name, { rules }] of view.tables.get('nat')?.chains ?? []) {
      if (!['SVL', 'XLB'].includes(serviceChainParts(name)?.kind ?? '')) continue;
      for (const rule of rules) {
        for (const { target } of rulesOf(view, 'nat', jumpOf(rule) ?? '')) {
          if (target?.kind === 'DNAT') for (const text of target.destinations) local.add(hostOf(text));
        }
      }
    }
  }
  if (local.size === 0) return undefined;
  return most(
    cluster.endpointSlices.flatMap(({ endpoints }) =>
      endpoints.flatMap(({ canonicalAddress, nodeName }) =>
        nodeName !== undefined && local.has(canonicalAddress) ? [nodeName] : [],
      ),
    ),
  );
}

/** `10.0.0.1:80` → `10.0.0.1`, `[fd00::1]:80` → `fd00::1`. */
export function hostOf(destination: string): string {
  const end = destination.startsWith('[') ? destination.indexOf(']') : destination.lastIndexOf(':');
  return destination.slice(destination.startsWith('[') ? 1 : 0, end < 0 ? undefined : end);
}

/** The most frequent of some values; of equally frequent ones the first. */
function most<T>(values: readonly T[]): T | undefined {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  let best: T | undefined;
  let count = 0;
  for (const [value, times] of counts) {
    if (times > count) [best, count] = [value, times];
  }
  return best;
}
