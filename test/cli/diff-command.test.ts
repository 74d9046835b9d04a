import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { schemaErrors } from '../support/json-schema.ts';
import { run, runDiff } from '../support/run.ts';
import { temporaryFolder } from '../support/temporary.ts';

const folder = temporaryFolder();
const root = join(import.meta.dirname, '..', '..');
const manifests = join(root, 'fixtures', 'hello1');
const at = (...names: string[]) => join(folder, ...names);
const NODE = ['--node', 'node-a'];

const MISSING =
  '-A KUBE-SVC-2V5PDE3Q62WJ3RNU -m comment --comment "cyclinder/hello1-service -> 10.244.1.38:8080" -m statistic --mode random --probability 0.33333333349 -j KUBE-SEP-YENGSOSF6TP2X7WS';
const FINDING = 'cyclinder/hello1-service: endpoint 10.244.1.38:8080 is not programmed\n';
const NOT_COMPARED = 'IPv6: not compared (the dump holds no IPv6 rules)';
const SUMMARY = `1 of 5 service ports differs (IPv4); ${NOT_COMPARED}\n`;

let good = '';
let good6 = '';

beforeAll(async () => {
  good = (await run([manifests, ...NODE])).stdout;
  good6 = (await run([manifests, ...NODE, '--family', 'ipv6'])).stdout;
  writeFileSync(at('good'), good);
  writeFileSync(at('good6'), good6);
  writeFileSync(at('drift'), good.replace(`${MISSING}\n`, ''));
  writeFileSync(at('drift6'), good6.replace(/^-A KUBE-MARK-MASQ .*\n/m, ''));
});

describe('reports', () => {
  test('text is the default', async () => {
    expect(await runDiff([at('good'), at('drift')])).toEqual({
      code: 1,
      stdout: `${FINDING}\n${SUMMARY}`,
      stderr: '',
    });
  });

  test('-v shows the rules', async () => {
    const { stdout } = await runDiff([at('good'), at('drift'), '-v']);
    expect(stdout).toContain(`${FINDING}    + -t nat ${MISSING}\n`);
    const { stdout: surplus } = await runDiff([at('drift'), at('good'), '-v']);
    expect(surplus).toContain(`    - -t nat ${MISSING}\n`);
  });

  test('-q leaves the exit code alone', async () => {
    expect(await runDiff([at('good'), at('drift'), '-q'])).toEqual({ code: 1, stdout: '', stderr: '' });
    expect(await runDiff([at('good'), at('good'), '-q'])).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  test('--stat counts', async () => {
    const { code, stdout } = await runDiff([at('good'), at('drift'), '--stat']);
    expect([code, stdout]).toEqual([1, `                  IPv4\nendpoint-missing     1\n${SUMMARY}`]);
  });

  test('unified: the diff alone on stdout, the line of counts on stderr; -U implies it', async () => {
    const { code, stdout, stderr } = await runDiff([at('good'), at('drift'), '-U', '0']);
    expect([code, stderr]).toEqual([1, SUMMARY]);
    expect(stdout).toBe(
      `--- expected (IPv4)\n+++ actual (IPv4)\n@@ -2,1 +1,0 @@ nat/KUBE-SVC-2V5PDE3Q62WJ3RNU\n-${MISSING}\n`,
    );
    const wide = await runDiff([at('good'), at('drift'), '--output', 'unified']);
    expect(wide.stdout).toContain('@@ -1,4 +1,3 @@ nat/KUBE-SVC-2V5PDE3Q62WJ3RNU\n');
    const same = await runDiff([at('good'), at('good'), '--output', 'unified']);
    expect([same.code, same.stdout]).toEqual([0, '']);
  });

  test('json is what the schema says, and names the place in the manifests', async () => {
    const schema = JSON.parse(readFileSync(join(root, 'schema', 'kp-diff-1.schema.json'), 'utf8'));
    const { code, stdout } = await runDiff([manifests, at('drift'), ...NODE, '--output', 'json']);
    const report = JSON.parse(stdout);
    expect([code, report.result]).toEqual([1, 'different']);
    expect(schemaErrors(report, schema, true)).toEqual([]);
    expect(report.expected).toEqual({ kind: 'manifests', sources: [manifests] });
    expect(report.findings[0].place).toEqual({
      file: join(manifests, 'cluster.yaml'),
      line: expect.any(Number),
    });
    const same = await runDiff([at('good'), at('good'), '--output', 'json']);
    expect([same.code, JSON.parse(same.stdout).result]).toEqual([0, 'same']);
  });

  test('github annotates the Service', async () => {
    const { stdout } = await runDiff([manifests, at('drift'), ...NODE, '--output', 'github']);
    expect(stdout).toMatch(
      /^::error file=\S+cluster\.yaml,line=\d+,title=cyclinder\/hello1-service \(IPv4\)::endpoint 10\.244\.1\.38:8080 is not programmed\n/,
    );
  });

  test('colours on a terminal, and where they are asked for', async () => {
    const start = '\x1b[';
    const colored = async (terminal: boolean, ...options: string[]) =>
      (await runDiff([at('good'), at('drift'), ...options], { terminal })).stdout.includes(start);
    expect(await Promise.all([colored(false), colored(true)])).toEqual([false, true]);
    expect(await colored(true, '--color', 'never')).toBe(false);
    expect(await colored(false, '--color', 'always', '-U1')).toBe(true);
  });

  test('a dump of foreign rules alone is that of a node without kube-proxy', async () => {
    writeFileSync(at('foreign'), '*filter\n:INPUT ACCEPT [0:0]\n-A INPUT -i lo -j ACCEPT\nCOMMIT\n');
    const { code, stdout } = await runDiff([at('good'), at('foreign')]);
    expect(code).toBe(1);
    expect(stdout).toContain(
      'node: no kube-proxy rules in the IPv4 filter table; 5 service ports have none: ',
    );
    // A part of a dump in which nothing of kube-proxy's is to be expected says nothing.
    writeFileSync(at('raw'), '*raw\n:PREROUTING ACCEPT [0:0]\nCOMMIT\n');
    expect((await runDiff([at('good'), at('raw')])).code).not.toBe(1);
  });

  test('what cannot be compared: exit 2, the reason on stderr, nothing on stdout but JSON', async () => {
    const hidden = at('hidden');
    // An old iptables shows neither ports nor marks.
    const shown = / -m (?:tcp|udp) --dport \d+| -m mark --mark 0x4000\/0x4000/g;
    writeFileSync(hidden, good.replaceAll(shown, ''));
    const text = await runDiff([at('good'), hidden]);
    expect([text.code, text.stdout]).toEqual([2, '']);
    expect(text.stderr).toContain('kp-diff: cannot compare: ');
    const quiet = await runDiff([at('good'), hidden, '-q']);
    expect([quiet.code, quiet.stderr]).toEqual([2, text.stderr]);
    const json = await runDiff([at('good'), hidden, '--output', 'json', '--patch', at('never')]);
    expect([json.code, JSON.parse(json.stdout).result]).toEqual([2, 'incomparable']);
    expect(() => statSync(at('never'))).toThrow();
  });

  test('a reader that goes away changes nothing of the answer', async () => {
    const { main } = await import('../../src/cli/kp-diff.ts');
    const code = await main([at('good'), at('drift')], {
      stdin: async function* () {},
      writeOut: () => Promise.reject(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })),
      writeError: () => {},
      outIsTerminal: false,
      errorIsTerminal: false,
      env: {},
    });
    expect(code).toBe(1);
  });
});

describe('patches', () => {
  test('- prints the patch, the report goes to stderr', async () => {
    const { code, stdout, stderr } = await runDiff([at('good'), at('drift'), '--patch', '-']);
    expect([code, stderr]).toEqual([1, `${FINDING}\n${SUMMARY}`]);
    expect(stdout).toMatch(/^\*nat\n:KUBE-SVC-2V5PDE3Q62WJ3RNU - \[0:0\]\n(?:-A .*\n){4}COMMIT\n$/);
    expect(stdout).toContain(MISSING);
    const back = await runDiff([at('good'), at('drift'), '--reverse-patch', '-', '-q']);
    expect(back.stdout).not.toContain(MISSING);
    expect(back.stderr).toBe('');
  });

  test('a folder gets what is needed, and a script', async () => {
    const { code, stdout } = await runDiff([
      at('good'),
      at('drift'),
      '--patch',
      at('patch'),
      '--reverse-patch',
      at('undo'),
    ]);
    expect([code, stdout]).toEqual([1, `${FINDING}\n${SUMMARY}`]);
    expect(readdirSync(at('patch')).sort()).toEqual(['apply.sh', 'patch.v4']);
    expect(readFileSync(at('patch', 'patch.v4'), 'utf8')).toContain(MISSING);
    expect(readFileSync(at('undo', 'patch.v4'), 'utf8')).not.toContain(MISSING);
    expect(statSync(at('patch', 'apply.sh')).mode & 0o111).toBe(0o111);
    expect(readFileSync(at('patch', 'apply.sh'), 'utf8')).toBe(`\
#!/bin/sh
# Written by kp-diff. Run it as root on the node whose rules were compared.
set -eu
cd -- "$(dirname -- "$0")"
# Every patch is tried first; each is then applied whole or not at all.
iptables-restore -w 5 --noflush --test < patch.v4
iptables-restore -w 5 --noflush < patch.v4
`);
  });

  test('where nothing differs there is none, and an old one goes', async () => {
    mkdirSync(at('old'));
    writeFileSync(at('old', 'patch.v6'), 'of yesterday\n');
    const { code } = await runDiff([at('good'), at('good'), '--patch', at('old')]);
    expect([code, readdirSync(at('old'))]).toEqual([0, ['apply.sh']]);
    expect(readFileSync(at('old', 'apply.sh'), 'utf8')).toMatch(/# Nothing to do\.\n$/);
    const stdout = await runDiff([at('good'), at('good'), '--patch', '-']);
    expect([stdout.code, stdout.stdout]).toEqual([0, '']);
  });

  test('stdout holds one family', async () => {
    const sides = [at('good'), at('drift'), '--expected', at('good6'), '--actual', at('drift6')];
    const both = await runDiff([...sides, '--patch', '-']);
    expect([both.code, both.stdout]).toEqual([2, '']);
    expect(both.stderr).toContain('kp-diff: --patch -: both families differ; choose one with --family');
    const one = await runDiff([...sides, '--patch', '-', '--family', 'ipv6']);
    expect([one.code, one.stdout]).toEqual([1, expect.stringContaining('-A KUBE-MARK-MASQ ')]);
    const files = await runDiff([...sides, '--patch', at('two')]);
    expect([files.code, readdirSync(at('two')).sort()]).toEqual([1, ['apply.sh', 'patch.v4', 'patch.v6']]);
  });

  test('a rule that no patch can hold: exit 2 and the reason', async () => {
    const comment = '"cyclinder/hello1-service -> 10.244.1.38:8080"';
    writeFileSync(at('unwritable'), good.replace(comment, `"${'x'.repeat(300)}"`));
    const { code, stdout, stderr } = await runDiff([at('unwritable'), at('drift'), '--patch', '-']);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^kp-diff: --patch: no patch for ipv4: the rule ".*" cannot be written: /);
  });

  test.skipIf(!existsSync('/proc/self'))('a folder that can never be made: exit 2, at once', async () => {
    const { code, stderr } = await runDiff([at('good'), at('drift'), '--patch', '/proc/nowhere/patch']);
    expect(code).toBe(2);
    expect(stderr).toContain('kp-diff: cannot write to /proc/nowhere/patch: ');
  });

  test('a folder that cannot be written: exit 2, no report', async () => {
    const { code, stdout, stderr } = await runDiff([at('good'), at('drift'), '--patch', at('good', 'x')]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('kp-diff: cannot write to ');
  });
});

describe('options', () => {
  test.each([
    [[], 'name what is expected and what there is: kp-diff <expected> <actual>'],
    [['a'], 'what is "a" to be compared with? name both: kp-diff <expected> <actual>'],
    [['a', 'b', 'c'], 'two sides are compared, and 3 files were named: '],
    [
      ['a', 'b', 'c'],
      'where a side has several files, say of each which side it is on: kp-diff --expected a --expected b --actual c\n',
    ],
    [['a', '--actual', 'b', '--expected', 'c'], 'on which side is "a"? say --expected or --actual before it'],
    [['-', '-'], 'standard input (-) can be read once'],
    [['a', 'b', '--stat', '--output', 'json'], '--stat counts, --output and -U show: choose one'],
    [['a', 'b', '-U', '3', '--output', 'json'], '-U is for --output unified, not for json'],
    [
      ['a', 'b', '-U', 'x'],
      "option '-U, --context <lines>' argument 'x' is invalid. It is not a number of lines.",
    ],
    [
      ['a', 'b', '--patch', '-', '--reverse-patch', '-'],
      '--patch - and --reverse-patch -: stdout holds one of them',
    ],
    [
      ['a', 'b', '--patch', 'p', '--reverse-patch', 'p'],
      '--patch and --reverse-patch write files of the same names: name two folders',
    ],
    [
      ['a', 'b', '--output', 'xml'],
      "option '--output <format>' argument 'xml' is invalid. Allowed choices are text, unified, json, github.",
    ],
    [['a', 'b', '--scope', 'mine'], "option '--scope <scope>' argument 'mine' is invalid."],
    [['a', 'b', '--kube-version', '1.2'], '--kube-version: "1.2" is not a version known here'],
    [['a', 'b', '--iptables-masquerade-bit', '77'], '--iptables-masquerade-bit: '],
    [['a', 'b', '--nope'], "unknown option '--nope'"],
  ])('%j is refused', async (args, message) => {
    const { code, stdout, stderr } = await runDiff(args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(`kp-diff: ${message}`);
  });

  test('options of the node reach the compiler', async () => {
    const { code, stderr } = await runDiff([manifests, at('good'), '--node', 'node-b']);
    expect([code, stderr]).toEqual([expect.any(Number), expect.any(String)]);
    const other = await runDiff([manifests, at('good'), ...NODE, '--iptables-masquerade-bit', '15']);
    expect(other.code).toBe(1);
  });

  test('--help names every option, both ends of the exit codes and an example of each use', async () => {
    const { code, stdout, stderr } = await runDiff(['--help']);
    expect(stdout).toContain('with the options above');
    expect([code, stderr]).toEqual([0, '']);
    for (const word of [
      '--actual',
      '--expected',
      '--output',
      '-U,',
      '--stat',
      '--scope',
      '--patch',
      '--reverse-patch',
    ]) {
      expect(stdout).toContain(`  ${word}`);
    }
    for (const word of [
      '--node',
      '--config',
      '--kube-version',
      '--no-nfacct',
      '--cluster-cidr',
      '--hostname-override',
    ]) {
      expect(stdout).toContain(`  ${word}`);
    }
    expect(stdout).toContain('iptables-save | kp-diff manifests/ - --node node-a');
    expect(stdout).toMatch(
      /Exit codes:\n {2}0 {3}no difference\n {2}1 {3}differences\n {2}2 {3}.*\n {2}70 .*\n$/,
    );
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(115);
  });

  test('--version is that of the package', async () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(await runDiff(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });
});
