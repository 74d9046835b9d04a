/*
 * Protocol names. iptables-save prints what getprotobynumber finds in /etc/protocols, and numbers that have no
 * name there; this is that file as Debian's netbase has it, which is what nodes usually have. Read besides: the
 * aliases that iptables knows itself (xtables_chain_protos).
 */

const NAMES: readonly (readonly [number, string])[] = [
  [1, 'icmp'],
  [2, 'igmp'],
  [3, 'ggp'],
  [4, 'ipencap'],
  [5, 'st'],
  [6, 'tcp'],
  [8, 'egp'],
  [9, 'igp'],
  [12, 'pup'],
  [17, 'udp'],
  [20, 'hmp'],
  [22, 'xns-idp'],
  [27, 'rdp'],
  [29, 'iso-tp4'],
  [33, 'dccp'],
  [36, 'xtp'],
  [37, 'ddp'],
  [38, 'idpr-cmtp'],
  [41, 'ipv6'],
  [43, 'ipv6-route'],
  [44, 'ipv6-frag'],
  [45, 'idrp'],
  [46, 'rsvp'],
  [47, 'gre'],
  [50, 'esp'],
  [51, 'ah'],
  [57, 'skip'],
  [58, 'ipv6-icmp'],
  [59, 'ipv6-nonxt'],
  [60, 'ipv6-opts'],
  [73, 'rspf'],
  [81, 'vmtp'],
  [88, 'eigrp'],
  [89, 'ospf'],
  [93, 'ax.25'],
  [94, 'ipip'],
  [97, 'etherip'],
  [98, 'encap'],
  [103, 'pim'],
  [108, 'ipcomp'],
  [112, 'vrrp'],
  [115, 'l2tp'],
  [124, 'isis'],
  [132, 'sctp'],
  [133, 'fc'],
  [135, 'mobility-header'],
  [136, 'udplite'],
  [137, 'mpls-in-ip'],
  [138, 'manet'],
  [139, 'hip'],
  [140, 'shim6'],
  [141, 'wesp'],
  [142, 'rohc'],
  [143, 'ethernet'],
];

const ALIASES: readonly (readonly [string, number])[] = [
  ['all', 0],
  ['ip', 0],
  ['icmpv6', 58],
  ['mh', 135],
  ['ipv6-mh', 135],
  ['ospfigp', 89],
  ['ip-encap', 4],
];

const nameOf = new Map(NAMES);
const numberOf = new Map([...NAMES.map(([number, name]) => [name, number] as const), ...ALIASES]);

/** The number of a protocol given by name (in any case) or number; undefined if it is not known. */
export function protocolNumber(protocol: string): number | undefined {
  if (/^\d{1,3}$/.test(protocol)) {
    const number = Number(protocol);
    return number <= 255 ? number : undefined;
  }
  return numberOf.get(protocol) ?? numberOf.get(protocol.toLowerCase());
}

/** `6` → `tcp`, `TCP` → `tcp`, `icmpv6` → `ipv6-icmp`, `0` → `all`; what is not known comes back as it was. */
export function canonicalProtocol(protocol: string): string {
  if (protocol === 'tcp' || protocol === 'udp') return protocol;
  const number = protocolNumber(protocol);
  if (number === undefined) return protocol;
  return number === 0 ? 'all' : (nameOf.get(number) ?? String(number));
}
