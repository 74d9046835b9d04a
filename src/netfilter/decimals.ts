/**
 * A number of 0 ≤ value < 10^9 with exactly `digits` digits behind the point, rounded as C's printf and Go's fmt
 * do: by the exact binary value, ties to even. Number.prototype.toFixed is exact too, but rounds ties up.
 *
 * A binary fraction lies exactly between two decimals of d digits only if it is an odd multiple of 1 / 2^(d+1);
 * then d + 1 digits print it without rounding, and the last of them is a 5.
 */
export function fixedDecimals(value: number, digits: number): string {
  const scaled = value * 2 ** (digits + 1);
  const rounded = value.toFixed(digits);
  if (!Number.isInteger(scaled) || scaled % 2 === 0) return rounded;
  const truncated = value.toFixed(digits + 1).slice(0, -1);
  return Number(truncated.at(-1)) % 2 === 0 ? truncated : rounded;
}
