import type { PortMatch } from './ports.ts';

export interface SctpMatch {
  readonly kind: 'sctp';
  readonly sourcePort?: PortMatch;
  readonly destinationPort?: PortMatch;
}
