/** A bounded, seeded share of fuzzing on every run; `npm run fuzz -- --seconds N` goes on (docs/fuzzing.md). */
import { expect, test } from 'vitest';
import { fuzz, roundOf } from './engine.ts';
import { TARGETS } from './targets.ts';

const { FUZZ_SECONDS = '', FUZZ_SEED = '1', FUZZ_TARGET = '' } = process.env;
const seed = Number(FUZZ_SEED);
const chosen = TARGETS.filter(({ name }) => name.includes(FUZZ_TARGET));
/** By hand for as long as was asked; else a number of rounds, and never longer than a few seconds a target. */
const bounds =
  FUZZ_SECONDS === ''
    ? { seed, rounds: 400, milliseconds: 6000 }
    : { seed, rounds: Number.POSITIVE_INFINITY, milliseconds: (Number(FUZZ_SECONDS) * 1000) / chosen.length };

test.each(chosen)(
  '$name: no crash, no hang, no unbounded memory; what was read prints and reads the same',
  async (target) => {
    expect(target.seeds.length).toBeGreaterThan(0);
    const { rounds, read, slowestMs } = await fuzz(target, bounds);
    expect(rounds).toBeGreaterThan(0);
    if (FUZZ_SECONDS !== '') {
      process.stdout.write(
        `${target.name}: ${rounds} rounds, ${((100 * read) / rounds).toFixed(1)} % read, the slowest ${Math.round(slowestMs)} ms\n`,
      );
    }
  },
  bounds.milliseconds + 60_000,
);

test('the same seed and round give the same input, others another', () => {
  const [target] = TARGETS;
  if (target === undefined) throw new Error('no target');
  const inputOf = (seedOf: number, round: number) => roundOf(target, seedOf, round).input;
  expect(inputOf(1, 7)).toEqual(inputOf(1, 7));
  expect(inputOf(1, 7).equals(inputOf(1, 8))).toBe(false);
  expect(inputOf(1, 7).equals(inputOf(2, 7))).toBe(false);
});
