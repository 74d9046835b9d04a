import type { Family, Rule } from '../netfilter/index.ts';
import { areDisjoint } from './overlap.ts';
import { behaviourKey, conditions, isRandom, targetKey } from './rule-key.ts';

/**
 * Whether two sequences of rules do the same to every packet, as far as that can be told without knowing what
 * the chains that they jump to do: rules that never take effect do not count, and rules that no packet can
 * tell apart may change places.
 */
export function sameBehaviour(expected: readonly Rule[], actual: readonly Rule[], family: Family): boolean {
  const left = effective(expected, family);
  const right = effective(actual, family);
  if (left.length !== right.length) return false;
  if (left.every(({ key }, i) => key === right[i]?.key)) return true;
  return sameButForOrder(left, right) && !hasInversion(left, right);
}

/** Same rules in another order, which changes which of them wins. */
export function differsInOrderOnly(
  expected: readonly Rule[],
  actual: readonly Rule[],
  family: Family,
): boolean {
  return sameButForOrder(effective(expected, family), effective(actual, family));
}

interface KeyedRule {
  readonly rule: Rule;
  readonly key: string;
  readonly target: string;
}

/** Beyond this, order counts as it stands: the comparison of pairs would take too long. */
const MAX_REORDERED = 3000;

function effective(rules: readonly Rule[], family: Family): KeyedRule[] {
  const kept: KeyedRule[] = [];
  const seen = new Set<string>();
  for (const rule of rules) {
    // A rule without a target only counts packets, unless a match of it keeps a memory.
    if (
      rule.target === undefined &&
      !rule.matches.some(({ kind }) => kind === 'recent' || kind === 'unknown')
    ) {
      if (rule.unparsed === undefined) continue;
    }
    const key = behaviourKey(rule, family);
    const repeatable = !isRandom(rule) && isIdempotent(rule);
    if (repeatable && seen.has(key)) continue;
    seen.add(key);
    kept.push({ rule, key, target: targetKey(rule, family) });
    if (isTerminal(rule) && conditions(rule, family).length === 0) break;
  }
  return withoutSubsumed(kept, family);
}

/** A rule that is followed by a wider one with the same target adds nothing. */
function withoutSubsumed(rules: KeyedRule[], family: Family): KeyedRule[] {
  if (rules.length < 2 || rules.length > MAX_REORDERED) return rules;
  return rules.filter(({ rule, target }, i) => {
    const next = rules[i + 1];
    if (
      next === undefined ||
      next.target !== target ||
      isRandom(rule) ||
      isRandom(next.rule) ||
      !isIdempotent(rule)
    ) {
      return true;
    }
    const own = new Set(conditions(rule, family));
    return !conditions(next.rule, family).every((condition) => own.has(condition));
  });
}

/** Doing it twice is doing it once. XOR on a mark is not: the second undoes the first. */
function isIdempotent({ target }: Rule): boolean {
  return !(target?.kind === 'MARK' && (target.value & ~target.mask) !== 0);
}

/** After it nothing else of the chain is looked at. */
function isTerminal({ target }: Rule): boolean {
  switch (target?.kind) {
    case 'ACCEPT':
    case 'DROP':
    case 'RETURN':
    case 'REJECT':
    case 'DNAT':
    case 'MASQUERADE':
      return true;
    case 'jump':
      return target.goto;
    default:
      return false;
  }
}

function sameButForOrder(left: readonly KeyedRule[], right: readonly KeyedRule[]): boolean {
  if (left.length !== right.length) return false;
  const keys = (rules: readonly KeyedRule[]) => rules.map(({ key }) => key).sort();
  const other = keys(right);
  return keys(left).every((key, i) => key === other[i]);
}

function hasInversion(left: readonly KeyedRule[], right: readonly KeyedRule[]): boolean {
  if (left.length > MAX_REORDERED) return true;
  const place = new Map<string, number[]>();
  right.forEach(({ key }, i) => {
    const places = place.get(key);
    if (places === undefined) place.set(key, [i]);
    else places.push(i);
  });
  const placed = left.map((rule) => ({ ...rule, at: place.get(rule.key)?.shift() ?? 0 }));
  return placed.some((a, i) =>
    placed
      .slice(i + 1)
      .some(
        (b) =>
          b.at < a.at &&
          !(a.target === b.target && !isRandom(a.rule) && !isRandom(b.rule)) &&
          !areDisjoint(a.rule, b.rule),
      ),
  );
}
