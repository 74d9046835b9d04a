import { canonicalRule, type Family, type Rule } from '../netfilter/index.ts';
import { type CompareOptions, familyDifferences, type NodeState } from './compare.ts';
import type { TableDifference } from './table-difference.ts';
import { rulesOf } from './view.ts';

/** A chain that does not do the same on both sides, as canonical rules. */
export interface ChangedChain {
  readonly family: Family;
  readonly table: string;
  readonly chain: string;
  readonly expected: readonly string[];
  readonly actual: readonly string[];
  /** Set where the chain is empty, and there on one side alone. */
  readonly emptyOn?: 'expected' | 'actual';
}

/** The chains behind the findings of compareStates, for a diff in the words of iptables. */
export function changedChains(
  expected: NodeState,
  actual: NodeState,
  options: CompareOptions,
): ChangedChain[] {
  const changed: ChangedChain[] = [];
  for (const family of ['ipv4', 'ipv6'] as const) {
    if (options.family !== undefined && options.family !== family) continue;
    const differences = familyDifferences(family, expected, actual, options);
    if (typeof differences === 'string') continue;
    const text = (rules: readonly Rule[]) => rules.map((rule) => canonicalRule(rule, family));
    for (const difference of differences.tables) {
      for (const chain of [...chainsOf(difference)].sort()) {
        const { table, missing, surplus } = difference;
        const sides = {
          expected: text(rulesOf(differences.left, table, chain)),
          actual: text(rulesOf(differences.right, table, chain)),
        };
        const empty = sides.expected.length + sides.actual.length === 0;
        const only = missing.has(chain) ? 'expected' : surplus.has(chain) ? 'actual' : undefined;
        changed.push({
          family,
          table,
          chain,
          ...sides,
          ...(empty && only !== undefined ? { emptyOn: only } : {}),
        });
      }
    }
  }
  return changed;
}

function chainsOf(difference: TableDifference): Set<string> {
  const { jumps, shared, balancing, ordinary, missing, surplus } = difference;
  const ofJumps = [...jumps.missing, ...jumps.surplus].map(({ from }) => from);
  return new Set([...ofJumps, ...shared.keys(), ...balancing.keys(), ...ordinary, ...missing, ...surplus]);
}
