import type { LayoutChange } from '../layout.ts';
import { comment, conntrack } from '../rule.ts';
import { loadBalancerChain } from './since-1.24-external-chains.ts';

export const FORWARD_RULE: LayoutChange = {
  since: 23,
  what: 'one rule for established connections in KUBE-FORWARD; before, one for pods as the source and one as the destination',
  before: ({ forward }) => ({
    forward: (state, nfacct) => [
      ...forward(state, nfacct).slice(0, -1),
      ...(['source', 'destination'] as const).map((side) => ({
        matches: [
          comment(`kubernetes forwarding conntrack pod ${side} rule`),
          conntrack(['RELATED', 'ESTABLISHED']),
        ],
        target: { kind: 'ACCEPT' as const },
      })),
    ],
  }),
};

/** 1.22 and before numbered the balancing rules of KUBE-XLB, and wrote their comments in large clusters too. */
export const LOCAL_BALANCING_COMMENTS: LayoutChange = {
  since: 23,
  what: 'balancing rules of KUBE-XLB have the comment of all others; before, "Balancing rule 0 for …"',
  before: ({ affinityNote, balancingNote }) => ({
    affinityNote: (plan, chain, destination) =>
      chain === loadBalancerChain(plan) ? plan.name : affinityNote(plan, chain, destination),
    balancingNote: (plan, chain, destination, index) =>
      chain === loadBalancerChain(plan)
        ? `Balancing rule ${index} for ${plan.name}`
        : balancingNote(plan, chain, destination, index),
  }),
};
