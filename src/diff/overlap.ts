import ipaddr from 'ipaddr.js';
import type { AddressMatch, Match, Rule } from '../netfilter/index.ts';

/** Whether no packet can match both rules. False where that is not plain to see. */
export function areDisjoint(a: Rule, b: Rule): boolean {
  return (
    disjointAddresses(a.source, b.source) ||
    disjointAddresses(a.destination, b.destination) ||
    disjointProtocols(a, b) ||
    a.matches.some((left) => b.matches.some((right) => disjointMatches(left, right)))
  );
}

function disjointAddresses(a: AddressMatch | undefined, b: AddressMatch | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  const left = parse(a);
  const right = parse(b);
  if (left === undefined || right === undefined) return false;
  // The one that is not negated must lie in what the other leaves out.
  if (a.negated && b.negated) return false;
  if (a.negated) return contains(left, right);
  if (b.negated) return contains(right, left);
  return !contains(left, right) && !contains(right, left);
}

type Network = [ipaddr.IPv4 | ipaddr.IPv6, number];

function parse({ address, prefix }: AddressMatch): Network | undefined {
  const bits = address.includes(':') ? 128 : 32;
  if (prefix !== undefined && !/^\d+$/.test(prefix)) return undefined;
  return ipaddr.isValid(address)
    ? [ipaddr.parse(address), prefix === undefined ? bits : Number(prefix)]
    : undefined;
}

function contains([outer, length]: Network, [inner, innerLength]: Network): boolean {
  return outer.kind() === inner.kind() && length <= innerLength && inner.match(outer, length);
}

function disjointProtocols(a: Rule, b: Rule): boolean {
  const [left, right] = [a.protocol, b.protocol];
  if (left === undefined || right === undefined || left.protocol === 'all' || right.protocol === 'all')
    return false;
  const same = left.protocol === right.protocol;
  return left.negated !== right.negated ? same : !same && !left.negated;
}

function disjointMatches(a: Match, b: Match): boolean {
  switch (a.kind) {
    case 'tcp':
    case 'udp':
    case 'sctp': {
      if (b.kind !== a.kind) return false;
      const [left, right] = [a.destinationPort, b.destinationPort];
      if (left === undefined || right === undefined || left.negated || right.negated) return false;
      return left.to < right.from || right.to < left.from;
    }
    case 'mark':
      return (
        b.kind === 'mark' &&
        a.mask === b.mask &&
        (a.value === b.value) === (a.negated !== b.negated) &&
        !(a.negated && b.negated)
      );
    case 'conntrack':
      return (
        b.kind === 'conntrack' &&
        !a.negated &&
        !b.negated &&
        !a.states.some((state) => b.states.includes(state))
      );
    default:
      return false;
  }
}
