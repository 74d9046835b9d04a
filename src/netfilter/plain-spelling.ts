import { canonicalAddress, isPlainIPv4 } from './addresses.ts';
import { canonicalProtocol } from './protocols.ts';
import type { AddressMatch, ProtocolMatch, Rule } from './ruleset.ts';

/**
 * The same rule with its protocol and addresses spelled as the kernel's own dump spells them. Rules
 * keep what was written, and that differs: listings have numbers for protocols, kube-proxy up to 1.30 writes
 * addresses as it was given them. Whoever looks at these parts by themselves needs one spelling. A rule that is
 * spelled so already comes back as the same object.
 */
export function withPlainSpelling(rule: Rule): Rule {
  const source = plainAddress(rule.source);
  const destination = plainAddress(rule.destination);
  const protocol = plainProtocol(rule.protocol);
  if (source === rule.source && destination === rule.destination && protocol === rule.protocol) return rule;
  return {
    ...rule,
    ...(source === undefined ? {} : { source }),
    ...(destination === undefined ? {} : { destination }),
    ...(protocol === undefined ? {} : { protocol }),
  };
}

function plainAddress(match: AddressMatch | undefined): AddressMatch | undefined {
  if (match === undefined || isPlainIPv4(match.address)) return match;
  const address = canonicalAddress(match.address);
  return address === undefined || address === match.address ? match : { ...match, address };
}

const PLAIN = new Set(['tcp', 'udp', 'sctp']);

function plainProtocol(match: ProtocolMatch | undefined): ProtocolMatch | undefined {
  if (match === undefined || PLAIN.has(match.protocol)) return match;
  const protocol = canonicalProtocol(match.protocol);
  return protocol === match.protocol ? match : { ...match, protocol };
}
