import type { PortMatch } from './ports.ts';

export interface UdpMatch {
  readonly kind: 'udp';
  readonly sourcePort?: PortMatch;
  readonly destinationPort?: PortMatch;
}
