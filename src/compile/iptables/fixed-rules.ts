import type { ProxyState } from '../../kube/index.ts';
import type { Match, Rule } from '../../netfilter/index.ts';
import { comment, conntrack, host, jumpTo, network, ofType } from './rule.ts';
import { NFACCT_INVALID_DROPPED, NODEPORTS } from './well-known.ts';

/** Rules of the chains that are there whatever the Services are. */

/** The mark that asks for masquerading: one bit. */
export function masqueradeMark(state: ProxyState): number {
  return 2 ** state.masqueradeBit;
}

export function postroutingRules(state: ProxyState): Rule[] {
  const mark = masqueradeMark(state);
  return [
    {
      matches: [{ kind: 'mark', negated: true, value: mark, mask: mark }],
      target: { kind: 'RETURN' },
    },
    // Clears the bit again, so that the packet is not masqueraded once more further on.
    { matches: [], target: { kind: 'MARK', value: mark, mask: 0 } },
    {
      matches: [comment('kubernetes service traffic requiring SNAT')],
      // Every iptables since 1.6.2 knows --random-fully; kube-proxy leaves it out for older ones only.
      target: { kind: 'MASQUERADE', random: false, randomFully: true },
    },
  ];
}

export function markMasqRules(state: ProxyState): Rule[] {
  const mark = masqueradeMark(state);
  return [{ matches: [], target: { kind: 'MARK', value: mark, mask: mark } }];
}

export function forwardRules(state: ProxyState, nfacct: boolean): Rule[] {
  const counter: Match[] = nfacct ? [{ kind: 'nfacct', name: NFACCT_INVALID_DROPPED }] : [];
  const invalid: Rule = { matches: [conntrack(['INVALID']), ...counter], target: { kind: 'DROP' } };
  return [
    // Conntrack that is liberal with TCP calls no out-of-window segment INVALID (1.29).
    ...(state.tcpBeLiberal ? [] : [invalid]),
    ...forwardAccepts(state),
  ];
}

/** What KUBE-FORWARD lets through in either mode: masqueraded traffic, and the rest of known connections. */
export function forwardAccepts(state: ProxyState): Rule[] {
  const mark = masqueradeMark(state);
  return [
    {
      matches: [
        comment('kubernetes forwarding rules'),
        { kind: 'mark', negated: false, value: mark, mask: mark },
      ],
      target: { kind: 'ACCEPT' },
    },
    {
      matches: [comment('kubernetes forwarding conntrack rule'), conntrack(['RELATED', 'ESTABLISHED'])],
      target: { kind: 'ACCEPT' },
    },
  ];
}

/** Keeps outsiders away from 127.0.0.0/8, which route_localnet opens to them (CVE-2020-8558). */
export function firewallRules(): Rule[] {
  return [
    {
      source: network('127.0.0.0/8', true),
      destination: network('127.0.0.0/8'),
      matches: [
        comment('block incoming localnet connections'),
        conntrack(['RELATED', 'ESTABLISHED', 'DNAT'], true),
      ],
      target: { kind: 'DROP' },
    },
  ];
}

/** The last rules of nat/KUBE-SERVICES: what is sent to an address of the node may be for a node port. */
export function nodePortJumps(state: ProxyState): Rule[] {
  const nodePorts = state.nodePortAddresses;
  if (nodePorts.match === 'all') {
    const loopback = state.family === 'IPv6' ? '::1/128' : '127.0.0.0/8';
    const where = state.localhostNodePorts ? {} : { destination: network(loopback, true) };
    return [nodePortJump(where, [ofType('destination', 'LOCAL')])];
  }
  return nodePorts.addresses
    .filter(({ text }) => state.localhostNodePorts || !(text.startsWith('127.') || text === '::1'))
    .map(({ text }) => nodePortJump({ destination: host(text) }, []));
}

export function nodePortJump(where: Pick<Rule, 'destination'>, matches: readonly Match[]): Rule {
  const note = 'kubernetes service nodeports; NOTE: this must be the last rule in this chain';
  return { ...where, matches: [comment(note), ...matches], target: jumpTo(NODEPORTS) };
}
