import type { MatchExtension } from './extension.ts';
import type { PortMatch } from './ports.ts';
import { parsePorts, portOptions, savePorts } from './ports.ts';

export interface UdpMatch {
  readonly kind: 'udp';
  readonly sourcePort?: PortMatch;
  readonly destinationPort?: PortMatch;
}

export const udp: MatchExtension<UdpMatch> = {
  name: 'udp',
  options: portOptions,
  parse(given) {
    const ports = parsePorts(given);
    return ports && { kind: 'udp', ...ports };
  },
  save: (match) => savePorts(match, false),
};
