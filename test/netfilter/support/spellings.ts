/**
 * Rules as people and programs write them, and what iptables-save 1.8.9 prints once they were loaded. The unit
 * tests check our printer against this table, and the kernel test checks the table against the real tools, so
 * that nothing here is believed only because we wrote it.
 */
import type { Family } from '../../../src/netfilter/index.ts';

export interface Spelling {
  readonly family: Family;
  readonly table: 'filter' | 'nat' | 'mangle';
  readonly input: string;
  readonly saved: string;
  /** Why the nft back end is left out: it refuses the rule or prints it in its own way. */
  readonly legacyOnly?: string;
  /** The kernel of this test may lack the module. */
  readonly noKernel?: string;
}

type Row = readonly [input: string, saved: string, limits?: Pick<Spelling, 'legacyOnly' | 'noKernel'>];

const PRINTS_LESS = { legacyOnly: 'nft drops a match without effect' };
const REFUSES = { legacyOnly: 'nft refuses the rule' };
const NO_IPVS = { noKernel: 'xt_ipvs is not in every kernel' };

const FILTER4: readonly Row[] = [
  // Addresses
  ['-s 10.0.0.1', '-s 10.0.0.1/32'],
  ['-s 10.0.0.1/32 ! -d 10.0.0.1/31', '-s 10.0.0.1/32 ! -d 10.0.0.0/31'],
  ['-s 10.1.2.3/255.255.0.0', '-s 10.1.0.0/16'],
  ['-s 10.1.2.3/255.0.255.0', '-s 10.0.2.0/255.0.255.0'],
  ['-s 010.0.0.1', '-s 8.0.0.1/32'],
  ['-s 0x0a.0.0.1', '-s 10.0.0.1/32'],
  ['-s 10/8', '-s 10.0.0.0/8'],
  ['-s 10.1', '-s 10.1.0.0/32'],
  ['-s 0.0.0.0/0', ''],
  ['-s 10.0.0.1/0', ''],
  ['! -s 0.0.0.0/0', '! -s 0.0.0.0/0', REFUSES],
  ['--src 10.0.0.1 --dst 10.0.0.2', '-s 10.0.0.1/32 -d 10.0.0.2/32'],
  ['! --source 10.0.0.1 --destination 10.0.0.2', '! -s 10.0.0.1/32 -d 10.0.0.2/32'],
  // Interfaces, fragments, protocols
  ['-o veth+ -i eth0', '-i eth0 -o veth+'],
  ['--in-interface eth0 ! --out-interface eth1', '-i eth0 ! -o eth1'],
  ['-i +', ''],
  ['-f', '-f'],
  ['! -f', '! -f'],
  ['-p 6', '-p tcp'],
  ['-p TCP', '-p tcp'],
  ['! -p tcp', '! -p tcp'],
  ['-p all', ''],
  ['-p 0', ''],
  ['--protocol 132', '-p sctp'],
  ['-p icmpv6', '-p ipv6-icmp'],
  ['-p 58', '-p ipv6-icmp'],
  ['-p 47', '-p gre'],
  ['-p 50', '-p esp'],
  ['-p 89', '-p ospf'],
  ['-p 112', '-p vrrp'],
  ['-p mh', '-p mobility-header'],
  ['-p 200', '-p 200'],
  // tcp, udp, sctp
  ['-p tcp -m tcp --dport http', '-p tcp -m tcp --dport 80'],
  ['-p tcp --dport 80', '-p tcp -m tcp --dport 80'],
  ['-p tcp --dport=80', '-p tcp -m tcp --dport 80'],
  ['-m tcp -p tcp -d 10.0.0.1 --dport 80', '-d 10.0.0.1/32 -p tcp -m tcp --dport 80'],
  ['-p tcp --destination-port 5 --source-port 6', '-p tcp -m tcp --sport 6 --dport 5'],
  ['-p tcp --dport 80:80', '-p tcp -m tcp --dport 80'],
  ['-p tcp --dport :80', '-p tcp -m tcp --dport 0:80'],
  ['-p tcp --dport 80:', '-p tcp -m tcp --dport 80:65535'],
  ['-p tcp --dport 0x50', '-p tcp -m tcp --dport 80'],
  ['-p tcp ! --dport 80', '-p tcp -m tcp ! --dport 80'],
  ['-p tcp -m tcp --sport 0:65535', '-p tcp -m tcp', PRINTS_LESS],
  ['-p tcp -m tcp', '-p tcp -m tcp'],
  ['-p tcp --syn', '-p tcp -m tcp --tcp-flags FIN,SYN,RST,ACK SYN'],
  ['-p tcp ! --syn', '-p tcp -m tcp ! --tcp-flags FIN,SYN,RST,ACK SYN'],
  ['-p tcp -m tcp --tcp-flags ALL NONE', '-p tcp -m tcp --tcp-flags FIN,SYN,RST,PSH,ACK,URG NONE'],
  ['-p tcp -m tcp --tcp-flags ACK,SYN,URG SYN', '-p tcp -m tcp --tcp-flags SYN,ACK,URG SYN'],
  ['-p tcp -m tcp ! --tcp-option 5', '-p tcp -m tcp ! --tcp-option 5'],
  [
    '-p tcp -m tcp --tcp-flags SYN SYN --tcp-option 7 --dport 5 --sport 6',
    '-p tcp -m tcp --sport 6 --dport 5 --tcp-option 7 --tcp-flags SYN SYN',
  ],
  ['-p udp --dport domain', '-p udp -m udp --dport 53'],
  ['-p udp -m udp --sport 1:2 ! --dport 3', '-p udp -m udp --sport 1:2 ! --dport 3'],
  ['-p udp -m udp --sport 0:65535 --dport 0:65535', '-p udp -m udp', PRINTS_LESS],
  ['-p sctp --dport 80', '-p sctp -m sctp --dport 80'],
  ['-p sctp -m sctp --dport 0:65535', '-p sctp -m sctp --dport 0:65535'],
  ['-p sctp -m sctp --sport 1:3 ! --dport 7', '-p sctp -m sctp --sport 1:3 ! --dport 7'],
  // comment
  ['-m comment --comment abc', '-m comment --comment abc'],
  ['-m comment --comment "abc"', '-m comment --comment abc'],
  ['-m comment --comment a/b', '-m comment --comment "a/b"'],
  ['-m comment --comment "a\\"b\\\\c\'d"', '-m comment --comment "a\\"b\\\\c\\\'d"'],
  ['-m comment --comment ""', '-m comment --comment ""'],
  ['-m comment --comment "ünï"', '-m comment --comment "ünï"'],
  ['-m comment --comment a"b c"', '-m comment --comment "ab c"'],
  ['-m comment --comment "a\\nb"', '-m comment --comment anb'],
  ['-m comment --comment a\\b', '-m comment --comment "a\\\\b"'],
  ['-m comment --comment "a\tb"', '-m comment --comment "a\tb"'],
  ['-m comment --comment -j', '-m comment --comment -j'],
  ['-m comment --comment "-A X -j DROP" -j ACCEPT', '-m comment --comment "-A X -j DROP" -j ACCEPT'],
  ['-m comment --comment "x" -m comment --comment "y"', '-m comment --comment x -m comment --comment y'],
  // mark
  ['-m mark --mark 0x00004000/0x00004000', '-m mark --mark 0x4000/0x4000'],
  ['-m mark --mark 16384', '-m mark --mark 0x4000'],
  ['-m mark --mark 010', '-m mark --mark 0x8'],
  ['-m mark ! --mark 0x1/0xffffffff', '-m mark ! --mark 0x1'],
  ['-m mark --mark 0/0', '-m mark --mark 0x0/0x0'],
  ['-m mark --mark 0xF/0x1', '-m mark --mark 0xf/0x1'],
  ['-m mark --mark 0xffffffff/0xfffffffe', '-m mark --mark 0xffffffff/0xfffffffe'],
  ['-m mark --mark 1 -m mark --mark 2', '-m mark --mark 0x1 -m mark --mark 0x2'],
  // statistic
  [
    '-m statistic --mode random --probability 0.3333333333',
    '-m statistic --mode random --probability 0.33333333349',
  ],
  [
    '-m statistic --mode random --probability 0.00024414062',
    '-m statistic --mode random --probability 0.00024414062',
  ],
  [
    '-m statistic --mode random ! --probability .25',
    '-m statistic --mode random ! --probability 0.25000000000',
  ],
  ['-m statistic --mode random --probability 1', '-m statistic --mode random --probability 1.00000000000'],
  ['-m statistic --mode random --probability 1e-5', '-m statistic --mode random --probability 0.00001000008'],
  ['-m statistic --mode random --probability 0', '-m statistic --mode random --probability 0.00000000000'],
  [
    '-m statistic --mode random --probability 0.0000000001',
    '-m statistic --mode random --probability 0.00000000000',
  ],
  ['-m statistic --mode nth --every 0x10 --packet 010', '-m statistic --mode nth --every 16 --packet 8'],
  ['-m statistic --mode nth ! --every 3 --packet 2', '-m statistic --mode nth ! --every 3 --packet 2'],
  // conntrack
  ['-m conntrack --ctstate related,NEW', '-m conntrack --ctstate NEW,RELATED'],
  ['-m conntrack --ctstate NEW,NEW', '-m conntrack --ctstate NEW'],
  [
    '-m conntrack --ctstate DNAT,SNAT,UNTRACKED,ESTABLISHED,RELATED,NEW,INVALID',
    '-m conntrack --ctstate INVALID,NEW,RELATED,ESTABLISHED,UNTRACKED,SNAT,DNAT',
  ],
  ['-m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT', '-m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT'],
  // addrtype
  ['-m addrtype --dst-type local', '-m addrtype --dst-type LOCAL'],
  [
    '-m addrtype --dst-type MULTICAST,LOCAL ! --src-type UNICAST',
    '-m addrtype ! --src-type UNICAST --dst-type LOCAL,MULTICAST',
  ],
  ['-m addrtype --limit-iface-in --dst-type LOCAL', '-m addrtype --dst-type LOCAL --limit-iface-in'],
  ['-m addrtype --src-type LOCAL --limit-iface-out', '-m addrtype --src-type LOCAL --limit-iface-out'],
  [
    '-m addrtype --dst-type XRESOLVE,NAT,THROW,PROHIBIT,UNREACHABLE,BLACKHOLE,ANYCAST,BROADCAST,UNSPEC',
    '-m addrtype --dst-type UNSPEC,BROADCAST,ANYCAST,BLACKHOLE,UNREACHABLE,PROHIBIT,THROW,NAT,XRESOLVE',
  ],
  // multiport
  ['-p tcp -m multiport --ports 80,1:3', '-p tcp -m multiport --ports 80,1:3'],
  ['-p tcp -m multiport ! --sports http,domain', '-p tcp -m multiport ! --sports 80,53'],
  ['-p tcp -m multiport --destination-ports 5:6,ssh', '-p tcp -m multiport --dports 5:6,22'],
  // nfacct, physdev
  ['-m nfacct --nfacct-name acct1', '-m nfacct --nfacct-name  acct1'],
  ['-m physdev ! --physdev-is-in', '-m physdev ! --physdev-is-in'],
  ['-m physdev --physdev-in v0 --physdev-is-in', '-m physdev --physdev-is-in --physdev-in v0'],
  [
    '-m physdev --physdev-is-bridged ! --physdev-out veth+ --physdev-is-out',
    '-m physdev --physdev-is-out ! --physdev-out veth+ --physdev-is-bridged',
  ],
  // recent
  [
    '-m recent --name X --rcheck --seconds 10 --reap',
    '-m recent --rcheck --seconds 10 --reap --name X --mask 255.255.255.255 --rsource',
  ],
  ['-m recent --set', '-m recent --set --name DEFAULT --mask 255.255.255.255 --rsource'],
  [
    '-m recent ! --rcheck --name Y --seconds 5 --hitcount 3 --rttl',
    '-m recent ! --rcheck --seconds 5 --hitcount 3 --rttl --name Y --mask 255.255.255.255 --rsource',
  ],
  [
    '-m recent --update --name A --mask 255.255.255.0 --rdest',
    '-m recent --update --name A --mask 255.255.255.0 --rdest',
  ],
  ['-m recent --remove --name A', '-m recent --remove --name A --mask 255.255.255.255 --rsource'],
  // set
  ['-m set --match-set S4 dst,dst', '-m set --match-set S4 dst,dst'],
  ['-m set ! --match-set S4 src,dst', '-m set ! --match-set S4 src,dst'],
  ['-m set --match-set S4 src --return-nomatch', '-m set --match-set S4 src --return-nomatch'],
  // ipvs
  ['-m ipvs --ipvs', '-m ipvs --ipvs', NO_IPVS],
  [
    '-m ipvs --vaddr 10.0.0.1 --vproto tcp --vport 80',
    '-m ipvs --vproto 6 --vaddr 10.0.0.1 --vport 80',
    NO_IPVS,
  ],
  ['-m ipvs ! --vaddr 10.0.0.1/24 ! --vport 80', '-m ipvs ! --vaddr 10.0.0.0/24 ! --vport 80', NO_IPVS],
  [
    '-m ipvs --vportctl 21 --vmethod masq --vdir reply',
    '-m ipvs --vdir REPLY --vmethod MASQ --vportctl 21',
    NO_IPVS,
  ],
  // Targets
  ['-j ACCEPT', '-j ACCEPT'],
  ['-j DROP', '-j DROP'],
  ['--jump RETURN', '-j RETURN'],
  ['-j QUEUE', '-j QUEUE', REFUSES],
  ['-j OTHER', '-j OTHER'],
  ['-g OTHER', '-g OTHER'],
  ['-j REJECT', '-j REJECT --reject-with icmp-port-unreachable'],
  ['-j REJECT --reject-with port-unreach', '-j REJECT --reject-with icmp-port-unreachable'],
  ['-j REJECT --reject-with admin-prohib', '-j REJECT --reject-with icmp-admin-prohibited'],
  ['-j REJECT --reject-with host-prohib', '-j REJECT --reject-with icmp-host-prohibited'],
  ['-j REJECT --reject-with net-unreach', '-j REJECT --reject-with icmp-net-unreachable'],
  ['-j REJECT --reject-with host-unreach', '-j REJECT --reject-with icmp-host-unreachable'],
  ['-j REJECT --reject-with proto-unreach', '-j REJECT --reject-with icmp-proto-unreachable'],
  ['-j REJECT --reject-with net-prohib', '-j REJECT --reject-with icmp-net-prohibited'],
  ['-p tcp -j REJECT --reject-with tcp-rst', '-p tcp -j REJECT --reject-with tcp-reset'],
  // Extensions that are not known here
  ['-m state ! --state NEW', '-m state ! --state NEW'],
  [
    '-m limit --limit 5/sec -j LOG --log-prefix "KUBE # x: "',
    '-m limit --limit 5/sec -j LOG --log-prefix "KUBE # x: "',
  ],
  ['-j LOG --log-prefix "ABC"', '-j LOG --log-prefix ABC'],
  ['-j LOG --log-prefix "A/B" --log-level 6', '-j LOG --log-prefix "A/B" --log-level 6'],
  ['-p icmp --icmp-type 8 -j ACCEPT', '-p icmp -m icmp --icmp-type 8 -j ACCEPT'],
];

const NAT4: readonly Row[] = [
  ['-p tcp -j DNAT --to-destination 10.0.0.1:80', '-p tcp -j DNAT --to-destination 10.0.0.1:80'],
  ['-j DNAT --to 10.0.0.1', '-j DNAT --to-destination 10.0.0.1'],
  [
    '-p tcp -j DNAT --to-destination 10.0.0.1-10.0.0.5:80-90',
    '-p tcp -j DNAT --to-destination 10.0.0.1-10.0.0.5:80-90',
  ],
  [
    '-p tcp -j DNAT --persistent --to-destination 10.0.0.1:http --random',
    '-p tcp -j DNAT --to-destination 10.0.0.1:80 --random --persistent',
  ],
  ['-p tcp -j DNAT --to-destination :80', '-p tcp -j DNAT --to-destination :80'],
  [
    '-p tcp -j DNAT --to-destination 10.0.0.1:80-90/100',
    '-p tcp -j DNAT --to-destination 10.0.0.1:80-90/100',
  ],
  ['-p tcp -j DNAT --to-destination 10.0.0.1-10.0.0.1:80-80', '-p tcp -j DNAT --to-destination 10.0.0.1:80'],
  ['-j MASQUERADE', '-j MASQUERADE'],
  ['-j MASQUERADE --random', '-j MASQUERADE --random'],
  ['-j MASQUERADE --random-fully', '-j MASQUERADE --random-fully'],
  [
    '-p tcp -j MASQUERADE --random-fully --to-ports 1024-1024',
    '-p tcp -j MASQUERADE --to-ports 1024 --random-fully',
  ],
  ['-p tcp -j MASQUERADE --to-ports 1024-65535', '-p tcp -j MASQUERADE --to-ports 1024-65535'],
  ['-p tcp -j REDIRECT --to-ports 8080', '-p tcp -j REDIRECT --to-ports 8080'],
];

const MANGLE4: readonly Row[] = [
  ['-j MARK --set-mark 0x4000', '-j MARK --set-xmark 0x4000/0xffffffff'],
  ['-j MARK --set-mark 0xff/0xf', '-j MARK --set-xmark 0xff/0xff'],
  ['-j MARK --set-mark 0x1/0xf', '-j MARK --set-xmark 0x1/0xf'],
  ['-j MARK --set-xmark 0x4000', '-j MARK --set-xmark 0x4000/0xffffffff'],
  ['-j MARK --set-xmark 16384/16384', '-j MARK --set-xmark 0x4000/0x4000'],
  ['-j MARK --or-mark 0x00004000', '-j MARK --set-xmark 0x4000/0x4000'],
  ['-j MARK --or-mark 0x80000000', '-j MARK --set-xmark 0x80000000/0x80000000'],
  ['-j MARK --and-mark 0x4000', '-j MARK --set-xmark 0x0/0xffffbfff'],
  ['-j MARK --xor-mark 0x00004000', '-j MARK --set-xmark 0x4000/0x0'],
  ['-j MARK --set-xmark 0/0', '-j MARK --set-xmark 0x0/0x0'],
];

const FILTER6: readonly Row[] = [
  ['-s FD00:0:0:0::0AA', '-s fd00::aa/128'],
  ['-s fd00::1/64', '-s fd00::/64'],
  ['-s ::/0', ''],
  ['! -s ::/0', '! -s ::/0', REFUSES],
  ['-s ::ffff:1.2.3.4', '-s ::ffff:1.2.3.4/128'],
  ['-s ::1.2.3.4', '-s ::1.2.3.4/128'],
  ['-s ::ffff:0:0', '-s ::ffff:0.0.0.0/128'],
  ['-s ::1', '-s ::1/128'],
  ['-s ::', '-s ::/128'],
  ['-s 0:0:1:0:0:0:1:0', '-s 0:0:1::1:0/128'],
  ['-s 1:0:0:2:0:0:0:3', '-s 1:0:0:2::3/128'],
  ['-s 1:0:0:2:3:0:0:4', '-s 1::2:3:0:0:4/128'],
  ['-s 2001:db8:0:1:1:1:1:1', '-s 2001:db8:0:1:1:1:1:1/128'],
  ['-s 1:2:3:4:5:6:7::', '-s 1:2:3:4:5:6:7:0/128'],
  ['-s fd00:1::/ffff:ffff::', '-s fd00:1::/32'],
  ['-s fd00:1:2::1/ffff:0:ffff::', '-s fd00:0:2::/ffff:0:ffff::'],
  ['-s ::1:2.3.4.5/96', '-s ::1:0:0/96'],
  ['-s ::ffff:1.2.3.4/112', '-s ::ffff:1.2.0.0/112'],
  ['-p icmpv6', '-p ipv6-icmp'],
  ['-p 6 -m tcp --dport 80', '-p tcp -m tcp --dport 80'],
  ['-m addrtype --dst-type LOCAL ! -d ::1/128', '! -d ::1/128 -m addrtype --dst-type LOCAL'],
  [
    '-m recent --name X --rcheck --seconds 10 --reap',
    '-m recent --rcheck --seconds 10 --reap --name X --mask ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff --rsource',
  ],
  ['-m recent --name X --set --mask ffff:ffff:0::', '-m recent --set --name X --mask ffff:ffff:: --rsource'],
  ['-m set --match-set S6 dst,dst', '-m set --match-set S6 dst,dst'],
  ['-j REJECT', '-j REJECT --reject-with icmp6-port-unreachable'],
  ['-j REJECT --reject-with port-unreach', '-j REJECT --reject-with icmp6-port-unreachable'],
  ['-j REJECT --reject-with adm-prohibited', '-j REJECT --reject-with icmp6-adm-prohibited'],
  ['-j REJECT --reject-with no-route', '-j REJECT --reject-with icmp6-no-route'],
  ['-j REJECT --reject-with addr-unreach', '-j REJECT --reject-with icmp6-addr-unreachable'],
  ['-j REJECT --reject-with policy-fail', '-j REJECT --reject-with icmp6-policy-fail'],
  ['-j REJECT --reject-with reject-route', '-j REJECT --reject-with icmp6-reject-route'],
  ['-p tcp -j REJECT --reject-with tcp-reset', '-p tcp -j REJECT --reject-with tcp-reset'],
];

const NAT6: readonly Row[] = [
  ['-p tcp -j DNAT --to-destination [FD00:0::1]:80', '-p tcp -j DNAT --to-destination [fd00::1]:80'],
  ['-p tcp -j DNAT --to-destination [fd00::1]', '-p tcp -j DNAT --to-destination fd00::1'],
  ['-p tcp -j DNAT --to-destination fd00::0:1', '-p tcp -j DNAT --to-destination fd00::1'],
  ['-p tcp -j DNAT --to-destination fd00::1-fd00::5', '-p tcp -j DNAT --to-destination fd00::1-fd00::5'],
  [
    '-p tcp -j DNAT --to-destination [fd00::1-fd00::5]:80-90',
    '-p tcp -j DNAT --to-destination [fd00::1-fd00::5]:80-90',
  ],
  ['-p tcp -j DNAT --to-destination [fd00::1-fd00::1]:80', '-p tcp -j DNAT --to-destination [fd00::1]:80'],
  [
    '-p tcp -j DNAT --to-destination [::ffff:1.2.3.4]:80',
    '-p tcp -j DNAT --to-destination [::ffff:1.2.3.4]:80',
  ],
  ['-p tcp -j DNAT --to-destination :80', '-p tcp -j DNAT --to-destination :80'],
  ['-p tcp -j MASQUERADE --random --to-ports 5-6', '-p tcp -j MASQUERADE --to-ports 5-6 --random'],
];

function rows(family: Family, table: Spelling['table'], list: readonly Row[]): Spelling[] {
  return list.map(([input, saved, limits]) => ({ family, table, input, saved, ...limits }));
}

export const spellings: readonly Spelling[] = [
  ...rows('ipv4', 'filter', FILTER4),
  ...rows('ipv4', 'nat', NAT4),
  ...rows('ipv4', 'mangle', MANGLE4),
  ...rows('ipv6', 'filter', FILTER6),
  ...rows('ipv6', 'nat', NAT6),
];
