import type { ProxyState } from '../../kube/index.ts';
import type { Chain, Match, Rule, Ruleset, Table, Target } from '../../netfilter/index.ts';
import { forwardAccepts, markMasqRules, postroutingRules } from '../iptables/fixed-rules.ts';
import { comment, conntrack, host, jumpTo, network, ofType } from '../iptables/rule.ts';
import type { IpvsLayout, Jump } from './layout.ts';
import { type IpvsServices, NODE_PORT_SETS } from './services.ts';
import { SETS, type SetName, setName } from './sets.ts';

/**
 * The iptables rules of ipvs mode, 1.28 to 1.36. Source: writeIptablesRules and iptablesJumpChain of the ipvs
 * proxier. How older versions wrote them: history.ts.
 */

export const SERVICES = 'KUBE-SERVICES';
export const POSTROUTING = 'KUBE-POSTROUTING';
export const NODE_PORT = 'KUBE-NODE-PORT';
export const LOAD_BALANCER = 'KUBE-LOAD-BALANCER';
const MARK_MASQ = 'KUBE-MARK-MASQ';
export const FORWARD = 'KUBE-FORWARD';
export const PROXY_FIREWALL = 'KUBE-PROXY-FIREWALL';
export const SOURCE_RANGES = 'KUBE-SOURCE-RANGES-FIREWALL';
export const FILTER = 'KUBE-IPVS-FILTER';
export const OUT_FILTER = 'KUBE-IPVS-OUT-FILTER';

const ACCESS_FILTER = 'kubernetes ipvs access filter';

/** In the order in which kube-proxy ensures them; each is inserted at the head of its chain. */
export const JUMPS: readonly Jump[] = [
  { table: 'nat', from: 'OUTPUT', to: SERVICES, comment: 'kubernetes service portals' },
  { table: 'nat', from: 'PREROUTING', to: SERVICES, comment: 'kubernetes service portals' },
  { table: 'nat', from: 'POSTROUTING', to: POSTROUTING, comment: 'kubernetes postrouting rules' },
  { table: 'filter', from: 'FORWARD', to: FORWARD, comment: 'kubernetes forwarding rules' },
  { table: 'filter', from: 'INPUT', to: NODE_PORT, comment: 'kubernetes health check rules' },
  { table: 'filter', from: 'INPUT', to: PROXY_FIREWALL, comment: 'kube-proxy firewall rules' },
  { table: 'filter', from: 'FORWARD', to: PROXY_FIREWALL, comment: 'kube-proxy firewall rules' },
  { table: 'filter', from: 'INPUT', to: FILTER, comment: ACCESS_FILTER },
  { table: 'filter', from: 'OUTPUT', to: OUT_FILTER, comment: ACCESS_FILTER },
];

/** The rules as kube-proxy restores them, and as they stand in the kernel with the jumps from built-in chains. */
export function ipvsRules(
  state: ProxyState,
  services: IpvsServices,
  layout: IpvsLayout,
): { readonly payload: Ruleset; readonly kernel: Ruleset } {
  const nat = layout.nat(state, services);
  const filter = layout.filter(state, services);
  const family = state.family === 'IPv4' ? 'ipv4' : 'ipv6';
  const all = layout.jumps;
  const ensured = layout.ensuredNatChains.map((name) => chain(name, []));
  return {
    payload: {
      family,
      tables: [
        { name: 'nat', chains: nat },
        { name: 'filter', chains: filter },
      ],
    },
    kernel: {
      family,
      tables: [
        kernelTable('filter', ['INPUT', 'FORWARD', 'OUTPUT'], filter, all),
        kernelTable('nat', ['PREROUTING', 'INPUT', 'OUTPUT', 'POSTROUTING'], [...nat, ...ensured], all),
      ],
    },
  };
}

function kernelTable(
  name: string,
  builtIn: readonly string[],
  own: readonly Chain[],
  all: readonly Jump[],
): Table {
  const first = builtIn.map((chain) => ({
    name: chain,
    policy: 'ACCEPT',
    rules: all
      .filter(({ table, from }) => table === name && from === chain)
      .toReversed()
      .map(({ to, comment: text }): Rule => ({ matches: [comment(text)], target: jumpTo(to) })),
  }));
  const sorted = own.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  return { name, chains: [...first, ...sorted] };
}

export function chain(name: string, rules: readonly Rule[]): Chain {
  return { name, policy: undefined, rules };
}

/** `-m set --match-set NAME dirs`, after the set's comment. */
export function inSet(state: ProxyState, set: SetName, directions: string): Match[] {
  return [comment(SETS[set].comment), plainSet(state, set, directions)];
}

function plainSet(state: ProxyState, set: SetName, directions: string): Match {
  return { kind: 'set', negated: false, name: setName(set, state.family), directions: directions.split(',') };
}

export function natChains(state: ProxyState, { entries }: IpvsServices): Chain[] {
  const used = (set: SetName) => (entries.get(set)?.size ?? 0) > 0;
  const whenUsed = (set: SetName, ...rules: Rule[]) => (used(set) ? rules : []);
  const masquerade = jumpTo(MARK_MASQ);
  const accept: Target = { kind: 'ACCEPT' };
  const done: Target = { kind: 'RETURN' };

  const clusterIP = 'KUBE-CLUSTER-IP';
  const detector = state.localDetector;
  const clusterRule: Rule = state.masqueradeAll
    ? { matches: inSet(state, clusterIP, 'dst,dst'), target: masquerade }
    : detector === undefined
      ? // Nothing tells whose traffic it is; the node's own at least carries the cluster IP as its source.
        { matches: inSet(state, clusterIP, 'src,dst'), target: masquerade }
      : {
          ...(detector.by === 'source'
            ? { source: network(detector.cidr, true) }
            : { inInterface: { negated: true, name: detector.name } }),
          matches: inSet(state, clusterIP, 'dst,dst'),
          target: masquerade,
        };

  /** Traffic from outside and traffic that the node sends to itself goes on to IPVS as it is. */
  const acceptExternal = (set: SetName): Rule[] => [
    {
      matches: [
        ...inSet(state, set, 'dst,dst'),
        { kind: 'physdev', isIn: { negated: true } },
        { kind: 'addrtype', source: { negated: true, types: ['LOCAL'] } },
      ],
      target: accept,
    },
    { matches: [...inSet(state, set, 'dst,dst'), ofType('destination', 'LOCAL')], target: accept },
  ];

  const services: Rule[] = [
    { source: network(state.family === 'IPv4' ? '127.0.0.0/8' : '::1/128'), matches: [], target: done },
    ...whenUsed('KUBE-LOAD-BALANCER', {
      matches: inSet(state, 'KUBE-LOAD-BALANCER', 'dst,dst'),
      target: jumpTo(LOAD_BALANCER),
    }),
    ...whenUsed(clusterIP, clusterRule),
    ...whenUsed(
      'KUBE-EXTERNAL-IP',
      { matches: inSet(state, 'KUBE-EXTERNAL-IP', 'dst,dst'), target: masquerade },
      ...acceptExternal('KUBE-EXTERNAL-IP'),
    ),
    ...whenUsed('KUBE-EXTERNAL-IP-LOCAL', ...acceptExternal('KUBE-EXTERNAL-IP-LOCAL')),
    { matches: [ofType('destination', 'LOCAL')], target: jumpTo(NODE_PORT) },
    ...whenUsed(clusterIP, { matches: [plainSet(state, clusterIP, 'dst,dst')], target: accept }),
    ...whenUsed('KUBE-LOAD-BALANCER', {
      matches: [plainSet(state, 'KUBE-LOAD-BALANCER', 'dst,dst')],
      target: accept,
    }),
  ];

  const nodePorts = (['tcp', 'udp', 'sctp'] as const).flatMap((protocol): Rule[] => {
    const [all, local] = NODE_PORT_SETS[protocol];
    const directions = protocol === 'sctp' ? 'dst,dst' : 'dst';
    const of = { protocol: { negated: false, protocol } };
    return [
      ...whenUsed(local, { ...of, matches: inSet(state, local, directions), target: done }),
      ...whenUsed(all, { ...of, matches: inSet(state, all, directions), target: masquerade }),
    ];
  });

  return [
    chain(SERVICES, services),
    chain(POSTROUTING, [
      ...whenUsed('KUBE-LOOP-BACK', {
        matches: inSet(state, 'KUBE-LOOP-BACK', 'dst,dst,src'),
        target: { kind: 'MASQUERADE', random: false, randomFully: false },
      }),
      ...postroutingRules(state),
    ]),
    chain(NODE_PORT, nodePorts),
    chain(LOAD_BALANCER, [
      ...whenUsed('KUBE-LOAD-BALANCER-LOCAL', {
        matches: inSet(state, 'KUBE-LOAD-BALANCER-LOCAL', 'dst,dst'),
        target: done,
      }),
      { matches: [], target: masquerade },
    ]),
    chain(MARK_MASQ, markMasqRules(state)),
  ];
}

export function filterChains(state: ProxyState, { entries, outFilters }: IpvsServices): Chain[] {
  const used = (set: SetName) => (entries.get(set)?.size ?? 0) > 0;
  const returnFrom = (set: SetName, directions: string): Rule => ({
    matches: [plainSet(state, set, directions)],
    target: { kind: 'RETURN' },
  });
  return [
    chain(FORWARD, forwardAccepts(state)),
    chain(NODE_PORT, [
      {
        matches: inSet(state, 'KUBE-HEALTH-CHECK-NODE-PORT', 'dst'),
        target: { kind: 'ACCEPT' },
      },
    ]),
    chain(
      PROXY_FIREWALL,
      used('KUBE-LOAD-BALANCER-FW')
        ? [{ matches: inSet(state, 'KUBE-LOAD-BALANCER-FW', 'dst,dst'), target: jumpTo(SOURCE_RANGES) }]
        : [],
    ),
    chain(SOURCE_RANGES, [
      ...(['KUBE-LOAD-BALANCER-SOURCE-CIDR', 'KUBE-LOAD-BALANCER-SOURCE-IP'] as const).flatMap((set) =>
        used(set) ? [{ matches: inSet(state, set, 'dst,dst,src'), target: { kind: 'RETURN' as const } }] : [],
      ),
      { matches: [], target: { kind: 'DROP' } },
    ]),
    chain(FILTER, [
      returnFrom('KUBE-LOAD-BALANCER', 'dst,dst'),
      returnFrom('KUBE-CLUSTER-IP', 'dst,dst'),
      returnFrom('KUBE-EXTERNAL-IP', 'dst,dst'),
      returnFrom('KUBE-EXTERNAL-IP-LOCAL', 'dst,dst'),
      returnFrom('KUBE-HEALTH-CHECK-NODE-PORT', 'dst'),
      {
        matches: [conntrack(['NEW']), plainSet(state, 'KUBE-IPVS-IPS', 'dst')],
        target: { kind: 'REJECT' },
      },
    ]),
    chain(
      OUT_FILTER,
      outFilters.map(({ address, protocol, port }) => ({
        source: host(address),
        matches: [
          {
            kind: 'ipvs',
            address: { negated: false, address },
            protocol: { negated: false, protocol },
            port: { negated: false, port },
          },
        ],
        target: { kind: 'DROP' },
      })),
    ),
  ];
}
