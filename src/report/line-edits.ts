/** What turns one list of lines into another. */
import { diffArrays } from 'diff';

export type Sign = ' ' | '-' | '+';

export interface LineEdit {
  readonly sign: Sign;
  readonly line: string;
}

/** jsdiff takes time by the square of the number of edits: this many take about a second. */
const MAX_EDITS = 2000;

/**
 * Edits from `before` to `after`: the fewest as long as those are not too many. Beyond that lines that both have
 * once hold the two together, as many as keep their order, and whatever lies between is replaced: right as well,
 * and the fewest too unless lines repeat.
 */
export function lineEdits(
  before: readonly string[],
  after: readonly string[],
  maxEdits = MAX_EDITS,
): LineEdit[] {
  const changes = diffArrays([...before], [...after], { maxEditLength: maxEdits });
  if (changes === undefined) return anchoredEdits(before, after);
  return changes.flatMap(({ added, removed, value }) => {
    const sign = removed ? '-' : added ? '+' : ' ';
    return value.map((line) => ({ sign, line }));
  });
}

function anchoredEdits(before: readonly string[], after: readonly string[]): LineEdit[] {
  const edits: LineEdit[] = [];
  let fromBefore = 0;
  let fromAfter = 0;
  for (const [atBefore, atAfter] of [...anchors(before, after), [before.length, after.length] as const]) {
    for (const line of before.slice(fromBefore, atBefore)) edits.push({ sign: '-', line });
    for (const line of after.slice(fromAfter, atAfter)) edits.push({ sign: '+', line });
    for (const line of before.slice(atBefore, atBefore + 1)) edits.push({ sign: ' ', line });
    fromBefore = atBefore + 1;
    fromAfter = atAfter + 1;
  }
  return edits;
}

/** The longest run of pairs of places, rising on both sides, of lines that each side has once. */
function anchors(before: readonly string[], after: readonly string[]): (readonly [number, number])[] {
  const placesAfter = placesOfUnique(after);
  // Patience sorting: each pile's top is the end of the best run of that length so far.
  const piles: { readonly pair: readonly [number, number]; readonly previous: number }[] = [];
  const tops: number[] = [];
  for (const [line, atBefore] of placesOfUnique(before)) {
    const atAfter = placesAfter.get(line);
    if (atAfter === undefined) continue;
    let low = 0;
    let high = tops.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((piles[tops[middle] ?? 0]?.pair[1] ?? 0) < atAfter) low = middle + 1;
      else high = middle;
    }
    piles.push({ pair: [atBefore, atAfter], previous: low === 0 ? -1 : (tops[low - 1] ?? -1) });
    tops[low] = piles.length - 1;
  }
  const run: (readonly [number, number])[] = [];
  for (let at = tops.at(-1) ?? -1; at >= 0; ) {
    const entry = piles[at];
    if (entry === undefined) break;
    run.push(entry.pair);
    at = entry.previous;
  }
  return run.reverse();
}

/** In the order of the lines. */
function placesOfUnique(lines: readonly string[]): Map<string, number> {
  const places = new Map<string, number>();
  const repeated = new Set<string>();
  for (const [index, line] of lines.entries()) {
    if (places.has(line)) repeated.add(line);
    else places.set(line, index);
  }
  for (const line of repeated) places.delete(line);
  return places;
}
