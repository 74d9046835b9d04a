import { cidrContains, type LocalDetector } from '../../kube/index.ts';
import type { Chain, Match, Rule } from '../../netfilter/index.ts';
import { balancingProbability } from '../probabilities.ts';
import { ruleTo } from './dispatch-rules.ts';
import type { EndpointChain } from './endpoint-chain.ts';
import { comment, host, jumpTo, network, ofType } from './rule.ts';
import type { ServicePortPlan } from './service-port-plan.ts';
import { MARK_MASQ, PROXY_FIREWALL } from './well-known.ts';

/** A chain whose rules are made when they are asked for: a printer needs one chain at a time. */
class ServiceChain implements Chain {
  readonly name: string;
  readonly policy = undefined;
  readonly #plan: ServicePortPlan;
  readonly #rulesOf: (plan: ServicePortPlan) => Rule[];

  constructor(name: string, plan: ServicePortPlan, rulesOf: (plan: ServicePortPlan) => Rule[]) {
    this.name = name;
    this.#plan = plan;
    this.#rulesOf = rulesOf;
  }

  get rules(): readonly Rule[] {
    return this.#rulesOf(this.#plan);
  }
}

/**
 * Adds the chains of one service port and of its endpoints, in kube-proxy's order. Source: the second half of
 * the loop over service ports in syncProxyRules of the iptables proxier, 1.28 to 1.36.
 */
export function addServiceChains(plan: ServicePortPlan, chains: Chain[]): void {
  if (plan.cluster.length > 0)
    chains.push(new ServiceChain(plan.chains.clusterPolicy, plan, clusterPolicyRules));
  if (plan.local.length > 0) chains.push(new ServiceChain(plan.chains.localPolicy, plan, localPolicyRules));
  if (plan.usesExternal) chains.push(new ServiceChain(plan.chains.external, plan, externalRules));
  if (plan.usesFirewall) chains.push(new ServiceChain(plan.chains.firewall, plan, firewallRules));
  for (const chain of plan.reachable) chains.push(chain);
}

function clusterPolicyRules(plan: ServicePortPlan): Rule[] {
  return policyRules(plan, plan.chains.clusterPolicy, plan.cluster);
}

function localPolicyRules(plan: ServicePortPlan): Rule[] {
  return policyRules(plan, plan.chains.localPolicy, plan.local);
}

/** Masquerading of what came to the cluster IP from outside, then affinity, then balancing. */
function policyRules(plan: ServicePortPlan, chain: string, targets: readonly EndpointChain[]): Rule[] {
  const { port, state, name } = plan;
  const rules: Rule[] = [];
  if (plan.hasInternal && chain === plan.internalChain) {
    const rule = ruleTo(plan, port.clusterIP, `${name} cluster IP`, jumpTo(MARK_MASQ));
    if (state.masqueradeAll) rules.push(rule);
    else if (state.localDetector !== undefined) rules.push({ ...detect(state.localDetector, true), ...rule });
  }
  const note = ({ endpoint }: EndpointChain): Match[] =>
    plan.options.comments ? [comment(`${name} -> ${endpoint.destination}`)] : [];
  const seconds = port.affinitySeconds;
  if (seconds !== undefined) {
    for (const target of targets) {
      const matches = note(target);
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
    const matches = note(target);
    if (index < targets.length - 1) {
      const probability = balancingProbability(index, targets.length);
      matches.push({ kind: 'statistic', mode: 'random', negated: false, probability });
    }
    rules.push({ matches, target: jumpTo(target.name) });
  });
  return rules;
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
function detect(
  detector: NonNullable<LocalDetector>,
  negated: boolean,
): Pick<Rule, 'source' | 'inInterface'> {
  return detector.by === 'source'
    ? { source: network(detector.cidr, negated) }
    : { inInterface: { negated, name: detector.name } };
}
