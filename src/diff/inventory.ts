import { chainSuffix, endpointChain } from '../compile/index.ts';
import type { Family, Rule } from '../netfilter/index.ts';
import { readComment } from './names.ts';
import { commentOf, jumpOf } from './rule-key.ts';
import { serviceChainParts } from './scope.ts';
import { trafficOf } from './shared-chain.ts';
import { rulesOf, type View } from './view.ts';

/** One service port as a node's rules program it, of all families together. */
export interface ProgrammedServicePort {
  /** kube-proxy's name, as the comments have it: `shop/web:http`. */
  readonly name: string;
  /** `tcp`, `udp`, `sctp` */
  readonly protocol: string;
  readonly port: number | undefined;
  readonly clusterIPs: readonly string[];
  readonly externalIPs: readonly string[];
  readonly loadBalancerIPs: readonly string[];
  readonly sourceRanges: readonly string[];
  /** Families in which a source range holds the node's own address. */
  readonly nodeAllowed: readonly Family[];
  readonly nodePort: number | undefined;
  readonly healthCheckNodePort: number | undefined;
  readonly internalPolicy: 'Cluster' | 'Local';
  readonly externalPolicy: 'Cluster' | 'Local';
  readonly affinitySeconds: number | undefined;
  readonly endpoints: readonly ProgrammedEndpoint[];
  /** Traffic under policy Local is dropped, for the endpoints are on other nodes. */
  readonly onlyRemote: boolean;
  /** Chains of the service port whose names are, and are not, the hash of its name and protocol. */
  readonly chains: readonly CheckedChain[];
}

export interface ProgrammedEndpoint {
  /** `10.244.1.10:8080` */
  readonly destination: string;
  /** A chain of local endpoints has it. */
  readonly local: boolean;
  /** The chain of all endpoints has it: one that only the other has is terminating, or hints leave it out. */
  readonly cluster: boolean;
}

export interface CheckedChain {
  readonly name: string;
  /** Whether the name is the hash of what the chain is for. */
  readonly isRight: boolean;
}

interface Draft {
  readonly name: string;
  readonly protocol: string;
  port: number | undefined;
  readonly clusterIPs: Set<string>;
  readonly externalIPs: Set<string>;
  readonly loadBalancerIPs: Set<string>;
  readonly sourceRanges: Set<string>;
  readonly nodeAllowed: Set<Family>;
  nodePort: number | undefined;
  healthCheckNodePort: number | undefined;
  internalPolicy: 'Cluster' | 'Local';
  externalPolicy: 'Cluster' | 'Local';
  affinitySeconds: number | undefined;
  readonly endpoints: Map<string, { local: boolean; cluster: boolean }>;
  onlyRemote: boolean;
  readonly chains: Map<string, boolean>;
}

/** The service ports that rules program, by name; those that no rule's comment names cannot be told. */
export function readInventory(views: readonly View[]): readonly ProgrammedServicePort[] {
  const drafts = new Map<string, Draft>();
  const draftOf = (name: string, protocol: string): Draft => {
    const key = `${name} ${protocol}`;
    const draft = drafts.get(key) ?? emptyDraft(name, protocol);
    drafts.set(key, draft);
    return draft;
  };
  for (const view of views) {
    readServices(view, draftOf);
    readNodePorts(view, draftOf);
    const dispatch = dispatchRules(view);
    for (const draft of drafts.values()) readChains(view, draft, dispatch.get(draft.name) ?? []);
  }
  for (const view of views) readHealthChecks(view, [...drafts.values()]);
  return [...drafts.values()]
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.protocol < b.protocol ? -1 : 1))
    .map((draft) => ({
      ...draft,
      clusterIPs: [...draft.clusterIPs],
      externalIPs: [...draft.externalIPs],
      loadBalancerIPs: [...draft.loadBalancerIPs],
      sourceRanges: [...draft.sourceRanges],
      nodeAllowed: [...draft.nodeAllowed],
      endpoints: [...draft.endpoints].map(([destination, policies]) => ({ destination, ...policies })),
      chains: [...draft.chains].map(([name, isRight]) => ({ name, isRight })),
    }));
}

function emptyDraft(name: string, protocol: string): Draft {
  return {
    name,
    protocol,
    port: undefined,
    clusterIPs: new Set(),
    externalIPs: new Set(),
    loadBalancerIPs: new Set(),
    sourceRanges: new Set(),
    nodeAllowed: new Set(),
    nodePort: undefined,
    healthCheckNodePort: undefined,
    internalPolicy: 'Cluster',
    externalPolicy: 'Cluster',
    affinitySeconds: undefined,
    endpoints: new Map(),
    onlyRemote: false,
    chains: new Map(),
  };
}

type DraftOf = (name: string, protocol: string) => Draft;

function readServices(view: View, draftOf: DraftOf): void {
  const places = [
    ['nat', 'KUBE-SERVICES'],
    ['filter', 'KUBE-SERVICES'],
    ['filter', 'KUBE-EXTERNAL-SERVICES'],
  ] as const;
  for (const [table, chain] of places) {
    for (const rule of rulesOf(view, table, chain)) {
      const words = readComment(rule);
      const traffic = trafficOf(rule);
      if (words === undefined || traffic === undefined) continue;
      const draft = draftOf(words.servicePortName, traffic.protocol);
      if (traffic.address === 'LOCAL') {
        draft.nodePort = traffic.port;
        if (words.kind === 'no local endpoints') draft.externalPolicy = 'Local';
        continue;
      }
      if (words.kind === 'external IP') draft.externalIPs.add(traffic.address);
      else if (words.kind === 'load-balancer IP') draft.loadBalancerIPs.add(traffic.address);
      else if (chain === 'KUBE-EXTERNAL-SERVICES') {
        // Refused: nothing tells an external IP from a load balancer's, and the rules are the same (up to 1.19 only these are here).
        if (!draft.externalIPs.has(traffic.address)) draft.loadBalancerIPs.add(traffic.address);
        if (words.kind === 'no local endpoints') draft.externalPolicy = 'Local';
      } else if (isOtherAddress(draft, traffic.address, view)) draft.externalIPs.add(traffic.address);
      else draft.clusterIPs.add(traffic.address);
      if (words.kind === 'no local endpoints') draft.onlyRemote = true;
      draft.port = traffic.port;
      if (words.kind !== 'cluster IP' && !(table === 'filter' && words.kind === 'no local endpoints'))
        continue;
      const target = serviceChainParts(jumpOf(rule) ?? '')?.kind;
      if (chain === 'KUBE-SERVICES' && (target === 'SVL' || table === 'filter'))
        draft.internalPolicy = 'Local';
    }
  }
}

/** Up to 1.19 external IPs without endpoints are refused in the chain of cluster IPs, which come first. */
function isOtherAddress({ clusterIPs }: Draft, address: string, { family }: View): boolean {
  const known = [...clusterIPs].filter((text) => text.includes(':') === (family === 'ipv6'));
  return known.length > 0 && !known.includes(address);
}

function readNodePorts(view: View, draftOf: DraftOf): void {
  for (const rule of rulesOf(view, 'nat', 'KUBE-NODEPORTS')) {
    const words = readComment(rule);
    const traffic = trafficOf(rule);
    if (words !== undefined && traffic !== undefined)
      draftOf(words.servicePortName, traffic.protocol).nodePort = traffic.port;
  }
}

/** The rule for a health check port is TCP, whatever the protocol of the service port. */
function readHealthChecks(view: View, drafts: readonly Draft[]): void {
  const byName = new Map<string, Draft>();
  for (const draft of drafts) if (!byName.has(draft.name)) byName.set(draft.name, draft);
  for (const rule of rulesOf(view, 'filter', 'KUBE-NODEPORTS')) {
    const words = readComment(rule);
    const port = trafficOf(rule)?.port;
    if (words?.kind !== 'health check' || port === undefined) continue;
    const draft = byName.get(words.servicePortName);
    if (draft === undefined) continue;
    draft.healthCheckNodePort = port;
    // Only Services of policy Local have one.
    draft.externalPolicy = 'Local';
  }
}

/** Rules that jump to chains of service ports, by the service port that their comment names. */
function dispatchRules(view: View): ReadonlyMap<string, readonly Rule[]> {
  const found = new Map<string, Rule[]>();
  for (const chain of ['KUBE-SERVICES', 'KUBE-NODEPORTS']) {
    for (const rule of rulesOf(view, 'nat', chain)) {
      if (serviceChainParts(jumpOf(rule) ?? '') === undefined) continue;
      const name = readComment(rule)?.servicePortName;
      if (name === undefined) continue;
      const rules = found.get(name);
      if (rules === undefined) found.set(name, [rule]);
      else rules.push(rule);
    }
  }
  return found;
}

function readChains(view: View, draft: Draft, dispatch: readonly Rule[]): void {
  const nat = view.tables.get('nat');
  const suffix = chainSuffix(draft.name + draft.protocol);
  for (const rule of dispatch) {
    const target = jumpOf(rule) ?? '';
    if (usesProtocol(rule, draft.protocol))
      draft.chains.set(target, serviceChainParts(target)?.suffix === suffix);
  }
  for (const kind of ['SVC', 'SVL', 'EXT', 'FW', 'XLB'] as const) {
    const name = `KUBE-${kind}-${suffix}`;
    if (!nat?.reachable.has(name) && kind !== 'XLB') continue;
    const rules = nat?.chains.get(name)?.rules;
    if (rules === undefined) continue;
    draft.chains.set(name, true);
    if (kind === 'XLB') draft.externalPolicy = 'Local';
    if (kind === 'EXT' && rules.some((rule) => commentOf(rule).includes(' LOCAL traffic for ')))
      draft.externalPolicy = 'Local';
    if (kind === 'FW') readFirewall(view.family, rules, draft);
    else for (const rule of rules) readEndpoint(view, rule, kind, draft);
  }
}

function usesProtocol({ protocol }: Rule, wanted: string): boolean {
  return protocol === undefined || protocol.protocol === wanted;
}

function readFirewall(family: Family, rules: readonly Rule[], draft: Draft): void {
  for (const { source } of rules) {
    if (source === undefined) continue;
    if (draft.loadBalancerIPs.has(source.address)) draft.nodeAllowed.add(family);
    else
      draft.sourceRanges.add(
        `${source.address}/${source.prefix ?? (source.address.includes(':') ? 128 : 32)}`,
      );
  }
  // A rule for the whole world has no source.
  const open = rules.filter(({ source, target }) => source === undefined && target?.kind === 'jump');
  const passes = open.some((rule) =>
    ['SVC', 'XLB', 'EXT'].includes(serviceChainParts(jumpOf(rule) ?? '')?.kind ?? ''),
  );
  if (passes && (draft.sourceRanges.size > 0 || draft.nodeAllowed.size > 0))
    draft.sourceRanges.add('0.0.0.0/0');
}

function readEndpoint(view: View, rule: Rule, kind: string, draft: Draft): void {
  if (commentOf(rule).endsWith(' has no local endpoints')) draft.onlyRemote = true;
  const chain = jumpOf(rule);
  if (chain?.startsWith('KUBE-SEP-') !== true) return;
  for (const match of rule.matches) {
    if (match.kind === 'recent' && match.seconds !== undefined) draft.affinitySeconds = match.seconds;
  }
  for (const { target } of rulesOf(view, 'nat', chain)) {
    const [destination] = target?.kind === 'DNAT' ? target.destinations : [];
    if (destination === undefined) continue;
    const policies = draft.endpoints.get(destination) ?? { local: false, cluster: false };
    if (kind === 'SVC') policies.cluster = true;
    else policies.local = true;
    draft.endpoints.set(destination, policies);
    draft.chains.set(chain, endpointChain(draft.name, draft.protocol, destination) === chain);
  }
}
