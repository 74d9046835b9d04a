import type { Family, Rule } from '../netfilter/index.ts';
import { areDisjoint } from './overlap.ts';
import { behaviourKey, conditions, isRandom, targetKey } from './rule-key.ts';

/**
 * Whether two sequences of rules do the same to every packet, as far as that can be told without knowing what
 * the chains that they jump to do: rules that never take effect do not count, and rules that no packet can
 * tell apart may change places.
 */
export function sameBehaviour(expected: readonly Rule[], actual: readonly Rule[], family: Family): boolean {
  return sameSequence(effective(expected, family), effective(actual, family));
}

/** The same for all rules of a chain: a RETURN at its end does nothing. */
export function sameChain(expected: readonly Rule[], actual: readonly Rule[], family: Family): boolean {
  return sameSequence(
    withoutLastReturn(effective(expected, family)),
    withoutLastReturn(effective(actual, family)),
  );
}

function withoutLastReturn(rules: readonly KeyedRule[]): readonly KeyedRule[] {
  const end = rules.findLastIndex(({ rule }) => rule.target?.kind !== 'RETURN') + 1;
  return end === rules.length ? rules : rules.slice(0, end);
}

function sameSequence(left: readonly KeyedRule[], right: readonly KeyedRule[]): boolean {
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
  let marked = 0;
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
    // The same question again has another answer once the mark may have changed.
    const asked = asksForMark(rule) ? `${marked} ${key}` : key;
    if (repeatable && seen.has(asked)) continue;
    seen.add(asked);
    if (!isTerminal(rule)) marked++;
    kept.push({ rule, key, target: targetKey(rule, family) });
    if (isTerminal(rule) && conditions(rule, family).length === 0) break;
  }
  return withoutSubsumed(kept, family);
}

/** A rule that has a wider one with the same target right behind it, or anywhere before it, adds nothing. */
function withoutSubsumed(rules: KeyedRule[], family: Family): KeyedRule[] {
  if (rules.length < 2 || rules.length > MAX_REORDERED) return rules;
  const ofTarget = new Map<string, ReadonlySet<string>[]>();
  const all = rules.map(({ rule }) => new Set(conditions(rule, family)));
  return rules.filter(({ rule, target }, i) => {
    const own = all[i];
    if (own === undefined || isRandom(rule) || asksForMark(rule) || !isIdempotent(rule)) return true;
    const next = rules[i + 1];
    const following = next?.target === target && !isRandom(next.rule) ? all[i + 1] : undefined;
    const before = ofTarget.get(target) ?? [];
    ofTarget.set(target, before);
    const isWider = (other: ReadonlySet<string>) => [...other].every((condition) => own.has(condition));
    if (before.some(isWider) || (following !== undefined && isWider(following))) return false;
    before.push(own);
    return true;
  });
}

function asksForMark({ matches }: Rule): boolean {
  return matches.some(({ kind }) => kind === 'mark' || kind === 'unknown');
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

/** Rules of the first that the second has not, by what they do. */
export function without(rules: readonly Rule[], others: readonly Rule[], family: Family): Rule[] {
  const counts = new Map<string, number>();
  for (const rule of others) {
    const key = behaviourKey(rule, family);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return rules.filter((rule) => {
    if (rule.target === undefined && rule.unparsed === undefined) return false;
    const key = behaviourKey(rule, family);
    const count = counts.get(key) ?? 0;
    if (count > 0) counts.set(key, count - 1);
    return count === 0;
  });
}
