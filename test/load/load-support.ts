import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import type { Diagnostic } from '../../src/diagnostics.ts';
import {
  compareDiagnostics,
  type LoadedObject,
  type LoadOptions,
  type LoadSummary,
  loadObjects,
  locate,
  renderDiagnostic,
} from '../../src/load/index.ts';

export interface Loaded {
  readonly objects: readonly LoadedObject[];
  /** `kind namespace/name`, in order; `?` for what is missing. */
  readonly names: readonly string[];
  /** Rendered, in printing order, the folder left out of their paths. */
  readonly messages: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
  readonly summary: LoadSummary;
}

/** Writes the files into a folder of its own, which is gone afterwards, and hands that folder to `use`. */
export async function withFiles<T>(
  files: Readonly<Record<string, string | Uint8Array>>,
  use: (folder: string) => Promise<T> | T,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'load-'));
  try {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), content);
    }
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Loads inputs given relative to `folder` (`.` is the folder, `-` the text `stdin`). */
export async function load(
  folder: string,
  inputs: readonly string[],
  options: LoadOptions & { readonly text?: string } = {},
): Promise<Loaded> {
  const objects: LoadedObject[] = [];
  const diagnostics: Diagnostic[] = [];
  const summary = await loadObjects(
    inputs.map((input) => (input === '-' ? '-' : join(folder, input))),
    (object) => objects.push(object),
    (diagnostic) => diagnostics.push(diagnostic),
    { stdin: () => Readable.from([Buffer.from(options.text ?? '')]), ...options },
  );
  diagnostics.sort(compareDiagnostics(summary.sources));
  const messages = diagnostics.map((diagnostic) =>
    renderDiagnostic(diagnostic, (origin, path) => locate(origin, path, summary.sources)).replaceAll(
      `${folder}/`,
      '',
    ),
  );
  return { objects, names: objects.map(nameOf), messages, diagnostics, summary };
}

/** Loads one file of that name and content, named itself. */
export function loadText(
  name: string,
  content: string | Uint8Array,
  options: LoadOptions = {},
): Promise<Loaded> {
  return withFiles({ [name]: content }, (folder) => load(folder, [name], options));
}

function nameOf({ kind, value }: LoadedObject): string {
  const metadata = value.metadata as { namespace?: string; name?: string } | undefined;
  const { namespace, name = '?' } = metadata ?? {};
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}

/** A small Service in YAML, `indent` before each line. */
export function serviceYaml(name: string, indent = ''): string {
  return ['apiVersion: v1', 'kind: Service', `metadata: {name: ${name}, namespace: shop}`]
    .map((line) => `${indent}${line}\n`)
    .join('');
}

/** The same in JSON. */
export function serviceJson(name: string): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'Service', metadata: { name, namespace: 'shop' } });
}
