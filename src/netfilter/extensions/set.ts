import { saveWord } from '../words.ts';
import type { MatchExtension } from './extension.ts';
import { saveOption } from './extension.ts';

/** With options of later revisions (`--return-nomatch`, counters) the match is kept as unknown. */
export interface SetMatch {
  readonly kind: 'set';
  readonly negated: boolean;
  readonly name: string;
  /** `src`, `dst`, one for each dimension of the set. */
  readonly directions: readonly string[];
}

export const set: MatchExtension<SetMatch> = {
  name: 'set',
  options: {
    '--match-set': { values: 2, negatable: true },
    // What the option was called up to 1.4.7.
    '--set': { values: 2, negatable: true, as: '--match-set' },
  },
  parse(given) {
    const [name, flags] = given[0]?.values ?? [];
    const directions = flags?.split(',') ?? [];
    const isKnown = directions.every((direction) => direction === 'src' || direction === 'dst');
    if (given[0] === undefined || name === undefined || !isKnown) return undefined;
    return { kind: 'set', negated: given[0].negated, name, directions };
  },
  save: (match) => saveOption('--match-set', match, `${saveWord(match.name)} ${match.directions.join(',')}`),
};
