import type { MatchExtension } from './extension.ts';
import { saveOption } from './extension.ts';

export interface ConntrackMatch {
  readonly kind: 'conntrack';
  readonly negated: boolean;
  /** `NEW`, `ESTABLISHED`, `RELATED`, `INVALID`, `UNTRACKED`, `SNAT`, `DNAT`, in any order. */
  readonly states: readonly string[];
}

/** In the order in which iptables-save tests the bits. */
const STATES = ['INVALID', 'NEW', 'RELATED', 'ESTABLISHED', 'UNTRACKED', 'SNAT', 'DNAT'];

export const conntrack: MatchExtension<ConntrackMatch> = {
  name: 'conntrack',
  options: { '--ctstate': { values: 1, negatable: true } },
  parse(given) {
    const option = given[0];
    if (option === undefined) return undefined;
    const states = (option.values[0] ?? '').toUpperCase().split(',');
    if (!states.every((state) => STATES.includes(state))) return undefined;
    return { kind: 'conntrack', negated: option.negated, states };
  },
  save: (match) => saveOption('--ctstate', match, savedStates(match.states)),
  restore: (match) => saveOption('--ctstate', match, match.states.join(',')),
};

function savedStates(states: readonly string[]): string {
  return states.length === 1 ? states.join() : STATES.filter((state) => states.includes(state)).join(',');
}
