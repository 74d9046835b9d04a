/** Laws: what is printed is read back as the same, in both spellings; and no text whatever makes the parser throw. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalRule, parseIptablesSave, printRestore } from '../../src/netfilter/index.ts';
import { rulesets } from './support/arbitraries.ts';
import { savedText } from './support/rules.ts';

describe('what is printed is read back as the same ruleset', () => {
  test('as iptables-save prints it', () => {
    fc.assert(
      fc.property(rulesets('save'), (ruleset) => {
        const { ruleset: again, problems } = parseIptablesSave(savedText(ruleset), {
          family: ruleset.family,
        });
        expect(again).toEqual(ruleset);
        expect(problems.filter(({ code }) => code !== 'line-feed-in-quotes')).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });

  test('as kube-proxy writes it', () => {
    fc.assert(
      fc.property(rulesets('restore'), (ruleset) => {
        const text = [...printRestore(ruleset)].join('');
        const { ruleset: again, problems } = parseIptablesSave(text, { family: ruleset.family });
        expect(again).toEqual(ruleset);
        expect(problems).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });

  test('and both spellings mean the same rule', () => {
    fc.assert(
      fc.property(rulesets('restore'), (ruleset) => {
        const { family } = ruleset;
        const saved = parseIptablesSave(savedText(ruleset), { family }).ruleset;
        const written = parseIptablesSave([...printRestore(ruleset)].join(''), { family }).ruleset;
        expect(savedText(saved)).toBe(savedText(written));
      }),
      { numRuns: 500 },
    );
  });
});

describe('no text makes the parser throw, and what it made of it survives printing', () => {
  const pieces = fc.constantFrom(
    ...[
      '*nat',
      ':A - [0:0]',
      'COMMIT',
      '-A',
      'A',
      '-j',
      '-m',
      'comment',
      '--comment',
      '"',
      '\\',
      "'",
      '!',
      '-s',
      '-p',
    ],
    ...[
      'tcp',
      '--dport',
      '80',
      '\n',
      '\r\n',
      ' ',
      '#',
      '>',
      '[1:2]',
      '-X',
      '--set-xmark',
      '10.0.0.0/8',
      '\u0000',
      'ü',
    ],
    ...[
      '-A A ',
      '\n-A A -m ',
      'DNAT',
      'recent',
      '--name',
      'mark',
      '--mark',
      '-g',
      '-f',
      '-c',
      '__proto__',
      '"a b"',
    ],
  );
  const texts = fc.oneof(
    fc.string(),
    fc.array(pieces, { maxLength: 60 }).map((list) => list.join(' ')),
    fc.array(pieces, { maxLength: 60 }).map((list) => list.join('')),
  );

  test('anything', () => {
    fc.assert(
      fc.property(texts, fc.boolean(), (text, keepOrder) => {
        const { ruleset } = parseIptablesSave(text, { keepOrder });
        const printed = savedText(ruleset);
        expect(savedText(parseIptablesSave(printed, { family: ruleset.family }).ruleset)).toBe(printed);
      }),
      { numRuns: 3000 },
    );
  });

  test('words behind -A, in any disorder', () => {
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 30 }), (list) => {
        const text = `*nat\n:A - [0:0]\n-A A ${list.filter((piece) => !/[\r\n]/.test(piece)).join(' ')}\nCOMMIT\n`;
        const [rule] = parseIptablesSave(text).ruleset.tables[0]?.chains[0]?.rules ?? [];
        if (rule === undefined) return;
        const once = canonicalRule(rule, 'ipv4');
        const [again] = parseIptablesSave(`*nat\n-A A ${once}\n`).ruleset.tables[0]?.chains[0]?.rules ?? [];
        expect(again && canonicalRule(again, 'ipv4')).toBe(once);
      }),
      { numRuns: 3000 },
    );
  });
});

describe('time grows with the text and no faster', () => {
  const seconds = (text: string) => {
    const before = process.cpuUsage();
    parseIptablesSave(text);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1e6;
  };

  test.each([
    ['a million matches in one line', `*nat\n-A A ${'-m x --y '.repeat(300_000)}\nCOMMIT\n`],
    [
      'a million known matches in one line',
      `*nat\n-A A ${'-m mark --mark 1 --z '.repeat(150_000)}\nCOMMIT\n`,
    ],
    ['one option again and again', `*nat\n-A A -m mark ${'--mark 1 '.repeat(300_000)}\nCOMMIT\n`],
    ['targets upon targets', `*nat\n-A A ${'-j B --c '.repeat(300_000)}\nCOMMIT\n`],
    ['quotes that never end', `*nat\n${'-A A -m comment --comment "x\n'.repeat(100_000)}COMMIT\n`],
    ['escaped quotes that never end', `*nat\n${'-A A "\\"\\"\\"\n'.repeat(50_000)}COMMIT\n`],
    ['one long quoted text', `*nat\n-A A -m comment --comment "${'\\"'.repeat(2_000_000)}"\nCOMMIT\n`],
    ['lines of nothing', `*nat\n${'>   \n'.repeat(500_000)}COMMIT\n`],
    ['one line of blanks', ' '.repeat(5_000_000)],
    ['a long line that is nothing', `*nat\n${'x'.repeat(5_000_000)}\nCOMMIT\n`],
    ['a long chain line', `*nat\n:${'x '.repeat(1_000_000)}\nCOMMIT\n`],
  ])('%s', (_name, text) => {
    expect(seconds(text)).toBeLessThan(3);
  });
});
