import type { MatchExtension } from './extension.ts';
import type { PortMatch } from './ports.ts';
import { parsePorts, portOptions, savePorts } from './ports.ts';

/** With `--chunk-types`, which kube-proxy never writes, the match is kept as unknown. */
export interface SctpMatch {
  readonly kind: 'sctp';
  readonly sourcePort?: PortMatch;
  readonly destinationPort?: PortMatch;
}

export const sctp: MatchExtension<SctpMatch> = {
  name: 'sctp',
  options: portOptions,
  parse(given) {
    const ports = parsePorts(given);
    return ports && { kind: 'sctp', ...ports };
  },
  // Unlike tcp and udp, sctp prints a range of all ports if it was given.
  save: (match) => savePorts(match, true),
};
