/** Listings: `iptables -S` and `iptables -L -v` mean what the save means, or say that they do not. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Dump, Family } from '../../src/netfilter/index.ts';
import { canonicalRule, splitDumps } from '../../src/netfilter/index.ts';
import { savedText } from './support/rules.ts';

function only(text: string, options: Parameters<typeof splitDumps>[1] = {}): Dump {
  const [dump, ...more] = splitDumps(text, options);
  if (dump === undefined || more.length > 0) throw new Error(`not one dump but ${more.length + 1}`);
  return dump;
}

function codes({ problems }: Dump): readonly string[] {
  return problems.map(({ line, severity, code }) => `${line} ${severity} ${code}`);
}

const HEADER = ' pkts bytes target     prot opt in     out     source               destination         ';

/** One listed rule in chain A of the nat table. */
function listed(line: string, family: Family = 'ipv4'): Dump {
  return only(`Chain A (1 references)\n${HEADER}\n${line}\n`, { table: 'nat', family });
}

describe('a listed rule of iptables -L', () => {
  const ANY = '--  *      *       0.0.0.0/0            0.0.0.0/0           ';
  const CASES: readonly (readonly [string, string])[] = [
    [
      `    0     0 KUBE-SERVICES  all  ${ANY} /* kubernetes service portals */`,
      '-m comment --comment "kubernetes service portals" -j KUBE-SERVICES',
    ],
    [`    0     0 KUBE-SERVICES  0    ${ANY} /* a */`, '-m comment --comment a -j KUBE-SERVICES'],
    [`    0     0            tcp  ${ANY} tcp dpt:80`, '-p tcp -m tcp --dport 80'],
    [
      `    0     0            6    ${ANY} tcp dpts:!80:90 flags:0x17/0x02`,
      '-p tcp -m tcp ! --dport 80:90 --tcp-flags FIN,SYN,RST,ACK SYN',
    ],
    [
      `    0     0 DNAT       17   ${ANY} /* a/b:dns */ udp to:10.244.0.24:53`,
      '-p udp -m comment --comment "a/b:dns" -m udp -j DNAT --to-destination 10.244.0.24:53',
    ],
    [
      `    0     0 DNAT       6    ${ANY} tcp to:10.0.0.1:80 persistent`,
      '-p tcp -m tcp -j DNAT --to-destination 10.0.0.1:80 --persistent',
    ],
    [
      '    0     0 MASQUERADE  all  --  *      !docker0  172.17.0.0/16       !224.0.0.0/4          ',
      '-s 172.17.0.0/16 ! -d 224.0.0.0/4 ! -o docker0 -j MASQUERADE',
    ],
    [
      '    0     0 KUBE-MARK-MASQ  !6  -f  eth+ *  !10.244.0.0/16  10.96.0.1',
      '! -s 10.244.0.0/16 -d 10.96.0.1/32 -i eth+ ! -p tcp -f -j KUBE-MARK-MASQ',
    ],
    [
      `    0     0 MASQUERADE  0    ${ANY} /* x y */ random-fully`,
      '-m comment --comment "x y" -j MASQUERADE --random-fully',
    ],
    [
      `    0     0 MASQUERADE  6    ${ANY} masq ports: 1024-65535 random`,
      '-p tcp -j MASQUERADE --to-ports 1024-65535 --random',
    ],
    [
      `    0     0 RETURN     0    ${ANY} mark match ! 0x4000/0x4000`,
      '-m mark ! --mark 0x4000/0x4000 -j RETURN',
    ],
    [`    0     0 MARK       0    ${ANY} MARK xor 0x4000`, '-j MARK --set-xmark 0x4000/0x0'],
    [`    0     0 MARK       0    ${ANY} MARK or 0x8000`, '-j MARK --set-xmark 0x8000/0x8000'],
    [`    0     0 MARK       0    ${ANY} MARK and 0xff`, '-j MARK --set-xmark 0x0/0xffffff00'],
    [
      `    0     0 A          0    ${ANY} statistic mode random probability 0.33333333349`,
      '-m statistic --mode random --probability 0.33333333349 -j A',
    ],
    [`    0     0 A          0    ${ANY} ADDRTYPE match dst-type LOCAL`, '-m addrtype --dst-type LOCAL -j A'],
    [
      `    0     0 A          0    ${ANY} ADDRTYPE match src-type !LOCAL,UNICAST`,
      '-m addrtype ! --src-type UNICAST,LOCAL -j A',
    ],
    [
      `    0     0 A          0    ${ANY} ! ctstate RELATED,ESTABLISHED,DNAT`,
      '-m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j A',
    ],
    [
      `    0     0 A          0    ${ANY} recent: CHECK seconds: 10800 reap name: KUBE-SEP-X side: source mask: 255.255.255.255`,
      '-m recent --rcheck --seconds 10800 --reap --name KUBE-SEP-X --mask 255.255.255.255 --rsource -j A',
    ],
    [
      `    0     0 A          0    ${ANY} recent: SET name: X side: dest`,
      '-m recent --set --name X --mask 255.255.255.255 --rdest -j A',
    ],
    [
      `    0     0 REJECT     6    ${ANY} reject-with icmp-port-unreachable`,
      '-p tcp -j REJECT --reject-with icmp-port-unreachable',
    ],
    [
      `    0     0 A          0    ${ANY} match-set KUBE-CLUSTER-IP dst,dst ! match-set Y src`,
      '-m set --match-set KUBE-CLUSTER-IP dst,dst -m set ! --match-set Y src -j A',
    ],
    [
      `    0     0 DROP       0    ${ANY} ctstate INVALID nfacct-name  ct_state_invalid_dropped_pkts`,
      '-m conntrack --ctstate INVALID -m nfacct --nfacct-name  ct_state_invalid_dropped_pkts -j DROP',
    ],
    [`    0     0 A          0    ${ANY} [goto] mark match 0x1`, '-m mark --mark 0x1 -g A'],
    [
      `    0     0 ACCEPT     udp  ${ANY} multiport dports 4789,80:90 /* 001 vxlan */`,
      '-p udp -m multiport --dports 4789,80:90 -m comment --comment "001 vxlan" -j ACCEPT',
    ],
    [
      `    0     0 ACCEPT     tcp  ${ANY} state NEW tcp dpt:22`,
      '-p tcp -m state --state NEW -m tcp --dport 22 -j ACCEPT',
    ],
    [`    0     0 ACCEPT     tcp  ${ANY} tcp dpt:https`, '-p tcp -m tcp --dport 443 -j ACCEPT'],
    ['    0     0 ACCEPT     all  --  any    any     anywhere             anywhere            ', '-j ACCEPT'],
    [
      `    0     0 A          0    ${ANY} /* it's "odd" \\ here  x */`,
      '-m comment --comment "it\\\'s \\"odd\\" \\\\ here  x" -j A',
    ],
    [`>     0     0 A          0    ${ANY}`, '-j A'],
  ];
  test.each(CASES)('%s', (line, expected) => {
    const dump = listed(line);
    expect(codes(dump)).toEqual([]);
    const rules = dump.ruleset.tables[0]?.chains[0]?.rules ?? [];
    expect(rules.map((rule) => canonicalRule(rule, 'ipv4'))).toEqual([expected]);
  });

  test.each([
    [
      'with options',
      '    0     0 DNAT       6    --  *      *       fd00::/64           !::1                  tcp to:[fd00::a]:8080',
      '-s fd00::/64 ! -d ::1/128 -p tcp -m tcp -j DNAT --to-destination [fd00::a]:8080',
    ],
    [
      'of old versions, without',
      '    0     0 A          all      *      *       ::/0                 ::/0                 /* x */',
      '-m comment --comment x -j A',
    ],
    [
      'of old versions, without a target',
      '    0     0            tcp      *      eth0    ::/0                 fd00::1             ',
      '-d fd00::1/128 -o eth0 -p tcp',
    ],
    [
      'an all-ones mask',
      '    0     0 A   0 --  * *  ::/0  ::/0  recent: SET name: X side: source mask: ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
      '-m recent --set --name X --mask ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff --rsource -j A',
    ],
  ])('of IPv6 %s', (_name, line, expected) => {
    const dump = only(`Chain A (1 references)\n${HEADER}\n${line}\n`, { table: 'nat' });
    expect(dump.family).toBe('ipv6');
    const [rule] = dump.ruleset.tables[0]?.chains[0]?.rules ?? [];
    expect(rule && canonicalRule(rule, 'ipv6')).toBe(expected);
  });

  test.each([
    ['an unknown match', `    0     0 A          0    ${ANY} owner UID match 0`],
    [
      'an unknown match before a known one',
      `    0     0 A          0    ${ANY} UNKNOWN match \`foo' tcp dpt:80`,
    ],
    [
      'a match that was printed by an older iptables',
      `    0     0 A          0    ${ANY} [unsupported revision]`,
    ],
    ['a target without what it needs', `    0     0 DNAT       0    ${ANY}`],
    ['a mark that is not shown', `    0     0 MARK       0    ${ANY}`],
    ['a comment that may be two', `    0     0 A          0    ${ANY} /* x */ tcp dpt:80 /* y */`],
    ['a comment that may end early', `    0     0 A          0    ${ANY} /* x */ y */`],
    ['a comment without an end', `    0     0 A          0    ${ANY} /* x`],
    [
      'a host name',
      '    0     0 A          0    --  *      *       node-a.example      0.0.0.0/0           ',
    ],
    ['a port name that is not known', `    0     0 A          tcp  ${ANY} tcp dpt:cisco-sccp`],
    ['a mark with its value cut off', `    0     0 A          0    ${ANY} mark match 0x`],
  ])('is kept as its words where it holds %s', (_name, line) => {
    const dump = listed(line);
    expect(codes(dump)).toEqual(['3 error unparsed-words']);
    const [rule] = dump.ruleset.tables[0]?.chains[0]?.rules ?? [];
    expect(rule?.unparsed?.length).toBeGreaterThan(0);
    expect(rule?.target).toBeUndefined();
  });

  test('counters are read, those with a unit as far as they were printed', () => {
    const dump = only(
      `Chain A (policy DROP 12K packets, 3M bytes)\n${HEADER}\n  15K   2G A  0  --  *  *  0.0.0.0/0  0.0.0.0/0\n`,
      { table: 'filter' },
    );
    const [chain] = dump.ruleset.tables[0]?.chains ?? [];
    expect(chain).toMatchObject({ policy: 'DROP', counters: { packets: 12_000n, bytes: 3_000_000n } });
    expect(chain?.rules[0]?.counters).toEqual({ packets: 15_000n, bytes: 2_000_000_000n });
  });

  test('line numbers and exact counters', () => {
    const dump = only(
      'Chain A (0 references)\nnum      pkts      bytes target     prot opt in     out     source               destination         \n1           1       60 RETURN  0    --  *      *       0.0.0.0/0            0.0.0.0/0           \n',
      { table: 'nat' },
    );
    expect(savedText(dump.ruleset)).toBe('*nat\n:A - [0:0]\n[1:60] -A A -j RETURN\nCOMMIT\n');
  });

  test('lines that are none are reported', () => {
    const dump = listed('iptables: No chain/target/match by that name.');
    expect(codes(dump)).toEqual(['3 warning unreadable-line']);
  });
});

describe('a listing without interfaces is refused', () => {
  test.each([
    ['-nL', 'target     prot opt source               destination         '],
    ['-nL --line-numbers', 'num  target     prot opt source               destination         '],
    ['-nL of ip6tables', 'target     prot opt source               destination         '],
  ])('%s', (_name, header) => {
    const dump = only(
      `Chain INPUT (policy ACCEPT)\n${header}\nACCEPT     all  --  0.0.0.0/0            0.0.0.0/0           \n`,
    );
    expect(dump.ruleset.tables).toEqual([]);
    expect(codes(dump)).toEqual(['2 error not-iptables-save']);
    expect(dump.problems[0]?.message).toContain('leaves out the interfaces');
  });
});

describe('iptables -S', () => {
  test('is the save without its table', () => {
    const dump = only(
      '-P PREROUTING ACCEPT -c 5 300\n-P POSTROUTING ACCEPT\n-N KUBE-A\n-A KUBE-A -d 10.0.0.1/32 -c 1 60 -j RETURN',
    );
    expect(savedText(dump.ruleset)).toBe(
      '*nat\n:PREROUTING ACCEPT [5:300]\n:POSTROUTING ACCEPT [0:0]\n:KUBE-A - [0:0]\n[1:60] -A KUBE-A -d 10.0.0.1/32 -j RETURN\nCOMMIT\n',
    );
    expect(codes(dump)).toEqual(['1 note assumed-table']);
    expect(dump.problems[0]?.message).toBe(
      'iptables -S does not name its table: taken for nat, for its chain POSTROUTING',
    );
  });

  test('problems keep the numbers of their lines', () => {
    const dump = only('\n-P FORWARD ACCEPT\n-A FORWARD -s -j X\nwhat\n');
    expect(codes(dump)).toEqual([
      '1 note assumed-table',
      '3 error unparsed-words',
      '4 warning unreadable-line',
    ]);
  });

  test('a hardware address is none of IPv6', () => {
    const text = '-P FORWARD ACCEPT\n-A FORWARD -m mac --mac-source 00:11:22:33:44:55 -j DROP\n';
    expect(only(text).family).toBe('ipv4');
    expect(only(text, { family: 'ipv6' }).family).toBe('ipv6');
    expect(only('-P FORWARD ACCEPT\n-A FORWARD -s fd00::/8 -j DROP\n', { family: 'ipv4' }).family).toBe(
      'ipv6',
    );
  });

  test('with CRLF and quoted lines', () => {
    const dump = only('> -P FORWARD DROP\r\n> -N A\r\n> -A FORWARD -j A\r\n');
    expect(savedText(dump.ruleset)).toBe(
      '*filter\n:FORWARD DROP [0:0]\n:A - [0:0]\n-A FORWARD -j A\nCOMMIT\n',
    );
  });
});

describe('the table of a listing', () => {
  test.each([
    ['-P PREROUTING ACCEPT\n-P FORWARD ACCEPT\n-P POSTROUTING ACCEPT', 'mangle'],
    ['-P PREROUTING ACCEPT\n-P INPUT ACCEPT\n-P OUTPUT ACCEPT\n-P POSTROUTING ACCEPT', 'nat'],
    ['-P INPUT ACCEPT\n-P FORWARD ACCEPT\n-P OUTPUT ACCEPT', 'filter'],
    ['-P PREROUTING ACCEPT\n-P OUTPUT ACCEPT', 'raw'],
    ['-N KUBE-MARK-MASQ', 'nat'],
    ['-N KUBE-SVC-67NZLRHBNDSAWJRO', 'nat'],
    ['-N KUBE-FORWARD', 'filter'],
    ['-N KUBE-EXTERNAL-SERVICES', 'filter'],
    ['-N X\n-A X -j DNAT --to-destination 10.0.0.1', 'nat'],
    ['-N X\n-A X -j REJECT', 'filter'],
  ])('%j', (text, table) => {
    expect(only(text).ruleset.tables.map(({ name }) => name)).toEqual([table]);
  });

  test('that cannot be told is an error', () => {
    const rules = only('-N KUBE-SERVICES\n-A KUBE-SERVICES -j RETURN\n');
    expect(codes(rules)).toEqual(['1 error no-table-header']);
    const columns = only(`Chain KUBE-SERVICES (2 references)\n${HEADER}\n`);
    expect(codes(columns)).toEqual(['1 error no-table-header']);
  });

  test('is that of the option, or of the command line above', () => {
    expect(only('-N KUBE-SERVICES\n', { table: 'nat' }).ruleset.tables[0]?.name).toBe('nat');
    const dump = only('root@node-a:~# iptables -t nat -S KUBE-SERVICES\n-N KUBE-SERVICES\n');
    expect(dump.ruleset.tables[0]?.name).toBe('nat');
    expect(codes(dump)).toEqual([]);
  });
});

describe('several listings in one text', () => {
  const names = (dumps: readonly Dump[]) =>
    dumps.map(
      ({ family, ruleset }) =>
        `${family} ${ruleset.tables.map((table) => `${table.name}:${table.chains.length}`).join(' ')}`,
    );

  test('-S of filter, then of nat, with nothing between', () => {
    const text = [
      ...['-P INPUT ACCEPT', '-P FORWARD ACCEPT', '-P OUTPUT ACCEPT', '-N A', '-A INPUT -s 10.0.0.0/8 -j A'],
      ...['-P PREROUTING ACCEPT', '-P INPUT ACCEPT', '-P OUTPUT ACCEPT', '-P POSTROUTING ACCEPT', '-N A'],
    ].join('\n');
    expect(names(splitDumps(text))).toEqual(['ipv4 filter:4 nat:5']);
  });

  test('-S where no chain is of anybody', () => {
    const text = ['INPUT', 'FORWARD', 'OUTPUT', 'PREROUTING', 'INPUT', 'OUTPUT', 'POSTROUTING'].map(
      (name) => `-P ${name} ACCEPT`,
    );
    expect(names(splitDumps(text.join('\n')))).toEqual(['ipv4 filter:3 nat:4']);
  });

  test('-L of both families under their commands', () => {
    const chain = (name: string, address: string) =>
      `Chain ${name} (policy ACCEPT 0 packets, 0 bytes)\n${HEADER}\n 0 0 ACCEPT 0 -- * * ${address} ${address}\n`;
    const text = `+ iptables -t nat -nvL\n${chain('POSTROUTING', '0.0.0.0/0')}\n+ iptables -nvL\n${chain('INPUT', '0.0.0.0/0')}\n+ ip6tables -t nat -nvL\n${chain('POSTROUTING', '::/0')}`;
    const dumps = splitDumps(text);
    expect(names(dumps)).toEqual(['ipv4 nat:1 filter:1', 'ipv6 nat:1']);
    expect(dumps.flatMap(codes)).toEqual([]);
    expect(dumps.map(({ line }) => line)).toEqual([1, 11]);
  });
});

test('nothing makes it throw, and its time grows with the text', () => {
  const pieces = fc.constantFrom(
    ...[
      'Chain A (1 references)',
      'Chain INPUT (policy ACCEPT 0 packets, 0 bytes)',
      HEADER,
      'target prot opt source destination',
      '\n',
      ' ',
    ],
    ...[
      '    0     0 A 0 -- * * 0.0.0.0/0 0.0.0.0/0 ',
      '/* a */',
      'tcp dpt:80',
      '-P INPUT ACCEPT',
      '-N A',
      '-A A ',
      '*nat',
      'COMMIT',
      ':A - [0:0]',
    ],
    ...[
      '# Generated by iptables-save v1.8.9 on x',
      '# Generated by ip6tables-save v1.8.9 (nf_tables)',
      '"',
      '# iptables -S',
      '>',
      '/*',
      '*/',
      '[goto]',
    ],
  );
  fc.assert(
    fc.property(
      fc.array(fc.oneof(pieces, fc.string()), { maxLength: 60 }),
      fc.constantFrom('\n', ' ', ''),
      (list, glue) => {
        const dumps = splitDumps(list.join(glue));
        expect(dumps.length).toBeGreaterThan(0);
        for (const { ruleset } of dumps) savedText(ruleset);
      },
    ),
    { numRuns: 2000 },
  );
  const rule = '    0     0 A 0 -- * * 0.0.0.0/0 0.0.0.0/0 ';
  for (const text of [
    `Chain A (1 references)\n${HEADER}\n${`${rule} /* a */ tcp dpt:80\n`.repeat(100_000)}`,
    `Chain A (1 references)\n${HEADER}\n${rule}${'/* a '.repeat(500_000)}\n`,
    `Chain A (1 references)\n${HEADER}\n${rule}${'tcp dpt:80 '.repeat(200_000)}\n`,
    `Chain A (1 references)\n${HEADER}\n${rule}${'recent: SET '.repeat(200_000)}\n`,
    `Chain A (1 references)\n${HEADER}\n${' '.repeat(2_000_000)}\n`,
    '-N A\n'.repeat(100_000),
    'Chain A (1 references)\n'.repeat(50_000),
    '*nat\nCOMMIT\n'.repeat(20_000),
    '# Generated by iptables-save v1.8.9 on x\n'.repeat(100_000),
    'iptables '.repeat(300_000),
  ]) {
    const before = process.cpuUsage();
    splitDumps(text);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1e6, text.slice(0, 60)).toBeLessThan(4);
  }
});
