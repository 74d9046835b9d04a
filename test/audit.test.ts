/**
 * fixtures/drift: a node that has not what its cluster asks for. Each report of kp-diff is kept as a golden file
 * (`npm run snapshots` rewrites them), and the patch is applied in real kernels by the script that comes with it.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { schemaErrors } from './support/json-schema.ts';
import { type Backend, kernelIsMissing } from './support/kernel.ts';
import { runDiff } from './support/run.ts';
import { temporaryFolder } from './support/temporary.ts';

const ROOT = join(import.meta.dirname, '..');
const AUDIT = ['fixtures/drift/cluster.yaml', 'fixtures/drift/node.save', '--node', 'node-a'];
const dump = readFileSync(join(ROOT, 'fixtures', 'drift', 'node.save'), 'utf8');

const folder = temporaryFolder();

describe('the reports of fixtures/drift', () => {
  test.each([
    ['text', []],
    ['verbose', ['-v']],
    ['stat', ['--stat']],
    ['unified', ['--output', 'unified']],
    ['github', ['--output', 'github']],
    ['json', ['--output', 'json']],
  ] as const)('%s', async (name, options) => {
    const { code, stdout, stderr } = await runDiff([...AUDIT, ...options]);
    expect([code, stderr.replace(/^4 of 5 service ports differ.*\n/, '')]).toEqual([1, '']);
    await expect(stdout).toMatchFileSnapshot(`golden/drift/${name}.txt`);
  });

  test('json is what its schema says', async () => {
    const { stdout } = await runDiff([...AUDIT, '--output', 'json']);
    const schema = JSON.parse(readFileSync(join(ROOT, 'schema', 'kp-diff-1.schema.json'), 'utf8'));
    expect(schemaErrors(JSON.parse(stdout), schema, true)).toEqual([]);
  });

  test.each(['patch', 'reverse-patch'])('the %s', async (option) => {
    const { code, stdout } = await runDiff([...AUDIT, `--${option}`, '-']);
    expect(code).toBe(1);
    await expect(stdout).toMatchFileSnapshot(`golden/drift/${option}.txt`);
  });
});

const missing = kernelIsMissing();
if (missing !== undefined) {
  if (process.env.CI !== undefined) throw new Error(`the kernel tests have to run in CI: ${missing}`);
  process.stderr.write(`Skipped: the audit of a node in a kernel, for ${missing}.\n`);
}

describe.skipIf(missing !== undefined).each(['nft', 'legacy'] as const)('in a kernel: %s', (backend) => {
  test('the dump is one that a kernel prints; the patch makes it right and leaves the rules of others alone', async () => {
    const place = join(folder, backend);
    mkdirSync(place);
    await runDiff([...AUDIT, '--patch', join(place, 'patch'), '--reverse-patch', join(place, 'undo')]);
    const dumps = inKernel(backend, place);
    expect(tablesOf(dumps.before)).toEqual(tablesOf(dump));

    const mended = await runDiff([AUDIT[0] ?? '', dumps.after, '--node', 'node-a']);
    expect([mended.code, mended.stderr]).toEqual([0, '']);
    expect(mended.stdout).toContain('no difference in 4 service ports (IPv4)');
    expect(foreign(dumps.after)).toEqual(foreign(dump));

    // The chain that nothing leads to stays where it was, and nothing else comes back otherwise.
    const undone = await runDiff([AUDIT[1] ?? '', dumps.undone]);
    expect([undone.code, undone.stderr]).toEqual([0, '']);
    expect(foreign(dumps.undone)).toEqual(foreign(dump));
  });
});

/** Loads the dump, applies the patch by its script, then the way back; names the dumps between. */
function inKernel(backend: Backend, place: string): Record<'before' | 'after' | 'undone', string> {
  const at = (name: string) => join(place, name);
  const path = `${process.env.PATH ?? ''}:/usr/sbin:/sbin`;
  // Which back end the plain names mean is a choice of the machine's.
  mkdirSync(at('bin'));
  for (const tool of ['restore', 'save']) {
    const found = spawnSync('sh', ['-c', `command -v iptables-${backend}-${tool}`], {
      encoding: 'utf8',
      env: { ...process.env, PATH: path },
    });
    symlinkSync(found.stdout.trim(), join(at('bin'), `iptables-${tool}`));
  }
  const script = `set -eu
ip link set lo up
nfacct add ct_state_invalid_dropped_pkts
nfacct add localhost_nps_accepted_pkts
iptables-restore -w 60 < node.save
iptables-save > before
patch/apply.sh
iptables-save > after
undo/apply.sh
iptables-save > undone
`;
  writeFileSync(at('node.save'), dump);
  const { status, stdout, stderr } = spawnSync('unshare', ['-n', 'sh', '-c', script], {
    cwd: place,
    encoding: 'utf8',
    env: { ...process.env, PATH: `${at('bin')}:${path}` },
  });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
  return { before: at('before'), after: at('after'), undone: at('undone') };
}

/** Without comments, tables by name: each back end has its own order of them. */
function tablesOf(dumpOrFile: string): string[] {
  const text = dumpOrFile.includes('\n') ? dumpOrFile : readFileSync(dumpOrFile, 'utf8');
  return text
    .replace(/^#.*\n/gm, '')
    .split(/^(?=\*)/m)
    .sort();
}

/** What is not kube-proxy's, line by line. */
function foreign(dumpOrFile: string): string[] {
  const lines = tablesOf(dumpOrFile).join('').split('\n');
  const ours = /^:KUBE-(?!KUBELET|IPTABLES-HINT)|^-A KUBE-|-j KUBE-/;
  const others = lines.filter((line) => !ours.test(line));
  expect(others.length).toBeGreaterThan(60);
  return others;
}
