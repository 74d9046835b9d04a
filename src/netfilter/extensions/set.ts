export interface SetMatch {
  readonly kind: 'set';
  readonly negated: boolean;
  readonly name: string;
  /** `src`, `dst`, one for each dimension of the set. */
  readonly directions: readonly string[];
}
