export type StatisticMatch =
  | { readonly kind: 'statistic'; readonly mode: 'random'; readonly negated: boolean; readonly probability: number }
  | { readonly kind: 'statistic'; readonly mode: 'nth'; readonly negated: boolean; readonly every: number; readonly packet: number };
