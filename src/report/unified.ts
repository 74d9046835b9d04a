import type { ChangedChain } from '../diff/index.ts';
import { type Colors, NO_COLORS } from './colors.ts';
import { type LineEdit, lineEdits, type Sign } from './line-edits.ts';
import { familyName, safe } from './wording.ts';

export interface UnifiedOptions {
  /** Lines around each change. */
  readonly context: number;
  /** Default: none. */
  readonly colors?: Colors;
}

/**
 * Chain by chain as diff -u shows it: `-` is expected alone, `+` actual alone. Line numbers count the rules of
 * the chain. Nothing where nothing differs.
 */
export function* unifiedReport(chains: readonly ChangedChain[], options: UnifiedOptions): Generator<string> {
  const { bold } = options.colors ?? NO_COLORS;
  for (const family of ['ipv4', 'ipv6'] as const) {
    const ofFamily = chains.filter((chain) => chain.family === family);
    if (ofFamily.length === 0) continue;
    yield `${bold(`--- expected (${familyName(family)})`)}\n${bold(`+++ actual (${familyName(family)})`)}\n`;
    for (const chain of ofFamily) yield* chainText(chain, options);
  }
}

function* chainText(
  { table, chain, expected, actual, emptyOn, whole }: ChangedChain,
  options: UnifiedOptions,
): Generator<string> {
  const { colors = NO_COLORS, context } = options;
  const title = `${safe(table)}/${safe(chain)}`;
  if (emptyOn !== undefined) {
    // No rule to show: its declaration instead.
    const text = `${emptyOn === 'expected' ? '-' : '+'}:${safe(chain)} - [0:0]`;
    yield `${colors.cyan('@@ -0,0 +0,0 @@')} ${title}\n`;
    yield `${emptyOn === 'expected' ? colors.red(text) : colors.green(text)}\n`;
  }
  for (const { start, edits } of hunksOf(lineEdits(expected, actual), context)) {
    const before = range(start.before, count(edits, '+'));
    const after = range(start.after, count(edits, '-'));
    yield `${colors.cyan(`@@ -${before} +${after} @@`)} ${title}\n`;
    for (const { sign, line } of edits) {
      const text = whole ? `${sign}${safe(line)}` : `${sign}-A ${safe(chain)} ${safe(line)}`;
      yield `${sign === '-' ? colors.red(text) : sign === '+' ? colors.green(text) : text}\n`;
    }
  }
}

interface Hunk {
  /** Lines before the hunk. */
  readonly start: { readonly before: number; readonly after: number };
  readonly edits: readonly LineEdit[];
}

/** Changes with `context` lines around them; those that would touch are one hunk. */
function* hunksOf(edits: readonly LineEdit[], context: number): Generator<Hunk> {
  const changed = edits.flatMap(({ sign }, index) => (sign === ' ' ? [] : [index]));
  let done = 0;
  let before = 0;
  let after = 0;
  const advance = (to: number) => {
    for (; done < to; done++) {
      if (edits[done]?.sign !== '+') before++;
      if (edits[done]?.sign !== '-') after++;
    }
  };
  for (let at = 0; at < changed.length; ) {
    const first = changed[at] ?? 0;
    let last = first;
    for (at++; at < changed.length && (changed[at] ?? 0) - last <= 2 * context + 1; at++)
      last = changed[at] ?? 0;
    const from = Math.max(0, first - context);
    const to = Math.min(edits.length, last + context + 1);
    advance(from);
    yield { start: { before, after }, edits: edits.slice(from, to) };
    advance(to);
  }
}

/** Lines of one side: all but those of the other side alone. */
function count(edits: readonly LineEdit[], otherSide: Sign): number {
  return edits.filter(({ sign }) => sign !== otherSide).length;
}

/** An empty range names the line before it, as in diff -u. */
function range(linesBefore: number, length: number): string {
  return `${length === 0 ? linesBefore : linesBefore + 1},${length}`;
}
