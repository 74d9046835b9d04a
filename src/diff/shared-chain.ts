import type { Chain, Family, Rule } from '../netfilter/index.ts';
import { sameBehaviour } from './ordinary-chain.ts';
import { sameRules } from './same-rules.ts';

/**
 * Chains that all service ports share (KUBE-SERVICES, KUBE-NODEPORTS …). kube-proxy fills them in random
 * order: rules for different traffic may stand in any order, rules for the same traffic may not.
 */
export interface SharedChain {
  /** By the traffic they are for: rules of different groups never match the same packet. */
  readonly groups: ReadonlyMap<string, readonly Rule[]>;
  /** Rules that are not for one destination and port: the jumps to KUBE-NODEPORTS. */
  readonly wide: readonly Rule[];
  /** Groups whose first rule stands behind a wide one. */
  readonly behindWide: ReadonlySet<string>;
}

/** Rules of one traffic that do not do the same on both sides. */
export interface GroupDifference {
  readonly traffic: Traffic;
  readonly expected: readonly Rule[];
  readonly actual: readonly Rule[];
}

export interface Traffic {
  /** An address, `LOCAL` for any of the node's, `*` for any. */
  readonly address: string;
  readonly protocol: string;
  readonly port: number;
}

export interface SharedDifference {
  readonly groups: readonly GroupDifference[];
  /** The wide rules differ, or stand before rules that they have to follow. */
  readonly wide: 'same' | 'differ' | 'order';
}

export function readSharedChain(chain: Chain | undefined): SharedChain {
  const groups = new Map<string, Rule[]>();
  const wide: Rule[] = [];
  const behindWide = new Set<string>();
  for (const rule of chain?.rules ?? []) {
    const traffic = trafficOf(rule);
    if (traffic === undefined) {
      if (rule.target !== undefined || rule.unparsed !== undefined) wide.push(rule);
      continue;
    }
    const key = trafficKey(traffic);
    const group = groups.get(key);
    if (group === undefined) {
      groups.set(key, [rule]);
      if (wide.length > 0) behindWide.add(key);
    } else group.push(rule);
  }
  return { groups, wide, behindWide };
}

export function compareShared(expected: SharedChain, actual: SharedChain, family: Family): SharedDifference {
  const groups: GroupDifference[] = [];
  const add = (key: string) => {
    const left = expected.groups.get(key) ?? [];
    const right = actual.groups.get(key) ?? [];
    if (!sameRules(left, right) && !sameBehaviour(left, right, family))
      groups.push({ traffic: parseKey(key), expected: left, actual: right });
  };
  for (const key of expected.groups.keys()) add(key);
  for (const key of actual.groups.keys()) if (!expected.groups.has(key)) add(key);
  const sameWide = sameBehaviour(expected.wide, actual.wide, family);
  const common = (keys: ReadonlySet<string>, other: SharedChain) =>
    [...keys].filter((key) => other.groups.has(key));
  const sameOrder =
    common(expected.behindWide, actual).every((key) => actual.behindWide.has(key)) &&
    common(actual.behindWide, expected).every((key) => expected.behindWide.has(key));
  return { groups, wide: !sameWide ? 'differ' : sameOrder ? 'same' : 'order' };
}

/** The traffic that a rule is for; undefined where it is for more than one destination and port. */
export function trafficOf(rule: Rule): Traffic | undefined {
  const { destination, protocol } = rule;
  if (protocol === undefined || protocol.negated || rule.unparsed !== undefined) return undefined;
  let port: number | undefined;
  let address = '*';
  if (destination !== undefined) {
    if (destination.negated) return undefined;
    const host =
      destination.prefix === undefined || destination.prefix === '32' || destination.prefix === '128';
    // Node ports on the loopback network are counted apart (1.31) and belong to the node port.
    if (host) address = destination.address.toLowerCase();
    else if (destination.address !== '127.0.0.0') return undefined;
  }
  for (const match of rule.matches) {
    switch (match.kind) {
      case 'tcp':
      case 'udp':
      case 'sctp': {
        const dport = match.destinationPort;
        if (dport === undefined || dport.negated || dport.from !== dport.to) return undefined;
        port = dport.from;
        break;
      }
      case 'addrtype':
        if (address === '*') address = 'LOCAL';
        break;
      default:
        break;
    }
  }
  return port === undefined ? undefined : { address, protocol: protocol.protocol, port };
}

export function trafficKey({ address, protocol, port }: Traffic): string {
  return `${address} ${protocol} ${port}`;
}

function parseKey(key: string): Traffic {
  const [address = '', protocol = '', port = ''] = key.split(' ');
  return { address, protocol, port: Number(port) };
}
