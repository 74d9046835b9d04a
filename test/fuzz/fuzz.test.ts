/** A bounded, seeded share of fuzzing on every run; `npm run fuzz -- --seconds N` goes on (docs/fuzzing.md). */
import { expect, test } from 'vitest';
import { fuzz, inputOf } from './engine.ts';
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
    const { rounds, slowestMs } = await fuzz(target, bounds);
    expect(rounds).toBeGreaterThan(0);
    if (FUZZ_SECONDS !== '') {
      process.stdout.write(`${target.name}: ${rounds} rounds, the slowest ${Math.round(slowestMs)} ms\n`);
    }
  },
  bounds.milliseconds + 60_000,
);

test('the same seed and round give the same input, others another', () => {
  const [target] = TARGETS;
  if (target === undefined) throw new Error('no target');
  expect(inputOf(target, 1, 7)).toEqual(inputOf(target, 1, 7));
  expect(inputOf(target, 1, 7).equals(inputOf(target, 1, 8))).toBe(false);
  expect(inputOf(target, 1, 7).equals(inputOf(target, 2, 7))).toBe(false);
});
