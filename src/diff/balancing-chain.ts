import type { Family, Match, Rule } from '../netfilter/index.ts';
import { behaviourKey, conditions, isRandom, jumpOf } from './rule-key.ts';

/**
 * What a KUBE-SVC or KUBE-SVL chain does: whose traffic is masqueraded, which clients stick to an endpoint,
 * and which share of the others each endpoint gets in the end.
 */
export interface Balancing {
  /** Conditions of jumps to KUBE-MARK-MASQ that come before any endpoint, with their rules. */
  readonly masquerade: ReadonlyMap<string, Rule>;
  /** By endpoint chain: the text of the match, its time in seconds and its rule. */
  readonly affinity: ReadonlyMap<
    string,
    { readonly match: string; readonly seconds: number; readonly rule: Rule }
  >;
  /** By endpoint chain, 0 … 1, with the last of its rules. */
  readonly shares: ReadonlyMap<string, { readonly share: number; readonly rule: Rule }>;
  /** Share of new connections for which no rule is left. */
  readonly nowhere: number;
  /** Rules that have no place in such a chain, or come too late in it. */
  readonly strange: readonly Rule[];
}

const TWO_31 = 0x80000000;
const MARK_MASQ = 'KUBE-MARK-MASQ';

export function readBalancing(rules: readonly Rule[], family: Family): Balancing {
  const masquerade = new Map<string, Rule>();
  const affinity = new Map<string, { match: string; seconds: number; rule: Rule }>();
  const shares = new Map<string, { share: number; rule: Rule }>();
  const strange: Rule[] = [];
  let left = 1;
  for (const rule of rules) {
    if (left === 0) break;
    const chain = jumpOf(rule);
    if (chain === undefined) {
      if (rule.target !== undefined || rule.unparsed !== undefined) strange.push(rule);
      continue;
    }
    const recent = rule.matches.find((match) => match.kind === 'recent');
    if (chain === MARK_MASQ) {
      const condition = conditions(rule, family).join(' ');
      if (isRandom(rule) || isGoto(rule)) strange.push(rule);
      else if (affinity.size === 0 && shares.size === 0) masquerade.set(condition, rule);
      // The same condition once more, further down, changes nothing.
      else if (!masquerade.has(condition)) strange.push(rule);
    } else if (recent !== undefined) {
      const plain = conditions(rule, family).length === 1 && recent.action === 'rcheck';
      if (!plain || shares.size > 0) strange.push(rule);
      else if (!affinity.has(chain)) {
        affinity.set(chain, {
          match: conditions(rule, family).join(' '),
          seconds: recent.seconds ?? 0,
          rule,
        });
      }
    } else {
      const taken = shareOf(rule, family);
      if (taken === undefined) {
        strange.push(rule);
        continue;
      }
      shares.set(chain, { share: (shares.get(chain)?.share ?? 0) + left * taken, rule });
      left *= 1 - taken;
    }
  }
  return { masquerade, affinity, shares, nowhere: left, strange };
}

/** The part of what is left that the rule takes; undefined where it is not a matter of chance alone. */
function shareOf(rule: Rule, family: Family): number | undefined {
  const parts = conditions(rule, family);
  if (parts.length === 0) return 1;
  const chance = rule.matches.find(
    (match): match is Extract<Match, { kind: 'statistic' }> => match.kind === 'statistic',
  );
  if (parts.length > 1 || chance === undefined || chance.mode !== 'random') return undefined;
  const taken = Math.round(chance.probability * TWO_31) / TWO_31;
  return chance.negated ? 1 - taken : taken;
}

/** Equal up to what rounding to the kernel's 31 bits can make of it. */
export function sameShare(a: number, b: number): boolean {
  return Math.abs(a - b) <= 1e-6 * Math.max(a, b) + 4e-9;
}

export function sameBalancing(expected: Balancing, actual: Balancing, family: Family): boolean {
  return (
    sameKeys(expected.masquerade, actual.masquerade) &&
    sameOrder(expected.affinity, actual.affinity) &&
    [...expected.affinity].every(([chain, { match }]) => actual.affinity.get(chain)?.match === match) &&
    sameShares(expected, actual) &&
    expected.strange.length === actual.strange.length &&
    expected.strange.every(
      (rule, i) => behaviourKey(rule, family) === behaviourKey(actual.strange[i] ?? rule, family),
    )
  );
}

/** Of two endpoints that remember a client, the first one gets it. */
export function sameOrder(a: ReadonlyMap<string, unknown>, b: ReadonlyMap<string, unknown>): boolean {
  const other = [...b.keys()];
  return a.size === b.size && [...a.keys()].every((key, i) => key === other[i]);
}

function isGoto({ target }: Rule): boolean {
  return target?.kind === 'jump' && target.goto;
}

/** Every endpoint gets what it should, as far as chance decides. */
export function sameShares(expected: Balancing, actual: Balancing): boolean {
  return (
    sameKeys(expected.shares, actual.shares) &&
    [...expected.shares].every(([chain, { share }]) =>
      sameShare(share, actual.shares.get(chain)?.share ?? 0),
    ) &&
    sameShare(expected.nowhere, actual.nowhere)
  );
}

function sameKeys(a: ReadonlyMap<string, unknown>, b: ReadonlyMap<string, unknown>): boolean {
  if (a.size !== b.size) return false;
  for (const key of a.keys()) if (!b.has(key)) return false;
  return true;
}
