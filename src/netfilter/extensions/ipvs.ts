/** `-m ipvs`: the virtual server that a packet belongs to (kube-proxy's KUBE-IPVS-OUT-FILTER). */
export interface IpvsMatch {
  readonly kind: 'ipvs';
  readonly ipvs?: { readonly negated: boolean };
  readonly protocol?: { readonly negated: boolean; readonly protocol: string };
  readonly address?: { readonly negated: boolean; readonly address: string; readonly prefix?: string };
  readonly port?: { readonly negated: boolean; readonly port: number };
  readonly direction?: { readonly negated: boolean; readonly direction: 'ORIGINAL' | 'REPLY' };
  readonly method?: { readonly negated: boolean; readonly method: 'GATE' | 'IPIP' | 'MASQ' };
  readonly controlPort?: { readonly negated: boolean; readonly port: number };
}
