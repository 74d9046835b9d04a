import type { Rule } from '../../../netfilter/index.ts';
import { refuse, ruleTo } from '../dispatch-rules.ts';
import type { LayoutChange } from '../layout.ts';
import { jumpTo, ofType } from '../rule.ts';
import { MARK_MASQ, NODEPORTS, SERVICES } from '../well-known.ts';
import { chainFromOutside } from './since-1.24-external-chains.ts';

export const EXTERNAL_IPS_FROM_ANYWHERE: LayoutChange = {
  since: 21,
  what: 'external IPs are followed wherever the traffic comes from; before, only off the node or to an address of the node, and all was masqueraded',
  before: () => ({
    externalIP: (plan, address, write) => {
      const to = (target: string): Rule => ruleTo(plan, address, `${plan.name} external IP`, jumpTo(target));
      if (plan.hasAny) {
        if (!plan.port.externalPolicyLocal) write.nat(SERVICES, to(MARK_MASQ));
        const rule = to(chainFromOutside(plan));
        const fromElsewhere = [
          { kind: 'physdev', isIn: { negated: true } },
          { kind: 'addrtype', source: { negated: true, types: ['LOCAL'] } },
        ] as const;
        write.nat(SERVICES, { ...rule, matches: [...rule.matches, ...fromElsewhere] });
        write.nat(SERVICES, { ...rule, matches: [...rule.matches, ofType('destination', 'LOCAL')] });
      }
      refuse(plan, address, write);
    },
  }),
};

export const HEALTH_CHECK_NODE_PORTS: LayoutChange = {
  since: 21,
  what: 'health check node ports are accepted, in KUBE-NODEPORTS of the filter table',
  before: ({ jumps, filterChains }) => ({
    jumps: jumps.filter(({ table, to }) => !(table === 'filter' && to === NODEPORTS)),
    filterChains: filterChains.filter((chain) => chain !== NODEPORTS),
    healthCheckNodePort: () => {},
  }),
};
