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
import { comment, conntrack, jumpTo } from './rule.ts';
import { serviceChains } from './service-chains.ts';
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
  const nfacct = options.nfacct && state.version.behaviour.nfacct;
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
    for (const chain of serviceChains(plan)) ofServices.push(chain);
  }
  nat.get(SERVICES)?.push(...nodePortJumps(state));

  const family = state.family === 'IPv4' ? 'ipv4' : 'ipv6';
  const filterChains = chainsOf(filter);
  const natChains = [...chainsOf(nat), ...ofServices];
  const firewall = filter.has(FIREWALL) ? [] : [{ name: FIREWALL, policy: undefined, rules: [] }];
  return {
    payload: {
      family,
      tables: [
        { name: 'filter', chains: filterChains },
        { name: 'nat', chains: natChains },
      ],
    },
    kernel: {
      family,
      tables: [
        kernelTable('filter', [...filterChains, ...firewall]),
        kernelTable('mangle', []),
        kernelTable('nat', natChains),
      ],
    },
  };
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
  chains.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  return { name, chains: [...builtIn, ...chains] };
}
