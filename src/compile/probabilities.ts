/**
 * The share of rule `index` among `count` endpoints, so that each endpoint gets the same in the end: one of
 * those that are left. Rounded to the ten digits that kube-proxy writes (computeProbability, `%0.10f`), since
 * the kernel sees no more of it. Not asked for the last rule, which takes all that is left.
 */
export function balancingProbability(index: number, count: number): number {
  const left = count - index;
  let probability = CACHE.get(left);
  if (probability === undefined) {
    probability = Number(tenDigits(left));
    CACHE.set(left, probability);
  }
  return probability;
}

const CACHE = new Map<number, number>();
const SCALE = 10_000_000_000;

/** 1/left with ten decimals, halves to even as Go rounds them (toFixed rounds them up: 1/2048 shows it). */
function tenDigits(left: number): string {
  const twice = BigInt(2 * SCALE);
  const divisor = BigInt(2 * left);
  let units = twice / divisor;
  const rest = 2n * (twice % divisor);
  if (rest > divisor || (rest === divisor && units % 2n === 1n)) units += 1n;
  return `${units / BigInt(SCALE)}.${(units % BigInt(SCALE)).toString().padStart(10, '0')}`;
}
