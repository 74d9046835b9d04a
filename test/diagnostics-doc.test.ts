/** Codes are part of the interface: each one is explained in docs/diagnostics.md, those of findings in docs/findings.md. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');

/** Folders whose messages are Diagnostics; diff/ has findings, which are something else. */
const FOLDERS = ['load', 'kube', 'compile', 'cli', 'netfilter'];

const CODE = `'([a-z]+(?:-[a-z0-9]+)+)'`;

/** How a code stands in the source: as a member, behind its severity, as what a helper is called with, in a union. */
const PATTERNS = [
  String.raw`\bcode(?:: string)?(?::| =) (?:[^;\n]*\? )?${CODE}`,
  String.raw`'(?:error|warning|note)',\s*${CODE}`,
  String.raw`\b(?:warn|tell|note|inputProblem|report)\(\s*(?:[\w.]+,\s*)?${CODE}`,
  String.raw`^ {2}\| ${CODE}`,
].map((pattern) => new RegExp(pattern, 'gm'));

function codesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts'))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .filter((source) => /\bDiagnostic\b|diagnostics\.ts|fields\.ts|ProblemCode/.test(source))
    .flatMap((source) =>
      PATTERNS.flatMap((pattern) => [...source.matchAll(pattern)].map((match) => match[1] ?? '')),
    );
}

const text = readFileSync(join(root, 'docs', 'diagnostics.md'), 'utf8');
const explained = [...text.matchAll(/^\| `([^`]+)` \|/gm)].map((match) => match[1] ?? '');

test('every code in the source is explained', () => {
  const codes = new Set(FOLDERS.flatMap((folder) => codesIn(join(root, 'src', folder))));
  expect(codes.size).toBeGreaterThan(60);
  expect([...codes].filter((code) => !explained.includes(code)).sort()).toEqual([]);
});

test('no code is explained twice, or stands in no source', () => {
  expect(explained.filter((code, index) => explained.indexOf(code) !== index)).toEqual([]);
  const sources = FOLDERS.flatMap((folder) =>
    readdirSync(join(root, 'src', folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8')),
  ).join('\n');
  expect(explained.filter((code) => !sources.includes(`'${code}'`))).toEqual([]);
});

test('every code of a finding is explained in docs/findings.md, once, and stands in the schema', () => {
  const source = readFileSync(join(root, 'src', 'diff', 'comparison.ts'), 'utf8');
  const [union = ''] = /export type ProblemCode =[^;]*;/.exec(source) ?? [];
  const codes = [...union.matchAll(/'([a-z-]+)'/g)].map((match) => match[1] ?? '').sort();
  expect(codes.length).toBeGreaterThan(30);
  const findings = readFileSync(join(root, 'docs', 'findings.md'), 'utf8');
  expect([...findings.matchAll(/^\| `([^`]+)` \|/gm)].map((match) => match[1] ?? '').sort()).toEqual(codes);
  const schema = readFileSync(join(root, 'schema', 'kp-diff-1.schema.json'), 'utf8');
  expect(codes.filter((code) => !schema.includes(`"${code}"`))).toEqual([]);
});
