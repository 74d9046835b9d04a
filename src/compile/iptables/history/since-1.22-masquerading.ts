import { nodePortRule, refuse, ruleTo } from '../dispatch-rules.ts';
import type { LayoutChange } from '../layout.ts';
import { jumpTo } from '../rule.ts';
import { detect, masqueradingOfClusterIP } from '../service-chains.ts';
import { MARK_MASQ, NODEPORTS, SERVICES } from '../well-known.ts';
import { chainFromOutside } from './since-1.24-external-chains.ts';

/** PR 96959: before, each jump to KUBE-SVC had the rule that masquerades right before it. */
export const MASQUERADING_IN_SERVICE_CHAINS: LayoutChange = {
  since: 22,
  what: 'rules that masquerade stand in KUBE-SVC; before, ahead of the jumps in KUBE-SERVICES and KUBE-NODEPORTS',
  before: ({ policyHead, clusterIP, nodePort }) => ({
    policyHead: (plan, chain) => (chain === plan.chains.clusterPolicy ? [] : policyHead(plan, chain)),
    clusterIP: (plan, write) => {
      for (const rule of masqueradingOfClusterIP(plan, plan.chains.clusterPolicy)) write.nat(SERVICES, rule);
      clusterIP(plan, write);
    },
    externalIP: (plan, address, write) => {
      const { localDetector } = plan.state;
      const note = `${plan.name} external IP`;
      if (plan.hasAny) {
        if (!plan.port.externalPolicyLocal) {
          const detector = localDetector === undefined ? {} : detect(localDetector, true);
          write.nat(SERVICES, { ...detector, ...ruleTo(plan, address, note, jumpTo(MARK_MASQ)) });
        }
        write.nat(SERVICES, ruleTo(plan, address, note, jumpTo(chainFromOutside(plan))));
      }
      refuse(plan, address, write);
    },
    nodePort: (plan, write) => {
      if (plan.hasAny && !plan.port.externalPolicyLocal) {
        write.nat(NODEPORTS, nodePortRule(plan, jumpTo(MARK_MASQ)));
      }
      nodePort(plan, write);
    },
  }),
};

/** What 1.22 alone wrote; older versions dropped endpoints that are not ready before they came here. */
export const AFFINITY_OF_READY_ENDPOINTS: LayoutChange = {
  since: 23,
  what: 'affinity rules for ready endpoints alone (1.22 wrote them for all)',
  before: () => ({
    affinityTargets: ({ chains, reachable }, chain, targets) =>
      chain === chains.clusterPolicy ? reachable : targets,
  }),
};
