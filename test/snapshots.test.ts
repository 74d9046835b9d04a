/**
 * What kp-compile makes of every fixture, byte for byte, in the oldest and the newest version, both formats and
 * families, and what it says about it under -v. `npm run snapshots` rewrites the files; the difference is to be
 * read like code.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Fixture, fixtures } from './support/fixtures.ts';
import { run } from './support/run.ts';
import { temporaryFolder } from './support/temporary.ts';

const ROOT = join(import.meta.dirname, '..');
const SNAPSHOTS = join(ROOT, 'snapshots');
const VERSIONS = ['1.28', '1.36'];
const FAMILIES = ['v4', 'v6'] as const;
const update = process.env.UPDATE_SNAPSHOTS === '1';

/** The prefix of a format's files in snapshots/. */
const FORMATS = { save: 'rules', restore: 'restore' } as const;

const all = fixtures('all');
const folder = temporaryFolder();

beforeAll(() => {
  if (update) rmSync(SNAPSHOTS, { recursive: true, force: true });
});

test('every snapshot has its fixture', () => {
  if (update) return;
  expect(readdirSync(SNAPSHOTS).sort()).toEqual(all.map(({ name }) => name));
});

describe.each(all.map((fixture) => [fixture.name, fixture] as const))('%s', (name, fixture) => {
  test('has a snapshot of every version, and of no other', () => {
    if (update) return;
    expect(readdirSync(join(SNAPSHOTS, name)).sort()).toEqual(VERSIONS);
  });

  test.each(VERSIONS)('compiles to its snapshot as kube-proxy %s', async (version) => {
    const actual = await compileFixture(fixture, version);
    const place = join(SNAPSHOTS, name, version);
    if (update) {
      mkdirSync(place, { recursive: true });
      for (const [file, text] of actual) writeFileSync(join(place, file), text);
    }
    expect(existsSync(place) ? readdirSync(place).sort() : []).toEqual([...actual.keys()].sort());
    for (const [file, text] of actual) {
      expectSameLines(text, readFileSync(join(place, file), 'utf8'), file);
    }
  });
});

async function compileFixture(fixture: Fixture, version: string): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  for (const [format, prefix] of Object.entries(FORMATS)) {
    const output = join(folder, fixture.name, version, format);
    // From the root, so that messages name the same files on every machine.
    const { code, stdout, stderr } = await run([
      `fixtures/${fixture.name}`,
      ...['--node', 'node-a', '--kube-version', version, '--format', format, '--out-dir', output, '-v'],
    ]);
    expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: '' });
    for (const family of FAMILIES) {
      files.set(`${prefix}.${family}`, readFileSync(join(output, `rules.${family}`), 'utf8'));
    }
    // What there is in ipvs mode beside rules is the same in both formats.
    for (const name of readdirSync(output)) {
      if (!name.startsWith('rules.')) files.set(name, readFileSync(join(output, name), 'utf8'));
    }
    files.set('messages.txt', stderr);
  }
  return files;
}

/** The first line that differs says more than two whole rulesets side by side. */
function expectSameLines(actual: string, expected: string, file: string): void {
  if (actual === expected) return;
  const lines = expected.split('\n');
  const index = actual.split('\n').findIndex((line, place) => line !== lines[place]);
  const where = `${file}, line ${index + 1} (npm run snapshots rewrites the files)`;
  expect(actual.split('\n')[index], where).toBe(lines[index]);
  expect(actual, where).toBe(expected);
}
