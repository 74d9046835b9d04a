/** The built command, as a shell starts it. `npm test` builds it first. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { run } from '../support/run.ts';
import { workspace } from './support/workspace.ts';

const root = join(import.meta.dirname, '..', '..');
const space = workspace();

function shell(script: string) {
  const { status, stdout, stderr } = spawnSync('bash', ['-o', 'pipefail', '-c', script], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '', FORCE_COLOR: '', OUT: space.path('out') },
  });
  return { status, stdout, stderr };
}

const HELLO = 'node bin/kp-compile.js fixtures/hello1 --node node-a';

const DRIFT = 'node bin/kp-diff.js fixtures/drift/cluster.yaml fixtures/drift/node.save --node node-a';

// `<(…)` and pipefail are not for every sh.
const hasBash = spawnSync('bash', ['-c', 'true']).status === 0;
if (!hasBash) process.stderr.write('Skipped: tests of the built kp-compile, for there is no bash.\n');

describe.skipIf(!hasBash || !existsSync(join(root, 'dist', 'cli', 'kp-compile.js')))(
  'the built kp-compile',
  () => {
    test('prints what the sources print', async () => {
      const { stdout } = await run([join(root, 'fixtures', 'hello1'), '--node', 'node-a']);
      expect(shell(HELLO)).toEqual({ status: 0, stdout, stderr: '' });
    });

    test('prints help and version', async () => {
      expect(shell('node bin/kp-compile.js --help')).toEqual({
        status: 0,
        stdout: (await run(['--help'])).stdout,
        stderr: '',
      });
      expect(shell('node bin/kp-compile.js --version').stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    });

    test.each([
      [`${HELLO} -q`, 0],
      ['node bin/kp-compile.js fixtures/no-cluster-cidr --node node-a --strict', 1],
      [`${HELLO} --check fixtures/hello1/cluster.yaml`, 1],
      ['node bin/kp-compile.js', 2],
      ['node bin/kp-compile.js --frobnicate', 2],
      ['node bin/kp-compile.js nowhere.yaml', 2],
    ])('%s ends with %i', (script, code) => {
      expect(shell(script).status).toBe(code);
    });

    test('reads a pipe', () => {
      const piped = shell(
        'cat fixtures/json-list/cluster.json | node bin/kp-compile.js - --cluster-cidr 10.244.0.0/16',
      );
      expect(piped).toMatchObject({ status: 0, stderr: '' });
      expect(piped.stdout).toContain('"press/news:http cluster IP"');
    });

    test('says nothing when the reader of its output goes away', () => {
      expect(shell(`${HELLO} | head -n 1`)).toEqual({
        status: 0,
        stdout: '# node node-a, kube-proxy 1.36, iptables mode, IPv4\n',
        stderr: '',
      });
      // Closed before the first line, and with more output than a pipe holds.
      expect(shell(`node bin/kp-compile.js fixtures/large-cluster --node node-a | true`)).toMatchObject({
        status: 0,
        stderr: '',
      });
      expect(shell(`${HELLO} 2>&1 >&- | cat`).stdout).not.toContain('    at ');
    });

    test.skipIf(!existsSync('/dev/full'))('says so when its output cannot be written', () => {
      for (const command of [HELLO, 'node bin/kp-compile.js --help', 'node bin/kp-diff.js --help', DRIFT]) {
        const [name = ''] = /kp-\w+/.exec(command) ?? [];
        expect(shell(`${command} > /dev/full`), command).toEqual({
          status: 2,
          stdout: '',
          stderr: `${name}: cannot write to standard output: ENOSPC: no space left on device, write\n`,
        });
      }
    });

    test('leaves only whole files in --out-dir', () => {
      expect(shell(`${HELLO} --out-dir "$OUT"`)).toEqual({ status: 0, stdout: '', stderr: '' });
      expect(readdirSync(space.path('out')).sort()).toEqual(['rules.v4', 'rules.v6']);
      expect(shell(`${HELLO} --check "$OUT"`)).toEqual({ status: 0, stdout: '', stderr: '' });
    });

    test('has no colours in a pipe', () => {
      const { stderr } = shell('node bin/kp-compile.js fixtures/no-cluster-cidr --node node-a');
      expect(stderr).toMatch(/^warning: no IPv4 cluster CIDR is known/);
    });
  },
);
