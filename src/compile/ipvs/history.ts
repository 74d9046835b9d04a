import { isBefore, type KubeProxyVersion } from '../../kube/index.ts';
import type { Chain, Rule } from '../../netfilter/index.ts';
import { masqueradeMark } from '../iptables/fixed-rules.ts';
import { comment, conntrack, jumpTo } from '../iptables/rule.ts';
import type { IpvsLayout, IpvsLayoutChange } from './layout.ts';
import { NEWEST_LAYOUT } from './newest-layout.ts';
import {
  chain,
  FILTER,
  FORWARD,
  inSet,
  LOAD_BALANCER,
  NODE_PORT,
  OUT_FILTER,
  POSTROUTING,
  PROXY_FIREWALL,
  SERVICES,
  SOURCE_RANGES,
} from './rules.ts';
import type { SetName } from './sets.ts';

/** Kubelet's chains: FIREWALL is in the nat table here, and kube-proxy's own. */
const NAT_FIREWALL = 'KUBE-FIREWALL';
const MARK_DROP = 'KUBE-MARK-DROP';

/** All changes of the layout in ipvs mode, the newest first: each is laid over those above it. */
export const LAYOUT_CHANGES: readonly IpvsLayoutChange[] = [
  {
    since: 30,
    what: 'KUBE-IPVS-FILTER lets external IPs under policy Local through',
    before: ({ filter }) => ({
      filter: (state, services) =>
        withRules(filter(state, services), FILTER, (rules) => rules.filter(without('EXTERNAL-IP-LOCAL'))),
    }),
  },
  {
    since: 29,
    what: 'KUBE-IPVS-OUT-FILTER keeps the node itself from load-balancer IPs whose source ranges leave it out',
    before: (newer) => withoutFilterChains(newer, [OUT_FILTER]),
  },
  {
    since: 28,
    what: 'KUBE-IPVS-FILTER lets health check node ports through',
    before: ({ filter }) => ({
      filter: (state, services) =>
        withRules(filter(state, services), FILTER, (rules) => rules.filter(without('HEALTH-CHECK'))),
    }),
  },
  {
    since: 28,
    what: 'addresses that another interface has are not bound to kube-ipvs0',
    before: () => ({ bindsAddressesOfOthers: true }),
  },
  {
    since: 26,
    what: 'KUBE-IPVS-FILTER and the set KUBE-IPVS-IPS: a port of a service address without a Service is refused (PR 108460)',
    before: (newer) => ({
      ...withoutFilterChains(newer, [FILTER]),
      sets: newer.sets.filter((name) => name !== 'KUBE-IPVS-IPS'),
    }),
  },
  {
    since: 26,
    what: 'traffic from the loopback network leaves KUBE-SERVICES at once',
    before: ({ nat }) => ({
      nat: (state, services) => withRules(nat(state, services), SERVICES, (rules) => rules.slice(1)),
    }),
  },
  {
    since: 25,
    what: 'source ranges in KUBE-PROXY-FIREWALL of the filter table; before, in KUBE-FIREWALL of the nat table, with KUBE-MARK-DROP (PR 110628)',
    before: (newer) => {
      const { jumps, filter } = withoutFilterChains(newer, [PROXY_FIREWALL, SOURCE_RANGES]);
      return { jumps, filter, nat: markingNat(newer), ensuredNatChains: [MARK_DROP] };
    },
  },
  {
    since: 24,
    what: 'under policy Local without a local endpoint all endpoints are used; before, none',
    // What is left of the endpoints when internalTrafficPolicy took the others away is the cluster set.
    before: () => ({
      endpointsOf: ({ endpoints, externalPolicyLocal }, local) =>
        local && externalPolicyLocal ? endpoints.local : endpoints.cluster,
    }),
  },
  {
    since: 23,
    what: 'one rule for established connections in KUBE-FORWARD; before, one for pods as the source and one as the destination',
    before: ({ filter }) => ({
      filter: (state, services) =>
        withRules(filter(state, services), FORWARD, (rules) => [
          ...rules.slice(0, -1),
          ...(['source', 'destination'] as const).map((side) => ({
            matches: [
              comment(`kubernetes forwarding conntrack pod ${side} rule`),
              conntrack(['RELATED', 'ESTABLISHED']),
            ],
            target: { kind: 'ACCEPT' as const },
          })),
        ]),
    }),
  },
  {
    since: 21,
    what: 'health check node ports are accepted (set KUBE-HEALTH-CHECK-NODE-PORT)',
    before: (newer) => ({
      ...withoutFilterChains(newer, [NODE_PORT]),
      sets: newer.sets.filter((name) => name !== 'KUBE-HEALTH-CHECK-NODE-PORT'),
    }),
  },
  {
    since: 20,
    what: 'kube-proxy makes sure that kubelet’s chain KUBE-MARK-DROP is there',
    before: () => ({ ensuredNatChains: [] }),
  },
  {
    since: 19,
    what: 'KUBE-POSTROUTING takes the mark off what it masquerades; before, one rule masqueraded what had the mark',
    before: ({ nat }) => ({
      nat: (state, services) => {
        const mark = masqueradeMark(state);
        return withRules(nat(state, services), POSTROUTING, (rules) => [
          ...rules.slice(0, -3),
          ...rules.slice(-1).map((rule) => ({
            ...rule,
            matches: [...rule.matches, { kind: 'mark', negated: false, value: mark, mask: mark } as const],
          })),
        ]);
      },
    }),
  },
];

/** The layout of a version. */
export function layoutOf(version: KubeProxyVersion): IpvsLayout {
  let layout = NEWEST_LAYOUT;
  for (const change of LAYOUT_CHANGES) {
    if (isBefore(version, change)) layout = { ...layout, ...change.before(layout) };
  }
  return layout;
}

/** Source ranges in the nat table: KUBE-FIREWALL stood between KUBE-POSTROUTING and KUBE-NODE-PORT. */
function markingNat({ nat }: IpvsLayout): IpvsLayout['nat'] {
  return (state, services) => {
    const used = (set: SetName) => (services.entries.get(set)?.size ?? 0) > 0;
    const firewall: Rule[] = [
      ...(['KUBE-LOAD-BALANCER-SOURCE-CIDR', 'KUBE-LOAD-BALANCER-SOURCE-IP'] as const)
        .filter(used)
        .map((set): Rule => ({ matches: inSet(state, set, 'dst,dst,src'), target: { kind: 'RETURN' } })),
      { matches: [], target: jumpTo(MARK_DROP) },
    ];
    const toFirewall: Rule[] = used('KUBE-LOAD-BALANCER-FW')
      ? [{ matches: inSet(state, 'KUBE-LOAD-BALANCER-FW', 'dst,dst'), target: jumpTo(NAT_FIREWALL) }]
      : [];
    const chains = withRules(nat(state, services), LOAD_BALANCER, (rules) => [...toFirewall, ...rules]);
    return [...chains.slice(0, 2), chain(NAT_FIREWALL, firewall), ...chains.slice(2)];
  };
}

function withoutFilterChains(
  { jumps, filter }: IpvsLayout,
  names: readonly string[],
): Pick<IpvsLayout, 'jumps' | 'filter'> {
  return {
    jumps: jumps.filter(({ table, to }) => !(table === 'filter' && names.includes(to))),
    filter: (state, services) => filter(state, services).filter(({ name }) => !names.includes(name)),
  };
}

function withRules(
  chains: readonly Chain[],
  name: string,
  change: (rules: readonly Rule[]) => readonly Rule[],
): Chain[] {
  return chains.map((each) => (each.name === name ? chain(name, change(each.rules)) : each));
}

/** True of rules that do not match the set KUBE-NAME… of either family. */
function without(name: string): (rule: Rule) => boolean {
  const pattern = new RegExp(`^KUBE-(6-)?${name}`);
  return ({ matches }) => !matches.some((match) => match.kind === 'set' && pattern.test(match.name));
}
