export interface RecentMatch {
  readonly kind: 'recent';
  readonly negated: boolean;
  readonly action: 'set' | 'rcheck' | 'update' | 'remove';
  readonly name: string;
  readonly seconds?: number;
  readonly reap?: boolean;
  readonly hitCount?: number;
  readonly ttl?: boolean;
  /** undefined: all bits. */
  readonly mask?: string;
  /** Which address is looked up; `source` where nothing is said. */
  readonly side: 'source' | 'destination';
}
