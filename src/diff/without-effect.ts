import type { Chain, Rule } from '../netfilter/index.ts';
import { type Balancing, sameOrder, sameShares } from './balancing-chain.ts';
import { differsForPackets, type Entry } from './effect.ts';
import { jumpOf } from './rule-key.ts';
import { isServiceChain } from './scope.ts';
import {
  type GroupDifference,
  readSharedChain,
  type SharedChain,
  type SharedDifference,
  trafficKey,
} from './shared-chain.ts';

type Side = ReadonlyMap<string, Chain>;

/** What differs in chains that both sides have. */
export interface ChainDifferences {
  readonly shared: ReadonlyMap<string, SharedDifference>;
  readonly balancing: ReadonlyMap<string, { readonly expected: Balancing; readonly actual: Balancing }>;
  readonly ordinary: ReadonlySet<string>;
}

/** Doubtful chains and groups; with more of them all that differs is told. */
const MOST_DOUBTS = 500;
/** Beyond this a chain that all share is not looked at as a whole. */
const MOST_RULES = 500;

/**
 * Rules that differ where no packet can tell: a wider match in a chain that only narrower traffic comes to, one more
 * mark on what is marked already. Such differences are dropped. What plainly matters (endpoints, shares, missing
 * rules) is not looked at, so that a node that differs much takes no longer.
 */
export function withoutEffectless(
  difference: ChainDifferences,
  sharedChains: readonly string[],
  expected: Side,
  actual: Side,
): ChainDifferences {
  const wide = [...difference.shared].filter(([, shared]) => shared.wide !== 'same').map(([chain]) => chain);
  const without = new Set(
    wide.filter((chain) => !wholeMatters(expected.get(chain), actual.get(chain), expected, actual)),
  );
  const shared = new Map([...difference.shared].filter(([chain]) => !without.has(chain)));
  return withoutDoubts({ ...difference, shared }, sharedChains, expected, actual);
}

/** Rules for any traffic touch all others of their chain: then it has to be looked at as a whole. */
function wholeMatters(
  left: Chain | undefined,
  right: Chain | undefined,
  expected: Side,
  actual: Side,
): boolean {
  if (left === undefined || right === undefined || left.rules.length > MOST_RULES) return true;
  return differsForPackets(
    { rules: left.rules, chains: expected },
    { rules: right.rules, chains: actual },
    isServiceChain,
  );
}

function withoutDoubts(
  difference: ChainDifferences,
  sharedChains: readonly string[],
  expected: Side,
  actual: Side,
): ChainDifferences {
  const chains = doubtfulChains(difference, expected, actual);
  const groups = [...difference.shared.values()].flatMap(({ groups }) => groups.filter(isDoubtful));
  const doubts = chains.length + groups.length;
  if (doubts === 0 || doubts > MOST_DOUBTS) return difference;
  const entries = new Entries(difference, sharedChains, expected, actual);
  const dropped = new Set(chains.filter((chain) => !entries.chainMatters(chain)));
  const keep = <T>(all: ReadonlyMap<string, T>) => new Map([...all].filter(([chain]) => !dropped.has(chain)));
  const shared = new Map<string, SharedDifference>();
  for (const [chain, { groups: all, wide }] of difference.shared) {
    const kept = all.filter(
      (group) => !isDoubtful(group) || entries.groupMatters(chain, trafficKey(group.traffic)),
    );
    if (kept.length > 0 || wide !== 'same') shared.set(chain, { groups: kept, wide });
  }
  return {
    shared,
    balancing: keep(difference.balancing),
    ordinary: new Set([...difference.ordinary].filter((chain) => !dropped.has(chain))),
  };
}

function isDoubtful({ expected, actual }: GroupDifference): boolean {
  return expected.length > 0 && actual.length > 0;
}

function doubtfulChains({ balancing, ordinary }: ChainDifferences, expected: Side, actual: Side): string[] {
  const isDoubtfulPair = (pair: { readonly expected: Balancing; readonly actual: Balancing }) => {
    if (sameShares(pair.expected, pair.actual) && sameOrder(pair.expected.affinity, pair.actual.affinity))
      return true;
    // Another way to the same endpoint, such as the chain that another Service has for it.
    return [...pair.actual.shares.keys()].some((to) => !pair.expected.shares.has(to) && expected.has(to));
  };
  return [
    ...[...balancing].filter(([, pair]) => isDoubtfulPair(pair)).map(([chain]) => chain),
    ...[...ordinary].filter(
      (chain) => isServiceChain(chain) && destinationOf(chain, expected) === destinationOf(chain, actual),
    ),
  ];
}

function destinationOf(chain: string, side: Side): string {
  const rules = side.get(chain)?.rules ?? [];
  return rules.flatMap(({ target }) => (target?.kind === 'DNAT' ? target.destinations : [])).join();
}

/** Which traffic comes to which chains, and whether it fares the same. */
class Entries {
  readonly #difference: ChainDifferences;
  readonly #expected: Side;
  readonly #actual: Side;
  readonly #shared: ReadonlyMap<string, readonly [SharedChain, SharedChain]>;
  /** Chain → those that lead to it, of either side; `undefined` stands for places that are not followed. */
  readonly #leading = new Map<string, Set<string | undefined>>();
  /** Chain → traffic of shared chains that is sent to it. */
  readonly #groups = new Map<string, Set<string>>();
  readonly #known = new Map<string, boolean>();

  constructor(difference: ChainDifferences, sharedChains: readonly string[], expected: Side, actual: Side) {
    this.#difference = difference;
    this.#expected = expected;
    this.#actual = actual;
    this.#shared = new Map(
      sharedChains.map((chain) => [
        chain,
        [readSharedChain(expected.get(chain)), readSharedChain(actual.get(chain))],
      ]),
    );
    for (const side of [expected, actual]) {
      for (const [chain, { rules }] of side)
        if (!this.#shared.has(chain)) this.#learn(isServiceChain(chain) ? chain : undefined, rules);
    }
    for (const [chain, sides] of this.#shared) {
      for (const { groups, wide } of sides) {
        this.#learn(undefined, wide);
        for (const [key, rules] of groups) {
          for (const rule of rules) {
            const target = jumpOf(rule);
            if (target !== undefined) add(this.#groups, target, `${chain}\n${key}`);
          }
        }
      }
    }
  }

  chainMatters(chain: string): boolean {
    const seen = new Set<string>();
    const queue = [chain];
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      if (seen.has(next)) continue;
      seen.add(next);
      for (const entry of this.#groups.get(next) ?? []) {
        const [shared = '', key = ''] = entry.split('\n');
        if (this.groupMatters(shared, key)) return true;
      }
      for (const leading of this.#leading.get(next) ?? []) {
        if (leading === undefined) return true;
        queue.push(leading);
      }
    }
    return false;
  }

  groupMatters(chain: string, key: string): boolean {
    const name = `${chain}\n${key}`;
    let matters = this.#known.get(name);
    if (matters === undefined) {
      // Rules for any traffic that differ may do so for this one.
      matters = (this.#difference.shared.get(chain)?.wide ?? 'same') !== 'same' || this.#differs(chain, key);
      this.#known.set(name, matters);
    }
    return matters;
  }

  #differs(chain: string, key: string): boolean {
    const [left, right] = this.#shared.get(chain) ?? [];
    if (left === undefined || right === undefined) return true;
    const entry = ({ groups, wide }: SharedChain, chains: Side): Entry => ({
      rules: [...(groups.get(key) ?? []), ...wide],
      chains,
    });
    return differsForPackets(entry(left, this.#expected), entry(right, this.#actual), isServiceChain);
  }

  #learn(from: string | undefined, rules: readonly Rule[]): void {
    for (const rule of rules) {
      const target = jumpOf(rule);
      if (target !== undefined && isServiceChain(target)) add(this.#leading, target, from);
    }
  }
}

function add<T>(sets: Map<string, Set<T>>, key: string, value: T): void {
  const set = sets.get(key);
  if (set === undefined) sets.set(key, new Set([value]));
  else set.add(value);
}
