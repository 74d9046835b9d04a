export interface NfacctMatch {
  readonly kind: 'nfacct';
  readonly name: string;
}
