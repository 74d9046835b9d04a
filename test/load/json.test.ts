import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findJsonProblem } from '../../src/load/json-check.ts';
import { JsonScanner } from '../../src/load/json-scan.ts';
import { loadText, serviceJson } from './load-support.ts';

/** JSON text of `value` with white space from `spaces` wherever it may stand. */
function renderLoosely(value: unknown, spaces: () => string): string {
  const s = spaces;
  if (Array.isArray(value)) {
    return `[${s()}${value.map((item) => renderLoosely(item, s)).join(`${s()},${s()}`)}${s()}]`;
  }
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(
      ([key, item]) => `${quote(key)}${s()}:${s()}${renderLoosely(item, s)}`,
    );
    return `{${s()}${members.join(`${s()},${s()}`)}${s()}}`;
  }
  return typeof value === 'string' ? quote(value) : JSON.stringify(value);
}

/** A JSON string, some of its characters escaped that need not be. */
function quote(text: string): string {
  const escaped = JSON.stringify(text)
    .slice(1, -1)
    .replaceAll('/', '\\/')
    .replace(/\\u[0-9a-f]{4}|\\.|e/g, (found) => (found === 'e' ? '\\u0065' : found));
  return `"${escaped}"`;
}

const spaces = fc.array(fc.constantFrom('', ' ', '\n', '\t', '\r\n  '), { minLength: 1, maxLength: 20 });
const items = fc.array(fc.jsonValue({ stringUnit: 'binary' }), { maxLength: 8 });
const hostileKey = fc.constantFrom(
  'items',
  '__proto__',
  'kind',
  '}',
  ']',
  '"',
  '\\',
  'a,b',
  '{"items":[',
  'é€😀',
);

function cyclic(list: readonly string[]): () => string {
  let next = 0;
  return () => list[next++ % list.length] ?? '';
}

describe('the scan for the items of a List', () => {
  test('gives the slices that JSON.parse sees, whatever they hold and whatever stands around them', () => {
    const others = fc.dictionary(
      fc.oneof(
        fc.string(),
        hostileKey.filter((key) => key !== 'items'),
      ),
      fc.jsonValue(),
      {
        maxKeys: 4,
        noNullPrototype: true,
      },
    );
    fc.assert(
      fc.property(items, others, others, spaces, (list, before, after, blanks) => {
        const value: [string, unknown][] = [
          ...Object.entries(before).filter(([key]) => key !== 'items'),
          ['items', list],
          ...Object.entries(after).filter(([key]) => key !== 'items' && !Object.hasOwn(before, key)),
        ];
        const blank = cyclic(blanks);
        const members = value.map(([key, item]) => {
          const name = key === 'items' ? '"items"' : quote(key);
          return `${name}${blank()}:${blank()}${renderLoosely(item, blank)}`;
        });
        const text = `${blank()}{${blank()}${members.join(`${blank()},${blank()}`)}${blank()}}${blank()}`;
        const bytes = Buffer.from(text);
        const scanner = new JsonScanner(bytes, 0, bytes.length, 500);
        const scanned = scanner.next();
        expect(scanner.next()).toBeUndefined();
        const parsed: { items: unknown } = JSON.parse(text);
        const slices = scanned?.items?.map(({ start, end }): unknown =>
          JSON.parse(bytes.toString('utf8', start, end)),
        );
        expect(slices).toEqual(parsed.items);
        expect(bytes.toString('utf8', scanned?.start, scanned?.end)).toBe(text.trim());
      }),
      { numRuns: 2000 },
    );
  });

  test('finds each of several values, with or without white space between them', () => {
    const container = fc.oneof(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.array(fc.jsonValue()),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(container, { maxLength: 5 }), spaces, (values, blanks) => {
        const blank = cyclic(blanks);
        const bytes = Buffer.from(values.map((value) => renderLoosely(value, blank)).join(blank()));
        const scanner = new JsonScanner(bytes, 0, bytes.length, 500);
        const found: unknown[] = [];
        for (let next = scanner.next(); next !== undefined; next = scanner.next()) {
          found.push(JSON.parse(bytes.toString('utf8', next.start, next.end)));
        }
        expect(JSON.stringify(found)).toBe(JSON.stringify(values));
      }),
    );
  });
});

describe('the strict check', () => {
  test('agrees with JSON.parse on valid text, and on text with one byte changed', () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        spaces,
        fc.nat(),
        fc.constantFrom(...'{}[]",:\\0-.eE tx\n'),
        (value, blanks, at, with_) => {
          const valid = renderLoosely(value, cyclic(blanks));
          const place = at % (valid.length + 1);
          for (const text of [
            valid,
            valid.slice(0, place) + with_ + valid.slice(place + 1),
            valid.slice(0, place),
          ]) {
            const bytes = Buffer.from(text);
            const problem = findJsonProblem(bytes, 0, bytes.length);
            let parses = true;
            try {
              JSON.parse(text);
            } catch {
              parses = false;
            }
            // A key that is there twice is no error to JSON.parse, and may come before one.
            if (problem?.code === 'duplicate-key') continue;
            expect([text, problem === undefined]).toEqual([text, parses]);
          }
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe('broken JSON', () => {
  const cases: [string, string, string[]][] = [
    [
      'a comma too many',
      '{\n  "a": 1,\n}',
      [
        `a.json:3:1: error: expected a key in double quotes, found '}'; this value and what follows it were not read`,
      ],
    ],
    [
      'a missing comma',
      '{\n  "kind": "A"\n  "b": 1}',
      [`a.json:3:3: error: expected ',' or '}', found '"'; this value and what follows it were not read`],
    ],
    [
      'a comma missing deep inside',
      '{"a": {"b": 1 "c": 2}}',
      [`a.json:1:15: error: expected ',' or '}', found '"'`],
    ],
    [
      'single quotes',
      `{'a': 1}`,
      [
        `a.json:1:2: error: expected a key in double quotes, found '''; this value and what follows it were not read`,
      ],
    ],
    ['a word', '{"a": nil}', [`a.json:1:7: error: expected a value, found 'n'`]],
    ['a number with a leading zero', '{"a": 01}', [`a.json:1:7: error: expected a value, found '0'`]],
    [
      'a text cut off',
      '{"a": [1, 2',
      [
        "a.json:1:12: error: expected ',' or ']', found the end of the text; this value and what follows it were not read",
      ],
    ],
    [
      'a string cut off',
      '{"a": "x',
      [
        'a.json:1:7: error: a string that starts here does not end; this value and what follows it were not read',
      ],
    ],
    [
      'a line feed in a string',
      '{"a": "x\ny"}',
      ['a.json:1:9: error: the character \\x0a must be escaped in a string'],
    ],
    [
      'an unknown escape',
      '{"a": "\\x"}',
      [`a.json:1:9: error: expected one of "\\/bfnrtu behind '\\', found 'x'`],
    ],
    [
      'brackets that cross',
      '{"a": [1}',
      [`a.json:1:9: error: expected ',' or ']', found '}'; this value and what follows it were not read`],
    ],
    [
      'a comment',
      '// no\n{}',
      [
        'a.json:1:1: error: the string "// no {}" is no Kubernetes object; expected a mapping with apiVersion and kind',
      ],
    ],
    [
      'a key that is there twice',
      '{"kind": "A",\n "apiVersion": "v1",\n "k\\u0069nd": "B"}',
      ['a.json:3:2: error: the key "kind" stands twice in one object'],
    ],
    [
      'a key that is there twice inside',
      '{"kind": "A", "spec": {"a": 1, "b": 2, "a": 3}}',
      ['a.json:1:40: error: the key "a" stands twice in one object'],
    ],
  ];
  test.each(cases)('is an error with its place: %s', async (_, text, messages) => {
    const loaded = await loadText('a.json', text);
    expect(loaded.messages).toEqual(messages);
    expect(loaded.objects).toEqual([]);
  });

  test('behind a whole value does not take that back', async () => {
    const loaded = await loadText('a.json', `${serviceJson('a')}\n{"apiVersion": `);
    expect(loaded.names).toEqual(['Service shop/a']);
    expect(loaded.messages).toEqual([
      'a.json:2:16: error: expected a value, found the end of the text; this value and what follows it were not read',
    ]);
  });
});

describe('a text that starts like JSON', () => {
  test('may be YAML in flow style where the file is not named .json', async () => {
    const texts = [
      '{apiVersion: v1, kind: A}',
      '{"apiVersion": "v1", "kind": A}',
      '{"apiVersion": "v1", "kind": "A", "n": [1, 2,]}',
      `{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "A"}]} # it's`,
    ];
    for (const text of texts) {
      const loaded = await loadText('a.yaml', text);
      expect([text, loaded.names, loaded.messages]).toEqual([text, ['A ?'], []]);
    }
  });

  test('hands on no item twice when a later one turns out to be YAML', async () => {
    const text = `{"apiVersion": "v1", "kind": "List", "items": [${serviceJson('a')}, {"apiVersion": "v1", "kind": b}]}`;
    const loaded = await loadText('a.yaml', text);
    expect(loaded.names).toEqual(['Service shop/a', 'b ?']);
    expect(loaded.messages).toEqual([]);
  });

  test('may be an array, which is refused with what to do', async () => {
    const { messages } = await loadText('a.json', `[${serviceJson('a')}]`);
    expect(messages).toEqual([
      "a.json:1:1: error: a sequence is no Kubernetes object; expected a mapping with apiVersion and kind\n  help: pass the List itself, or its items one after another (jq '.items[]')",
    ]);
  });
});
