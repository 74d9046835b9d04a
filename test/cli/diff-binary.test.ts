import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const binary = join(root, 'bin', 'kp-diff.js');
const manifests = join(root, 'fixtures', 'hello1');
const built = existsSync(join(root, 'dist', 'cli', 'kp-diff.js'));

const start = (script: string) =>
  spawnSync('bash', ['-c', script], {
    encoding: 'utf8',
    env: { ...process.env, DIFF: binary, COMPILE: join(root, 'bin', 'kp-compile.js'), IN: manifests },
  });

const hasBash = spawnSync('bash', ['-c', 'true']).status === 0;
if (!hasBash) process.stderr.write('Skipped: tests of the built kp-diff, for there is no bash.\n');

describe.skipIf(!built || !hasBash)('the built kp-diff (npm run build makes it)', () => {
  test('compares what a pipe and standard input bring', () => {
    const { status, stdout, stderr } = start(
      'node "$COMPILE" "$IN" --node node-a | node "$DIFF" <(cat "$IN/cluster.yaml") - --config "$IN/kube-proxy.yaml" --node node-a',
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('no difference in 5 service ports (IPv4)');
  });

  test.each([
    ['node "$DIFF" --help', 0],
    ['node "$COMPILE" "$IN" --node node-a | grep -v KUBE-SEP- | node "$DIFF" "$IN" - --node node-a', 1],
    ['node "$DIFF" "$IN"', 2],
    ['echo hello | node "$DIFF" "$IN" - --node node-a', 2],
  ])('%s ends with %i', (script, code) => {
    expect(start(script).status).toBe(code);
  });
});
