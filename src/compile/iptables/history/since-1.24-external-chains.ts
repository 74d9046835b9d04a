import type { Rule } from '../../../netfilter/index.ts';
import { nodePortRule, refuse, refuseNodePort, ruleTo } from '../dispatch-rules.ts';
import type { LayoutChange, ServiceChainKind, SharedChains } from '../layout.ts';
import { comment, jumpTo, network, ofType } from '../rule.ts';
import {
  CLUSTER_POLICY,
  detect,
  FIREWALL_OF_SERVICE,
  masqueradingOfClusterIP,
  policyRules,
} from '../service-chains.ts';
import type { ServicePortPlan } from '../service-port-plan.ts';
import { MARK_MASQ, NODEPORTS, SERVICES } from '../well-known.ts';
import { firewallOfEachAddress } from './since-1.25-proxy-firewall.ts';

/**
 * PR 106497, 109060: before, traffic from outside under policy Local went through KUBE-XLB, which held the local
 * endpoints, and all other traffic straight to KUBE-SVC, which masqueraded it by address and port; every
 * load-balancer IP had a KUBE-FW chain.
 */
export const EXTERNAL_CHAINS: LayoutChange = {
  since: 24,
  what: 'KUBE-EXT and KUBE-SVL chains in place of KUBE-XLB; KUBE-FW only where there are source ranges; comments name the endpoint',
  before: ({ usesNodePort }) => ({
    // Endpoints were filtered before anything was written: KUBE-SVC had those that were left.
    settle: (plan) => ({
      ...plan,
      internalChain: plan.chains.clusterPolicy,
      hasInternal: plan.hasAny,
      hasExternal: plan.hasAny,
      usesFirewall: plan.hasAny && plan.port.loadBalancerVIPs.length > 0,
    }),
    externalIP: (plan, address, write) => {
      const target = jumpTo(chainFromOutside(plan));
      if (plan.hasAny) write.nat(SERVICES, ruleTo(plan, address, `${plan.name} external IP`, target));
      refuse(plan, address, write);
    },
    nodePort: nodePortOfPolicy,
    serviceChains: [{ ...CLUSTER_POLICY, isUsed: ({ hasAny }) => hasAny }, FIREWALL_OF_ALL, LOAD_BALANCER],
    policyHead: (plan, chain) =>
      chain === plan.chains.clusterPolicy ? masqueradingOf(plan, usesNodePort(plan)) : redirection(plan),
    affinityNote: nameAlone,
    balancingNote: nameAlone,
  }),
};

function nameAlone({ name, options }: ServicePortPlan): string | undefined {
  return options.comments ? name : undefined;
}

export function loadBalancerChain({ chains }: ServicePortPlan): string {
  return chains.localPolicy.replace('KUBE-SVL-', 'KUBE-XLB-');
}

/** Where traffic from outside goes that is not for a load balancer. */
export function chainFromOutside(plan: ServicePortPlan): string {
  return plan.port.externalPolicyLocal ? loadBalancerChain(plan) : plan.chains.clusterPolicy;
}

const LOAD_BALANCER: ServiceChainKind = {
  name: loadBalancerChain,
  // Declared even where nothing is written into it.
  isUsed: ({ port }) => port.externalPolicyLocal,
  rules: (plan, layout) =>
    plan.hasAny ? policyRules(plan, layout, loadBalancerChain(plan), plan.local) : [],
};

const FIREWALL_OF_ALL: ServiceChainKind = {
  ...FIREWALL_OF_SERVICE,
  rules: (plan) =>
    firewallOfEachAddress(
      plan,
      plan.port.externalPolicyLocal ? [] : [jumpTo(MARK_MASQ)],
      chainFromOutside(plan),
    ),
};

function nodePortOfPolicy(plan: ServicePortPlan, write: SharedChains): void {
  const { state, port } = plan;
  if (plan.hasAny) {
    if (port.externalPolicyLocal) {
      // The node's own traffic to its loopback address is a martian unless it is masqueraded.
      const loopback = network(state.family === 'IPv4' ? '127.0.0.0/8' : '::1/128');
      write.nat(NODEPORTS, { source: loopback, ...nodePortRule(plan, jumpTo(MARK_MASQ)) });
    }
    write.nat(NODEPORTS, nodePortRule(plan, jumpTo(chainFromOutside(plan))));
  }
  refuseNodePort(plan, write);
}

/** What comes to KUBE-SVC from outside of the cluster, by the address that it came to. */
function masqueradingOf(plan: ServicePortPlan, usesNodePort: boolean): Rule[] {
  const { port, state, name } = plan;
  const rules = masqueradingOfClusterIP(plan, plan.chains.clusterPolicy);
  if (port.externalPolicyLocal) return rules;
  const detector = state.localDetector === undefined ? {} : detect(state.localDetector, true);
  for (const address of port.externalIPs) {
    rules.push({ ...detector, ...ruleTo(plan, address, `${name} external IP`, jumpTo(MARK_MASQ)) });
  }
  if (usesNodePort) rules.push(nodePortRule(plan, jumpTo(MARK_MASQ)));
  return rules;
}

/** Pods and the node itself are sent to all endpoints, whatever the policy. */
function redirection({ state, name, chains }: ServicePortPlan): Rule[] {
  const fromNode = ofType('source', 'LOCAL');
  const target = jumpTo(chains.clusterPolicy);
  const note = 'Redirect pods trying to reach external loadbalancer VIP to clusterIP';
  return [
    ...(state.localDetector === undefined
      ? []
      : [{ ...detect(state.localDetector, false), matches: [comment(note)], target }]),
    {
      matches: [comment(`masquerade LOCAL traffic for ${name} LB IP`), fromNode],
      target: jumpTo(MARK_MASQ),
    },
    { matches: [comment(`route LOCAL traffic for ${name} LB IP to service chain`), fromNode], target },
  ];
}
