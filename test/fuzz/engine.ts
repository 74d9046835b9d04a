/** Seeded mutation: the same seed gives the same inputs, so that what was found can be found again. */

export interface FuzzTarget {
  readonly name: string;
  /** Good inputs, from which the others are made. */
  readonly seeds: readonly Uint8Array[];
  /** What means something in this language; put in at random places. */
  readonly pieces: readonly string[];
  /** Reads one input; throws where a law is broken. */
  readonly run: (input: Buffer) => void | Promise<void>;
}

export interface FuzzBounds {
  readonly seed: number;
  readonly rounds: number;
  /** Ends earlier than the rounds do. */
  readonly milliseconds: number;
}

export interface FuzzResult {
  readonly rounds: number;
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
  let round = 0;
  for (; round < bounds.rounds && Date.now() - started < bounds.milliseconds; round++) {
    const input = inputOf(target, bounds.seed, round);
    const before = performance.now();
    let problem: unknown;
    try {
      await target.run(input);
    } catch (error) {
      problem = error;
    }
    const took = performance.now() - before;
    slowestMs = Math.max(slowestMs, took);
    if (took > MAX_ROUND_MS) problem ??= new Error(`took ${Math.round(took)} ms`);
    if (round % ROUNDS_BETWEEN_LOOKS === 0) {
      const { rss } = process.memoryUsage();
      memory ??= rss;
      if (rss - memory > MAX_GROWTH)
        problem ??= new Error(`${Math.round((rss - memory) / 1024 ** 2)} MiB more`);
    }
    if (problem !== undefined) {
      const reason = problem instanceof Error ? (problem.stack ?? problem.message) : String(problem);
      throw new Error(
        `${target.name}, seed ${bounds.seed}, round ${round}: ${reason}\ninput: ${JSON.stringify(input.toString('latin1'))}`,
      );
    }
  }
  return { rounds: round, slowestMs };
}

/** The input of one round: a good one with one to eight changes. */
export function inputOf(target: FuzzTarget, seed: number, round: number): Buffer {
  const random = mulberry32(Math.imul(seed, 0x9e37_79b1) ^ Math.imul(round + 1, 0x85eb_ca6b));
  const below = (limit: number) => Math.floor(random() * limit);
  const pick = <T>(items: readonly T[], fallback: T): T => items[below(items.length)] ?? fallback;
  let input = Buffer.from(pick(target.seeds, Buffer.alloc(0)));
  const changes = 1 + below(8);
  for (let change = 0; change < changes; change++) {
    const at = below(input.length + 1);
    const length = below(4) === 0 ? below(200) : below(8);
    const end = Math.min(at + length, input.length);
    let put: Buffer = Buffer.alloc(0);
    switch (below(8)) {
      case 0:
        break;
      case 1:
        put = Buffer.from([below(256)]);
        break;
      case 2:
        put = input.subarray(at, Math.min(at + below(300), input.length));
        break;
      case 3:
        put = Buffer.from(pick(target.seeds, input)).subarray(0, below(400));
        break;
      case 4:
        put = Buffer.from(pick(target.pieces, '').repeat(1 + below(below(20) === 0 ? 2000 : 3)));
        break;
      case 5:
        put = Buffer.from(pick(NUMBERS, '0'));
        break;
      default:
        put = Buffer.from(pick(target.pieces, ''));
    }
    const cut = below(2) === 0 ? at : end;
    input = Buffer.concat([input.subarray(0, at), put, input.subarray(cut)]).subarray(0, MAX_INPUT);
  }
  return input;
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
