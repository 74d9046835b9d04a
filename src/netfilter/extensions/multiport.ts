export interface MultiportMatch {
  readonly kind: 'multiport';
  readonly side: 'source' | 'destination' | 'either';
  readonly negated: boolean;
  /** `80`, `8080:8090`, as written but with service names resolved. */
  readonly ports: readonly string[];
}
