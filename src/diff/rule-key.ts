import { canonicalRule, type Family, type Match, type Rule } from '../netfilter/index.ts';

/**
 * The match as far as it decides about packets, in one spelling. Comments say nothing to the kernel, nfacct
 * counts packets, and `-m tcp` without options asks what `-p tcp` asked.
 */
function decisive(match: Match, { protocol }: Rule): Match | undefined {
  switch (match.kind) {
    case 'comment':
    case 'nfacct':
      return undefined;
    case 'tcp':
    case 'udp':
    case 'sctp':
      return Object.keys(match).length === 1 && protocol?.protocol === match.kind && !protocol.negated
        ? undefined
        : match;
    case 'statistic':
      return match.mode === 'random' && match.negated
        ? { ...match, negated: false, probability: 1 - match.probability }
        : match;
    default:
      return match;
  }
}

function decisiveMatches(rule: Rule): readonly Match[] {
  const { matches } = rule;
  if (matches.every((match) => decisive(match, rule) === match)) return matches;
  return matches.flatMap((match) => decisive(match, rule) ?? []);
}

/** Two rules with equal keys do the same to every packet. */
export function behaviourKey(rule: Rule, family: Family): string {
  const matches = decisiveMatches(rule);
  return canonicalRule(matches === rule.matches ? rule : { ...rule, matches }, family);
}

export function targetKey(rule: Rule, family: Family): string {
  return rule.target === undefined ? '' : canonicalRule({ matches: [], target: rule.target }, family);
}

/** The conditions of a rule one by one; a rule matches if all of them hold. Without comments and counters. */
export function conditions(rule: Rule, family: Family): string[] {
  const { source, destination, inInterface, outInterface, protocol, fragment } = rule;
  const parts: Rule[] = [
    ...(source === undefined ? [] : [{ source, matches: [] }]),
    ...(destination === undefined ? [] : [{ destination, matches: [] }]),
    ...(inInterface === undefined ? [] : [{ inInterface, matches: [] }]),
    ...(outInterface === undefined ? [] : [{ outInterface, matches: [] }]),
    ...(protocol === undefined ? [] : [{ protocol, matches: [] }]),
    ...(fragment === undefined ? [] : [{ fragment, matches: [] }]),
    ...decisiveMatches(rule).map((match) => ({ matches: [match] })),
    ...(rule.unparsed === undefined ? [] : [{ unparsed: rule.unparsed, matches: [] }]),
  ];
  return parts.map((part) => canonicalRule(part, family)).filter((text) => text !== '');
}

/** The text of a rule's comments, joined; empty where it has none. */
export function commentOf(rule: Rule): string {
  let text = '';
  for (const match of rule.matches) {
    if (match.kind === 'comment') text = text === '' ? match.text : `${text} ${match.text}`;
  }
  return text;
}

/** The chain that a rule jumps or goes to. */
export function jumpOf(rule: Rule): string | undefined {
  return rule.target?.kind === 'jump' ? rule.target.chain : undefined;
}

/** Whether the rule picks packets by chance: then two equal ones do more than one. */
export function isRandom(rule: Rule): boolean {
  return rule.matches.some(({ kind }) => kind === 'statistic');
}
