import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findCircle, type Import, importSpecifiers, readImports } from './support/import-graph.ts';

/**
 * The way the data travels, as folders: each may know those named here, itself, and what all share (SHARED).
 * Nothing may know cli/; kube/ and netfilter/ meet in compile/ only. src/index.ts is the library's entry.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'diagnostics.ts': [],
  'escape.ts': [],
  load: [],
  kube: [],
  netfilter: [],
  compile: ['kube', 'netfilter'],
  diff: ['netfilter', 'compile', 'kube'],
  report: ['diff', 'netfilter'],
  'index.ts': ['load', 'kube', 'netfilter', 'compile', 'diff', 'report'],
  cli: ['load', 'kube', 'netfilter', 'compile', 'diff', 'report', 'index.ts'],
};

/** What every folder may know: the form of messages, and how text from the input is made safe to print. */
const SHARED: readonly string[] = ['diagnostics.ts', 'escape.ts'];

/** Files and the process belong to cli/ and load/, the terminal to cli/; the rest is pure. */
const MAY_USE: Readonly<Record<string, readonly string[]>> = {
  load: ['js-yaml', 'yaml', 'node:buffer', 'node:fs', 'node:net', 'node:path', 'node:zlib'],
  kube: ['ipaddr.js', 'node:net'],
  netfilter: ['ipaddr.js', 'node:net'],
  compile: ['ipaddr.js', 'node:crypto', 'node:net'],
  diff: ['ipaddr.js'],
  // chalk: the type of the instance that is handed in.
  report: ['chalk', 'diff'],
  cli: [
    'chalk',
    'commander',
    'diff',
    'node:fs',
    'node:os',
    'node:path',
    'node:process',
    'node:url',
    'node:util',
  ],
};

const source = join(import.meta.dirname, '..', 'src');
const imports = readImports(source);

describe('the folders of src/', () => {
  test('each folder and file at the top has its place in the table', () => {
    const unknown = new Set(imports.map(({ from }) => top(from)).filter((name) => !(name in MAY_IMPORT)));
    expect([...unknown]).toEqual([]);
  });

  test('import only what lies before them on the way of the data', () => {
    const wrong = imports.filter(
      ({ from, to, relative }) =>
        relative &&
        top(from) !== top(to) &&
        !SHARED.includes(top(to)) &&
        MAY_IMPORT[top(from)]?.includes(top(to)) !== true,
    );
    expect(wrong.map(arrow)).toEqual([]);
  });

  test('leave files and the terminal to load/ and cli/', () => {
    const wrong = imports.filter(
      ({ from, to, relative }) => !relative && MAY_USE[top(from)]?.includes(to) !== true,
    );
    expect(wrong.map(arrow)).toEqual([]);
  });

  test('have no circle of imports, types included', () => {
    expect(findCircle(imports)?.join(' → ')).toBeUndefined();
  });

  test('import files that exist, by their whole name', () => {
    const wrong = imports.filter(({ to, relative }) => relative && !existsSync(join(source, to)));
    expect(wrong.map(arrow)).toEqual([]);
  });
});

describe('the reader of imports', () => {
  test('sees every form of import', () => {
    const text = [
      "import 'node:a';",
      "import type { A } from './b.ts';",
      'import {\n  type B,\n  c,\n} from "../c.ts";',
      "export * from './d.ts';",
      "export { e } from './e.ts';",
      "  const { f } = await import('./f.ts');",
      "export const g = 'from \\'./not.ts\\'';",
      "export type H = import('./h.ts').H;",
    ].join('\n');
    expect([...importSpecifiers(text)].sort()).toEqual(
      ['../c.ts', './b.ts', './d.ts', './e.ts', './f.ts', './h.ts', 'node:a'].sort(),
    );
  });

  test('finds a circle through three files', () => {
    const edge = (from: string, to: string): Import => ({ from, to, relative: true });
    expect(findCircle([edge('a', 'b'), edge('b', 'c'), edge('c', 'b')])).toEqual(['b', 'c', 'b']);
    expect(findCircle([edge('a', 'b'), edge('b', 'c'), edge('a', 'c')])).toBeUndefined();
  });

  test('reads the sources', () => {
    expect(imports.length).toBeGreaterThan(0);
  });
});

function top(path: string): string {
  return path.split('/')[0] ?? path;
}

function arrow({ from, to }: Import): string {
  return `${from} → ${to}`;
}
