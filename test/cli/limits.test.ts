/** Every limit of what an input may ask for is an option of both commands, and both keep it. */
import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { serviceJson, serviceYaml } from '../load/load-support.ts';
import { tar } from '../load/tar-support.ts';
import { run, runDiff } from '../support/run.ts';
import { workspace } from './support/workspace.ts';

const space = workspace();

test.each([
  ['kp-compile', run],
  ['kp-diff', runDiff],
])('the help of %s says what each one is by default', async (_name, command) => {
  const { stdout } = await command(['--help']);
  const group = /^What an input may ask for.*\n(?: .*\n)+/m.exec(stdout)?.[0] ?? '';
  const options = group
    .replace(/\n {20,}/g, ' ')
    .split('\n')
    .flatMap((line) => (/^ {2}(--\S+) .* \(default: (\w+)\)$/.exec(line) ?? []).slice(1).join(' ') || []);
  expect(options).toEqual([
    '--max-file-bytes 4G',
    '--max-unpacked-bytes 1G',
    '--max-files 1000000',
    '--max-json-bytes 64M',
    '--max-yaml-bytes 16M',
    '--max-yaml-nodes 1000000',
    '--max-depth 500',
    '--max-errors 1000',
  ]);
});

const WEB = serviceYaml('web');
const ERRORS = 'help: raise --max-errors to see the others\n';

/** An option, a file with its name, and all that is said about it. */
const CASES: readonly (readonly [string, string, string, string | Uint8Array, string])[] = [
  ['--max-file-bytes', '50', 'a.yaml', WEB, 'a.yaml: error: is larger than 50 bytes (68 bytes)\n'],
  [
    '--max-unpacked-bytes',
    '1K',
    'a.yaml.gz',
    gzipSync(WEB.padEnd(2000, '#')),
    'a.yaml.gz: error: unpacks to more than 1024 bytes\n  help: raise --max-unpacked-bytes, if that is no archive bomb\n',
  ],
  [
    '--max-unpacked-bytes',
    '1K',
    'a.tgz',
    gzipSync(tar([{ name: 'a.yaml', text: WEB }])),
    'a.tgz: error: unpacks to more than 1024 bytes\n  help: raise --max-unpacked-bytes, if that is no archive bomb\n',
  ],
  [
    '--max-files',
    '1',
    'a.tar',
    tar([
      { name: 'a.yaml', text: '# a\n' },
      { name: 'b.yaml', text: WEB },
    ]),
    'a.tar!b.yaml: error: more than 1 files; the rest was not read\n',
  ],
  [
    '--max-json-bytes',
    '20',
    'a.json',
    serviceJson('web'),
    "a.json:1:1: error: one object's text is 81 bytes long; at most 20 are read\n  help: raise --max-json-bytes, if there is reason to\n",
  ],
  [
    '--max-yaml-bytes',
    '20',
    'a.yaml',
    WEB,
    "a.yaml:1:1: error: one object's text is 68 bytes long; at most 20 are read\n  help: raise --max-yaml-bytes, if there is reason to\n",
  ],
  [
    '--max-yaml-nodes',
    '9',
    'a.yaml',
    'kind: &a [x, x]\nb: [*a, *a]\n',
    'a.yaml:2:9: error: aliases make more than 9 values out of this document\n  help: raise --max-yaml-nodes, if that is no alias bomb\n',
  ],
  [
    '--max-yaml-nodes',
    '9',
    'a.yaml',
    `kind: [${','.repeat(30)}]\n`,
    'a.yaml:1:1: error: lines, commas, colons and dashes may make more than 9 values out of this document\n  help: raise --max-yaml-nodes, if that is no alias bomb\n',
  ],
  [
    '--max-depth',
    '3',
    'a.yaml',
    'kind: [[[x]]]\n',
    'a.yaml:1:9: error: nested deeper than 3 levels\n  help: raise --max-depth, if there is reason to\n',
  ],
  [
    '--max-depth',
    '3',
    'a.json',
    '{"kind":[[[1]]]}',
    'a.json:1:11: error: nested deeper than 3 levels; this value and what follows it were not read\n  help: raise --max-depth, if there is reason to\n',
  ],
  [
    '--max-errors',
    '1',
    'a.yaml',
    'kind: 1\n---\nkind: 2\n',
    `a.yaml:1:7: error: kind: kind must be a string, found the number 1\na.yaml:3:1: error: more than 1 errors in this file; from here on it was not read\n  ${ERRORS}`,
  ],
  [
    '--max-errors',
    '2',
    'a.yaml',
    'apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n  namespace: shop\nspec:\n  externalIPs: [1, 2, 3]\n  clusterIP: None\n  ports: [{port: 80}]\n',
    `a.yaml:7:17: error: Service shop/web: spec.externalIPs[0]: found 1, expected a string\na.yaml:1:1: error: more than 2 messages about one object; it was left out\n  ${ERRORS}`,
  ],
];

describe.each(CASES)('%s %s on %s', (option, value, name, content, stderr) => {
  const file = () => {
    const path = space.path(name);
    writeFileSync(path, content);
    return path;
  };
  const shown = (text: string) => text.replaceAll(`${space.path('')}/`, '');

  test('kp-compile', async () => {
    const done = await run([file(), option, value, '--node', 'node-a']);
    expect({ ...done, stderr: shown(done.stderr) }).toEqual({ code: 2, stdout: '', stderr });
  });

  test('kp-diff, on either side', async () => {
    space.write('node.save', '*nat\n:PREROUTING ACCEPT [0:0]\nCOMMIT\n');
    for (const sides of [
      [file(), space.path('node.save')],
      [space.path('node.save'), file()],
    ]) {
      const done = await runDiff([...sides, option, value, '--node', 'node-a']);
      expect({ ...done, stderr: shown(done.stderr) }).toEqual({ code: 2, stdout: '', stderr });
    }
  });
});

describe('limits hold for other files as well', () => {
  test.each([
    ['--interfaces', 'kp-compile: --interfaces: long.txt: is larger than 300 bytes (400 bytes)\n'],
    ['--config', 'long.txt: error: is larger than 300 bytes (400 bytes)\n'],
    ['--check', 'kp-compile: --check: long.txt: is larger than 300 bytes (400 bytes)\n'],
  ])('%s', async (option, stderr) => {
    space.write('one.yaml', 'apiVersion: v1\nkind: Node\nmetadata: {name: node-a}\n');
    space.write('long.txt', 'x'.repeat(400));
    const done = await space.kpCompile([
      ...[
        '@one.yaml',
        option,
        '@long.txt',
        '--max-file-bytes',
        '300',
        '--cluster-cidr',
        '10.0.0.0/8,fd00::/64',
      ],
    ]);
    expect(done).toMatchObject({ code: 2, stdout: '' });
    expect(done.stderr.split('\n')[0]).toBe(stderr.trimEnd());
  });

  test('kp-diff --inventory', async () => {
    space.write('node.save', '*nat\n:PREROUTING ACCEPT [0:0]\nCOMMIT\n');
    const { code, stderr } = await runDiff([
      '--inventory',
      space.path('node.save'),
      '--max-file-bytes',
      '20',
    ]);
    expect([code, stderr.replaceAll(`${space.path('')}/`, '')]).toEqual([
      2,
      'node.save: error: is larger than 20 bytes (37 bytes)\n',
    ]);
  });
});

test.each([
  ['--max-depth', '1001', 'It is more than 1000.'],
  ['--max-depth', '0', 'It is not a number above 0.'],
  ['--max-errors', '-1', 'It is not a number above 0.'],
  ['--max-yaml-nodes', '1e6', 'It is not a number above 0.'],
  ['--max-json-bytes', '1T', 'It is not a size such as 500M.'],
  ['--max-yaml-bytes', '0', 'It is not a size such as 500M.'],
])('%s %s is refused', async (option, value, reason) => {
  expect(await run(['x.yaml', option, value])).toEqual({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining(`argument '${value}' is invalid. ${reason}\n`),
  });
});
