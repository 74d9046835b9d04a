/**
 * Who imports whom under src/, read from the import lines themselves: the tools that draw such graphs need
 * TypeScript's JavaScript API, which the native compiler does not have. Types count like values, since a
 * folder that needs another's types knows it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, relative, sep } from 'node:path';

export interface Import {
  /** The importing file, from src/, with forward slashes: `kube/node.ts`. */
  readonly from: string;
  /** A file under src/ where the import is relative, otherwise the package or `node:` module. */
  readonly to: string;
  readonly relative: boolean;
}

/** Every import of every file under the folder but those of tests, which may use what they like. */
export function readImports(folder: string): readonly Import[] {
  const imports: Import[] = [];
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.ts') || entry.name.endsWith('.test.ts')) continue;
    const path = join(entry.parentPath, entry.name);
    const from = relative(folder, path).split(sep).join('/');
    for (const specifier of importSpecifiers(readFileSync(path, 'utf8'))) {
      const local = specifier.startsWith('.');
      const to = local ? posix.join(posix.dirname(from), specifier) : packageName(specifier);
      imports.push({ from, to, relative: local });
    }
  }
  return imports;
}

/**
 * The quoted name of `import … from`, `export … from`, `import 'x'` and `import('x')`. The sources are formatted
 * by one tool, so statements start their line.
 */
export function importSpecifiers(source: string): readonly string[] {
  const statement = /^(?:import|export)\b(?:[^'"`;=]*?\bfrom)?\s*(['"])([^'"\n]+)\1/gm;
  const call = /\bimport\(\s*(['"])([^'"\n]+)\1/g;
  return [statement, call].flatMap((pattern) => [...source.matchAll(pattern)].map((match) => match[2] ?? ''));
}

/** One circle of imports, as the files in order, or undefined where there is none. */
export function findCircle(imports: readonly Import[]): readonly string[] | undefined {
  const next = new Map<string, string[]>();
  for (const { from, to, relative: local } of imports) {
    if (local) next.set(from, [...(next.get(from) ?? []), to]);
  }
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): readonly string[] | undefined => {
    const start = path.indexOf(file);
    if (start >= 0) return [...path.slice(start), file];
    if (done.has(file)) return undefined;
    path.push(file);
    for (const target of next.get(file) ?? []) {
      const circle = visit(target);
      if (circle !== undefined) return circle;
    }
    path.pop();
    done.add(file);
    return undefined;
  };
  for (const file of next.keys()) {
    const circle = visit(file);
    if (circle !== undefined) return circle;
  }
  return undefined;
}

function packageName(specifier: string): string {
  const parts = specifier.split('/');
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? specifier);
}
