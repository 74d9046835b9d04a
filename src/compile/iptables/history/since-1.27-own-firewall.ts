import type { LayoutChange, ServiceChainKind } from '../layout.ts';
import { FIREWALL_OF_SERVICE } from '../service-chains.ts';
import { FIREWALL } from '../well-known.ts';

/** KEP-3178: kube-proxy no longer relies on kubelet's KUBE-FIREWALL, which kubelet is to give up. */
export const OWN_FIREWALL: LayoutChange = {
  since: 27,
  what: 'kube-proxy writes KUBE-FIREWALL itself (KEP-3178); before, kubelet alone did',
  before: ({ jumps, ensuredChains }) => ({
    jumps: jumps.filter(({ to }) => to !== FIREWALL),
    ensuredChains: { ...ensuredChains, filter: ensuredChains.filter.filter((chain) => chain !== FIREWALL) },
    firewall: () => undefined,
  }),
};

const WITHOUT_LAST_RULE: ServiceChainKind = {
  ...FIREWALL_OF_SERVICE,
  rules: (plan, layout) => FIREWALL_OF_SERVICE.rules(plan, layout).slice(0, -1),
};

export const FIREWALL_REMARK: LayoutChange = {
  since: 27,
  what: 'KUBE-FW chains end in a rule without a target that says what happens to all other traffic',
  before: ({ serviceChains }) => ({
    serviceChains: serviceChains.map((kind) => (kind === FIREWALL_OF_SERVICE ? WITHOUT_LAST_RULE : kind)),
  }),
};

export const NODE_PORTS_WITHOUT_ADDRESS: LayoutChange = {
  since: 27,
  what: 'node ports have their rules even where no address of the node matches nodePortAddresses',
  before: ({ usesNodePort }) => ({
    usesNodePort: (plan) => {
      const { nodePortAddresses } = plan.state;
      const matched = nodePortAddresses.match === 'all' || nodePortAddresses.addresses.length > 0;
      return matched && usesNodePort(plan);
    },
  }),
};
