/** `-j MARK`; `--or-mark`, `--xor-mark`, `--and-mark`, `--set-mark` all come down to value and mask. */
export interface MarkTarget {
  readonly kind: 'MARK';
  /** XORed into the mark after the bits of `mask` were cleared. */
  readonly value: number;
  readonly mask: number;
}
