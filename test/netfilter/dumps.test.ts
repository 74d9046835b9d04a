/**
 * Dumps of real nodes. Nothing is lost: whatever is printed is read back as the same, and every word of every
 * rule is still there.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseIptablesSave, splitDumps } from '../../src/netfilter/index.ts';
import { savedText } from './support/rules.ts';
import { sharedFiles } from './support/shared.ts';

const dumps = sharedFiles('field/dumps').map(({ name, path }) => ({
  name,
  text: readFileSync(path, 'utf8'),
}));
const isSave = (name: string) => /save/.test(name);
const saves = dumps.filter(({ name }) => isSave(name));

function dumpNumber(number: string): string {
  return dumps.find(({ name }) => name.startsWith(`${number}-`))?.text ?? '';
}

describe.skipIf(dumps.length === 0)('a dump of a real node', () => {
  test.each(saves)('is read back as the same after printing: $name', ({ text }) => {
    const once = parseIptablesSave(text).ruleset;
    const canonical = parseIptablesSave(savedText(once), { family: once.family }).ruleset;
    expect(savedText(canonical)).toBe(savedText(once));
    expect(parseIptablesSave(savedText(canonical), { family: once.family }).ruleset).toEqual(canonical);
  });

  test.each(saves)('keeps the number of its rules and chains: $name', ({ text }) => {
    const lines = text.split('\n').map((line) => line.replace(/^>/, ''));
    const { ruleset } = parseIptablesSave(text);
    const chains = ruleset.tables.flatMap((table) => table.chains);
    const rules = chains.flatMap((chain) => chain.rules);
    expect(rules).toHaveLength(lines.filter((line) => /^(?:\[\d+:\d+\] )?-A /.test(line)).length);
    const declared = chains.filter((chain) => chain.declared !== false);
    expect(declared).toHaveLength(lines.filter((line) => line.startsWith(':')).length);
  });

  test.each(saves.filter(({ name }) => /^(?:01|03|05|07|10|16|17|24|33|43)-/.test(name)))(
    'of iptables 1.8, or without what has changed since, comes out line by line: $name',
    ({ text }) => {
      const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
      expect(savedText(parseIptablesSave(text).ruleset).trimEnd().split('\n')).toEqual(
        lines.map((line) => line.trimEnd()),
      );
    },
  );
});

describe.skipIf(dumps.length === 0)('what is odd about a dump is reported', () => {
  test.each([
    ['01', []],
    ['14', []],
    ['23', ['1 no-table-header']],
    ['33', ['94 legacy-tables-present']],
    ['36', ['26 no-commit']],
    ['38', ['1 quoted-lines', '19 no-commit']],
    ['40', ['1 no-table-header']],
  ])('%s', (number, expected) => {
    const { problems } = parseIptablesSave(dumpNumber(number));
    expect(problems.map(({ line, code }) => `${line} ${code}`)).toEqual(expected);
  });

  test('comments that people wrote behind rules, and chains that nobody declared', () => {
    const { problems } = parseIptablesSave(dumpNumber('34'));
    expect(problems.slice(0, 3).map(({ line, code, message }) => `${line} ${code} ${message}`)).toEqual([
      '19 trailing-comment a comment behind the rule was left out: # tunnel',
      '20 trailing-comment a comment behind the rule was left out: #may run twice',
      '45 undeclared-chain no line declares the chain PREROUTING',
    ]);
  });
});

describe.skipIf(dumps.length === 0)('what cannot be read is refused by name', () => {
  test.each([
    [
      '19',
      2,
      'this looks like the output of iptables -L without -v, which leaves out the interfaces of each rule',
    ],
    ['28', 1, 'this looks like the output of ipvsadm -Ln, not like the output of iptables-save'],
    ['30', 1, 'this looks like the output of ipvsadm -Ln, not like the output of iptables-save'],
  ])('%s', (number, line, message) => {
    const found = splitDumps(dumpNumber(number));
    expect(found).toHaveLength(1);
    expect(found[0]?.ruleset.tables).toEqual([]);
    expect(found[0]?.problems).toHaveLength(1);
    expect(found[0]?.problems[0]).toMatchObject({
      code: 'not-iptables-save',
      severity: 'error',
      line,
      message,
    });
    expect(found[0]?.problems[0]?.help).toContain('iptables-save');
  });
});

describe.skipIf(dumps.length === 0)('a listing that holds enough is read', () => {
  test.each([
    ['21', 'iptables -L', 20, 43],
    ['26', 'iptables -S', 22, 44],
  ])('%s', (number, format, chainCount, ruleCount) => {
    const found = splitDumps(dumpNumber(number));
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ format, family: 'ipv4', backend: undefined, line: 1 });
    expect(found[0]?.problems.map(({ severity, code }) => `${severity} ${code}`)).toEqual([
      'note assumed-table',
    ]);
    const chains = found[0]?.ruleset.tables.flatMap((table) => table.chains) ?? [];
    expect(found[0]?.ruleset.tables.map(({ name }) => name)).toEqual(['nat']);
    expect(chains).toHaveLength(chainCount);
    expect(chains.flatMap(({ rules }) => rules)).toHaveLength(ruleCount);
    expect(chains.flatMap(({ rules }) => rules).filter(({ unparsed }) => unparsed !== undefined)).toEqual([]);
  });

  test('and every save of the list is one dump, the same as the parser reads', () => {
    for (const { text } of saves) {
      const found = splitDumps(text);
      expect(found).toHaveLength(1);
      expect(found[0]?.ruleset).toEqual(parseIptablesSave(text).ruleset);
      expect(found[0]?.problems).toEqual(parseIptablesSave(text).problems);
    }
  });
});

describe.skipIf(dumps.length === 0)('comments that break parsers', () => {
  const files = new Map(
    sharedFiles('field/cases/R47-comments-that-break-parsers').map(({ name, path }) => [
      name,
      readFileSync(path, 'utf8'),
    ]),
  );

  test('quotes, options and number signs inside comments are text', () => {
    const text = files.get('tricky.save') ?? '';
    const { ruleset, problems } = parseIptablesSave(text);
    expect(problems).toEqual([]);
    expect(savedText(ruleset)).toBe(text);
    const rules = ruleset.tables.flatMap((table) => table.chains.flatMap((chain) => chain.rules));
    expect(rules).toHaveLength(7);
    expect(rules[0]?.target).toEqual({ kind: 'jump', chain: 'NOMAD-ADMIN', goto: false });
    const comments = rules.flatMap(({ matches }) =>
      matches.flatMap((match) => (match.kind === 'comment' ? [match.text] : [])),
    );
    expect(comments).toEqual([
      'x -A y -j DROP',
      'other traffic to shop/web will be dropped by KUBE-PROXY-FIREWALL',
      '',
      'don\'t -j "RETURN"',
    ]);
    expect(rules[3]?.target).toEqual({ kind: 'jump', chain: 'NOMAD-ADMIN', goto: true });
    expect(rules[1]?.target).toBeUndefined();
  });

  test('a line feed in a comment does not end the rule', () => {
    const text = files.get('newline.save') ?? '';
    const { ruleset, problems } = parseIptablesSave(text);
    expect(savedText(ruleset)).toBe(text);
    expect(problems.map(({ code, line }) => `${line} ${code}`)).toEqual(['7 line-feed-in-quotes']);
  });

  test('an unterminated quote is an error, and takes the line with it as in iptables-restore', () => {
    const { ruleset, problems } = parseIptablesSave(files.get('unterminated.restore') ?? '');
    expect(problems.map(({ code, severity, line }) => `${line} ${severity} ${code}`)).toEqual([
      '3 error unterminated-quote',
    ]);
    expect(ruleset.tables[0]?.chains[0]?.rules).toEqual([
      {
        source: { negated: false, address: '10.0.0.0', prefix: '8' },
        matches: [{ kind: 'comment', text: 'a b -j DROP\n' }],
      },
    ]);
  });
});
