import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ChalkInstance } from 'chalk';
import { createTwoFilesPatch } from 'diff';
import { UsageError } from './usage-error.ts';

/** What would be written: by file name for a folder, under the name of the golden file itself for a file. */
export interface Expected {
  /** What would go to stdout. */
  readonly single: () => Iterable<string>;
  /** What --out-dir would write. */
  readonly files: () => ReadonlyMap<string, Iterable<string>>;
}

/** jsdiff is quadratic in the number of changes; beyond this the first ones have to do. */
const MAX_EDITS = 2000;
const SHOWN_WITHOUT_DIFF = 20;

/**
 * Compares golden files with what would be written, comment lines apart. Returns the unified diff, empty
 * where they are equal. Throws a UsageError where a golden file cannot be read.
 */
export function checkGolden(path: string, expected: Expected, colors: ChalkInstance): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) {
    return compare(path, expected.single(), colors);
  }
  return [...expected.files()].map(([name, chunks]) => compare(join(path, name), chunks, colors)).join('');
}

function compare(path: string, chunks: Iterable<string>, colors: ChalkInstance): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`--check: ${error instanceof Error ? error.message : String(error)}`);
  }
  const golden = withoutComments(text.replaceAll('\r\n', '\n'));
  const compiled = withoutComments([...chunks].join(''));
  if (golden === compiled) return '';
  const patch = createTwoFilesPatch(path, 'compiled', golden, compiled, '', '', {
    context: 3,
    maxEditLength: MAX_EDITS,
  });
  // undefined: more edits than that.
  const shown =
    typeof patch === 'string' ? patch.replace(/^=+\n/, '') : firstDifferences(path, golden, compiled);
  return paint(shown, colors);
}

function withoutComments(text: string): string {
  return text.replace(/^#.*(?:\n|$)/gm, '');
}

function firstDifferences(path: string, golden: string, compiled: string): string {
  const before = new Set(golden.split('\n'));
  const after = new Set(compiled.split('\n'));
  const gone = [...before].filter((line) => !after.has(line));
  const fresh = [...after].filter((line) => !before.has(line));
  const show = (lines: readonly string[], sign: string) => [
    ...lines.slice(0, SHOWN_WITHOUT_DIFF).map((line) => sign + line),
    ...(lines.length > SHOWN_WITHOUT_DIFF
      ? [`${sign}(${lines.length - SHOWN_WITHOUT_DIFF} more lines)`]
      : []),
  ];
  return [`--- ${path}`, '+++ compiled', ...show(gone, '-'), ...show(fresh, '+'), ''].join('\n');
}

function paint(patch: string, colors: ChalkInstance): string {
  if (colors.level === 0) return patch;
  return patch
    .split('\n')
    .map((line) =>
      line.startsWith('+')
        ? colors.green(line)
        : line.startsWith('-')
          ? colors.red(line)
          : line.startsWith('@@')
            ? colors.cyan(line)
            : line,
    )
    .join('\n');
}
