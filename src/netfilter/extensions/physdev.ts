/** Bridge ports; kube-proxy up to 1.20 writes `! --physdev-is-in`. */
export interface PhysdevMatch {
  readonly kind: 'physdev';
  readonly isIn?: { readonly negated: boolean };
  readonly isOut?: { readonly negated: boolean };
  readonly isBridged?: { readonly negated: boolean };
  readonly in?: { readonly negated: boolean; readonly name: string };
  readonly out?: { readonly negated: boolean; readonly name: string };
}
