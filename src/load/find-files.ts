/** Which files of a directory are read, in an order that does not depend on the file system. */
import { type Dirent, readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Report } from '../diagnostics.ts';
import { describeSystemError } from './read-input.ts';

/** What is read in a directory or an archive: .yaml, .yml and .json, plain or gzip. */
export const READ_NAMES = /\.(?:ya?ml|json)(?:\.gz)?$/i;

export interface Search {
  /** Real paths of the directories that were entered, in all inputs: a link back to one of them ends there. */
  readonly entered: Set<string>;
  readonly maxFiles: number;
  readonly report: Report;
}

/**
 * All .yaml, .yml and .json files under `directory`, entries of each directory in code unit order of their names.
 * Hidden entries (`.git`, `..data` of a mounted ConfigMap) and other names are passed over in silence; links are
 * followed, but no directory is entered twice. What cannot be read is reported, the rest still found.
 */
export function findFiles(
  directory: string,
  search: Search,
): { readonly files: readonly string[]; readonly isNew: boolean } {
  const found: string[] = [];
  let full = false;
  let isNew = true;

  function enter(path: string): void {
    let entries: Dirent[];
    try {
      const real = realpathSync(path);
      if (search.entered.has(real)) {
        if (path === directory) isNew = false;
        search.report({
          code: 'directory-seen',
          severity: 'note',
          message: 'this directory was read already, by another name or through a link; not read again',
          place: { file: path },
        });
        return;
      }
      search.entered.add(real);
      entries = readdirSync(path, { withFileTypes: true });
    } catch (error) {
      unreadable(path, error);
      return;
    }
    entries.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
    for (const entry of entries) {
      if (full) return;
      if (!entry.name.startsWith('.')) visit(join(path, entry.name), entry);
    }
  }

  function visit(path: string, entry: Dirent): void {
    let kind: Dirent | Stats = entry;
    const matches = READ_NAMES.test(entry.name);
    if (entry.isSymbolicLink()) {
      try {
        kind = statSync(path);
      } catch (error) {
        // A dangling link matters only where it would have been read.
        if (matches) unreadable(path, error);
        return;
      }
    }
    if (kind.isDirectory()) {
      enter(path);
    } else if (matches && kind.isFile()) {
      if (found.length >= search.maxFiles) {
        full = true;
        search.report({
          code: 'input-limit',
          severity: 'error',
          message: `more than ${search.maxFiles} files; the rest was not read`,
          place: { file: directory },
        });
        return;
      }
      found.push(path);
    } else if (matches) {
      search.report({
        code: 'input-not-text',
        severity: 'note',
        message: 'is no regular file; skipped',
        place: { file: path },
      });
    }
  }

  function unreadable(path: string, error: unknown): void {
    search.report({
      code: 'input-unreadable',
      severity: 'error',
      message: describeSystemError(error),
      place: { file: path },
    });
  }

  enter(directory);
  return { files: found, isNew };
}
