export interface MarkMatch {
  readonly kind: 'mark';
  readonly negated: boolean;
  readonly value: number;
  readonly mask: number;
}
