export interface RejectTarget {
  readonly kind: 'REJECT';
  /** undefined: the family's default, port unreachable. */
  readonly with?: string;
}
