import { type AddressMatch, type Match, type Rule, sameProbability } from '../netfilter/index.ts';

/**
 * Whether two lists of rules are the same to the kernel part by part, counters apart, as those are that were compiled
 * and then dumped. Where they are, as nearly everywhere on a node that is as it should be, there is nothing left to be
 * asked about what they do.
 */
export function sameRules(a: readonly Rule[], b: readonly Rule[]): boolean {
  return a === b || (a.length === b.length && a.every((rule, i) => sameRule(rule, b[i])));
}

function sameRule(a: Rule, b: Rule | undefined): boolean {
  return (
    a === b ||
    (b !== undefined &&
      sameTarget(a.target, b.target) &&
      sameAddress(a.source, b.source) &&
      sameAddress(a.destination, b.destination) &&
      sameData(a.protocol, b.protocol) &&
      sameMatches(a.matches, b.matches) &&
      sameData(a.inInterface, b.inInterface) &&
      sameData(a.outInterface, b.outInterface) &&
      sameData(a.fragment, b.fragment) &&
      sameData(a.unparsed, b.unparsed))
  );
}

/** A single host may be written without the length of its prefix. */
function sameAddress(a: AddressMatch | undefined, b: AddressMatch | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.negated === b.negated && a.address === b.address && prefixOf(a) === prefixOf(b);
}

function prefixOf({ address, prefix }: AddressMatch): string {
  return prefix ?? (address.includes(':') ? '128' : '32');
}

function sameMatches(a: readonly Match[], b: readonly Match[]): boolean {
  return a === b || (a.length === b.length && a.every((match, i) => sameMatch(match, b[i])));
}

function sameMatch(a: Match, b: Match | undefined): boolean {
  if (a.kind === 'statistic' && b?.kind === 'statistic' && a.mode === 'random' && b.mode === 'random') {
    return a.negated === b.negated && sameProbability(a.probability, b.probability);
  }
  return sameData(a, b);
}

function sameTarget(a: Rule['target'], b: Rule['target']): boolean {
  // Most targets are jumps.
  if (a?.kind === 'jump' && b?.kind === 'jump') return a.chain === b.chain && a.goto === b.goto;
  return sameData(a, b);
}

/** Plain data, member by member. */
function sameData(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!sameData(a[i], b[i])) return false;
    return true;
  }
  return hasAllOf(a, b) && hasAllOf(b, a);
}

function hasAllOf(a: object, b: object): boolean {
  const left = a as Readonly<Record<string, unknown>>;
  const right = b as Readonly<Record<string, unknown>>;
  for (const key in left) if (!sameData(left[key], right[key])) return false;
  return true;
}
