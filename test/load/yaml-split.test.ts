import fc from 'fast-check';
import { dump } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { splitDocuments, splitItems } from '../../src/load/yaml-split.ts';
import { load } from './load-support.ts';

/** Strings that a careless splitter would trip over. */
const hostile = fc.constantFrom(
  '---',
  '...',
  '\n---\n',
  '- a\n- b\n',
  'items:\n- x\n',
  '# c\n---\nkind: X\n',
  '-----BEGIN X-----\nabc\n-----END X-----\n',
  'yes',
  '1e3',
  '0x10',
  ' a\n\tb\n',
  '{{ x }}',
  'long '.repeat(40),
  '\r\n...\r\n',
);
const text = fc.oneof(hostile, fc.string());
const value = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    text,
    fc.integer(),
    fc.double({ noNaN: true }).filter((number) => !Object.is(number, -0)),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(text, tie('any'), { maxKeys: 4, noNullPrototype: true }),
  ),
})).any;
const object = value.map((spec) => ({ apiVersion: 'v1', kind: 'X', spec }));
const style = fc.record({
  indent: fc.integer({ min: 1, max: 4 }),
  seqNoIndent: fc.boolean(),
  seqInlineFirst: fc.boolean(),
  flowLevel: fc.constantFrom(-1, 2, 3),
  quoteStyle: fc.constantFrom('single' as const, 'double' as const),
});

describe('what js-yaml writes', () => {
  test('comes back the same as documents, one by one', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(object, { minLength: 1, maxLength: 4 }), style, async (objects, options) => {
        const stream = objects.map((item) => dump(item, options)).join('---\n');
        const loaded = await load('.', ['-'], { text: stream });
        expect(loaded.messages).toEqual([]);
        expect(loaded.objects.map((item) => item.value)).toEqual(objects);
      }),
      { numRuns: 500 },
    );
  });

  test('comes back the same as items of a List, read one by one', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(object, { minLength: 1, maxLength: 4 }),
        style,
        value,
        async (items, options, other) => {
          const list = { apiVersion: 'v1', items, kind: 'List', metadata: other };
          const stream = dump(list, { ...options, noRefs: true });
          const bytes = Buffer.from(stream);
          if (options.flowLevel === -1) {
            expect(splitItems(bytes, { start: 0, end: bytes.length })?.items.length).toBe(items.length);
          }
          const loaded = await load('.', ['-'], { text: stream });
          expect(loaded.messages).toEqual([]);
          expect(loaded.objects.map((item) => item.value)).toEqual(items);
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('the documents of any bytes', () => {
  test('follow one another and leave nothing out', () => {
    const line = fc.constantFrom(
      '---',
      '...',
      '--- x',
      '---x',
      '----',
      '%YAML 1.2',
      '# c',
      'a: b',
      '',
      '\ufeff---',
      ' ---',
      '\r',
      '-',
      '--',
    );
    fc.assert(
      fc.property(fc.array(line), fc.constantFrom('\n', '\r\n', '\r'), (lines, ending) => {
        const bytes = Buffer.from(lines.join(ending));
        let at = 0;
        for (const range of splitDocuments(bytes, 0)) {
          expect(range.start).toBe(at);
          expect(range.end).toBeGreaterThan(range.start);
          at = range.end;
        }
        expect(at).toBe(bytes.length);
      }),
      { numRuns: 2000 },
    );
  });
});
