import type { PortMatch } from './ports.ts';

export interface TcpMatch {
  readonly kind: 'tcp';
  readonly sourcePort?: PortMatch;
  readonly destinationPort?: PortMatch;
  readonly flags?: { readonly negated: boolean; readonly mask: string; readonly set: string };
  readonly option?: { readonly negated: boolean; readonly number: number };
}
