export interface AddrtypeMatch {
  readonly kind: 'addrtype';
  readonly source?: { readonly negated: boolean; readonly types: readonly string[] };
  readonly destination?: { readonly negated: boolean; readonly types: readonly string[] };
  readonly limitIfaceIn?: boolean;
  readonly limitIfaceOut?: boolean;
}
