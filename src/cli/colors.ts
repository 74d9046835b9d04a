import { Chalk, type ChalkInstance } from 'chalk';
import type { Io } from './io.ts';

export type ColorChoice = 'auto' | 'always' | 'never';

/** Colours for one stream: on terminals only, unless asked for; https://no-color.org is respected. */
export function colorsFor(isTerminal: boolean, choice: ColorChoice, env: Io['env']): ChalkInstance {
  const wanted =
    choice === 'always' ||
    (choice === 'auto' && isTerminal && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb');
  return new Chalk({ level: wanted ? 1 : 0 });
}
