import type { ProxyState } from '../../kube/index.ts';
import type { Chain, Match, Rule, Ruleset, Table } from '../../netfilter/index.ts';
import { writeDispatch } from './dispatch-rules.ts';
import { markMasqRules } from './fixed-rules.ts';
import { layoutOf } from './history/index.ts';
import type { Layout, SharedChains } from './layout.ts';
import { orderByName } from './order-by-name.ts';
import { comment, conntrack, jumpTo } from './rule.ts';
import { addServiceChains } from './service-chains.ts';
import { planServicePort } from './service-port-plan.ts';
import {
  BUILT_IN_CHAINS,
  CANARY,
  FIREWALL,
  FORWARD,
  MARK_MASQ,
  POSTROUTING,
  SERVICES,
} from './well-known.ts';

export { LAYOUT_CHANGES } from './history/index.ts';
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
  const layout = layoutOf(state.version);
  const { filter, nat } = ownChains(state, layout, options.nfacct && state.version.behaviour.nfacct);
  const family = state.family === 'IPv4' ? 'ipv4' : 'ipv6';
  const tables = [
    { name: 'filter', chains: filter },
    { name: 'nat', chains: nat },
  ];
  let kernel: Ruleset | undefined;
  return {
    payload: { family, tables },
    get kernel() {
      kernel ??= { family, tables: kernelTables(filter, nat, layout) };
      return kernel;
    },
  };
}

/** kube-proxy's own chains of both tables, in the order in which it writes them. */
function ownChains(state: ProxyState, layout: Layout, nfacct: boolean): { filter: Chain[]; nat: Chain[] } {
  const filter = new Map<string, Rule[]>(layout.filterChains.map((chain) => [chain, []]));
  const nat = new Map<string, Rule[]>(layout.natChains.map((chain) => [chain, []]));
  const firewall = layout.firewall(state);
  if (firewall !== undefined) filter.set(FIREWALL, firewall);
  filter.set(FORWARD, layout.forward(state, nfacct));
  nat.set(POSTROUTING, layout.postrouting(state));
  nat.set(MARK_MASQ, markMasqRules(state));

  const shared: SharedChains = {
    filter: (chain, rule) => filter.get(chain)?.push(rule),
    nat: (chain, rule) => nat.get(chain)?.push(rule),
  };
  const comments = state.totalEndpoints <= LARGE_CLUSTER_ENDPOINTS;
  const ofServices: Chain[] = [];
  for (const port of state.servicePorts) {
    const plan = layout.settle(planServicePort(port, state, { comments, nfacct }));
    writeDispatch(plan, layout, shared);
    addServiceChains(plan, layout, ofServices);
  }
  nat.get(SERVICES)?.push(...layout.nodePortJumps(state));
  return { filter: chainsOf(filter), nat: [...chainsOf(nat), ...ofServices] };
}

function kernelTables(filter: readonly Chain[], nat: readonly Chain[], layout: Layout): Table[] {
  return [
    kernelTable('filter', filter, layout),
    kernelTable('mangle', [], layout),
    kernelTable('nat', nat, layout),
  ];
}

function chainsOf(chains: ReadonlyMap<string, readonly Rule[]>): Chain[] {
  return [...chains].map(([name, rules]) => ({ name, policy: undefined, rules }));
}

/** A whole table as `iptables-save` prints it: built-in chains, then kube-proxy's own by name. */
function kernelTable(name: 'filter' | 'mangle' | 'nat', own: readonly Chain[], layout: Layout): Table {
  const builtIn = BUILT_IN_CHAINS[name].map((chain) => ({
    name: chain,
    policy: 'ACCEPT',
    rules: layout.jumps
      .filter((jump) => jump.table === name && jump.from === chain)
      .reverse()
      .map(({ to, comment: text, newOnly }): Rule => {
        const matches: Match[] = newOnly ? [conntrack(['NEW'])] : [];
        return { matches: text === '' ? matches : [...matches, comment(text)], target: jumpTo(to) };
      }),
  }));
  const ensured = name === 'mangle' ? [] : layout.ensuredChains[name];
  const missing = ensured.filter((chain) => !own.some((each) => each.name === chain));
  const chains = [...own, ...chainsOf(new Map([CANARY, ...missing].map((chain) => [chain, []])))];
  return { name, chains: [...builtIn, ...orderByName(chains)] };
}
