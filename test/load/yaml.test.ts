import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { load, loadText, serviceYaml } from './load-support.ts';

const shared = join(import.meta.dirname, '..', '..', '..', 'shared', 'field', 'cases');
if (!existsSync(shared))
  process.stderr.write('Skipped: field cases on reading, for ../shared is not there.\n');

describe('documents', () => {
  const a = serviceYaml('a');
  const b = serviceYaml('b');
  const cases: [string, string, string[]][] = [
    ['are none in an empty stream', '---\n---\n\n---\n# only a comment\n---\n', []],
    [
      'may start without a marker and end with one',
      `${a}---\n${b}---\n`,
      ['Service shop/a', 'Service shop/b'],
    ],
    [
      'are parted by a marker with a comment or blanks',
      `${a}--- # next\n${b}---   \n`,
      ['Service shop/a', 'Service shop/b'],
    ],
    [
      'may start behind their marker',
      `--- {apiVersion: v1, kind: Service, metadata: {name: f}}\n`,
      ['Service f'],
    ],
    ['end at three dots', `${a}...\n# between\n${b}...\n--- \n# end\n`, ['Service shop/a', 'Service shop/b']],
    [
      'may have directives',
      `%YAML 1.2\n# c\n---\n${a}...\n%TAG !x! tag:acme.io,2024:\n---\n${b}`,
      ['Service shop/a', 'Service shop/b'],
    ],
    [
      'may be JSON between markers',
      `---\n{"apiVersion": "v1",\n\t"kind": "Service"}\n---\n${b}`,
      ['Service ?', 'Service shop/b'],
    ],
    [
      'may be several JSON values',
      '{"apiVersion":"v1","kind":"A"}{"apiVersion":"v1","kind":"B"}\n',
      ['A ?', 'B ?'],
    ],
    [
      'may have Windows line ends',
      `${a}---\n${b}`.replaceAll('\n', '\r\n'),
      ['Service shop/a', 'Service shop/b'],
    ],
    [
      'may have old Mac line ends',
      `${a}---\n${b}`.replaceAll('\n', '\r'),
      ['Service shop/a', 'Service shop/b'],
    ],
    [
      'may have been joined with their byte order marks',
      `\ufeff${a}\ufeff---\n${b}`,
      ['Service shop/a', 'Service shop/b'],
    ],
    ['may have a byte order mark, comments and blanks alone', '\ufeff# a\n \n--- # b\n\n...\n---\n# c', []],
    [
      'may have three dots with a comment behind them',
      `${a}... # end\n${b}`,
      ['Service shop/a', 'Service shop/b'],
    ],
    [
      'have no marker where more stands behind the dashes',
      `${a.trimEnd()}\n---x: 1\n${b}`.replace('---x: 1\n', '---\n'),
      ['Service shop/a', 'Service shop/b'],
    ],
    [
      'may have tabs behind keys, values and markers',
      `apiVersion:\tv1\nkind: Service\t\nmetadata:\t{name: t}\t# x\n---\t\n${b}`,
      ['Service t', 'Service shop/b'],
    ],
    [
      'may have lines of a megabyte',
      `apiVersion: v1\nkind: Service\nmetadata: {name: "l", annotations: {a: "${'x'.repeat(1_000_000)}"}}\n---\n${b}`,
      ['Service l', 'Service shop/b'],
    ],
    ['may lack the last line feed', `${a}---\n${b.trimEnd()}`, ['Service shop/a', 'Service shop/b']],
  ];
  test.each(cases)('%s', async (_, text, names) => {
    const loaded = await loadText('a.yaml', text);
    expect(loaded.messages).toEqual([]);
    expect(loaded.names).toEqual(names);
  });

  test('are not parted inside block scalars', async () => {
    const text = `apiVersion: v1\nkind: ConfigMap\ndata:\n  crt: |-\n    -----BEGIN CERTIFICATE-----\n    ---\n    ...\n  d: x\n`;
    const { objects } = await loadText('a.yaml', text);
    expect(objects.map(({ value }) => value.data)).toEqual([
      { crt: '-----BEGIN CERTIFICATE-----\n---\n...', d: 'x' },
    ]);
  });

  test('are read in UTF-16 and UTF-8 with a byte order mark, with the right places', async () => {
    const text = `${serviceYaml('ä')}---\nfoo: 1\n`;
    const little = Buffer.from(`\ufeff${text}`, 'utf16le');
    for (const bytes of [Buffer.from(`\ufeff${text}`), little, Buffer.from(little).swap16()]) {
      const loaded = await loadText('a.yaml', bytes);
      expect(loaded.names).toEqual(['Service shop/ä']);
      expect(loaded.messages).toEqual(['a.yaml:5:1: error: no kind: this is no Kubernetes object']);
    }
  });
});

describe('plain scalars', () => {
  test('mean what they mean to kubectl', async () => {
    const spellings: [string, unknown][] = [
      ['yes', true],
      ['Off', false],
      ['n', false],
      ['y', true],
      ['TRUE', true],
      ['tRUE', 'tRUE'],
      ['"yes"', 'yes'],
      ['~', null],
      ['', null],
      ['NULL', null],
      ['80', 80],
      ['0x1F', 31],
      ['0o17', 15],
      ['017', 15],
      ['0b11', 3],
      ['08080', 8080],
      ['1_000', 1000],
      ['-0x10', -16],
      ['+7', 7],
      ['-0', 0],
      ['1e3', 1000],
      ['80.0', 80],
      ['.5', 0.5],
      ['1.', 1],
      ['.inf', Number.POSITIVE_INFINITY],
      ['1e999', '1e999'],
      ['9'.repeat(400), '9'.repeat(400)],
      [`-0x${'f'.repeat(400)}`, `-0x${'f'.repeat(400)}`],
      ['9007199254740993', 9007199254740992],
      ['2024-01-01', '2024-01-01'],
      ['2024-01-01T00:00:00Z', '2024-01-01T00:00:00Z'],
      ['1:30', '1:30'],
      ['190:20:30', '190:20:30'],
      ['1_0.5_0', 10.5],
      ['0_17', 15],
      ['0x_1F', 31],
      ['0b1_1', 3],
      ['_1', '_1'],
      ['09', 9],
      ['0o8', '0o8'],
      ['on', true],
      ['NO', false],
      ['oN', 'oN'],
      ['.NaN', Number.NaN],
      ['-.Inf', Number.NEGATIVE_INFINITY],
      ['=', '='],
      ['10.0.0.1', '10.0.0.1'],
      ['10.0.0.0/8', '10.0.0.0/8'],
      ['!!str 80', '80'],
      ['!acme 80', '80'],
      ['!!binary aGk=', 'hi'],
      ['!acme {a: 1}', { a: 1 }],
      ['!!set {a, b}', { a: null, b: null }],
    ];
    const text = `apiVersion: v1\nkind: X\nv:\n${spellings.map(([spelling]) => `- ${spelling}\n`).join('')}`;
    const { objects, messages } = await loadText('a.yaml', text);
    expect(messages).toEqual([]);
    expect(objects[0]?.value.v).toEqual(spellings.map(([, value]) => value));
  });

  test('as keys become strings, as in JSON', async () => {
    const { objects } = await loadText('a.yaml', 'apiVersion: v1\nkind: X\n80: a\non: b\n0x10: c\n');
    expect(Object.keys(objects[0]?.value ?? {}).sort()).toEqual(['16', '80', 'apiVersion', 'kind', 'true']);
  });
});

describe('brackets and quotes', () => {
  // js-yaml alone would refuse all of these; go-yaml v2 reads them.
  test.each<[string, unknown]>([
    ['v: {\n  a: 1,\n  b: [2]\n}\n', { a: 1, b: [2] }],
    ['v: [\n1, 2,\n3\n]\n', [1, 2, 3]],
    ['v:\n- {\n  a: {\n    b: 1\n  }\n}\n- 2\n', [{ a: { b: 1 } }, 2]],
    ['v: {\r\n\ta: 1,\r\n\tb: 2\r\n}\r\n', { a: 1, b: 2 }],
    ['v:\t{a:\t1,\tb: 2}\n', { a: 1, b: 2 }],
    ['v:\n- \t{a: 1}\n', [{ a: 1 }]],
    ['v: "a\nb"\n', 'a b'],
    ["v: 'a\n\tb'\n", 'a b'],
    ['v: {\na: [\n1\n],\nb: {\nc: [\n{\nd: 2\n}\n]\n}\n}\n', { a: [1], b: { c: [{ d: 2 }] } }],
  ])('may end in a line that is indented as little as one likes: %j', async (text, value) => {
    const { objects, messages } = await loadText('a.yaml', `apiVersion: v1\nkind: X\n${text}`);
    expect(messages).toEqual([]);
    expect(objects[0]?.value.v).toEqual(value);
  });

  test.each([
    ['v: "a\n\nb"\n', 'a.yaml:5:1'],
    ['v: "a\\\nb"\n', 'a.yaml:4:1'],
    ['v: {a: 1, # }\n}\n', 'a.yaml:4:1'],
    ['v: [1,\nw: 2\n', 'a.yaml:4:1'],
  ])('are an error where that would mean something else: %j', async (text, place) => {
    const { objects, messages } = await loadText('a.yaml', `apiVersion: v1\nkind: X\n${text}`);
    expect(objects).toEqual([]);
    expect(messages).toEqual([
      `${place}: error: a bracket or quote is still open here, or its text is indented too little`,
    ]);
  });

  test('of items of a List', async () => {
    const item = (name: string) =>
      `- {\n  apiVersion: v1, kind: Service,\n  metadata: {\n    name: ${name}\n  }\n}\n`;
    const { names, messages } = await loadText(
      'a.yaml',
      `apiVersion: v1\nkind: List\nitems:\n${item('a')}${item('b')}`,
    );
    expect({ names, messages }).toEqual({ names: ['Service a', 'Service b'], messages: [] });
  });

  test('keep the places of what is in them', async () => {
    const { messages } = await loadText('a.yaml', 'a: {\n  b: 1\n}\nkind: 7\n');
    expect(messages).toEqual(['a.yaml:4:7: error: kind: kind must be a string, found the number 7']);
  });
});

describe('anchors and merge keys', () => {
  test('are written out', async () => {
    const text = 'apiVersion: v1\nkind: X\nbase: &b {a: 1, c: 2}\nnext:\n  <<: *b\n  a: 3\nlist: [*b]\n';
    const { objects } = await loadText('a.yaml', text);
    expect(objects[0]?.value).toMatchObject({ next: { a: 3, c: 2 }, list: [{ a: 1, c: 2 }] });
  });

  // By YAML's own rule a key of the mapping wins wherever it stands; go-yaml v2 goes through them in their order.
  test.each<[string, unknown]>([
    ['{<<: *x, a: 3}', { a: 3, b: 1 }],
    ['{a: 3, <<: *x}', { a: 1, b: 1 }],
    ['{a: 3, <<: *x, b: 4}', { a: 1, b: 4 }],
    ['{a: 3, <<: *x, b: 4, <<: *y}', { a: 1, b: 2, c: 2 }],
    ['{c: 3, <<: *x, <<: *y, b: 4}', { a: 1, b: 4, c: 2 }],
    ['{<<: [*x, *y]}', { a: 1, b: 1, c: 2 }],
    ['{b: 3, c: 3, <<: [*x, *y], c: 4}', { a: 1, b: 1, c: 4 }],
    ['{a: 3, <<: {a: 5}}', { a: 5 }],
    ['{z: {a: 3, <<: *x}, <<: *y}', { z: { a: 1, b: 1 }, b: 2, c: 2 }],
    ['[{a: 3, <<: *x}, {a: 4}]', [{ a: 1, b: 1 }, { a: 4 }]],
    ['{a: &n 3, <<: {b: *n}}', { a: 3, b: 3 }],
    ['{"<<": 1, a: 3}', { '<<': 1, a: 3 }],
    ['{a: <<, b: 3}', { a: '<<', b: 3 }],
  ])('count where they stand, as for kubectl: %s', async (text, value) => {
    const { objects, messages } = await loadText(
      'a.yaml',
      `apiVersion: v1\nkind: X\nx: &x {a: 1, b: 1}\ny: &y {b: 2, c: 2}\nv: ${text}\n`,
    );
    expect(messages).toEqual([]);
    expect(objects[0]?.value.v).toEqual(value);
  });

  test('do not hide a key that is there twice', async () => {
    const { messages } = await loadText('a.yaml', 'b: &b {a: 1}\nc: {d: 1, d: 2, <<: *b}\n');
    expect(messages).toEqual(['a.yaml:2:11: error: the key "d" stands twice in one mapping']);
  });
});

describe('keys with a meaning in JavaScript', () => {
  test('are kept as data and touch no prototype', async () => {
    const yaml =
      'apiVersion: v1\nkind: X\n__proto__: {polluted: 1}\nconstructor: {prototype: {polluted: 1}}\nb: &b {__proto__: 2}\nc: {<<: *b}\n';
    const json =
      '{"apiVersion":"v1","kind":"X","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"c":{"__proto__":2}}';
    for (const [name, text] of [
      ['a.yaml', yaml],
      ['a.json', json],
    ] as const) {
      const value = (await loadText(name, text)).objects[0]?.value ?? {};
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
      expect(Object.getOwnPropertyDescriptor(value, '__proto__')?.value).toEqual({ polluted: 1 });
      expect(Object.getOwnPropertyDescriptor(value.c, '__proto__')?.value).toBe(2);
      expect(Object.hasOwn(value, 'constructor')).toBe(true);
    }
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test('stand in for no missing kind', async () => {
    const { messages } = await loadText('a.json', '{"__proto__":{"kind":"Service","apiVersion":"v1"}}');
    expect(messages).toEqual(['a.json:1:1: error: no kind: this is no Kubernetes object']);
  });
});

describe('broken YAML', () => {
  const cases: [string, string, string[]][] = [
    [
      'a key that is there twice',
      'kind: A\nkind: B\n',
      ['a.yaml:2:1: error: the key "kind" stands twice in one mapping'],
    ],
    [
      'a key in quotes that is there twice',
      '"kind": A\n\'kind\': B\n',
      ['a.yaml:2:2: error: the key "kind" stands twice in one mapping'],
    ],
    [
      'a tab for indentation',
      'a:\n\tb: 1\n',
      [
        'a.yaml:2:1: error: tab characters must not be used in indentation\n  help: indent with spaces; YAML does not allow tabs there',
      ],
    ],
    [
      'an open bracket',
      'a: [1,\nb: 2\n',
      ['a.yaml:2:1: error: a bracket or quote is still open here, or its text is indented too little'],
    ],
    ['an anchor that is not there', 'a: *nobody\n', ['a.yaml:1:5: error: unidentified alias "nobody"']],
    [
      'an anchor inside itself',
      'a: &a [*a]\n',
      ['a.yaml:1:8: error: the alias *a stands inside the value that it names'],
    ],
    ['an unknown escape', 'a: "\\q"\n', ['a.yaml:1:6: error: unknown escape sequence']],
    [
      'a NUL behind the first 8 KiB',
      `# ${'x'.repeat(9000)}\na: b\0c\n`,
      ['a.yaml:2:5: error: null byte is not allowed in input'],
    ],
    [
      'a column behind letters of several bytes',
      'é€😀: [}\n',
      ['a.yaml:1:8: error: missed comma between flow collection entries'],
    ],
    [
      'JSON that is neither',
      '{"a": 1,}}\n',
      [
        "a.yaml:1:9: error: expected a key in double quotes, found '}'; this value and what follows it were not read",
      ],
    ],
  ];
  test.each(cases)('is an error with its place: %s', async (_, text, messages) => {
    const loaded = await loadText('a.yaml', text);
    expect(loaded.messages).toEqual(messages);
    expect(loaded.objects).toEqual([]);
  });

  test('in one document does not hide the others', async () => {
    const text = `${serviceYaml('a')}---\nkind: "open\n---\n${serviceYaml('b')}---\n\tx\n--- # last\n${serviceYaml('c')}`;
    const loaded = await loadText('a.yaml', text);
    expect(loaded.names).toEqual(['Service shop/a', 'Service shop/b', 'Service shop/c']);
    expect(loaded.messages).toEqual([
      'a.yaml:6:1: error: a bracket or quote is still open here, or its text is indented too little',
      'a.yaml:11:2: error: the string "x" is no Kubernetes object; expected a mapping with apiVersion and kind',
    ]);
  });
});

describe.skipIf(!existsSync(shared))('the field cases on reading', () => {
  test('have one Service shop/web in each way of separating documents', async () => {
    for (const file of ['a.yaml', 'b.yaml', 'c.yaml']) {
      const loaded = await load(shared, [join('R49-yaml-separators', file)], {
        wants: (_, kind) => kind === 'Service',
      });
      expect([file, loaded.names, loaded.messages]).toEqual([file, ['Service shop/web'], []]);
    }
  });

  test('are found in a must-gather tree, from its root and from above', async () => {
    for (const input of ['R51-must-gather-tree', 'R51-must-gather-tree/must-gather.local.1']) {
      const loaded = await load(shared, [input]);
      expect(loaded.messages).toEqual([]);
      expect(loaded.names).toEqual(['Service infra/dns', 'Service shop/web', 'EndpointSlice shop/web-x1']);
    }
  });
});
