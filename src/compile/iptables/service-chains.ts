import { cidrContains, type LocalDetector } from '../../kube/index.ts';
import type { Chain, Match, Rule } from '../../netfilter/index.ts';
import { balancingProbability } from '../probabilities.ts';
import { ruleTo } from './dispatch-rules.ts';
import type { EndpointChain } from './endpoint-chain.ts';
import type { Layout, ServiceChainKind } from './layout.ts';
import { comment, host, jumpTo, network, ofType } from './rule.ts';
import type { ServicePortPlan } from './service-port-plan.ts';
import { MARK_MASQ, PROXY_FIREWALL } from './well-known.ts';

/** A chain whose rules are made when they are asked for: a printer needs one chain at a time. */
class ServiceChain implements Chain {
  readonly name: string;
  readonly policy = undefined;
  readonly #plan: ServicePortPlan;
  readonly #kind: ServiceChainKind;
  readonly #layout: Layout;

  constructor(plan: ServicePortPlan, kind: ServiceChainKind, layout: Layout) {
    this.name = kind.name(plan);
    this.#plan = plan;
    this.#kind = kind;
    this.#layout = layout;
  }

  get rules(): readonly Rule[] {
    return this.#kind.rules(this.#plan, this.#layout);
  }
}

/** Adds the chains of one service port and of its endpoints, in kube-proxy's order. */
export function addServiceChains(plan: ServicePortPlan, layout: Layout, chains: Chain[]): void {
  for (const kind of layout.serviceChains) {
    if (kind.isUsed(plan)) chains.push(new ServiceChain(plan, kind, layout));
  }
  for (const chain of plan.reachable) chains.push(chain);
}

/** KUBE-SVC, KUBE-SVL, KUBE-EXT and KUBE-FW. */
export const CLUSTER_POLICY: ServiceChainKind = {
  name: ({ chains }) => chains.clusterPolicy,
  isUsed: ({ cluster }) => cluster.length > 0,
  rules: (plan, layout) => policyRules(plan, layout, plan.chains.clusterPolicy, plan.cluster),
};
export const LOCAL_POLICY: ServiceChainKind = {
  name: ({ chains }) => chains.localPolicy,
  isUsed: ({ local }) => local.length > 0,
  rules: (plan, layout) => policyRules(plan, layout, plan.chains.localPolicy, plan.local),
};
export const EXTERNAL: ServiceChainKind = {
  name: ({ chains }) => chains.external,
  isUsed: ({ usesExternal }) => usesExternal,
  rules: externalRules,
};
export const FIREWALL_OF_SERVICE: ServiceChainKind = {
  name: ({ chains }) => chains.firewall,
  isUsed: ({ usesFirewall }) => usesFirewall,
  rules: firewallRules,
};

/**
 * In the order of writing. Source: the second half of the loop over service ports in syncProxyRules of the
 * iptables proxier, 1.28 to 1.36.
 */
export const SERVICE_CHAINS: readonly ServiceChainKind[] = [
  CLUSTER_POLICY,
  LOCAL_POLICY,
  EXTERNAL,
  FIREWALL_OF_SERVICE,
];

/** What came to the cluster IP from outside is masqueraded where its endpoints are. */
export function masqueradingOfClusterIP(plan: ServicePortPlan, chain: string): Rule[] {
  const { port, state, name } = plan;
  if (!plan.hasInternal || chain !== plan.internalChain) return [];
  const rule = ruleTo(plan, port.clusterIP, `${name} cluster IP`, jumpTo(MARK_MASQ));
  if (state.masqueradeAll) return [rule];
  return state.localDetector === undefined ? [] : [Object.assign(detect(state.localDetector, true), rule)];
}

/** Masquerading, then affinity, then balancing. */
export function policyRules(
  plan: ServicePortPlan,
  layout: Layout,
  chain: string,
  targets: readonly EndpointChain[],
): Rule[] {
  const { port } = plan;
  const rules = layout.policyHead(plan, chain);
  if (targets.length === 0) rules.push(...layout.policyWithoutEndpoints(plan));
  const commented = (text: string | undefined): Match[] => (text === undefined ? [] : [comment(text)]);
  const seconds = port.affinitySeconds;
  if (seconds !== undefined) {
    for (const target of layout.affinityTargets(plan, chain, targets)) {
      const matches = commented(layout.affinityNote(plan, chain, target.destination));
      matches.push({
        kind: 'recent',
        negated: false,
        action: 'rcheck',
        name: target.name,
        seconds,
        reap: true,
        side: 'source',
      });
      rules.push({ matches, target: jumpTo(target.name) });
    }
  }
  targets.forEach((target, index) => {
    const note = layout.balancingNote(plan, chain, target.destination, index);
    const share = shareOf(index, targets.length);
    const matches = note === undefined ? share : [comment(note), ...share];
    rules.push({ matches, target: jumpTo(target.name) });
  });
  return rules;
}

const NONE: readonly Match[] = [];
const shares = new Map<number, readonly Match[]>();

/** The match for the share of endpoint `index` among `count`, which the last one does without; made once for all. */
function shareOf(index: number, count: number): readonly Match[] {
  const left = count - index;
  if (left === 1) return NONE;
  let share = shares.get(left);
  if (share === undefined) {
    const probability = balancingProbability(index, count);
    share = [{ kind: 'statistic', mode: 'random', negated: false, probability }];
    shares.set(left, share);
  }
  return share;
}

function externalRules(plan: ServicePortPlan): Rule[] {
  const { port, state, name, chains } = plan;
  const rules: Rule[] = [];
  if (!port.externalPolicyLocal) {
    // The endpoint may be on another node, and the answer has to come back through this one.
    rules.push({
      matches: [comment(`masquerade traffic for ${name} external destinations`)],
      target: jumpTo(MARK_MASQ),
    });
  } else {
    if (state.localDetector !== undefined) {
      rules.push({
        ...detect(state.localDetector, false),
        matches: [comment(`pod traffic for ${name} external destinations`)],
        target: jumpTo(chains.clusterPolicy),
      });
    }
    const fromNode = ofType('source', 'LOCAL');
    rules.push(
      {
        matches: [comment(`masquerade LOCAL traffic for ${name} external destinations`), fromNode],
        target: jumpTo(MARK_MASQ),
      },
      {
        matches: [comment(`route LOCAL traffic for ${name} external destinations`), fromNode],
        target: jumpTo(chains.clusterPolicy),
      },
    );
  }
  if (plan.hasExternal) rules.push({ matches: [], target: jumpTo(plan.externalPolicyChain) });
  return rules;
}

function firewallRules({ port, state, name, chains }: ServicePortPlan): Rule[] {
  const matches = [comment(`${name} loadbalancer IP`)];
  const target = jumpTo(chains.external);
  const rules: Rule[] = port.sourceRanges.map(({ text }) => ({ source: network(text), matches, target }));
  // A packet from the node itself to the load balancer may loop back with the VIP as its source.
  if (port.sourceRanges.some(({ cidr }) => cidrContains(cidr, state.nodeIP))) {
    for (const address of port.loadBalancerVIPs) rules.push({ source: host(address), matches, target });
  }
  rules.push({ matches: [comment(`other traffic to ${name} will be dropped by ${PROXY_FIREWALL}`)] });
  return rules;
}

/** The match for traffic of local pods, or (negated) for all other traffic. */
export function detect(
  detector: NonNullable<LocalDetector>,
  negated: boolean,
): Pick<Rule, 'source' | 'inInterface'> {
  return detector.by === 'source'
    ? { source: network(detector.cidr, negated) }
    : { inInterface: { negated, name: detector.name } };
}
