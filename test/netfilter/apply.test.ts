/** What the kernel holds after iptables-restore; the answers are those of iptables 1.8.9, legacy and nft. */
import { describe, expect, test } from 'vitest';
import type { Applied } from '../../src/netfilter/index.ts';
import { applyRestore, parseIptablesSave } from '../../src/netfilter/index.ts';
import { savedText } from './support/rules.ts';

const STATE = [
  '*filter',
  ':INPUT ACCEPT [0:0]',
  ':FORWARD ACCEPT [0:0]',
  ':OUTPUT ACCEPT [0:0]',
  ':AA - [0:0]',
  ':BB - [0:0]',
  ':CC - [0:0]',
  '-A INPUT -j AA',
  '-A AA -s 10.0.0.1/32 -j ACCEPT',
  '-A AA -s 10.0.0.2/32 -j ACCEPT',
  '-A AA -s 10.0.0.1/32 -j ACCEPT',
  '-A AA -j BB',
  'COMMIT',
  '',
].join('\n');

function apply(lines: readonly string[], options = {}): Applied {
  const input = parseIptablesSave(`${lines.join('\n')}\n`, { family: 'ipv4', keepOrder: true });
  return applyRestore(parseIptablesSave(STATE).ruleset, input, options);
}

/** The state after some commands on the filter table, without its three built-in chain lines. */
function after(commands: readonly string[]): readonly string[] {
  const applied = apply(['*filter', ...commands, 'COMMIT']);
  if (!('ruleset' in applied)) throw new Error(applied.error);
  return savedText(applied.ruleset).split('\n').slice(4, -2);
}

const CHAINS = [':AA - [0:0]', ':BB - [0:0]', ':CC - [0:0]'];
const HOOK = '-A INPUT -j AA';
const ONE = '-A AA -s 10.0.0.1/32 -j ACCEPT';
const TWO = '-A AA -s 10.0.0.2/32 -j ACCEPT';
const JUMP = '-A AA -j BB';
const NEW = '-A AA -s 10.0.0.3/32 -j ACCEPT';

describe('commands that iptables-restore --noflush takes', () => {
  const CASES: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    ['nothing', [], [...CHAINS, HOOK, ONE, TWO, ONE, JUMP]],
    ['a chain line empties the chain', [':AA - [0:0]'], [...CHAINS, HOOK]],
    [
      'a chain line makes a chain',
      [':DD - [0:0]', '-A DD -j BB'],
      [...CHAINS, ':DD - [0:0]', HOOK, ONE, TWO, ONE, JUMP, '-A DD -j BB'],
    ],
    [
      'a chain line behind rules empties the chain there',
      ['-A AA -j DROP', ':AA - [0:0]', '-A AA -s 10.0.0.3 -j ACCEPT'],
      [...CHAINS, HOOK, NEW],
    ],
    ['-A puts a rule last', ['-A AA -s 10.0.0.3 -j ACCEPT'], [...CHAINS, HOOK, ONE, TWO, ONE, JUMP, NEW]],
    ['-I puts it first', ['-I AA -s 10.0.0.3 -j ACCEPT'], [...CHAINS, HOOK, NEW, ONE, TWO, ONE, JUMP]],
    ['-I with a number', ['-I AA 3 -s 10.0.0.3 -j ACCEPT'], [...CHAINS, HOOK, ONE, TWO, NEW, ONE, JUMP]],
    [
      '-I with the number behind the last',
      ['-I AA 5 -s 10.0.0.3 -j ACCEPT'],
      [...CHAINS, HOOK, ONE, TWO, ONE, JUMP, NEW],
    ],
    [
      '-D takes the first that is equal',
      ['-D AA --source 10.0.0.1 -j ACCEPT'],
      [...CHAINS, HOOK, TWO, ONE, JUMP],
    ],
    ['-D with a number', ['-D AA 3'], [...CHAINS, HOOK, ONE, TWO, JUMP]],
    ['-R', ['-R AA 2 -s 10.0.0.3 -j ACCEPT'], [...CHAINS, HOOK, ONE, NEW, ONE, JUMP]],
    ['-F', ['-F AA'], [...CHAINS, HOOK]],
    ['-F and -X of everything', ['-F', '-X'], []],
    ['-X', ['-X CC'], [':AA - [0:0]', ':BB - [0:0]', HOOK, ONE, TWO, ONE, JUMP]],
    [
      '-X of what nothing jumps to any more, in any order',
      [':AA - [0:0]', ':BB - [0:0]', '-D INPUT -j AA', '-X BB', '-X AA'],
      [':CC - [0:0]'],
    ],
    ['-X and -N', ['-X CC', '-N CC', '-A CC -j BB'], [...CHAINS, HOOK, ONE, TWO, ONE, JUMP, '-A CC -j BB']],
    ['-Z', ['-Z AA', '-Z'], [...CHAINS, HOOK, ONE, TWO, ONE, JUMP]],
    [
      'a circle that no packet can enter',
      ['-A CC -j CC'],
      [...CHAINS, HOOK, ONE, TWO, ONE, JUMP, '-A CC -j CC'],
    ],
  ];
  test.each(CASES)('%s', (_name, commands, expected) => {
    expect(after(commands)).toEqual(expected);
  });

  test('the chain line of a built-in chain sets its policy and leaves its rules', () => {
    const applied = apply(['*filter', ':INPUT DROP [0:0]', ':OUTPUT - [0:0]', '-P FORWARD DROP', 'COMMIT']);
    const [table] = 'ruleset' in applied ? applied.ruleset.tables : [];
    expect(table?.chains.slice(0, 3).map(({ policy, rules }) => `${policy} ${rules.length}`)).toEqual([
      'DROP 1',
      'DROP 0',
      'ACCEPT 0',
    ]);
  });

  test('a table that the state lacks has its built-in chains', () => {
    const applied = apply(['*nat', '-A POSTROUTING -j MASQUERADE', 'COMMIT']);
    const nat = 'ruleset' in applied ? applied.ruleset.tables[1] : undefined;
    expect(nat?.chains.map(({ name, policy }) => `${name} ${policy}`)).toEqual([
      'PREROUTING ACCEPT',
      'INPUT ACCEPT',
      'OUTPUT ACCEPT',
      'POSTROUTING ACCEPT',
    ]);
    expect(nat?.chains[3]?.rules).toHaveLength(1);
  });

  test('what is not touched comes back as the same objects', () => {
    const state = parseIptablesSave(STATE).ruleset;
    const applied = applyRestore(state, parseIptablesSave('*filter\n-A CC -j BB\nCOMMIT\n').ruleset);
    const [table] = 'ruleset' in applied ? applied.ruleset.tables : [];
    expect(table?.chains.map((chain, i) => chain === state.tables[0]?.chains[i])).toEqual([
      ...[true, true, true, true, true, false],
    ]);
  });

  test('without --noflush each table of the input is emptied first, and policies stay', () => {
    const applied = apply(['*filter', ':BB - [0:0]', '-A INPUT -j BB', 'COMMIT'], { noflush: false });
    expect('ruleset' in applied && savedText(applied.ruleset)).toBe(
      '*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n:BB - [0:0]\n-A INPUT -j BB\nCOMMIT\n',
    );
  });
});

describe('what iptables-restore refuses leaves the table as it was', () => {
  const CASES: readonly (readonly [string, number, string])[] = [
    ['-A ZZ -j ACCEPT', 2, 'No chain/target/match by that name: ZZ'],
    ['-A AA -j ZZ', 2, "Chain 'ZZ' does not exist"],
    ['-A AA -j ZZ\n:ZZ - [0:0]', 2, "Chain 'ZZ' does not exist"],
    ['-A AA -j OUTPUT', 2, 'Operation not supported: a jump to the built-in chain OUTPUT'],
    ['-X BB', 2, 'Too many links: a rule jumps to chain BB'],
    ['-F INPUT\n-X AA', 3, 'Directory not empty: chain AA holds rules'],
    ['-X', 2, 'Directory not empty: chain AA holds rules'],
    ['-X OUTPUT', 2, "Can't delete built-in chain: OUTPUT"],
    ['-X ZZ', 2, 'No chain/target/match by that name: ZZ'],
    ['-F ZZ', 2, 'No chain/target/match by that name: ZZ'],
    ['-N AA', 2, 'Chain already exists: AA'],
    ['-D AA -s 10.0.0.9 -j ACCEPT', 2, 'Bad rule (does a matching rule exist in that chain?): AA'],
    [
      '-D AA -s 10.0.0.1 -m comment --comment x -j ACCEPT',
      2,
      'Bad rule (does a matching rule exist in that chain?): AA',
    ],
    ['-D AA -j ZZ', 2, "Chain 'ZZ' does not exist"],
    ['-D AA 5', 2, 'Index of deletion too big'],
    ['-D AA 0', 2, "Invalid rule number '0'"],
    ['-D AA 1 -j ACCEPT', 2, "Illegal option '-j' with this command"],
    ['-I AA 6 -j ACCEPT', 2, 'Index of insertion too big'],
    ['-I AA 0 -j ACCEPT', 2, "Invalid rule number '0'"],
    ['-R AA 5 -j ACCEPT', 2, 'Index of replacement too big'],
    ['-P AA DROP', 2, "Can't set policy 'DROP' on 'AA': Bad built-in chain name"],
    ['-P OUTPUT FOO', 2, "Bad policy name 'FOO'"],
    [':NN DROP [0:0]', 1, "Can't set policy 'DROP' on 'NN': Bad built-in chain name"],
    ['-A BB -j AA', 3, 'Too many links: chain AA jumps in a circle'],
    [
      ':AA - [0:0]\n-A AA -j DROP\n-D AA 1',
      4,
      'iptables-nft would miscount: rule 1 of AA came with the same input',
    ],
    [
      '-I AA 2 -j DROP\n-I AA 2 -j DROP',
      3,
      'iptables-nft would miscount: rule 2 of AA came with the same input',
    ],
    [
      '-A AA -j DROP\n-R AA 5 -j ACCEPT',
      3,
      'iptables-nft would miscount: rule 5 of AA came with the same input',
    ],
    ['-A AA -s 1.1.1.1 foo', 2, 'Bad argument: -s 1.1.1.1 foo'],
    ['-A AA -j DROP\nfoo', 3, 'not a line of iptables-save: "foo"'],
    ['-A AA -j DROP # why', 2, 'a comment behind the rule was left out: # why'],
  ];
  test.each(CASES)('%j', (commands, line, error) => {
    const applied = apply(['*filter', commands, 'COMMIT']);
    if ('ruleset' in applied) throw new Error('it was taken');
    expect({ line: applied.line, error: applied.error, table: applied.table }).toEqual({
      line,
      error,
      table: 'filter',
    });
    expect(savedText(applied.left)).toBe(STATE);
  });

  test('no COMMIT', () => {
    const applied = apply(['*filter', '-A AA -j DROP']);
    expect(applied).toMatchObject({ error: 'COMMIT expected', line: 2, table: 'filter' });
  });

  test('a table of another name', () => {
    expect(apply(['*foo', 'COMMIT'])).toMatchObject({ error: "table name 'foo' invalid", line: 1 });
  });

  test('rules without a table', () => {
    expect(apply(['-A AA -j DROP'])).toMatchObject({ line: 1 });
  });

  test('tables before the one that failed stay changed', () => {
    const applied = apply(['*filter', '-F', '-X', 'COMMIT', '*nat', '-X ZZ', 'COMMIT']);
    if ('ruleset' in applied) throw new Error('it was taken');
    expect(applied.line).toBe(6);
    expect(applied.left.tables[0]?.chains).toHaveLength(3);
    expect(applied.left.tables).toHaveLength(1);
  });

  test('the other family', () => {
    const input = parseIptablesSave('*filter\nCOMMIT\n', { family: 'ipv6' }).ruleset;
    expect(applyRestore(parseIptablesSave(STATE).ruleset, input)).toMatchObject({
      error: 'the input is of ipv6, the rules are of ipv4',
    });
  });
});

describe('time grows with state and input and no faster', () => {
  const ruleOf = (i: number) => `-s 10.${i >> 16}.${(i >> 8) & 255}.${i & 255}/32 -j ACCEPT`;
  const numbers = Array.from({ length: 20_000 }, (_, i) => i);
  const large = ['*filter', ':AA - [0:0]', ...numbers.map((i) => `-A AA ${ruleOf(i)}`), 'COMMIT'];
  const many = Array.from({ length: 100_000 }, (_, i) => `C${i}`);
  const manyChains = [
    '*nat',
    ...many.map((name) => `:${name} - [0:0]`),
    ...many.slice(1).map((name, i) => `-A C${i} -j ${name}`),
    'COMMIT',
  ];
  const CASES: readonly (readonly [string, readonly string[], readonly string[], number])[] = [
    [
      '20,000 rules of one chain deleted from the end',
      large,
      numbers.map((i) => `-D AA ${ruleOf(19_999 - i)}`),
      0,
    ],
    ['20,000 rules put first', large, numbers.map((i) => `-I AA ${ruleOf(i)}`), 40_000],
    ['20,000 rules put in the middle', large, numbers.map((i) => `-I AA ${10_000 + i} ${ruleOf(i)}`), 40_000],
    [
      'rules put in and deleted by turns',
      large,
      numbers.flatMap((i) => [`-I AA ${i + 1} ${ruleOf(i)}`, `-D AA ${ruleOf(19_999 - i)}`]),
      20_000,
    ],
    [
      '100,000 chains emptied and deleted',
      manyChains,
      [...many.map((name) => `:${name} - [0:0]`), ...many.map((name) => `-X ${name}`)],
      0,
    ],
    ['a path of 100,000 jumps', manyChains, ['-A OUTPUT -j C0'], 100_000],
  ];
  test.each(CASES)('%s', (_name, stateLines, commands, rulesLeft) => {
    const state = parseIptablesSave(stateLines.join('\n')).ruleset;
    const name = state.tables[0]?.name ?? '';
    const input = parseIptablesSave([`*${name}`, ...commands, 'COMMIT'].join('\n'), { keepOrder: true });
    const before = process.cpuUsage();
    const applied = applyRestore(state, input);
    const { user, system } = process.cpuUsage(before);
    if (!('ruleset' in applied)) throw new Error(`${applied.error} ${applied.line}`);
    const rules = applied.ruleset.tables[0]?.chains.reduce((sum, chain) => sum + chain.rules.length, 0);
    expect(rules).toBe(rulesLeft);
    expect((user + system) / 1e6).toBeLessThan(3);
  });
});
