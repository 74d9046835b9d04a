import type { Chain, Family, Rule } from '../netfilter/index.ts';
import { type Balancing, readBalancing, sameBalancing } from './balancing-chain.ts';
import { builtInJumps, compareJumps, type JumpDifference } from './jumps.ts';
import { sameChain } from './ordinary-chain.ts';
import { behaviourKey } from './rule-key.ts';
import { sameRules } from './same-rules.ts';
import { isBuiltIn, isProxyChain, isServiceChain, serviceChainParts } from './scope.ts';
import { compareShared, readSharedChain, type SharedDifference } from './shared-chain.ts';
import type { TableView, View } from './view.ts';
import { withoutEffectless } from './without-effect.ts';

/** Everything in one table that does not do the same on both sides. Findings and patches are made from it. */
export interface TableDifference {
  readonly table: string;
  readonly jumps: JumpDifference;
  /** KUBE-SERVICES and its like, by name. */
  readonly shared: ReadonlyMap<string, SharedDifference>;
  /** KUBE-SVC and KUBE-SVL chains that both sides have. */
  readonly balancing: ReadonlyMap<string, { readonly expected: Balancing; readonly actual: Balancing }>;
  /** Other chains that both sides have; under scope all also foreign and built-in ones. */
  readonly ordinary: ReadonlySet<string>;
  /** Chains that only the expected side has. */
  readonly missing: ReadonlySet<string>;
  /** Chains of service ports that only the actual side has, and that packets come to. */
  readonly surplus: ReadonlySet<string>;
  /** The same, but nothing leads to them: kube-proxy removes them in a while. */
  readonly unreferenced: ReadonlySet<string>;
  /** Chains that are missing together with all jumps to them: a partial dump, or another version. */
  readonly partial: ReadonlySet<string>;
}

export interface DifferenceOptions {
  readonly scope: 'kube-proxy' | 'all';
  /** The expected side has no built-in chains (the restore format): jumps are not compared. */
  readonly withoutJumps: boolean;
  /** Chains that are missing together with all jumps to them count as missing: the node was flushed. */
  readonly flushed: boolean;
}

const SHARED_CHAINS: Readonly<Record<string, readonly string[]>> = {
  nat: ['KUBE-SERVICES', 'KUBE-NODEPORTS'],
  filter: ['KUBE-SERVICES', 'KUBE-EXTERNAL-SERVICES', 'KUBE-NODEPORTS', 'KUBE-PROXY-FIREWALL'],
};

/** Compares one table that both sides have. */
export function compareTable(
  name: string,
  expected: View,
  actual: View,
  options: DifferenceOptions,
): TableDifference {
  const { family } = expected;
  const left = expected.tables.get(name);
  const right = actual.tables.get(name);
  const leftChains = left?.chains ?? new Map<string, Chain>();
  const rightChains = right?.chains ?? new Map<string, Chain>();
  const partial = options.flushed ? new Set<string>() : partialChains(leftChains, right, family);
  const allJumps = options.withoutJumps ? { missing: [], surplus: [] } : compareJumps(left, right, family);
  const jumps = {
    missing: allJumps.missing.filter(({ to }) => !partial.has(to)),
    // A jump that only the dump has leads to a chain of another version, or of kubelet's.
    surplus: allJumps.surplus.filter(({ to }) => leftChains.has(to)),
  };

  const shared = new Map<string, SharedDifference>();
  for (const chain of SHARED_CHAINS[name] ?? []) {
    const [before, after] = [leftChains.get(chain), rightChains.get(chain)];
    if (before === undefined || after === undefined || sameRules(before.rules, after.rules)) continue;
    const difference = compareShared(readSharedChain(before), readSharedChain(after), family);
    if (difference.groups.length > 0 || difference.wide !== 'same') shared.set(chain, difference);
  }

  const balancing = new Map<string, { expected: Balancing; actual: Balancing }>();
  const ordinary = new Set<string>();
  const missing = new Set<string>();
  const isShared = (chain: string) => SHARED_CHAINS[name]?.includes(chain) === true;
  for (const [chain, own] of leftChains) {
    const other = rightChains.get(chain);
    if (other === own) continue;
    const { rules, policy } = own;
    const samePolicy = options.scope !== 'all' || policy === other?.policy;
    if (other !== undefined && samePolicy && sameRules(rules, other.rules)) continue;
    if (!isCompared(chain, options)) continue;
    if (other === undefined) {
      if (!partial.has(chain)) missing.add(chain);
      continue;
    }
    if (isShared(chain)) continue;
    const kind = serviceChainParts(chain)?.kind;
    if (kind === 'SVC' || kind === 'SVL') {
      const pair = { expected: readBalancing(rules, family), actual: readBalancing(other.rules, family) };
      if (!sameBalancing(pair.expected, pair.actual, family)) balancing.set(chain, pair);
    } else if (!samePolicy || !sameChain(...ofInterest(chain, rules, other.rules, family, options), family)) {
      ordinary.add(chain);
    }
  }

  const surplus = new Set<string>();
  const unreferenced = new Set<string>();
  for (const chain of rightChains.keys()) {
    if (leftChains.has(chain)) continue;
    if (isServiceChain(chain)) (right?.reachable.has(chain) ? surplus : unreferenced).add(chain);
    else if (options.scope === 'all' && isCompared(chain, options)) surplus.add(chain);
  }
  const all = { table: name, jumps, shared, balancing, ordinary, missing, surplus, unreferenced, partial };
  if (options.scope === 'all') return all;
  return { ...all, ...withoutEffectless(all, SHARED_CHAINS[name] ?? [], leftChains, rightChains) };
}

function isCompared(chain: string, { scope }: DifferenceOptions): boolean {
  if (scope === 'all') return true;
  return isProxyChain(chain) && !isBuiltIn(chain);
}

/**
 * kubelet's rules in KUBE-FIREWALL are its own affair: one drops what carries the mark 0x8000 (up to 1.26), the
 * other is the guard of 127.0.0.0/8, which kube-proxy writes as well where it needs it (1.27 and later).
 */
function ofInterest(
  chain: string,
  expected: readonly Rule[],
  actual: readonly Rule[],
  family: Family,
  { scope }: DifferenceOptions,
): [readonly Rule[], readonly Rule[]] {
  if (chain !== 'KUBE-FIREWALL' || scope === 'all') return [expected, actual];
  const dropsMarked = ({ target, matches }: Rule) =>
    target?.kind === 'DROP' && matches.some((match) => match.kind === 'mark' && !match.negated);
  const guards = ({ target, destination }: Rule) =>
    target?.kind === 'DROP' && destination?.address === '127.0.0.0' && !destination.negated;
  const wanted = expected.filter((rule) => !dropsMarked(rule));
  const keys = new Set(wanted.map((rule) => behaviourKey(rule, family)));
  return [
    wanted,
    actual.filter((rule) => !dropsMarked(rule) && !(guards(rule) && !keys.has(behaviourKey(rule, family)))),
  ];
}

/** Fixed chains of kube-proxy that the dump has not, nor any jump to them. KUBE-SERVICES in nat is never one. */
function partialChains(
  expected: ReadonlyMap<string, Chain>,
  actual: TableView | undefined,
  family: Family,
): Set<string> {
  const jumpedTo = new Set(builtInJumps(actual, family).map(({ to }) => to));
  const partial = new Set<string>();
  for (const chain of expected.keys()) {
    if (!isProxyChain(chain) || isServiceChain(chain)) continue;
    if (actual?.chains.has(chain) !== true && !jumpedTo.has(chain)) partial.add(chain);
  }
  if (actual?.name === 'nat')
    for (const chain of ['KUBE-SERVICES', 'KUBE-NODEPORTS', 'KUBE-POSTROUTING', 'KUBE-MARK-MASQ'])
      partial.delete(chain);
  return partial;
}
