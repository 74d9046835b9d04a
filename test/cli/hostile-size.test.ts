/**
 * Inputs that are there to take all time or memory: the built commands say what is wrong in short lines, write nothing,
 * and need about a gigabyte at most. Nothing is said about seconds, but a child that hangs is ended after a minute.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { type Entry, tar } from '../load/tar-support.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { type MeasuredRun, type Part, runMeasured, writeParts } from './support/measured.ts';

const root = join(import.meta.dirname, '..', '..');
const hello = join(root, 'fixtures', 'hello1');
const folder = temporaryFolder();
const isBuilt = existsSync(join(root, 'dist', 'cli', 'kp-diff.js'));
if (!isBuilt) process.stderr.write('Skipped: hostile inputs of the built commands, for there is no dist.\n');

const MEGA = 1_000_000;
const LETTERS: Part = ['a', 100 * MEGA];
const FEWER: Part = ['a', 20 * MEGA];
const DIGITS: Part = ['9', 10 * MEGA];

/** What unpacks to more than 1 GiB is given up with so much in memory; nothing else comes near. */
const MOST_MIB = 1200;

/** What may not be on a terminal: control characters apart from the line feed, and those that turn text around. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const RAW = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

/** What holds of every run. */
function expectBounded({ code, stdout, stderr, peakMiB }: MeasuredRun): void {
  expect(code, stderr.slice(0, 2000)).not.toBe(null);
  expect(stdout).not.toMatch(RAW);
  expect(stderr).not.toMatch(RAW);
  expect(stdout.length).toBeLessThan(10_000);
  expect(stderr.length).toBeLessThan(250_000);
  expect(Math.max(...stderr.split('\n').map(({ length }) => length))).toBeLessThan(2500);
  expect(peakMiB).toBeGreaterThan(10);
  expect(peakMiB).toBeLessThan(MOST_MIB);
}

/** All of it, or its first lines and how many there are besides; long runs of one letter cut. */
function headOf(text: string): string {
  const lines = text.replace(/([a9])\1{20,}/g, '$1$1$1').split('\n');
  return lines.length <= 4
    ? lines.join('\n')
    : `${lines.slice(0, 2).join('\n')}\n… and ${lines.length - 3} lines\n`;
}

const SERVICE = 'apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec:\n';
const JSON_SERVICE =
  '{"apiVersion":"v1","kind":"Service","metadata":{"name":"web","namespace":"shop"},"spec":{';

const NO_CLUSTER_IP =
  '1:1: warning: Service shop/web: spec.clusterIP: the Service has no cluster IP yet and gets no rules\n  help: compile what the cluster holds (kubectl get services,endpointslices,nodes -A -o yaml), or invent addresses with --service-cidr\n';
const NO_PORTS = '1:1: warning: Service shop/web: spec.ports: the Service has no ports and gets no rules\n';
const TOO_MANY_VALUES =
  'a.yaml:1:1: error: lines, commas, colons and dashes may make more than 1000000 values out of this document\n  help: raise --max-yaml-nodes, if that is no alias bomb\n';
const NOT_UTF8 =
  'is not valid UTF-8\n  help: save the file as UTF-8; UTF-16 is accepted too if it starts with a byte order mark\n';
const IS_A_BOMB =
  'error: unpacks to more than 1073741824 bytes\n  help: raise --max-unpacked-bytes, if that is no archive bomb\n';
const NO_FILE = 'warning: no .yaml, .yml or .json file was read in this archive\n';

/** What it is, a file and what it holds, and the head of what both commands say. */
type Hostile = readonly [string, string, readonly Part[] | (() => Uint8Array), string];

const OBJECTS: readonly Hostile[] = [
  [
    'a plain scalar',
    'a.yaml',
    [SERVICE, '  clusterIP: ', LETTERS, '\n'],
    "a.yaml:1:1: error: one object's text is 100000088 bytes long; at most 16777216 are read\n  help: raise --max-yaml-bytes, if there is reason to\n",
  ],
  [
    'a scalar in double quotes',
    'a.yaml',
    [SERVICE, '  clusterIP: "', LETTERS, '"\n'],
    "a.yaml:1:1: error: one object's text is 100000090 bytes long; at most 16777216 are read\n  help: raise --max-yaml-bytes, if there is reason to\n",
  ],
  [
    'a block scalar',
    'a.yaml',
    [SERVICE, '  clusterIP: |\n    ', LETTERS, '\n'],
    "a.yaml:1:1: error: one object's text is 100000094 bytes long; at most 16777216 are read\n  help: raise --max-yaml-bytes, if there is reason to\n",
  ],
  [
    'a key',
    'a.yaml',
    [SERVICE, '  ', LETTERS, ': 1\n'],
    "a.yaml:1:1: error: one object's text is 100000080 bytes long; at most 16777216 are read\n  help: raise --max-yaml-bytes, if there is reason to\n",
  ],
  [
    'a name',
    'a.yaml',
    ['apiVersion: v1\nkind: Service\nmetadata:\n  name: ', LETTERS, '\n'],
    "a.yaml:1:1: error: one object's text is 100000048 bytes long; at most 16777216 are read\n  help: raise --max-yaml-bytes, if there is reason to\n",
  ],
  [
    'a name in an item of a List',
    'a.yaml',
    [
      'apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Service\n  metadata:\n    name: ',
      ['a', 20 * MEGA],
    ],
    "a.yaml:4:1: error: one object's text is 20000055 bytes long; at most 16777216 are read\n  help: raise --max-yaml-bytes, if there is reason to\n",
  ],
  [
    'a comment',
    'a.yaml',
    ['# ', ['a', 20 * MEGA], '\n'],
    "a.yaml:1:1: error: one object's text is 20000003 bytes long; at most 16777216 are read\n  help: raise --max-yaml-bytes, if there is reason to\n",
  ],
  [
    'escapes, below the limit of bytes',
    'a.yaml',
    [SERVICE, '  clusterIP: "', ['\\x1b', 4 * MEGA], '"\n'],
    `a.yaml:1:1: error: Service shop/web: spec.clusterIP: "${'\\u001b'.repeat(13)}\\… is not an IP address\na.yaml:${NO_PORTS}`,
  ],
  [
    'an alias',
    'a.yaml',
    ['a: *', ['a', 15 * MEGA], '\n'],
    'a.yaml:1:5: error: unidentified alias "aaa…(14999821 characters)…aaa"\n',
  ],
  [
    'a tag',
    'a.yaml',
    ['a: !', ['a', 15 * MEGA], ' b\n'],
    'a.yaml:1:1: error: is nested too deeply, or has a word that is too long, to be read\n',
  ],
  [
    'a string in JSON',
    'a.json',
    [JSON_SERVICE, '"clusterIP":"', LETTERS, '"}}'],
    "a.json:1:1: error: one object's text is 100000105 bytes long; at most 67108864 are read\n  help: raise --max-json-bytes, if there is reason to\n",
  ],
  [
    'a key in JSON',
    'a.json',
    [JSON_SERVICE, '"', LETTERS, '":1}}'],
    "a.json:1:1: error: one object's text is 100000095 bytes long; at most 67108864 are read\n  help: raise --max-json-bytes, if there is reason to\n",
  ],
  [
    'a name in JSON',
    'a.json',
    ['{"apiVersion":"v1","kind":"Service","metadata":{"name":"', LETTERS, '"}}'],
    "a.json:1:1: error: one object's text is 100000059 bytes long; at most 67108864 are read\n  help: raise --max-json-bytes, if there is reason to\n",
  ],
  [
    'a string in JSON that does not end',
    'a.json',
    [JSON_SERVICE, '"clusterIP":"', ['a', 20 * MEGA]],
    'a.json:1:102: error: a string that starts here does not end; this value and what follows it were not read\n',
  ],
  [
    'a string in JSON, below the limit of bytes',
    'a.json',
    [JSON_SERVICE, '"clusterIP":"', ['a', 60 * MEGA], '"}}'],
    `a.json:1:1: error: Service shop/web: spec.clusterIP: "aaa… is not an IP address\na.json:${NO_PORTS}`,
  ],
  [
    'a kind in JSON, below the limit of bytes',
    'a.json',
    ['{"apiVersion":"v1","kind":"', ['a', 20 * MEGA], '"}'],
    'error: nothing to compile was read: no Service, EndpointSlice or Node in the input (skipped: 1 aaa…(19999089 characters)…aaa)\n',
  ],
  [
    'a number',
    'a.yaml',
    [SERVICE, '  clusterIP: 10.96.0.1\n  ports:\n  - port: ', DIGITS, '\n'],
    'a.yaml:1:1: error: Service shop/web: spec.ports[0].port: found "999…, expected a whole number from 1 to 65535\n',
  ],
  [
    'a hexadecimal number',
    'a.yaml',
    [SERVICE, '  clusterIP: 10.96.0.1\n  ports:\n  - port: 0x', DIGITS, '\n'],
    'a.yaml:1:1: error: Service shop/web: spec.ports[0].port: found "0x999…, expected a whole number from 1 to 65535\n',
  ],
  [
    'a number in JSON',
    'a.json',
    [JSON_SERVICE, '"clusterIP":"10.96.0.1","ports":[{"port":', DIGITS, '}]}}'],
    'a.json:1:1: error: Service shop/web: spec.ports[0].port: found a number beyond 10^308, expected a whole number from 1 to 65535\n',
  ],
  ['brackets', 'a.yaml', ['a: ', ['[', 15 * MEGA]], TOO_MANY_VALUES],
  [
    'brackets in JSON',
    'a.json',
    [['[', 20 * MEGA]],
    'a.json:1:501: error: nested deeper than 500 levels; this value and what follows it were not read\n  help: raise --max-depth, if there is reason to\n',
  ],
  [
    'an alias bomb',
    'a.yaml',
    [
      'a: &a [x,x,x,x,x,x,x,x,x]\n',
      ...[...'bcdefghij'].map((name, index) => {
        const before = 'abcdefghij'[index] ?? '';
        return `${name}: &${name} [${`*${before},`.repeat(9)}]\n`;
      }),
    ],
    'a.yaml:7:11: error: aliases make more than 1000000 values out of this document\n  help: raise --max-yaml-nodes, if that is no alias bomb\n',
  ],
  [
    'a list',
    'a.yaml',
    [SERVICE, '  externalIPs: [', ['1,', 10 * MEGA], '1]\n'],
    "a.yaml:1:1: error: one object's text is 20000093 bytes long; at most 16777216 are read\n  help: raise --max-yaml-bytes, if there is reason to\n",
  ],
  [
    'a list, below the limit of bytes',
    'a.yaml',
    [SERVICE, '  externalIPs: [', ['1,', 8 * MEGA], '1]\n'],
    TOO_MANY_VALUES,
  ],
  ['a mapping', 'a.yaml', [SERVICE, '  x: {', ['a,', 8 * MEGA], '}\n'], TOO_MANY_VALUES],
  [
    'the items of a List',
    'a.yaml',
    ['apiVersion: v1\nkind: List\nitems:\n', ['- 1\n', 10 * MEGA]],
    'a.yaml:4:3: error: the number 1 is no Kubernetes object; expected a mapping with apiVersion and kind\na.yaml:5:3: error: the number 1 is no Kubernetes object; expected a mapping with apiVersion and kind\n… and 1000 lines\n',
  ],
  [
    'a list in JSON',
    'a.json',
    [JSON_SERVICE, '"clusterIP":"None","ports":[{"port":80}],"externalIPs":[', ['1,', 10 * MEGA], '1]}}'],
    'a.json:1:1: error: Service shop/web: spec.externalIPs: found a list of 10000001, expected at most 1000000 members\n',
  ],
  [
    'the items of a List in JSON',
    'a.json',
    ['{"apiVersion":"v1","kind":"List","items":[', ['1,', 10 * MEGA], '1]}'],
    'a.json:1:43: error: the number 1 is no Kubernetes object; expected a mapping with apiVersion and kind\na.json:1:45: error: the number 1 is no Kubernetes object; expected a mapping with apiVersion and kind\n… and 1000 lines\n',
  ],
  [
    'faults of one object',
    'a.json',
    [JSON_SERVICE, '"externalIPs":[', ['"a",', 0.9 * MEGA], '"a"]}}'],
    `a.json:${NO_CLUSTER_IP}… and 1001 lines\n`,
  ],
  [
    'empty documents',
    'a.yaml',
    [['---\n', MEGA]],
    'error: nothing to compile was read: no Service, EndpointSlice or Node in the input\n',
  ],
  [
    'documents that are no objects',
    'a.yaml',
    [['--- a\n', MEGA]],
    'a.yaml:1:5: error: the string "a" is no Kubernetes object; expected a mapping with apiVersion and kind\na.yaml:2:5: error: the string "a" is no Kubernetes object; expected a mapping with apiVersion and kind\n… and 1000 lines\n',
  ],
  [
    'values in JSON that are no objects',
    'a.json',
    [['{}', 2 * MEGA]],
    'a.json:1:1: error: no kind: this is no Kubernetes object\na.json:1:3: error: no kind: this is no Kubernetes object\n… and 1000 lines\n',
  ],
  ['NULs', 'a.yaml', [['\0', 20 * MEGA]], 'a.yaml: error: is not text: byte 1 is NUL\n'],
  [
    'bytes that are no UTF-8',
    'a.yaml',
    [new Uint8Array(100 * MEGA).fill(0xff)],
    `a.yaml:1:1: error: byte 1 (\\xff) ${NOT_UTF8}`,
  ],
  [
    'such a byte at the end of many lines',
    'a.yaml',
    [['a\n', 10 * MEGA], new Uint8Array([0xff])],
    `a.yaml:10000001:1: error: byte 20000001 (\\xff) ${NOT_UTF8}`,
  ],
  [
    'such a byte at the end of one line',
    'a.json',
    ['{"a":"', LETTERS, new Uint8Array([0xff])],
    `a.json:1:100000007: error: byte 100000007 (\\xff) ${NOT_UTF8}`,
  ],
  [
    'UTF-16',
    'a.yaml',
    [new Uint8Array([0xff, 0xfe]), ['a\0', 20 * MEGA]],
    "a.yaml:1:1: error: one object's text is 20000000 bytes long; at most 16777216 are read\n  help: raise --max-yaml-bytes, if there is reason to\n",
  ],
];

const BAD_SERVICE = 'apiVersion: v1\nkind: Service\nmetadata: {name: Web}\n';
const BAD_NAME =
  '3:18: error: Service: metadata.name: "Web" is not a name of a Service (lower-case letters, digits and hyphens, at most 63 characters)\n';
const NAME = `${'d'.repeat(10 * MEGA)}.yaml`;
const CUT_NAME = `${'d'.repeat(744)}…(31774 characters)…${'d'.repeat(250)}`;

/** 1.1 GB in a few kilobytes. */
const BOMB = (() => {
  const member = gzipSync(Buffer.alloc(10 * MEGA, 'a'));
  return Buffer.concat(Array.from({ length: 110 }, () => member));
})();

const many = (entry: (index: number) => Entry): Entry[] =>
  Array.from({ length: 20_000 }, (_, index) => entry(index));

const ARCHIVES: readonly Hostile[] = [
  [
    'a long name (GNU)',
    'a.tar',
    () =>
      tar([
        { name: '././@LongLink', type: 'L', text: `${NAME}\0` },
        { name: 'x', text: BAD_SERVICE },
      ]),
    `a.tar: ${NO_FILE}a.tar!${CUT_NAME}: error: the name has 10000005 bytes, more than any system takes; not read\n`,
  ],
  [
    'a long name (pax)',
    'a.tar',
    () =>
      tar([
        { name: 'x', type: 'x', text: `10000020 path=${NAME}\n` },
        { name: 'y', text: BAD_SERVICE },
      ]),
    `a.tar: ${NO_FILE}a.tar!${CUT_NAME}: error: the name has 10000005 bytes, more than any system takes; not read\n`,
  ],
  [
    'names with escapes',
    'a.tar',
    () =>
      tar([
        { name: 'a\x1b]0;b\x07\u009b.yaml', text: BAD_SERVICE },
        { name: 'a\n\u202eb.yaml', text: BAD_SERVICE },
      ]),
    `a.tar!a\\x1b]0;b\\x07\\x9b.yaml:${BAD_NAME}a.tar!a\\x0a\\u202eb.yaml:${BAD_NAME}`,
  ],
  [
    'names that lead out',
    'a.tar',
    () => tar(many((index) => ({ name: `../${100_000 + index}.yaml`, text: '' }))),
    'a.tar!../100000.yaml: error: the name leads out of the archive; not read\na.tar!../100001.yaml: error: the name leads out of the archive; not read\n… and 1000 lines\n',
  ],
  [
    'absolute names',
    'a.tar.gz',
    () => gzipSync(tar(many((index) => ({ name: `/${100_000 + index}.yaml`, text: '' })))),
    'a.tar.gz!/100000.yaml: error: the name leads out of the archive; not read\na.tar.gz!/100001.yaml: error: the name leads out of the archive; not read\n… and 1000 lines\n',
  ],
  [
    'links',
    'a.tgz',
    () => gzipSync(tar(many((index) => ({ name: `${100_000 + index}.yaml`, type: '2', text: '' })))),
    'a.tgz!100000.yaml: error: is a link; links in archives are not followed\na.tgz!100001.yaml: error: is a link; links in archives are not followed\n… and 1000 lines\n',
  ],
  [
    'files of one name',
    'a.tar',
    () => tar(many(() => ({ name: 'a.yaml', text: BAD_SERVICE }))),
    `a.tar!a.yaml:${BAD_NAME}a.tar!a.yaml:${BAD_NAME}… and 1000 lines\n`,
  ],
  ['a bomb', 'a.yaml.gz', () => BOMB, `a.yaml.gz: ${IS_A_BOMB}`],
  [
    'a bomb in an archive',
    'a.tgz',
    () => gzipSync(tar([{ name: 'a.yaml.gz', bytes: BOMB }])),
    `a.tgz!a.yaml.gz: ${IS_A_BOMB}`,
  ],
  [
    'many bombs in an archive',
    'a.tar',
    () => tar(Array.from({ length: 50 }, () => ({ name: 'a.yaml.gz', bytes: BOMB }))),
    `a.tar!a.yaml.gz: ${IS_A_BOMB}… and 98 lines\n`,
  ],
];

/** The place is where the object begins: no tree with places is made of so much. */
describe.skipIf(!isBuilt)('objects and archives: both commands end with 2 and write nothing, given', () => {
  writeFileSync(join(folder, 'node.save'), '*nat\n:PREROUTING ACCEPT [0:0]\nCOMMIT\n');

  test.each([...OBJECTS, ...ARCHIVES])('%s (%s)', async (_title, name, content, says) => {
    const file = join(folder, name);
    writeParts(file, typeof content === 'function' ? [content()] : content);
    const runs = await Promise.all([
      runMeasured('kp-compile', [name, '--node', 'node-a', '--out-dir', 'out'], folder),
      runMeasured('kp-diff', [name, 'node.save', '--node', 'node-a', '--patch', 'patch'], folder),
    ]);
    rmSync(file);
    for (const run of runs) {
      expect([run.code, run.stdout, headOf(run.stderr)]).toEqual([2, '', says]);
      expectBounded(run);
    }
    expect(readdirSync(folder).filter((each) => !each.endsWith('.usage'))).toEqual(['node.save']);
  });
});

const NAT = '*nat\n:PREROUTING ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n';
const SET = 'create KUBE-CLUSTER-IP hash:ip,port family inet hashsize 1024 maxelem 65536\n';
const SERVER = '-A -t 10.96.0.1:443 -s rr\n';
const LISTED =
  'IP Virtual Server version 1.2.1 (size=4096)\nProt LocalAddress:Port Scheduler Flags\nTCP  10.96.0.1:443 rr\n';
const BATCH = 'link add kube-ipvs0 type dummy\n';

const FLUSHED =
  'node: no kube-proxy rules in the IPv4 nat table (KUBE-SERVICES is missing from PREROUTING and OUTPUT); 5 service ports have none: the node was flushed, kube-proxy does not run, or it runs in nftables mode';
const LEFT_SET =
  'node: left over from ipvs mode: 1 IP set (KUBE-CLUSTER-IP); what holds them is not known without the rules';
const NO_SAVE =
  'a.txt:1: error: this is not the output of iptables-save\n  help: take the rules with: iptables-save (IPv6: ip6tables-save)\n';
const QUOTE =
  'a.txt:4: error: a quote is opened and never closed\n  help: iptables-restore takes the rest of the line, its end included, as part of the text\n';

/**
 * Of what a node lists nothing is refused that the kernel might print: it is kept, and compared. The first line of the
 * report, empty with exit code 2, and the head of what is said on stderr.
 */
const DUMPS: readonly (readonly [string, readonly Part[], string, string])[] = [
  ['a comment', [NAT, '-A OUTPUT -m comment --comment "', LETTERS, '" -j ACCEPT\nCOMMIT\n'], FLUSHED, ''],
  [
    'a word',
    [NAT, '-A OUTPUT ', FEWER, '\nCOMMIT\n'],
    FLUSHED,
    'a.txt:4: error: words without an option, or an option without its value: aaa…(19999057 characters)…aaa\n  help: iptables-restore would refuse this line\n',
  ],
  ['a quote', [NAT, '-A OUTPUT -m comment --comment "', FEWER, '\nCOMMIT\n'], FLUSHED, QUOTE],
  ['backslashes', [NAT, '-A OUTPUT -m comment --comment "', ['\\', 20 * MEGA], '\nCOMMIT\n'], FLUSHED, QUOTE],
  ['a line', [NAT, FEWER, '\nCOMMIT\n'], FLUSHED, 'a.txt:4: warning: not a line of iptables-save: "aaa"…\n'],
  ['a chain', [NAT, ':', LETTERS, ' - [0:0]\nCOMMIT\n'], FLUSHED, ''],
  [
    'a target',
    [NAT, '-A OUTPUT -j ', LETTERS, '\nCOMMIT\n'],
    FLUSHED,
    'a.txt:4: error: a rule jumps to aaa…(99999800 characters)…aaa, which the nat table does not declare\n  help: iptables-restore refuses the whole table, unless the kernel has the chain already\n',
  ],
  [
    'a table',
    ['*', FEWER, '\nCOMMIT\n'],
    '',
    'kp-diff: nothing can be compared: IPv4: not compared (the dump holds no IPv4 nat table; the dump holds no IPv4 filter table); IPv6: not compared (the dump holds no IPv6 rules)\n',
  ],
  ['counters of a chain', ['*nat\n:OUTPUT ACCEPT [', DIGITS, ':0]\nCOMMIT\n'], FLUSHED, ''],
  [
    'counters of a rule',
    [NAT, '[', DIGITS, ':0] -A OUTPUT -j ACCEPT\nCOMMIT\n'],
    FLUSHED,
    'a.txt:4: warning: not a line of iptables-save: "[999"…\n',
  ],
  [
    'a destination',
    [
      NAT,
      ':KUBE-SEP-A - [0:0]\n-A KUBE-SEP-A -p tcp -j DNAT --to-destination 10.244.1.10:',
      DIGITS,
      '\nCOMMIT\n',
    ],
    FLUSHED,
    '',
  ],
  [
    'lines',
    [NAT, ['hello\n', 2 * MEGA], 'COMMIT\n'],
    FLUSHED,
    'a.txt:4: warning: not a line of iptables-save: "hello"\na.txt:5: warning: not a line of iptables-save: "hello"\n… and 19 lines\n',
  ],
  ['blank lines', [NAT, ['\n', 10 * MEGA], 'COMMIT\n'], FLUSHED, ''],
  [
    'tables',
    [NAT, 'COMMIT\n', ['*nat\nCOMMIT\n', 0.2 * MEGA]],
    '',
    'a.txt:1: error: more than 1000 outputs of iptables in one text\n',
  ],
  [
    'escapes',
    [NAT, ['\x1b[2J\u202e', MEGA], '\nCOMMIT\n'],
    FLUSHED,
    `a.txt:4: warning: not a line of iptables-save: "${'\\u001b[2J\\u202e'.repeat(16)}"…\n`,
  ],
  ['NULs', [NAT, ['\0', 20 * MEGA], 'COMMIT\n'], '', 'a.txt: error: is not text: byte 52 is NUL\n'],
  [
    'bytes that are no UTF-8',
    [NAT, new Uint8Array(20 * MEGA).fill(0xff), '\nCOMMIT\n'],
    FLUSHED,
    `a.txt:4: warning: not a line of iptables-save: "${'ÿ'.repeat(80)}"…\n`,
  ],
  [
    'a rule of iptables -S',
    ['-P OUTPUT ACCEPT\n-A OUTPUT -m comment --comment "', FEWER, '" -j ACCEPT\n'],
    '',
    'a.txt:1: error: rules without a *table line before them\n  help: take the whole output of iptables-save: a rule means nothing without its table\n',
  ],
  [
    'a member of a set',
    [SET, 'add KUBE-CLUSTER-IP ', LETTERS, '\n'],
    '',
    'a.txt:2: error: a line of 100000020 characters; at most 65536 are read\n',
  ],
  [
    'a port of a member',
    [SET, 'add KUBE-CLUSTER-IP 10.96.0.1,tcp:', DIGITS, '\n'],
    '',
    'a.txt:2: error: a line of 10000034 characters; at most 65536 are read\n',
  ],
  [
    'lines of ipset',
    [SET, ['hello\n', MEGA]],
    LEFT_SET,
    'a.txt:2: warning: not a line of ipset save: "hello"\na.txt:3: warning: not a line of ipset save: "hello"\n… and 19 lines\n',
  ],
  [
    'a scheduler',
    ['-A -t 10.96.0.1:443 -s ', FEWER, '\n'],
    '',
    'a.txt:1: error: a line of 20000023 characters; at most 65536 are read\n',
  ],
  [
    'a weight',
    [SERVER, '-a -t 10.96.0.1:443 -r 10.0.0.1:443 -m -w ', DIGITS, '\n'],
    '',
    'a.txt:2: error: a line of 10000042 characters; at most 65536 are read\n',
  ],
  [
    'a listed real server',
    [LISTED, '  -> ', LETTERS, ' Masq 1 0 0\n'],
    '',
    'a.txt:4: error: a line of 100000016 characters; at most 65536 are read\n',
  ],
  [
    'an address',
    [BATCH, 'address add ', FEWER, ' dev kube-ipvs0\n'],
    '',
    'a.txt: error: "aaa…(19999800 characters)…aaa" on kube-ipvs0 is not an IP address\n',
  ],
  [
    'a listed address',
    ['1: kube-ipvs0    inet ', LETTERS, ' scope global kube-ipvs0\n'],
    '',
    'a.txt: error: "aaa…(99999800 characters)…aaa" on kube-ipvs0 is not an IP address\n',
  ],
  [
    'lines of ip -batch',
    [BATCH, ['hello\n', 2 * MEGA]],
    '',
    'a.txt:2: error: not a line that adds an interface or an address\na.txt:3: error: not a line that adds an interface or an address\n… and 19 lines\n',
  ],
  [
    'brackets of ip -j addr',
    ['[{"ifindex":1,"addr_info":', ['[', 50 * MEGA]],
    '',
    'a.txt: error: 50000026 characters of JSON; at most 16777216 are read\n',
  ],
  ['letters', [FEWER], '', NO_SAVE],
  ['words in lines', [['hello\n', 10 * MEGA]], '', NO_SAVE],
];

describe.skipIf(!isBuilt).concurrent('listings of a node: kp-diff says in short what is wrong, given', () => {
  test.each(DUMPS.map((row, index) => [...row, index] as const))(
    '%s',
    async (_title, parts, report, says, index) => {
      const own = join(folder, `dump-${index}`);
      mkdirSync(own);
      writeParts(join(own, 'a.txt'), parts);
      const run = await runMeasured('kp-diff', [hello, 'a.txt', '--node', 'node-a'], own);
      rmSync(own, { recursive: true });
      expect([run.code, run.stdout.split('\n')[0], headOf(run.stderr)]).toEqual([
        report === '' ? 2 : 1,
        report,
        says,
      ]);
      expectBounded(run);
    },
  );
});

describe.skipIf(!isBuilt)('files that options name: kp-compile ends with 2 and writes nothing, given', () => {
  test.each<[string, string, readonly Part[], string]>([
    [
      'an address',
      '--interfaces',
      ['1: eth0    inet ', LETTERS, ' scope global eth0\n'],
      'kp-compile: a.txt: interface eth0: "aaa…(99999800 characters)…aaa" is not ADDRESS/LENGTH\n',
    ],
    [
      'brackets',
      '--interfaces',
      [['[', 50 * MEGA]],
      'kp-compile: --interfaces: a.txt: 50000000 characters of JSON; at most 16777216 are read\n',
    ],
    [
      'lines',
      '--interfaces',
      [['hello\n', 2 * MEGA]],
      'kp-compile: --interfaces: a.txt:1: not a line of ip -o addr or ip addr\n',
    ],
    [
      'a text',
      '--config',
      [LETTERS],
      "a.txt: error: no KubeProxyConfiguration in this file\na.txt:1:1: error: one object's text is 100000000 bytes long; at most 16777216 are read\n  help: raise --max-yaml-bytes, if there is reason to\n",
    ],
  ])('%s (%s)', async (_title, option, parts, says) => {
    const own = join(folder, 'own');
    mkdirSync(own);
    writeParts(join(own, 'a.txt'), parts);
    const args = [hello, '--node', 'node-a', option, 'a.txt', '--out-dir', 'out'];
    const run = await runMeasured('kp-compile', args, own);
    const left = readdirSync(own);
    rmSync(own, { recursive: true });
    expect([run.code, run.stdout, headOf(run.stderr)]).toEqual([2, '', says]);
    expectBounded(run);
    expect(left.sort()).toEqual(['a.txt', 'kp-compile.usage']);
  });

  test.each([
    ['--interfaces', '/dev/zero', 'kp-compile: --interfaces: /dev/zero: is a device, not a file\n'],
    ['--check', '/dev/zero', 'kp-compile: --check: /dev/zero: is a device, not a file\n'],
    [
      '--interfaces',
      'pipe',
      'kp-compile: --interfaces: pipe: is a pipe with nothing in it and nobody writing to it\n',
    ],
    ['--check', 'pipe', 'kp-compile: --check: pipe: is a pipe with nothing in it and nobody writing to it\n'],
  ])('what never ends (%s %s)', async (option, file, says) => {
    const own = join(folder, 'own');
    mkdirSync(own);
    execFileSync('sh', ['-c', 'mkfifo "$0"', join(own, 'pipe')]);
    const run = await runMeasured('kp-compile', [hello, '--node', 'node-a', option, file], own);
    rmSync(own, { recursive: true });
    expect([run.code, run.stdout, run.stderr]).toEqual([2, '', says]);
  });

  test('a committed file of one line, of which the difference shows a part', async () => {
    const own = join(folder, 'own');
    mkdirSync(own);
    writeParts(join(own, 'golden'), ['\x1b[2J', LETTERS, '\n']);
    const run = await runMeasured('kp-compile', [hello, '--node', 'node-a', '--check', 'golden'], own);
    rmSync(own, { recursive: true });
    expect([run.code, run.stderr]).toEqual([1, '']);
    expect(headOf(run.stdout)).toMatch(/^--- golden\n\+\+\+ compiled\n/);
    expect(run.stdout).toContain('\n-\\x1b[2Jaaa');
    expect(run.stdout).not.toMatch(RAW);
    expect(run.stdout.length).toBeLessThan(50_000);
  });
});
