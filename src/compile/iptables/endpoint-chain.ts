import type { Endpoint, ServicePort } from '../../kube/index.ts';
import type { Chain, Match, ProtocolMatch, Rule } from '../../netfilter/index.ts';
import { comment, host, jumpTo, type ProtocolName, protocolMatch } from './rule.ts';
import { MARK_MASQ } from './well-known.ts';

/** What the chains of all endpoints of one service port have in common. */
export interface EndpointParts {
  readonly protocol: ProtocolMatch;
  /** The comment, where there are any. */
  readonly note: readonly Match[];
  /** Matches of the rule that sends to the endpoint, but for affinity, which has the chain's name. */
  readonly matches: readonly Match[];
  readonly affinity: boolean;
}

function parts(protocol: ProtocolName, note: readonly Match[], affinity: boolean): EndpointParts {
  return { protocol: protocolMatch(protocol), note, matches: [...note, { kind: protocol }], affinity };
}

/** Without comments, most service ports have the same: whatever is one object for all stays in the cache. */
const PLAIN_PARTS: Readonly<Record<ProtocolName, EndpointParts>> = {
  tcp: parts('tcp', [], false),
  udp: parts('udp', [], false),
  sctp: parts('sctp', [], false),
};

export function endpointParts(port: ServicePort, protocol: ProtocolName, comments: boolean): EndpointParts {
  const affinity = port.affinitySeconds !== undefined;
  if (!comments && !affinity) return PLAIN_PARTS[protocol];
  return parts(protocol, comments ? [comment(port.servicePortName)] : [], affinity);
}

const MASQUERADE = jumpTo(MARK_MASQ);

/**
 * The chain of one endpoint. A large cluster has a hundred thousand of them, which are printed in an order that
 * has nothing to do with that in memory, so that each step from object to object waits for memory: each chain has
 * its texts at hand, and makes its rules when they are asked for, of parts that it shares with the others.
 */
export class EndpointChain implements Chain {
  readonly name: string;
  readonly destination: string;
  readonly #sourceAddress: string;
  readonly #parts: EndpointParts;

  constructor(name: string, endpoint: Endpoint, parts: EndpointParts) {
    this.name = name;
    this.destination = endpoint.destination;
    this.#sourceAddress = endpoint.sourceAddress;
    this.#parts = parts;
  }

  get policy(): undefined {
    return undefined;
  }

  get rules(): readonly Rule[] {
    const { protocol, note, matches, affinity } = this.#parts;
    return [
      // A pod that reaches itself through the Service must not see its own address as the source.
      { source: host(this.#sourceAddress), matches: note, target: MASQUERADE },
      {
        protocol,
        matches: affinity ? withAffinity(note, this.name, matches) : matches,
        target: { kind: 'DNAT', destinations: [this.destination], random: false, persistent: false },
      },
    ];
  }
}

/** Notes who came, between the comment and the match of the protocol. */
function withAffinity(note: readonly Match[], chain: string, matches: readonly Match[]): Match[] {
  const set: Match = { kind: 'recent', negated: false, action: 'set', name: chain, side: 'source' };
  return [...note, set, ...matches.slice(note.length)];
}
