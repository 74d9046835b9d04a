export interface DnatTarget {
  readonly kind: 'DNAT';
  /** As written: `10.0.0.1:80`, `[fd00::1]:80`. More than one only in garbled dumps of old nft back ends. */
  readonly destinations: readonly string[];
  readonly random: boolean;
  readonly persistent: boolean;
}
