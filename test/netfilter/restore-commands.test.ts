/** Restore input of patches: what is printed means what was asked for, and what cannot be said is refused. */
import { describe, expect, test } from 'vitest';
import type { RestoreStatement, Rule } from '../../src/netfilter/index.ts';
import { isWritable, printCommands } from '../../src/netfilter/index.ts';
import { parseRuleText } from './support/rules.ts';

function printed(declare: readonly string[], statements: readonly RestoreStatement[]): string {
  return [...printCommands([{ name: 'nat', declare, statements }], 'ipv4')].join('');
}

const rule = parseRuleText('-d 10.96.0.1 -p tcp --dport 443 -m comment --comment "a b" -j KUBE-SVC-A');

test('chain lines first, then the commands in their order, in the spelling of iptables-save', () => {
  const text = printed(
    ['KUBE-SVC-A'],
    [
      { kind: 'append', chain: 'KUBE-SERVICES', rule },
      { kind: 'insert', chain: 'OUTPUT', at: 1, rule: { matches: [], target: { kind: 'RETURN' } } },
      { kind: 'delete', chain: 'KUBE-SERVICES', rule: { ...rule, counters: { packets: 1n, bytes: 2n } } },
      { kind: 'append', chain: 'KUBE-SVC-A', rule: { matches: [] } },
      { kind: 'delete-chain', chain: 'KUBE-SVC-B' },
    ],
  );
  const options = '-d 10.96.0.1/32 -p tcp -m tcp --dport 443 -m comment --comment "a b" -j KUBE-SVC-A';
  expect(text.split('\n')).toEqual([
    '*nat',
    ':KUBE-SVC-A - [0:0]',
    `-A KUBE-SERVICES ${options}`,
    '-I OUTPUT 1 -j RETURN',
    `-D KUBE-SERVICES ${options}`,
    '-A KUBE-SVC-A',
    '-X KUBE-SVC-B',
    'COMMIT',
    '',
  ]);
});

test('a table without commands is left out', () => {
  expect(printed([], [])).toBe('');
});

describe('what iptables-restore would read as something else is refused', () => {
  const comment = (text: string): Rule => ({ matches: [{ kind: 'comment', text }] });
  test.each<[string, Rule, boolean]>([
    ['quotes and backslashes', comment('a "b" \\ \'c\''), true],
    ['a tab', comment('a\tb'), true],
    ['a long comment', comment('x'.repeat(255)), true],
    ['a longer one', comment('x'.repeat(256)), false],
    ['a line feed', comment('a\nb'), false],
    ['a carriage return', comment('a\rb'), false],
    ['a NUL', comment('a\u0000b'), false],
    ['words that iptables refuses', { matches: [], unparsed: ['-s', 'x', 'y'] }, false],
    ['a chain with blanks', { matches: [], target: { kind: 'jump', chain: 'A B', goto: false } }, false],
    [
      'two destinations',
      {
        matches: [],
        target: {
          kind: 'DNAT',
          destinations: ['10.0.0.1:80', '0.0.0.0:0'],
          random: false,
          persistent: false,
        },
      },
      false,
    ],
  ])('%s', (_name, given, isFine) => {
    expect(isWritable(given, 'ipv4')).toBe(isFine);
    const print = () => printed([], [{ kind: 'append', chain: 'A', rule: given }]);
    if (isFine) expect(print()).toMatch(/^\*nat\n-A A .*\nCOMMIT\n$/);
    else expect(print).toThrow(/cannot be written/);
  });

  test.each(['', 'A B', '-A', '!A', '#A', 'A"', 'A\nB', 'x'.repeat(29)])('the chain %j', (chain) => {
    expect(() => printed([chain], [])).toThrow(/no name for a chain/);
    expect(() => printed([], [{ kind: 'delete-chain', chain }])).toThrow(/no name for a chain/);
  });

  test('a table of no name', () => {
    expect(() => [
      ...printCommands([{ name: 'nat\n*filter', declare: ['A'], statements: [] }], 'ipv4'),
    ]).toThrow(/no table/);
  });
});
