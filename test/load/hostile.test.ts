import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Diagnostic } from '../../src/diagnostics.ts';
import { loadObjects } from '../../src/load/index.ts';
import { load, loadText, serviceJson, serviceYaml, withFiles } from './load-support.ts';

const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${[...'bcdefghij']
  .map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghij'[index]}`).join(',')}]\n`)
  .join('')}`;

describe('hostile input gets an error, soon:', () => {
  const cases: [string, string, string | Uint8Array, string[]][] = [
    [
      'an alias bomb',
      'a.yaml',
      bomb,
      [
        'a.yaml:7:11: error: aliases make more than 1000000 values out of this document\n  help: raise --max-yaml-nodes, if that is no alias bomb',
      ],
    ],
    [
      'aliases of which none makes too much by itself',
      'a.yaml',
      `a: &a [${'x,'.repeat(900)}]\nb: &b [${'*a,'.repeat(900)}]\nc:\n${'- [*b]\n'.repeat(9)}`,
      [
        'a.yaml:5:4: error: aliases make more than 1000000 values out of this document\n  help: raise --max-yaml-nodes, if that is no alias bomb',
      ],
    ],
    [
      'a merge bomb',
      'a.yaml',
      `x: &x {${Array.from({ length: 100 }, (_, i) => `k${i}: 1`).join(',')}}\n${Array.from({ length: 10_000 }, (_, i) => `a${i}:\n  <<: *x\n`).join('')}`,
      [
        'a.yaml:9803:7: error: aliases make more than 1000000 values out of this document\n  help: raise --max-yaml-nodes, if that is no alias bomb',
      ],
    ],
    [
      '10,000 brackets',
      'a.yaml',
      `a: ${'['.repeat(10_000)}`,
      [
        'a.yaml:1:503: error: nested deeper than 500 levels\n  help: raise --max-depth, if there is reason to',
      ],
    ],
    [
      '10,000 dashes',
      'a.yaml',
      `${'- '.repeat(10_000)}a`,
      [
        'a.yaml:1:1001: error: nested deeper than 500 levels\n  help: raise --max-depth, if there is reason to',
      ],
    ],
    [
      '1,000 levels of block mappings',
      'a.yaml',
      Array.from({ length: 1000 }, (_, i) => `${' '.repeat(i)}a:\n`).join(''),
      [
        'a.yaml:500:500: error: nested deeper than 500 levels\n  help: raise --max-depth, if there is reason to',
      ],
    ],
    [
      '10,000 objects in JSON',
      'a.json',
      `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`,
      [
        'a.json:1:2501: error: nested deeper than 500 levels; this value and what follows it were not read\n  help: raise --max-depth, if there is reason to',
      ],
    ],
    [
      '10,000 arrays in JSON, not named so',
      'a.txt',
      '['.repeat(10_000),
      [
        'a.txt:1:501: error: nested deeper than 500 levels; this value and what follows it were not read\n  help: raise --max-depth, if there is reason to',
      ],
    ],
    [
      'bytes that are no text',
      'a.yaml',
      Buffer.from('a: b\0c\n'),
      ['a.yaml: error: is not text: byte 5 is NUL'],
    ],
    [
      'bytes that are no UTF-8',
      'a.yaml',
      Buffer.from('é: b\nc: d\xff\n', 'latin1'),
      [
        'a.yaml:1:1: error: byte 1 (\\xe9) is not valid UTF-8\n  help: save the file as UTF-8; UTF-16 is accepted too if it starts with a byte order mark',
      ],
    ],
    [
      'a sequence of bytes cut off',
      'a.json',
      Buffer.concat([Buffer.from('{"a":\n"é'), Buffer.from([0xe2, 0x82]), Buffer.from('"}')]),
      [
        'a.json:2:3: error: byte 10 (\\xe2) is not valid UTF-8\n  help: save the file as UTF-8; UTF-16 is accepted too if it starts with a byte order mark',
      ],
    ],
    [
      'half a UTF-16 file',
      'a.yaml',
      Buffer.from([0xff, 0xfe, 0x61]),
      ['a.yaml: error: is UTF-16 with an odd number of bytes; it seems cut off'],
    ],
    [
      'half a UTF-16 pair',
      'a.yaml',
      Buffer.from([0xff, 0xfe, 0x61, 0, 0, 0xd8]),
      ['a.yaml: error: byte 5 starts half of a UTF-16 pair'],
    ],
    [
      'a gzip file that is cut off',
      'a.yaml',
      Buffer.from([0x1f, 0x8b, 8]),
      ['a.yaml: error: cannot be unpacked: unexpected end of file\n  help: it may be cut off: gzip -t FILE'],
    ],
    [
      'five million letters',
      'a.yaml',
      'x'.repeat(5_000_000),
      [
        `a.yaml:1:1: error: the string "${'x'.repeat(45)}…(4999940 characters)…${'x'.repeat(15)}" is no Kubernetes object; expected a mapping with apiVersion and kind`,
      ],
    ],
    [
      'five million dashes',
      'a.yaml',
      '-'.repeat(5_000_000),
      [
        'a.yaml:1:1: error: lines, commas, colons and dashes may make more than 1000000 values out of this document\n  help: raise --max-yaml-nodes, if that is no alias bomb',
      ],
    ],
    [
      '100,000 quotes',
      'a.yaml',
      `a: "${'\\\n'.repeat(100_000)}`,
      ['a.yaml:2:1: error: a bracket or quote is still open here, or its text is indented too little'],
    ],
  ];
  test.each(cases)('%s', async (_, name, text, messages) => {
    const started = performance.now();
    const loaded = await loadText(name, text);
    expect(loaded.messages).toEqual(messages);
    expect(loaded.objects).toEqual([]);
    // Generous, for a shared machine: the aim is that nothing grows with the square of its size.
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  test('200,000 empty documents are nothing, soon', async () => {
    for (const text of ['---\n'.repeat(200_000), '...\n'.repeat(200_000), '# x\n'.repeat(200_000)]) {
      const loaded = await loadText('a.yaml', text);
      expect(loaded.messages).toEqual([]);
    }
  });
});

describe('the limits', () => {
  test('of size are kept for each object, and the next one is read', async () => {
    const limits = { maxYamlBytes: 100, maxJsonBytes: 100 };
    const long = 'x'.repeat(200);
    const yaml = await loadText('a.yaml', `apiVersion: v1\nkind: A\nd: ${long}\n---\n${serviceYaml('a')}`, {
      limits,
    });
    expect(yaml.names).toEqual(['Service shop/a']);
    expect(yaml.messages).toEqual([
      "a.yaml:1:1: error: one object's text is 227 bytes long; at most 100 are read\n  help: raise --max-yaml-bytes, if there is reason to",
    ]);
    const items = `{"kind": "List", "apiVersion": "v1", "items": [{"d": "${long}"}, {"apiVersion": "v1", "kind": "A"}]}`;
    const json = await loadText('a.json', items, { limits });
    expect(json.names).toEqual(['A ?']);
    expect(json.messages).toEqual([
      "a.json:1:48: error: one object's text is 209 bytes long; at most 100 are read\n  help: raise --max-json-bytes, if there is reason to",
    ]);
  });

  test('of a file and of standard input are kept', async () => {
    await withFiles({ 'a.yaml': serviceYaml('a'), 'b.yaml': '' }, async (folder) => {
      const limits = { maxFileBytes: 30 };
      const { messages } = await load(folder, ['a.yaml', '-'], { limits, text: serviceYaml('b') });
      expect(messages).toEqual([
        'a.yaml: error: is larger than 30 bytes (66 bytes)',
        '<stdin>: error: is larger than 30 bytes (more)',
      ]);
      expect((await load(folder, ['.'], { limits: { maxFiles: 1 } })).messages).toContain(
        `${folder}: error: more than 1 files; the rest was not read`,
      );
    });
  });

  test('of errors ends the reading of that file and says where', async () => {
    const files = { 'a.yaml': 'a: [\n---\n'.repeat(5), 'b.yaml': serviceYaml('b') };
    await withFiles(files, async (folder) => {
      const { messages, names } = await load(folder, ['.'], { limits: { maxProblems: 2 } });
      expect(names).toEqual(['Service shop/b']);
      expect(messages).toEqual([
        'a.yaml:2:1: error: a bracket or quote is still open here, or its text is indented too little',
        'a.yaml:4:1: error: a bracket or quote is still open here, or its text is indented too little',
        'a.yaml:6:1: error: more than 2 errors in this file; from here on it was not read\n  help: raise --max-errors to see the others',
      ]);
    });
  });

  test('of errors holds for all inputs together, a hundred times as high', async () => {
    const files = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`${1000 + i}.yaml`, 'a: [\n']));
    await withFiles({ ...files, 'z.yaml': serviceYaml('z') }, async (folder) => {
      const { messages, names } = await load(folder, ['.'], { limits: { maxProblems: 1 } });
      expect(names).toEqual([]);
      expect(messages).toHaveLength(102);
      expect(messages[0]).toBe('error: more than 100 errors; nothing more was read');
    });
  });

  test('of messages about other people’s files leaves the rest out', async () => {
    await withFiles({ 'log.json': '{}\n'.repeat(10) + serviceJson('web') }, async (folder) => {
      const { messages, names } = await load(folder, ['.'], { limits: { maxProblems: 2 } });
      expect(names).toEqual(['Service shop/web']);
      expect(messages).toEqual([
        'log.json: note: 8 more messages about this file were left out\n  help: raise --max-errors to see the others',
        'log.json:1:1: note: no kind: this is no Kubernetes object',
        'log.json:2:1: note: no kind: this is no Kubernetes object',
      ]);
    });
  });
});

describe('what a sink says', () => {
  const objects = (count: number) =>
    Array.from({ length: count }, (_, index) => `{"apiVersion":"v1","kind":"X","n":${index}}\n`).join('');

  /** Reads with a sink that finds so many faults of that severity in each object. */
  async function tell(text: string, severity: Diagnostic['severity'], faults: number) {
    const kept: unknown[] = [];
    const diagnostics: Diagnostic[] = [];
    await loadObjects(
      ['-'],
      ({ value, origin }, report) => {
        for (let at = 0; at < faults; at++) report({ code: 'x', severity, message: `fault ${at}`, origin });
        kept.push(value.n);
      },
      (diagnostic) => diagnostics.push(diagnostic),
      { stdin: () => Readable.from([Buffer.from(text)]), limits: { maxProblems: 3 } },
    );
    return { kept, messages: diagnostics.map((each) => `${each.severity}: ${each.message}`) };
  }

  test('counts with the errors of the file', async () => {
    expect(await tell(objects(9), 'error', 2)).toEqual({
      kept: [0],
      messages: [
        'error: fault 0',
        'error: fault 1',
        'error: fault 0',
        'error: more than 3 errors in this file; from here on it was not read',
      ],
    });
  });

  test('about one object ends with it', async () => {
    expect(await tell(objects(2), 'note', 4)).toEqual({
      kept: [],
      messages: [0, 1].flatMap(() => [
        'note: fault 0',
        'note: fault 1',
        'note: fault 2',
        'error: more than 3 messages about one object; it was left out',
      ]),
    });
  });

  test('in warnings and notes is kept, however much there is of it', async () => {
    const { kept, messages } = await tell(objects(9), 'warning', 2);
    expect([kept.length, messages.length]).toEqual([9, 18]);
  });
});

describe('texts with pieces of them cut out, put in and moved', () => {
  const seeds = [
    `%YAML 1.2\n---\napiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: A\n  x: &a {b: [1, 2], "c": 'd'}\n- <<: *a\n  kind: B\n  t: |-\n    foo\n    ---\n  ? k\n  : v\n...\n--- !foo &x\n{"kind":"C","apiVersion":"v1"}\n`,
    '{"apiVersion":"v1","kind":"List","items":[{"a":"b\\"]","c":[1,2.5e3,null,true]},{"kind":"ServiceList","items":[{}]}],"z":{"y":"\\u0041"}}\n{"kind":1}',
  ];
  const piece = fc.constantFrom(
    ...[
      '---\n',
      '...\n',
      'items:\n',
      '- ',
      '  ',
      '\t',
      '\n',
      '\r',
      '{',
      '}',
      '[',
      ']',
      '"',
      "'",
      '|',
      '>',
      '&a ',
      '*a',
    ],
    ...[
      '<<: ',
      '!x ',
      '? ',
      ': ',
      '#',
      ',',
      '\ufeff',
      '\u00e9',
      '\u0001',
      '%',
      'kind: X\n',
      '\\',
      '{{ x }}',
      '"items":[',
    ],
  );
  const edit = fc.record({ at: fc.nat(), cut: fc.nat({ max: 20 }), put: piece });

  test('end in objects and in messages of one line with a place', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...seeds),
        fc.array(edit, { minLength: 1, maxLength: 6 }),
        async (seed, edits) => {
          let text = seed;
          for (const { at, cut, put } of edits) {
            const start = at % (text.length + 1);
            text = text.slice(0, start) + put + text.slice(start + (at % 3 === 0 ? cut : 0));
          }
          const { messages } = await load('.', ['-'], { text });
          for (const message of messages) {
            expect(message).toMatch(
              /^<stdin>(:\d+:\d+)?: (error|warning|note): [^\p{Cc}]+(\n {2}help: [^\p{Cc}]+)?$/u,
            );
          }
        },
      ),
      { numRuns: 1000 },
    );
  });
});
