import { describe, expect, test } from 'vitest';
import { keptWord, newWords, readWords, saveString, saveWord, wordText } from '../../src/netfilter/words.ts';

function split(text: string) {
  const words = newWords();
  const lineEnd = text.indexOf('\n');
  const end = readWords(text, 0, lineEnd < 0 ? text.length : lineEnd, words);
  const list = words.texts
    .slice(0, words.count)
    .map((word, i) => (words.quoted[i] ? { quoted: word } : word));
  return { list, end, unterminated: words.unterminated };
}

describe('words are split as iptables-restore splits them', () => {
  test.each([
    ['-A X  -j\tDROP ', ['-A', 'X', '-j', 'DROP']],
    ['"a b" c', [{ quoted: 'a b' }, 'c']],
    ['"-j"', [{ quoted: '-j' }]],
    ['""', [{ quoted: '' }]],
    ['"a\\"b\\\\c\\\'d"', [{ quoted: 'a"b\\c\'d' }]],
    ['"a\\nb"', [{ quoted: 'anb' }]],
    ['a\\b', ['a\\b']],
    ["it's", ["it's"]],
    ['a"b c"', [{ quoted: 'ab c' }]],
    ['"a"b', [{ quoted: 'a' }, 'b']],
    ['a"b c"d', [{ quoted: 'ab c' }, 'd']],
    ['', []],
  ])('%j', (text, list) => {
    expect(split(text).list).toEqual(list);
  });
});

describe('a quoted text may run over the end of its line', () => {
  test.each([
    ['-m "a\nb" -j X\n-A Y', ['-m', { quoted: 'a\nb' }, '-j', 'X'], 13],
    ['"a\n\n"\n', [{ quoted: 'a\n\n' }], 5],
    ['"a\n-A INPUT -j DROP" -j X', [{ quoted: 'a\n-A INPUT -j DROP' }, '-j', 'X'], 25],
    ['"a\r\nb" -j X\r\nc', [{ quoted: 'a\r\nb' }, '-j', 'X'], 12],
  ])('%j', (text, list, end) => {
    expect(split(text)).toEqual({ list, end, unterminated: false });
  });

  test.each([
    ['"a b\nCOMMIT\n', 'a b\n', 4],
    ['"a b\n-A X --comment "c d" -j Y\n', 'a b\n', 4],
    ['"a b\n-A X --comment " c" -j Y\n', 'a b\n', 4],
    ['"a b', 'a b', 4],
    [`"a b\n${'x'.repeat(5000)}"`, 'a b\n', 4],
  ])('but a quote that was only forgotten ends with the line: %j', (text, word, end) => {
    expect(split(text)).toEqual({ list: [{ quoted: word }], end, unterminated: true });
  });
});

test.each([
  ['abc-_9', 'abc-_9'],
  ['', '""'],
  ['a b', '"a b"'],
  ['a/b', '"a/b"'],
  ['don\'t "\\"', '"don\\\'t \\"\\\\\\""'],
  ['ü', '"ü"'],
])('iptables-save prints the text %j as %s', (text, printed) => {
  expect(saveString(text)).toBe(printed);
});

test.each([
  ['10.0.0.1/32', '10.0.0.1/32'],
  ['', '""'],
  ['a b', '"a b"'],
  ['a"b', '"a\\"b"'],
  ['a\nb', '"a\nb"'],
])('a name %j is printed as %s', (text, printed) => {
  expect(saveWord(text)).toBe(printed);
});

test.each([
  ['ABC', true, 'ABC'],
  ['A/B', true, '"A/B"'],
  ['A/B', false, 'A/B'],
  ['-j', true, '"-j"'],
  ['', true, '""'],
  ['!', true, '"!"'],
])('of an unknown option the word %j (in quotes: %s) is kept as %s', (text, quoted, kept) => {
  expect(keptWord(text, quoted)).toBe(kept);
  expect(wordText(kept)).toBe(text);
});
