/** Random choices that a seed repeats. */
export interface Random {
  /** 0 … below the bound. */
  below(bound: number): number;
  /** undefined where there is nothing to choose from. */
  pick<T>(items: readonly T[]): T | undefined;
  shuffle<T>(items: readonly T[]): T[];
}

/** mulberry32 */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  const below = (bound: number): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * bound);
  };
  return {
    below,
    pick: (items) => items[below(items.length)],
    shuffle: (items) => {
      const shuffled = [...items];
      for (let i = shuffled.length - 1; i > 0; i--) {
        const other = shuffled.splice(below(i + 1), 1);
        shuffled.push(...other);
      }
      return shuffled;
    },
  };
}
