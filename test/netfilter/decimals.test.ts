import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fixedDecimals } from '../../src/netfilter/decimals.ts';

test.each([
  [1 / 2048, 10, '0.0004882812'],
  [3 / 2048, 10, '0.0014648438'],
  [2 ** -12, 11, '0.00024414062'],
  [3 * 2 ** -12, 11, '0.00073242188'],
  [1 / 3, 10, '0.3333333333'],
  [0.1, 10, '0.1000000000'],
  [1, 10, '1.0000000000'],
  [0, 10, '0.0000000000'],
  [715827883 / 2 ** 31, 11, '0.33333333349'],
])('%d with %d digits is %s, ties to even', (value, digits, text) => {
  expect(fixedDecimals(value, digits)).toBe(text);
});

/** Exact: n / 2^31 with eleven digits, in whole numbers. */
function exactly(n: number): string {
  const scaled = BigInt(n) * 10n ** 11n;
  const unit = 2n ** 31n;
  const down = scaled / unit;
  const rest = (scaled % unit) * 2n;
  const rounded = rest > unit || (rest === unit && down % 2n === 1n) ? down + 1n : down;
  const digits = rounded.toString().padStart(12, '0');
  return `${digits.slice(0, -11)}.${digits.slice(-11)}`;
}

test('every probability of the kernel is printed exactly', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 31 }), (n) => {
      expect(fixedDecimals(n / 2 ** 31, 11)).toBe(exactly(n));
    }),
    { numRuns: 2000 },
  );
  for (let ties = 1; ties < 4096; ties += 2) {
    const n = ties * 2 ** 19;
    expect(fixedDecimals(n / 2 ** 31, 11)).toBe(exactly(n));
  }
});
