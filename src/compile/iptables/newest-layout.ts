import { clusterIP, externalIP, healthCheckNodePort, loadBalancerIP, nodePort } from './dispatch-rules.ts';
import { firewallRules, forwardRules, nodePortJumps, postroutingRules } from './fixed-rules.ts';
import type { Layout } from './layout.ts';
import { masqueradingOfClusterIP, SERVICE_CHAINS } from './service-chains.ts';
import type { ServicePortPlan } from './service-port-plan.ts';
import { FILTER_CHAINS, FIREWALL, JUMPS, NAT_CHAINS } from './well-known.ts';

/** The layout of kube-proxy 1.28 to 1.36: in these the rules changed by what they are made from alone. */
export const NEWEST_LAYOUT: Layout = {
  jumps: JUMPS,
  filterChains: FILTER_CHAINS,
  natChains: NAT_CHAINS,
  ensuredChains: { filter: [FIREWALL], nat: [] },

  postrouting: postroutingRules,
  forward: forwardRules,
  // kube-proxy leaves the chain alone where it has no rule for it.
  firewall: (state) => (state.localhostNodePorts ? firewallRules() : undefined),
  nodePortJumps,

  settle: (plan) => plan,
  clusterIP,
  externalIP,
  loadBalancerIP,
  usesNodePort: ({ port }) => port.nodePort !== 0,
  nodePort,
  healthCheckNodePort,

  serviceChains: SERVICE_CHAINS,
  policyHead: masqueradingOfClusterIP,
  policyWithoutEndpoints: () => [],
  affinityTargets: (_plan, _chain, targets) => targets,
  affinityNote: noteOfEndpoint,
  balancingNote: noteOfEndpoint,
};

function noteOfEndpoint(
  { name, options }: ServicePortPlan,
  _: string,
  destination: string,
): string | undefined {
  return options.comments ? `${name} -> ${destination}` : undefined;
}
