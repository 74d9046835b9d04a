import { closeSync, mkdirSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeAll } from './io.ts';
import { UsageError } from './usage-error.ts';

/**
 * Writes files into a folder (made if missing) so that each is there whole or as it was before: all are
 * written beside their names first and renamed at the end. Throws a UsageError where that cannot be done.
 * Names in `executable` may be run.
 */
export function writeFiles(
  directory: string,
  files: ReadonlyMap<string, Iterable<string>>,
  executable: ReadonlySet<string> = new Set(),
): void {
  const temporary: { from: string; to: string }[] = [];
  try {
    makeFolder(directory);
    for (const [name, chunks] of files) {
      const to = join(directory, name);
      if (statSync(to, { throwIfNoEntry: false })?.isDirectory() === true) {
        throw new UsageError(`${to} is a directory`);
      }
      const from = join(directory, `.${name}.${process.pid}.tmp`);
      const file = openSync(from, 'wx', executable.has(name) ? 0o755 : 0o644);
      temporary.push({ from, to });
      try {
        for (const chunk of chunks) writeAll(file, chunk);
      } finally {
        closeSync(file);
      }
    }
    for (const { from, to } of temporary) renameSync(from, to);
  } catch (error) {
    for (const { from } of temporary) rmSync(from, { force: true });
    if (error instanceof Error && 'code' in error) {
      throw new UsageError(`cannot write to ${directory}: ${error.message}`);
    }
    throw error;
  }
}

/** Node's own recursive way never ends where a folder takes no entries, as in /proc. */
function makeFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent);
  try {
    mkdirSync(path);
  } catch (error) {
    // Somebody else may have made it meanwhile.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
  }
}
