export interface MasqueradeTarget {
  readonly kind: 'MASQUERADE';
  readonly toPorts?: string;
  readonly random: boolean;
  readonly randomFully: boolean;
}
