import { describe, expect, test } from 'vitest';
import { canonicalRule, parseIptablesSave, saveLine } from '../../src/netfilter/index.ts';
import { parseRuleText, savedText } from './support/rules.ts';

function problemsOf(text: string): string[] {
  return parseIptablesSave(text).problems.map(({ line, severity, code }) => `${line} ${severity} ${code}`);
}

describe('an option goes to the match that has it', () => {
  test.each([
    // Any order
    ['-j ACCEPT -p tcp -m tcp --dport 80 -s 10.0.0.1', '-s 10.0.0.1/32 -p tcp -m tcp --dport 80 -j ACCEPT'],
    ['-m tcp -p tcp -m comment --comment c --dport 80', '-p tcp -m tcp --dport 80 -m comment --comment c'],
    ['-j DNAT -p tcp --to-destination 10.0.0.1', '-p tcp -j DNAT --to-destination 10.0.0.1'],
    ['-p tcp -j ACCEPT --dport 80', '-p tcp -m tcp --dport 80 -j ACCEPT'],
    ['-p tcp -j KUBE-A --dport 80', '-p tcp -m tcp --dport 80 -j KUBE-A'],
    ['-j LOG --log-prefix x -m limit --limit 5/sec', '-m limit --limit 5/sec -j LOG --log-prefix x'],
    // The match opened last
    ['-m mark --mark 1 -m mark --mark 2', '-m mark --mark 0x1 -m mark --mark 0x2'],
    ['-p udp -m comment --comment c --dport 53', '-p udp -m comment --comment c -m udp --dport 53'],
    // The protocol opens its own
    ['-p tcp --syn -j DROP', '-p tcp -m tcp --tcp-flags FIN,SYN,RST,ACK SYN -j DROP'],
    ['--dport 80 -p tcp', '-p tcp -m tcp --dport 80'],
    ['-p 17 --sport 53', '-p udp -m udp --sport 53'],
    [
      '-p tcp -m state --state NEW --dport 22 -j ACCEPT',
      '-p tcp -m state --state NEW -m tcp --dport 22 -j ACCEPT',
    ],
    ['-p icmp --icmp-type 8', '-p icmp -m icmp --icmp-type 8'],
    // Unknown ones take what follows
    ['-m time --timestart 8:00 ! --days Sun -j DROP', '-m time --timestart 8:00 ! --days Sun -j DROP'],
    ['-m foo a -b "c d" ! -i eth0 -j BAR', '! -i eth0 -m foo a -b "c d" -j BAR'],
    ['-j FOO --bar "-j" --baz', '-j FOO --bar "-j" --baz'],
  ])('%s', (input, saved) => {
    expect(canonicalRule(parseRuleText(input), 'ipv4')).toBe(saved);
  });
});

describe('a match with anything unknown is kept word by word', () => {
  test.each([
    ['-m mark --mark 0x1FFFFFFFF', { name: 'mark', words: ['--mark', '0x1FFFFFFFF'] }],
    ['-m mark --mark 1 --mark 2', { name: 'mark', words: ['--mark', '1', '--mark', '2'] }],
    ['-p tcp -m tcp --dport nonsense', { name: 'tcp', words: ['--dport', 'nonsense'] }],
    ['-p tcp -m tcp --dport 3:2', { name: 'tcp', words: ['--dport', '3:2'] }],
    ['-m tcp [unsupported revision]', { name: 'tcp', words: ['[unsupported', 'revision]'] }],
    [
      '-m conntrack --ctstate NEW --ctproto 6',
      { name: 'conntrack', words: ['--ctstate', 'NEW', '--ctproto', '6'] },
    ],
    ['-m conntrack --ctstate NONE', { name: 'conntrack', words: ['--ctstate', 'NONE'] }],
    ['-m recent --set --rcheck', { name: 'recent', words: ['--set', '--rcheck'] }],
    ['-m recent --name a b --set', { name: 'recent', words: ['--name', 'a', 'b', '--set'] }],
    ['-m statistic --mode random', { name: 'statistic', words: ['--mode', 'random'] }],
    ['-m addrtype --dst-type HERE', { name: 'addrtype', words: ['--dst-type', 'HERE'] }],
    ['-m comment ! --comment x', { name: 'comment', words: ['!', '--comment', 'x'] }],
    ['-m comment "stray"', { name: 'comment', words: ['stray'] }],
    ['-m comment --comment', { name: 'comment', words: ['--comment'] }],
    [
      '-m set --match-set A src --return-nomatch',
      { name: 'set', words: ['--match-set', 'A', 'src', '--return-nomatch'] },
    ],
  ])('%s', (input, { name, words }) => {
    expect(parseRuleText(input).matches).toEqual([{ kind: 'unknown', name, words }]);
  });

  test('and a target likewise', () => {
    expect(parseRuleText('-j MARK --set-mark 1 --or-mark 2').target).toEqual({
      kind: 'unknown',
      name: 'MARK',
      words: ['--set-mark', '1', '--or-mark', '2'],
    });
    expect(parseRuleText('-j DNAT --random').target).toMatchObject({ kind: 'unknown', name: 'DNAT' });
    expect(parseRuleText('-j TRACE').target).toEqual({ kind: 'unknown', name: 'TRACE', words: [] });
  });
});

describe('a rule that iptables would refuse is kept as its words and reported', () => {
  test.each([
    '--nothing known -j DROP',
    '-s 10.0.0.1 -s 10.0.0.2',
    '-j A -j B',
    '-s -j DROP',
    '-p tcp -j DROP -d',
    '"quoted -j" -j DROP',
    '! -j DROP',
    '-g A --option',
    '-c many few',
    '-j ACCEPT --log-prefix x',
    '-j KUBE-A --dport 80',
    '-m foo -j',
    '-m',
    '!',
  ])('%s', (text) => {
    const rule = parseRuleText(text);
    expect(Object.keys(rule)).toEqual(['matches', 'unparsed']);
    expect(canonicalRule(rule, 'ipv4')).toBe(text);
    expect(parseRuleText(canonicalRule(rule, 'ipv4'))).toEqual(rule);
    expect(problemsOf(`*nat\n:T - [0:0]\n-A T ${text}\nCOMMIT\n`)).toEqual(['3 error unparsed-words']);
  });
});

describe('what is not as in a whole dump is reported with its line', () => {
  test.each([
    ['*nat\n:A - [0:0]\n-A A -j DROP\n', ['4 warning no-commit']],
    ['*nat\n:A - [0:0]\n-A A -j DROP', ['4 warning no-commit']],
    ['*nat\n*filter\nCOMMIT\n', ['2 warning no-commit']],
    ['*nat\nCOMMIT\n*nat\nCOMMIT\n', ['3 warning duplicate-table']],
    ['*nat\n-A A -j DROP\nCOMMIT\n', ['2 warning undeclared-chain']],
    ['*nat\n:A - [0:0]\n:A - [0:0]\nCOMMIT\n', ['3 note duplicate-chain']],
    ['-A A -j DROP\n-A A -j DROP\n', ['1 error no-table-header']],
    ['$ iptables-save\n*nat\nCOMMIT\n$\n', ['1 warning unreadable-line', '4 warning unreadable-line']],
    ['COMMIT\n*nat\nCOMMIT\n', ['1 warning unreadable-line']],
    ['*nat\n[1:2] -X A\n[1] -A A\nCOMMIT\n', ['2 warning unreadable-line', '3 warning unreadable-line']],
    ['*nat\n-X A\n-F\nCOMMIT\n', ['2 note restore-command', '3 note restore-command']],
    ['*nat\n:A - [0:0]\n-A A -j DROP # why\nCOMMIT\n', ['3 warning trailing-comment']],
    ["*nat\nCOMMIT\n# Table `nat' is incompatible, use 'nft' tool.\n", ['3 warning incompatible-table']],
    [
      '*nat\nCOMMIT\n# Warning: iptables-legacy tables present, use iptables-legacy-save to see them\n',
      ['3 warning legacy-tables-present'],
    ],
    [
      '# Generated by iptables-save v1.8.9 on X\n*nat\nCOMMIT\n# Generated by ip6tables-save v1.8.9 on X\n*nat\nCOMMIT\n',
      ['4 error mixed-families', '5 warning duplicate-table'],
    ],
    [
      '*nat\n:A - [0:0]\n-A A -m comment --comment "x\ny"\n-A B\nCOMMIT\n',
      ['3 warning line-feed-in-quotes', '5 warning undeclared-chain'],
    ],
    ['*\n*nat\nCOMMIT\n', ['1 warning unreadable-line']],
    [':\n*nat\nCOMMIT\n', ['1 warning unreadable-line']],
    ['*nat\n:A - nonsense\nCOMMIT\n', ['2 warning unreadable-line']],
    ['*nat\n-A\nCOMMIT\n', ['2 warning unreadable-line']],
  ])('%j', (text, problems) => {
    expect(problemsOf(text)).toEqual(problems);
  });

  test('thousands of one kind as fifty and a number', () => {
    const { problems } = parseIptablesSave(`*nat\n${'what?\n'.repeat(1000)}COMMIT\n`);
    expect(problems).toHaveLength(51);
    expect(problems.at(-1)?.message).toBe('950 more problems of the kind unreadable-line');
  });
});

describe('the same dump in other clothes is the same ruleset', () => {
  const plain = [
    '*nat',
    ':PREROUTING ACCEPT [12:3400]',
    ':KUBE-A - [0:0]',
    '[5:60] -A PREROUTING -m comment --comment "to A" -j KUBE-A',
    '-A KUBE-A -p tcp -m tcp --dport 80 -j DNAT --to-destination 10.0.0.1:80',
    'COMMIT',
    '',
  ].join('\n');
  const expected = parseIptablesSave(plain).ruleset;

  test.each([
    ['with CRLF', plain.replaceAll('\n', '\r\n')],
    ['with a byte order mark', `\ufeff${plain}`],
    ['without a last line end', plain.trimEnd()],
    ['quoted in a mail', plain.replaceAll(/^(?=.)/gm, '> ')],
    ['indented', plain.replaceAll(/^(?=.)/gm, '    ')],
    ['with blanks at line ends', plain.replaceAll('\n', '  \n')],
    ['between lines of a shell', `$ sudo iptables-save -c\n${plain}$ exit\n`],
    ['with header comments', `# Generated by iptables-save v1.4.21\n${plain}# Completed on Thu\n`],
  ])('%s', (_name, text) => {
    expect(parseIptablesSave(text).ruleset).toEqual(expected);
  });

  test('and prints as it was', () => {
    expect(savedText(expected)).toBe(plain);
  });
});

describe('the family is told from', () => {
  test.each([
    ['the header', '# Generated by ip6tables-save v1.8.9 on X\n*nat\nCOMMIT\n', 'ipv6'],
    ['an address', '*nat\n:A - [0:0]\n-A A -j B\n-A A -s fd00::1/128\nCOMMIT\n', 'ipv6'],
    ['an address', '*nat\n:A - [0:0]\n-A A -s 10.0.0.1/32\nCOMMIT\n', 'ipv4'],
    [
      'a type of reject',
      '*filter\n:A - [0:0]\n-A A -j REJECT --reject-with icmp6-port-unreachable\nCOMMIT\n',
      'ipv6',
    ],
    ['a protocol', '*filter\n:A - [0:0]\n-A A -p ipv6-icmp\nCOMMIT\n', 'ipv6'],
    ['nothing at all', '*filter\n:A - [0:0]\nCOMMIT\n', 'ipv4'],
  ])('%s', (_what, text, family) => {
    expect(parseIptablesSave(text).ruleset.family).toBe(family);
  });

  test('the caller, who knows best', () => {
    const text = '*nat\n:A - [0:0]\n-A A -s 10.0.0.1/32\nCOMMIT\n';
    expect(parseIptablesSave(text, { family: 'ipv6' }).ruleset.family).toBe('ipv6');
  });
});

describe('an excerpt without table lines', () => {
  const text = '-A PREROUTING -j A\n-A A -j DROP\n:B - [0:0]\n-A B -j A\n';
  const { ruleset } = parseIptablesSave(text);

  test('comes back under a table without a name; chain lines behind rules begin another', () => {
    expect(ruleset.tables.map(({ name, chains }) => [name, chains.map((chain) => chain.name)])).toEqual([
      ['', ['PREROUTING', 'A']],
      ['', ['B']],
    ]);
    expect(ruleset.tables[0]?.chains[0]?.declared).toBe(false);
  });

  test('prints as it was', () => {
    expect(savedText(ruleset)).toBe(text);
  });
});

test('commands of restore input are kept in their order', () => {
  const text =
    '*nat\n:A - [0:0]\n-A A -j B\n-N B\n-I B 1 -m comment --comment "x y" -j DROP\n-A B -j C\n-X C\nCOMMIT\n';
  const [table] = parseIptablesSave(text, { keepOrder: true }).ruleset.tables;
  expect(table?.commands?.map(({ words }) => words.join(' '))).toEqual([
    '-N B',
    '-I B 1 -m comment --comment "x y" -j DROP',
    '-X C',
  ]);
  expect(
    table?.statements?.map((statement) =>
      statement.kind === 'append' ? `-A ${statement.chain}` : statement.words[0],
    ),
  ).toEqual(['-A A', '-N', '-I', '-A B', '-X']);
});

test('counters of a rule are printed where the dump had them, zero or not', () => {
  const rule = parseRuleText('-j DROP');
  expect(saveLine(rule, 'INPUT', 'ipv4')).toBe('-A INPUT -j DROP');
  expect(saveLine({ ...rule, counters: { packets: 0n, bytes: 0n } }, 'INPUT', 'ipv4')).toBe(
    '[0:0] -A INPUT -j DROP',
  );
  const large = { packets: 18446744073709551615n, bytes: 1n };
  expect(saveLine({ ...rule, counters: large }, 'INPUT', 'ipv4')).toBe(
    '[18446744073709551615:1] -A INPUT -j DROP',
  );
});

test('a rule with -c counters of its own is printed with them in front', () => {
  expect(saveLine(parseRuleText('-c 5 6 -j DROP'), 'INPUT', 'ipv4')).toBe('[5:6] -A INPUT -j DROP');
});
