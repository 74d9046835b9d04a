import type { ProxyState } from '../../kube/index.ts';
import type { Chain, Match, Rule, Ruleset, Table } from '../../netfilter/index.ts';
import { type SharedChains, writeDispatch } from './dispatch-rules.ts';
import {
  firewallRules,
  forwardRules,
  markMasqRules,
  nodePortJumps,
  postroutingRules,
} from './fixed-rules.ts';
import { orderByName } from './order-by-name.ts';
import { comment, conntrack, jumpTo } from './rule.ts';
import { addServiceChains } from './service-chains.ts';
import { planServicePort } from './service-port-plan.ts';
import {
  BUILT_IN_CHAINS,
  CANARY,
  FILTER_CHAINS,
  FIREWALL,
  FORWARD,
  JUMPS,
  MARK_MASQ,
  NAT_CHAINS,
  POSTROUTING,
  SERVICES,
} from './well-known.ts';

export { NFACCT_OBJECTS } from './well-known.ts';

/** More endpoints than this, and kube-proxy leaves out the comments of most rules (since 1.19). */
const LARGE_CLUSTER_ENDPOINTS = 1000;

export interface IptablesRules {
  /** What the kernel holds afterwards on a node that has kube-proxy's rules alone. */
  readonly kernel: Ruleset;
  /** What kube-proxy feeds to `iptables-restore --noflush`: its own chains alone, in its own order. */
  readonly payload: Ruleset;
}

/**
 * The rules of one family in iptables mode. Order between service ports, which kube-proxy leaves to chance,
 * is that of the state: namespace, name, port name, protocol. `nfacct`: the counters' objects can be made.
 */
export function compileIptables(state: ProxyState, options: { readonly nfacct: boolean }): IptablesRules {
  const { filter, nat } = ownChains(state, options.nfacct && state.version.behaviour.nfacct);
  const family = state.family === 'IPv4' ? 'ipv4' : 'ipv6';
  const tables = [
    { name: 'filter', chains: filter },
    { name: 'nat', chains: nat },
  ];
  let kernel: Ruleset | undefined;
  return {
    payload: { family, tables },
    get kernel() {
      kernel ??= { family, tables: kernelTables(filter, nat) };
      return kernel;
    },
  };
}

/** kube-proxy's own chains of both tables, in the order in which it writes them. */
function ownChains(state: ProxyState, nfacct: boolean): { filter: Chain[]; nat: Chain[] } {
  const filter = new Map<string, Rule[]>(FILTER_CHAINS.map((chain) => [chain, []]));
  const nat = new Map<string, Rule[]>(NAT_CHAINS.map((chain) => [chain, []]));
  // kube-proxy leaves the chain alone where it has no rule for it.
  if (state.localhostNodePorts) filter.set(FIREWALL, firewallRules(state));
  filter.set(FORWARD, forwardRules(state, nfacct));
  nat.set(POSTROUTING, postroutingRules(state));
  nat.set(MARK_MASQ, markMasqRules(state));

  const shared: SharedChains = {
    filter: (chain, rule) => filter.get(chain)?.push(rule),
    nat: (chain, rule) => nat.get(chain)?.push(rule),
  };
  const comments = state.totalEndpoints <= LARGE_CLUSTER_ENDPOINTS;
  const ofServices: Chain[] = [];
  for (const port of state.servicePorts) {
    const plan = planServicePort(port, state, { comments, nfacct });
    writeDispatch(plan, shared);
    addServiceChains(plan, ofServices);
  }
  nat.get(SERVICES)?.push(...nodePortJumps(state));
  return { filter: chainsOf(filter), nat: [...chainsOf(nat), ...ofServices] };
}

function kernelTables(filter: readonly Chain[], nat: readonly Chain[]): Table[] {
  const firewall = filter.some(({ name }) => name === FIREWALL)
    ? []
    : [{ name: FIREWALL, policy: undefined, rules: [] }];
  return [
    kernelTable('filter', [...filter, ...firewall]),
    kernelTable('mangle', []),
    kernelTable('nat', nat),
  ];
}

function chainsOf(chains: ReadonlyMap<string, readonly Rule[]>): Chain[] {
  return [...chains].map(([name, rules]) => ({ name, policy: undefined, rules }));
}

/** A whole table as `iptables-save` prints it: built-in chains, then kube-proxy's own by name. */
function kernelTable(name: 'filter' | 'mangle' | 'nat', own: readonly Chain[]): Table {
  const builtIn = BUILT_IN_CHAINS[name].map((chain) => ({
    name: chain,
    policy: 'ACCEPT',
    rules: JUMPS.filter((jump) => jump.table === name && jump.from === chain)
      .reverse()
      .map(({ to, comment: text, newOnly }): Rule => {
        const matches: Match[] = newOnly ? [conntrack(['NEW'])] : [];
        return { matches: text === '' ? matches : [...matches, comment(text)], target: jumpTo(to) };
      }),
  }));
  const chains: Chain[] = [...own, { name: CANARY, policy: undefined, rules: [] }];
  return { name, chains: [...builtIn, ...orderByName(chains)] };
}
