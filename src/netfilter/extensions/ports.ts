/** A source or destination port as `--sport`, `--dport` take it: one port or an inclusive range. */
export interface PortMatch {
  readonly negated: boolean;
  readonly from: number;
  readonly to: number;
}
