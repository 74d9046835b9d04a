import { describe, expect, test } from 'vitest';
import { balancingProbability } from './probabilities.ts';

// `fmt.Sprintf("%0.10f", 1.0/float64(n))` of Go, which rounds halves to even.
describe('the first of n endpoints gets', () => {
  test.each([
    [2, '0.5000000000'],
    [3, '0.3333333333'],
    [4, '0.2500000000'],
    [5, '0.2000000000'],
    [6, '0.1666666667'],
    [7, '0.1428571429'],
    [9, '0.1111111111'],
    [11, '0.0909090909'],
    [13, '0.0769230769'],
    [64, '0.0156250000'],
    [1000, '0.0010000000'],
    [1024, '0.0009765625'],
    // 0.00048828125 is a tie, which toFixed would round up.
    [2048, '0.0004882812'],
    [4096, '0.0002441406'],
    [5000, '0.0002000000'],
  ])('of %i: %s', (count, expected) => {
    expect(balancingProbability(0, count)).toBe(Number(expected));
    expect(balancingProbability(0, count).toFixed(10)).toBe(expected);
  });
});

test('ten digits are enough to name each of them again', () => {
  for (let count = 2; count <= 5000; count++) {
    const probability = balancingProbability(0, count);
    expect(Number(probability.toFixed(10))).toBe(probability);
    expect(Math.abs(probability - 1 / count)).toBeLessThanOrEqual(0.5000001e-10);
  }
});

test('a later endpoint gets what the first of those that are left would get', () => {
  expect([0, 1, 2, 3].map((index) => balancingProbability(index, 5))).toEqual([0.2, 0.25, 0.3333333333, 0.5]);
});

/** The share of each endpoint once the kernel has rounded to 31 bits (xt_statistic: nth/2^31). */
function shares(count: number): number[] {
  let left = 1;
  return Array.from({ length: count }, (_, index) => {
    const threshold = 2 ** 31;
    const taken =
      index === count - 1 ? 1 : Math.round(balancingProbability(index, count) * threshold) / threshold;
    const share = left * taken;
    left -= share;
    return share;
  });
}

test('each of n endpoints gets the same share to 1e-8, after the kernel’s rounding', () => {
  for (const count of [
    ...Array.from({ length: 300 }, (_, index) => index + 1),
    999,
    1000,
    2048,
    2049,
    5000,
  ]) {
    for (const share of shares(count)) expect(Math.abs(share - 1 / count)).toBeLessThan(1e-8);
  }
});
