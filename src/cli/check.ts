import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { ChalkInstance } from 'chalk';
import { createTwoFilesPatch } from 'diff';
import { escapeText } from '../escape.ts';
import type { LoadLimits } from '../load/index.ts';
import { readOptionFile } from './read-option-file.ts';

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
export async function checkGolden(
  path: string,
  expected: Expected,
  limits: Partial<LoadLimits>,
  colors: ChalkInstance,
): Promise<string> {
  const compareFile = async (file: string, chunks: Iterable<string>) =>
    compare(escapeText(file, MAX_LINE), await readOptionFile('--check', file, limits), chunks, colors);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) {
    return compareFile(path, expected.single());
  }
  const differences: string[] = [];
  for (const [name, chunks] of expected.files()) {
    differences.push(await compareFile(join(path, name), chunks));
  }
  return differences.join('');
}

function compare(path: string, text: string, chunks: Iterable<string>, colors: ChalkInstance): string {
  const golden = withoutComments(printable(text.replaceAll('\r\n', '\n')));
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

/** Longer than any line of ours. */
const MAX_LINE = 10_240;

/** Each line as it may be shown on a terminal; those of rules stay as they are. */
function printable(text: string): string {
  return text.replace(/[^\n]+/g, (line) => escapeText(line, MAX_LINE));
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
