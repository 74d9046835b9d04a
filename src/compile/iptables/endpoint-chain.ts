import type { Endpoint, ServicePort } from '../../kube/index.ts';
import type { Chain, Match, ProtocolMatch, Rule } from '../../netfilter/index.ts';
import { host, jumpTo, type ProtocolName, protocolMatch } from './rule.ts';
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

export function endpointParts(
  port: ServicePort,
  protocol: ProtocolName,
  note: readonly Match[],
): EndpointParts {
  return {
    protocol: protocolMatch(protocol),
    note,
    matches: [...note, { kind: protocol }],
    affinity: port.affinitySeconds !== undefined,
  };
}

const MASQUERADE = jumpTo(MARK_MASQ);

/**
 * The chain of one endpoint. A large cluster has a hundred thousand of them: each is one small object that makes
 * its rules when they are asked for, of parts that it shares with the others.
 */
export class EndpointChain implements Chain {
  readonly name: string;
  readonly policy = undefined;
  readonly endpoint: Endpoint;
  readonly #parts: EndpointParts;

  constructor(name: string, endpoint: Endpoint, parts: EndpointParts) {
    this.name = name;
    this.endpoint = endpoint;
    this.#parts = parts;
  }

  get rules(): readonly Rule[] {
    const { protocol, note, matches, affinity } = this.#parts;
    return [
      // A pod that reaches itself through the Service must not see its own address as the source.
      { source: host(this.endpoint.sourceAddress), matches: note, target: MASQUERADE },
      {
        protocol,
        matches: affinity ? withAffinity(note, this.name, matches) : matches,
        target: {
          kind: 'DNAT',
          destinations: [this.endpoint.destination],
          random: false,
          persistent: false,
        },
      },
    ];
  }
}

/** Notes who came, between the comment and the match of the protocol. */
function withAffinity(note: readonly Match[], chain: string, matches: readonly Match[]): Match[] {
  const set: Match = { kind: 'recent', negated: false, action: 'set', name: chain, side: 'source' };
  return [...note, set, ...matches.slice(note.length)];
}
