import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ChangedChain } from '../../src/diff/index.ts';
import { unifiedReport } from '../../src/report/index.ts';
import { lineEdits } from '../../src/report/line-edits.ts';
import { COLORS, NO_COLORS } from './comparisons.ts';

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `rule ${from + index}`);

const unified = (chain: Partial<ChangedChain>, context = 3, colors = NO_COLORS) =>
  [
    ...unifiedReport([{ family: 'ipv4', table: 'nat', chain: 'X', expected: [], actual: [], ...chain }], {
      context,
      colors,
    }),
  ].join('');

describe('the unified report', () => {
  test('shows a chain as diff -u does', () => {
    expect(
      unified({ expected: numbered(1, 9), actual: [...numbered(1, 4), 'new', ...numbered(6, 9)] }),
    ).toBe(`\
--- expected (IPv4)
+++ actual (IPv4)
@@ -2,7 +2,7 @@ nat/X
 -A X rule 2
 -A X rule 3
 -A X rule 4
--A X rule 5
+-A X new
 -A X rule 6
 -A X rule 7
 -A X rule 8
`);
  });

  test('a chain of one side alone starts behind line 0 of the other', () => {
    expect(unified({ expected: numbered(1, 2) }).split('\n')[2]).toBe('@@ -1,2 +0,0 @@ nat/X');
    expect(unified({ actual: numbered(1, 2) }).split('\n')[2]).toBe('@@ -0,0 +1,2 @@ nat/X');
  });

  test('an empty chain of one side alone shows its declaration', () => {
    const lines = (emptyOn: 'expected' | 'actual') => unified({ emptyOn }).split('\n').slice(2);
    expect(lines('expected')).toEqual(['@@ -0,0 +0,0 @@ nat/X', '-:X - [0:0]', '']);
    expect(lines('actual')).toEqual(['@@ -0,0 +0,0 @@ nat/X', '+:X - [0:0]', '']);
  });

  test('-U 0 shows the changes alone, each a hunk of its own', () => {
    const actual = numbered(1, 9).filter((_, index) => index !== 2 && index !== 6);
    expect(
      unified({ expected: numbered(1, 9), actual }, 0)
        .split('\n')
        .slice(2),
    ).toEqual(['@@ -3,1 +2,0 @@ nat/X', '--A X rule 3', '@@ -7,1 +5,0 @@ nat/X', '--A X rule 7', '']);
  });

  test('changes whose context touches are one hunk', () => {
    const without = (...lines: number[]) => numbered(1, 20).filter((_, index) => !lines.includes(index + 1));
    const hunks = (actual: string[]) => unified({ expected: numbered(1, 20), actual }).match(/^@@ .*$/gm);
    expect(hunks(without(5, 12))).toEqual(['@@ -2,14 +2,12 @@ nat/X']);
    expect(hunks(without(5, 13))).toEqual(['@@ -2,7 +2,6 @@ nat/X', '@@ -10,7 +9,6 @@ nat/X']);
  });

  test('each family has its own head; no chain, no text', () => {
    const chain = { table: 'filter', chain: 'Y', expected: ['-j DROP'], actual: [] };
    const chains = [
      { family: 'ipv6' as const, ...chain },
      { family: 'ipv4' as const, ...chain, chain: 'Z' },
    ];
    const text = [...unifiedReport(chains, { context: 3, colors: NO_COLORS })].join('');
    expect(text).toBe(`\
--- expected (IPv4)
+++ actual (IPv4)
@@ -1,1 +0,0 @@ filter/Z
--A Z -j DROP
--- expected (IPv6)
+++ actual (IPv6)
@@ -1,1 +0,0 @@ filter/Y
--A Y -j DROP
`);
    expect([...unifiedReport([], { context: 3, colors: NO_COLORS })]).toEqual([]);
  });

  test('colours and escapes what it prints', () => {
    const text = unified({ expected: ['a\x1b[2J'], actual: ['b\nc'] }, 3, COLORS);
    expect(text).toContain(COLORS.red('--A X a\\x1b[2J'));
    expect(text).toContain(COLORS.green('+-A X b\\x0ac'));
    expect(text).toContain(COLORS.cyan('@@ -1,1 +1,1 @@'));
  });
});

describe('edits of lines', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'), { maxLength: 14 });
  const side = (edits: ReturnType<typeof lineEdits>, other: '-' | '+') =>
    edits.filter(({ sign }) => sign !== other).map(({ line }) => line);

  test('lead from the one text to the other, few edits or many', () => {
    fc.assert(
      fc.property(lines, lines, fc.constantFrom(0, 1, 1000), (before, after, maxEdits) => {
        const edits = lineEdits(before, after, maxEdits);
        expect(side(edits, '+')).toEqual(before);
        expect(side(edits, '-')).toEqual(after);
      }),
    );
  });

  test('beyond the limit lines that are there once still hold both together', () => {
    const before = Array.from({ length: 20_000 }, (_, index) => `rule ${index}`);
    const after = before.map((line, index) => (index % 10 === 0 ? `${line} changed` : line));
    const started = Date.now();
    const changed = lineEdits(before, after).filter(({ sign }) => sign !== ' ');
    expect(changed).toHaveLength(4000);
    expect(Date.now() - started).toBeLessThan(30_000);
  });
});
