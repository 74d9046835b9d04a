import { describe, expect, test } from 'vitest';
import type { Family, Rule, Ruleset } from '../../src/netfilter/index.ts';
import { printRestore, restoreLine } from '../../src/netfilter/index.ts';
import { parseRuleText } from './support/rules.ts';

describe('rules are written as kube-proxy writes them', () => {
  test.each([
    [
      '! -s 10.244.0.0/16 -d 10.96.0.1 -p tcp -m comment --comment "a cluster IP" -m tcp --dport 80 -j B',
      '-m comment --comment "a cluster IP" -m tcp -p tcp -d 10.96.0.1 --dport 80 ! -s 10.244.0.0/16 -j B',
    ],
    [
      '-p tcp -m comment --comment a/b ! -i cni0 -m tcp --dport 80 -j B',
      '-m comment --comment a/b -m tcp -p tcp --dport 80 ! -i cni0 -j B',
    ],
    [
      '-p udp -m comment --comment a/b -m recent --set --name S --rsource -m udp -j DNAT --to-destination 10.0.0.1:53',
      '-m comment --comment a/b -m recent --name S --set -m udp -p udp -j DNAT --to-destination 10.0.0.1:53',
    ],
    [
      '-m recent --rcheck --seconds 10800 --reap --name S --mask 255.255.255.255 --rsource -j S',
      '-m recent --name S --rcheck --seconds 10800 --reap -j S',
    ],
    [
      '! -s 127.0.0.0/8 -d 127.0.0.0/8 -m comment --comment "a b" -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP',
      '-m comment --comment "a b" -d 127.0.0.0/8 ! -s 127.0.0.0/8 -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP',
    ],
    [
      '! -d ::1/128 -m comment --comment "a b" -m addrtype --dst-type LOCAL -j N',
      '-m comment --comment "a b" -m addrtype --dst-type LOCAL ! -d ::1/128 -j N',
    ],
    [
      '! -s 10.244.0.0/16 -m comment --comment "a b" -m set --match-set KUBE-CLUSTER-IP dst,dst -j M',
      '-m comment --comment "a b" -m set --match-set KUBE-CLUSTER-IP dst,dst ! -s 10.244.0.0/16 -j M',
    ],
    [
      '-p tcp -m comment --comment "a b" -m set --match-set KUBE-NODE-PORT-TCP dst -j M',
      '-p tcp -m comment --comment "a b" -m set --match-set KUBE-NODE-PORT-TCP dst -j M',
    ],
    [
      '-s 10.0.0.1 -m ipvs --vproto tcp --vaddr 10.0.0.2 --vport 80 -j DROP',
      '-s 10.0.0.1 -m ipvs --vaddr 10.0.0.2 --vproto tcp --vport 80 -j DROP',
    ],
    [
      '-m nfacct --nfacct-name  ct_state_invalid_dropped_pkts -j DROP',
      '-m nfacct --nfacct-name ct_state_invalid_dropped_pkts -j DROP',
    ],
    ['-m mark ! --mark 0x4000/0x4000 -j RETURN', '-m mark ! --mark 0x00004000/0x00004000 -j RETURN'],
    ['-j MARK --set-xmark 0x4000/0x4000', '-j MARK --or-mark 0x00004000'],
    ['-j MARK --set-xmark 0x4000/0x0', '-j MARK --xor-mark 0x00004000'],
    ['-j MARK --set-xmark 0x80000000/0x80000000', '-j MARK --or-mark 0x80000000'],
    ['-j MARK --set-xmark 0x1/0xf', '-j MARK --set-xmark 0x00000001/0x0000000f'],
    [
      '-m statistic --mode random --probability 0.00048828125',
      '-m statistic --mode random --probability 0.0004882812',
    ],
    [
      '-m statistic --mode random --probability 0.3333333333',
      '-m statistic --mode random --probability 0.3333333333',
    ],
    ['-j REJECT --reject-with icmp-port-unreachable', '-j REJECT'],
    ['-p tcp -j REJECT --reject-with tcp-reset', '-p tcp -j REJECT --reject-with tcp-reset'],
    ['-m comment --comment "don\\\'t do it"', '-m comment --comment "don\'t do it"'],
    ['-m comment --comment "!"', '-m comment --comment "!"'],
    ['-m comment --comment ""', '-m comment --comment ""'],
    [
      '-m limit --limit 5/sec -j LOG --log-prefix "a b: "',
      '-m limit --limit 5/sec -j LOG --log-prefix "a b: "',
    ],
    ['-f -i eth0 ! -o eth1 -g X', '-i eth0 ! -o eth1 -f -g X'],
  ])('%s', (input, written) => {
    expect(restoreLine(parseRuleText(input), 'KUBE-A')).toBe(`-A KUBE-A ${written}`);
  });

  test.each([
    ['-p tcp -j DNAT --to-destination [fd00::1]:80', 'ipv6'],
    ['-d fd00::1 -j ACCEPT', 'ipv6'],
  ] as const)('%s (%s)', (text, family) => {
    expect(restoreLine(parseRuleText(text, family), 'A', family)).toBe(`-A A ${text}`);
  });
});

function written(ruleset: Ruleset): string {
  return [...printRestore(ruleset)].join('');
}

function rulesetOf(rule: Rule, chain = 'KUBE-A', family: Family = 'ipv4'): Ruleset {
  return { family, tables: [{ name: 'nat', chains: [{ name: chain, policy: undefined, rules: [rule] }] }] };
}

describe('nothing is written that could mean something else', () => {
  const hostile = [
    'a\n-A INPUT -j ACCEPT',
    'a\rb',
    'a"b',
    'a\\',
    '"',
    'a\u0000b',
    '\u007f',
    'x" -j ACCEPT "y',
  ];

  test.each(hostile)('comment %j', (text) => {
    expect(() => written(rulesetOf({ matches: [{ kind: 'comment', text }] }))).toThrow('cannot be written');
  });

  test.each([...hostile, '', 'a b', '-j', '!', '#x'])('chain, interface and address %j', (text) => {
    expect(() => written(rulesetOf({ matches: [] }, text))).toThrow();
    expect(() => written(rulesetOf({ matches: [], inInterface: { negated: false, name: text } }))).toThrow();
    expect(() => written(rulesetOf({ matches: [], source: { negated: false, address: text } }))).toThrow();
    expect(() =>
      written(rulesetOf({ matches: [], target: { kind: 'jump', chain: text, goto: false } })),
    ).toThrow();
  });

  test.each(hostile)('names inside of extensions %j', (name) => {
    const matches: Rule['matches'] = [
      { kind: 'nfacct', name },
      { kind: 'set', negated: false, name, directions: ['dst'] },
      { kind: 'recent', negated: false, action: 'set', name, side: 'source' },
      { kind: 'unknown', name: 'foo', words: [name] },
    ];
    for (const match of matches) expect(() => written(rulesetOf({ matches: [match] }))).toThrow();
    const target = { kind: 'DNAT', destinations: [name], random: false, persistent: false } as const;
    expect(() => written(rulesetOf({ matches: [], target }))).toThrow();
  });

  test.each(['', 'nat\nCOMMIT', 'NAT'])('table %j', (name) => {
    expect(() => written({ family: 'ipv4', tables: [{ name, chains: [] }] })).toThrow('no table');
  });
});

test('built-in chains get no line, and the statements give the order of the rules', () => {
  const first: Rule = { matches: [], target: { kind: 'jump', chain: 'KUBE-B', goto: false } };
  const last: Rule = { matches: [], target: { kind: 'RETURN' } };
  const other: Rule = { matches: [], target: { kind: 'DROP' } };
  const chains = [
    { name: 'PREROUTING', policy: 'ACCEPT', rules: [] },
    { name: 'KUBE-A', policy: undefined, rules: [first, last] },
    { name: 'KUBE-B', policy: undefined, rules: [other] },
  ];
  const statements = [
    { kind: 'append', chain: 'KUBE-A', rule: first },
    { kind: 'append', chain: 'KUBE-B', rule: other },
    { kind: 'append', chain: 'KUBE-A', rule: last },
    { kind: 'command', words: ['-X', 'KUBE-C'] },
  ] as const;
  const head = '*nat\n:KUBE-A - [0:0]\n:KUBE-B - [0:0]\n';
  expect(written({ family: 'ipv4', tables: [{ name: 'nat', chains, statements }] })).toBe(
    `${head}-A KUBE-A -j KUBE-B\n-A KUBE-B -j DROP\n-A KUBE-A -j RETURN\n-X KUBE-C\nCOMMIT\n`,
  );
  expect(written({ family: 'ipv4', tables: [{ name: 'nat', chains }] })).toBe(
    `${head}-A KUBE-A -j KUBE-B\n-A KUBE-A -j RETURN\n-A KUBE-B -j DROP\nCOMMIT\n`,
  );
});
