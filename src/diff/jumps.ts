import type { Family, Rule } from '../netfilter/index.ts';
import { behaviourKey, jumpOf } from './rule-key.ts';
import { isBuiltIn, isProxyChain } from './scope.ts';
import type { TableView } from './view.ts';

/** A jump from a built-in chain to one of kube-proxy's. */
export interface BuiltInJump {
  readonly from: string;
  readonly to: string;
  readonly key: string;
  readonly rule: Rule;
}

export interface JumpDifference {
  readonly missing: readonly BuiltInJump[];
  readonly surplus: readonly BuiltInJump[];
}

export function builtInJumps(table: TableView | undefined, family: Family): BuiltInJump[] {
  const jumps: BuiltInJump[] = [];
  for (const [from, { rules }] of table?.chains ?? []) {
    if (!isBuiltIn(from)) continue;
    for (const rule of rules) {
      const to = jumpOf(rule);
      if (to !== undefined && isProxyChain(to)) {
        jumps.push({ from, to, key: `${from} ${behaviourKey(rule, family)}`, rule });
      }
    }
  }
  return jumps;
}

/**
 * Compares jumps as a set: kube-proxy inserts each one that is missing at the head and never moves one that is
 * there, so their order tells how old they are and nothing else.
 */
export function compareJumps(
  expected: TableView | undefined,
  actual: TableView | undefined,
  family: Family,
): JumpDifference {
  const left = builtInJumps(expected, family);
  const right = builtInJumps(actual, family);
  const leftKeys = new Set(left.map(({ key }) => key));
  const rightKeys = new Set(right.map(({ key }) => key));
  return {
    missing: left.filter(({ key }) => !rightKeys.has(key)),
    surplus: right.filter(({ key }) => !leftKeys.has(key)),
  };
}
