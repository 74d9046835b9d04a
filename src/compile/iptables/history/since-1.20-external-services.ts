import { ruleTo } from '../dispatch-rules.ts';
import type { LayoutChange } from '../layout.ts';
import { EXTERNAL_SERVICES, type Jump, SERVICES } from '../well-known.ts';
import { MARK_DROP } from './since-1.25-proxy-firewall.ts';

/**
 * PR 95252, which some patch releases of 1.18 and 1.19 got as well: before, external IPs without endpoints were
 * refused in KUBE-SERVICES, which INPUT jumped to for their sake.
 */
export const EXTERNAL_SERVICES_FORWARDED: LayoutChange = {
  since: 20,
  what: 'external IPs without endpoints are refused in KUBE-EXTERNAL-SERVICES, from INPUT and FORWARD; before, in KUBE-SERVICES, from INPUT too',
  before: ({ jumps, externalIP }) => ({
    jumps: jumps.flatMap((jump): Jump[] => {
      if (jump.table !== 'filter') return [jump];
      if (jump.from === 'FORWARD' && jump.to === EXTERNAL_SERVICES) return [];
      // The jump from INPUT was ensured after those from FORWARD and OUTPUT.
      return jump.from === 'OUTPUT' && jump.to === SERVICES ? [jump, { ...jump, from: 'INPUT' }] : [jump];
    }),
    externalIP: (plan, address, write) => {
      if (plan.hasAny) externalIP(plan, address, write);
      else write.filter(SERVICES, ruleTo(plan, address, plan.refusal.comment, plan.refusal.target));
    },
  }),
};

export const MARK_DROP_ENSURED: LayoutChange = {
  since: 20,
  what: 'kube-proxy makes sure that kubelet’s chain KUBE-MARK-DROP is there',
  before: ({ ensuredChains }) => ({
    ensuredChains: { ...ensuredChains, nat: ensuredChains.nat.filter((chain) => chain !== MARK_DROP) },
  }),
};
