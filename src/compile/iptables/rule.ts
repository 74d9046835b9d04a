import type { AddressMatch, Match, ProtocolMatch, Rule, Target } from '../../netfilter/index.ts';

/** Short ways to write the rules that kube-proxy writes; nothing here knows what they are for. */

export function comment(text: string): Match {
  return { kind: 'comment', text };
}

export function jumpTo(chain: string): Target {
  return { kind: 'jump', chain, goto: false };
}

/** A single host, written without a prefix length. */
export function host(address: string): AddressMatch {
  return { negated: false, address };
}

/** `address/length` */
export function network(cidr: string, negated = false): AddressMatch {
  const slash = cidr.lastIndexOf('/');
  return { negated, address: cidr.slice(0, slash), prefix: cidr.slice(slash + 1) };
}

export type ProtocolName = 'tcp' | 'udp' | 'sctp';

const PROTOCOL_MATCHES: Readonly<Record<ProtocolName, ProtocolMatch>> = {
  tcp: { negated: false, protocol: 'tcp' },
  udp: { negated: false, protocol: 'udp' },
  sctp: { negated: false, protocol: 'sctp' },
};

export function protocolMatch(protocol: ProtocolName): ProtocolMatch {
  return PROTOCOL_MATCHES[protocol];
}

/** `-m PROTOCOL --dport PORT` */
export function destinationPort(protocol: ProtocolName, port: number): Match {
  return { kind: protocol, destinationPort: { negated: false, from: port, to: port } };
}

export function ofType(side: 'source' | 'destination', type: string): Match {
  return { kind: 'addrtype', [side]: { negated: false, types: [type] } };
}

export function conntrack(states: readonly string[], negated = false): Match {
  return { kind: 'conntrack', negated, states };
}

export type { Rule };
