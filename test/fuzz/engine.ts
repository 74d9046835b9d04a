/** Seeded mutation: the same seed gives the same inputs, so that what was found can be found again. */
import { setImmediate as turn } from 'node:timers/promises';

export interface FuzzTarget {
  readonly name: string;
  /** Good inputs, from which the others are made. */
  readonly seeds: readonly Uint8Array[];
  /** What means something in this language; put in at random places. */
  readonly pieces: readonly string[];
  /**
   * Reads one input; throws where a law is broken. True where it was read without an error, so that what comes
   * behind the reader was tried as well.
   */
  readonly run: (input: Buffer, round: Round) => boolean | Promise<boolean>;
}

/** What a target may need besides its input; it follows from seed and round as well. */
export interface Round {
  /** The good input that this one was made from. */
  readonly seed: Buffer;
  /** A random integer from 0 to below the limit. */
  readonly below: (limit: number) => number;
  /** One to eight changes of another input. */
  readonly mutate: (input: Uint8Array, pieces?: readonly string[]) => Buffer;
}

export interface FuzzBounds {
  readonly seed: number;
  readonly rounds: number;
  /** Ends earlier than the rounds do. */
  readonly milliseconds: number;
}

export interface FuzzResult {
  readonly rounds: number;
  /** Rounds whose input was read without an error. */
  readonly read: number;
  readonly slowestMs: number;
}

/** One input of at most 64 KiB takes milliseconds; more than this is a hang in the making. */
const MAX_ROUND_MS = 5000;
const MAX_INPUT = 65_536;
/** Growth of the process over a run, garbage included. */
const MAX_GROWTH = 512 * 1024 ** 2;
const ROUNDS_BETWEEN_LOOKS = 500;

/** Runs a target within bounds; throws, with all that it takes to do it again, at the first broken law. */
export async function fuzz(target: FuzzTarget, bounds: FuzzBounds): Promise<FuzzResult> {
  const started = Date.now();
  let memory: number | undefined;
  let slowestMs = 0;
  let read = 0;
  let number = 0;
  for (; number < bounds.rounds && Date.now() - started < bounds.milliseconds; number++) {
    const { input, round } = roundOf(target, bounds.seed, number);
    const before = performance.now();
    let problem: unknown;
    try {
      if (await target.run(input, round)) read++;
    } catch (error) {
      problem = error;
    }
    const took = performance.now() - before;
    slowestMs = Math.max(slowestMs, took);
    if (took > MAX_ROUND_MS) problem ??= new Error(`took ${Math.round(took)} ms`);
    if (number % ROUNDS_BETWEEN_LOOKS === 0) {
      // What zlib holds after an error goes with the next turn of the event loop.
      await turn();
      const { rss } = process.memoryUsage();
      memory ??= rss;
      if (rss - memory > MAX_GROWTH)
        problem ??= new Error(`${Math.round((rss - memory) / 1024 ** 2)} MiB more`);
    }
    if (problem !== undefined) {
      const reason = problem instanceof Error ? (problem.stack ?? problem.message) : String(problem);
      throw new Error(
        `${target.name}, seed ${bounds.seed}, round ${number}: ${reason}\ninput: ${JSON.stringify(input.toString('latin1'))}`,
      );
    }
  }
  return { rounds: number, read, slowestMs };
}

/** The input of one round: a good one with one to eight changes; and what else the round draws. */
export function roundOf(
  target: FuzzTarget,
  seed: number,
  number: number,
): { readonly input: Buffer; readonly round: Round } {
  const random = mulberry32(Math.imul(seed, 0x9e37_79b1) ^ Math.imul(number + 1, 0x85eb_ca6b));
  const below = (limit: number) => Math.floor(random() * limit);
  const { seeds, pieces } = target;
  const good = Buffer.from(pick(below, seeds, Buffer.alloc(0)));
  const mutate: Round['mutate'] = (input, words = pieces) => changed(Buffer.from(input), seeds, words, below);
  return { input: mutate(good), round: { seed: good, below, mutate } };
}

type Below = Round['below'];

function pick<T>(below: Below, items: readonly T[], fallback: T): T {
  return items[below(items.length)] ?? fallback;
}

/**
 * Bytes alone seldom leave anything that can be read; lines and words alone never reach the edges of a lexer. A third
 * of the inputs each way, and a third both ways.
 */
function changed(
  input: Buffer,
  seeds: readonly Uint8Array[],
  pieces: readonly string[],
  below: Below,
): Buffer {
  const way = below(3);
  let text = input;
  for (let changes = 1 + below(below(2) === 0 ? 2 : 8); changes > 0; changes--) {
    const byWords = way === 0 || (way === 1 && below(2) === 0);
    text = (byWords ? changedWords : changedBytes)(text, seeds, pieces, below);
  }
  return text.subarray(0, MAX_INPUT);
}

function changedBytes(
  input: Buffer,
  seeds: readonly Uint8Array[],
  pieces: readonly string[],
  below: Below,
): Buffer {
  const at = below(input.length + 1);
  const length = below(4) === 0 ? below(200) : below(8);
  const end = Math.min(at + length, input.length);
  const put = something(input, at, seeds, pieces, below);
  const cut = below(2) === 0 ? at : end;
  return Buffer.concat([input.subarray(0, at), put, input.subarray(cut)]);
}

function something(
  input: Buffer,
  at: number,
  seeds: readonly Uint8Array[],
  pieces: readonly string[],
  below: Below,
): Buffer {
  switch (below(8)) {
    case 0:
      return Buffer.alloc(0);
    case 1:
      return Buffer.from([below(256)]);
    case 2:
      return input.subarray(at, Math.min(at + below(300), input.length));
    case 3:
      return Buffer.from(pick(below, seeds, input)).subarray(0, below(400));
    case 4:
      return Buffer.from(pick(below, pieces, '').repeat(1 + below(below(20) === 0 ? 2000 : 3)));
    case 5:
      return Buffer.from(pick(below, NUMBERS, '0'));
    default:
      return Buffer.from(pick(below, pieces, ''));
  }
}

/** Whole lines that come, go and change places, and words that stand where others stood. */
function changedWords(
  input: Buffer,
  seeds: readonly Uint8Array[],
  pieces: readonly string[],
  below: Below,
): Buffer {
  const lines = input.toString('latin1').split('\n');
  const at = below(lines.length);
  const line = lines[at] ?? '';
  const other = lines[below(lines.length)] ?? '';
  switch (below(8)) {
    case 0:
      lines.splice(at, 1);
      break;
    case 1:
      lines.splice(at, 0, other);
      break;
    case 2: {
      const moved = lines.splice(at, 1 + below(3));
      lines.splice(below(lines.length + 1), 0, ...moved);
      break;
    }
    case 3: {
      const foreign = Buffer.from(pick(below, seeds, input))
        .toString('latin1')
        .split('\n');
      lines.splice(at, 0, pick(below, foreign, ''));
      break;
    }
    case 4:
      lines[at] = withWord(line, below, () => '');
      break;
    case 5:
      lines[at] = withWord(line, below, (word) =>
        below(2) === 0 ? `${word} ${word}` : numberNear(word, below),
      );
      break;
    case 6:
      lines[at] = withWord(line, below, () => latin1(pick(below, pieces, '')).trim());
      break;
    default:
      lines[at] = withWord(line, below, () => pick(below, other.split(/\s+/), ''));
  }
  return Buffer.from(lines.join('\n'), 'latin1');
}

/** A line with one of its words changed. */
function withWord(line: string, below: Below, change: (word: string) => string): string {
  const parts = line.split(/(\s+)/);
  // Blanks are at the odd places.
  const at = 2 * below(Math.ceil(parts.length / 2));
  parts[at] = change(parts[at] ?? '');
  return parts.join('');
}

function numberNear(word: string, below: Below): string {
  const numbers = [...word.matchAll(/\d+/g)];
  const found = pick(below, numbers, undefined);
  if (found === undefined) return pick(below, NUMBERS, '0');
  const [digits] = found;
  const near = [
    String(Number(digits.slice(0, 15)) + 1),
    `0${digits}`,
    `${digits}${below(10)}`,
    digits.slice(1),
  ];
  const put = below(3) === 0 ? pick(below, NUMBERS, '0') : pick(below, near, digits);
  return word.slice(0, found.index) + put + word.slice(found.index + digits.length);
}

function latin1(text: string): string {
  return Buffer.from(text).toString('latin1');
}

const NUMBERS = [
  '0',
  '-1',
  '65536',
  '4294967296',
  '1e400',
  '0x7fffffff',
  '00000000000000000000',
  '9'.repeat(400),
];

/** A small seeded generator: Math.random cannot be seeded. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b_79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}
