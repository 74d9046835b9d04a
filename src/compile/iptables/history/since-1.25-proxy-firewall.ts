import { cidrContains, usesEndpoints } from '../../../kube/index.ts';
import type { Rule } from '../../../netfilter/index.ts';
import { refuse, ruleTo } from '../dispatch-rules.ts';
import type { LayoutChange, ServiceChainKind } from '../layout.ts';
import { comment, host, jumpTo, network } from '../rule.ts';
import { CLUSTER_POLICY, EXTERNAL, FIREWALL_OF_SERVICE, LOCAL_POLICY } from '../service-chains.ts';
import type { ServicePortPlan } from '../service-port-plan.ts';
import { PROXY_FIREWALL, SERVICES } from '../well-known.ts';

/** Kubelet's, which marks packets that its own KUBE-FIREWALL drops. */
export const MARK_DROP = 'KUBE-MARK-DROP';

/**
 * KEP-3178 (PR 110289): before, what was not to pass was marked by kubelet's chain KUBE-MARK-DROP, in the nat
 * table, at the end of KUBE-FW and of a KUBE-SVL chain without endpoints.
 */
export const PROXY_FIREWALL_CHAIN: LayoutChange = {
  since: 25,
  what: 'KUBE-PROXY-FIREWALL and DROP rules of the filter table in place of KUBE-MARK-DROP (KEP-3178)',
  before: ({ jumps, filterChains, ensuredChains }) => ({
    jumps: jumps.filter(({ to }) => to !== PROXY_FIREWALL),
    filterChains: filterChains.filter((chain) => chain !== PROXY_FIREWALL),
    ensuredChains: { ...ensuredChains, nat: [...ensuredChains.nat, MARK_DROP] },
    // Without a local endpoint traffic was sent to an empty KUBE-SVL chain, not refused.
    settle: (plan) => ({ ...plan, hasInternal: plan.hasAny, hasExternal: plan.hasAny }),
    loadBalancerIP: (plan, address, write) => {
      const target = jumpTo(plan.usesFirewall ? plan.chains.firewall : plan.chains.external);
      if (plan.hasAny) write.nat(SERVICES, ruleTo(plan, address, `${plan.name} loadbalancer IP`, target));
      refuse(plan, address, write);
    },
    serviceChains: [
      { ...CLUSTER_POLICY, isUsed: (plan) => plan.hasAny && usesEndpoints(plan.port).cluster },
      { ...LOCAL_POLICY, isUsed: (plan) => plan.hasAny && usesEndpoints(plan.port).local },
      EXTERNAL,
      MARKING_FIREWALL,
    ],
    policyWithoutEndpoints: ({ name }) => [
      { matches: [comment(`${name} has no local endpoints`)], target: jumpTo(MARK_DROP) },
    ],
  }),
};

const MARKING_FIREWALL: ServiceChainKind = {
  ...FIREWALL_OF_SERVICE,
  rules: (plan) => firewallOfEachAddress(plan, [], plan.chains.external),
};

/** The rules of KUBE-FW, once for each load-balancer IP, as 1.25 stopped to write them. */
export function firewallOfEachAddress(
  { port, state, name }: ServicePortPlan,
  first: readonly Rule['target'][],
  destination: string,
): Rule[] {
  const matches = [comment(`${name} loadbalancer IP`)];
  const target = jumpTo(destination);
  const fromNode = port.sourceRanges.some(({ cidr }) => cidrContains(cidr, state.nodeIP));
  return port.loadBalancerVIPs.flatMap((address): Rule[] => [
    ...first.map((each): Rule => ({ matches, ...(each === undefined ? {} : { target: each }) })),
    ...(port.sourceRanges.length === 0 ? [{ matches, target }] : []),
    ...port.sourceRanges.map(({ text }) => ({ source: network(text), matches, target })),
    ...(fromNode ? [{ source: host(address), matches, target }] : []),
    { matches, target: jumpTo(MARK_DROP) },
  ]);
}
