export interface ConntrackMatch {
  readonly kind: 'conntrack';
  readonly negated: boolean;
  /** `NEW`, `ESTABLISHED`, `RELATED`, `INVALID`, `UNTRACKED`, `SNAT`, `DNAT`, in any order. */
  readonly states: readonly string[];
}
