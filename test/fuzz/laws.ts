/** Laws that several targets share. Each returns whether its input was read without an error. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Diagnostic } from '../../src/diagnostics.ts';
import { type LoadedObject, loadObjects, locate, renderDiagnostic } from '../../src/load/index.ts';
import { type ParsedSave, parseIptablesSave, printSave, type Ruleset } from '../../src/netfilter/index.ts';

export const root = join(import.meta.dirname, '..', '..');

/** Contents of all small files below a folder whose names end so. */
export function filesIn(folder: string, ending: string): Buffer[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => readFileSync(path))
    .filter(({ length }) => length < 20_000);
}

export function check(holds: boolean, law: string): void {
  if (!holds) throw new Error(law);
}

const MESSAGE = /^(?:[^\p{Cc}]+: )?(?:error|warning|note): [^\p{Cc}]+(?:\n {2}(?:help|other): [^\p{Cc}]+)*$/u;

export interface ReadObjects {
  readonly objects: readonly LoadedObject[];
  readonly failed: boolean;
}

/** Objects of one input; every message about it is a line of printable characters, with its help. */
export async function readAll(name: string, bytes: Buffer): Promise<ReadObjects> {
  const objects: LoadedObject[] = [];
  const diagnostics: Diagnostic[] = [];
  const { sources } = await loadObjects(
    [name],
    (object) => objects.push(object),
    (diagnostic) => diagnostics.push(diagnostic),
    { given: new Map([[name, { bytes }]]) },
  );
  for (const diagnostic of diagnostics.slice(0, 20)) {
    const text = renderDiagnostic(diagnostic, (origin, path) => locate(origin, path, sources));
    check(MESSAGE.test(text), `a message that is not plain: ${JSON.stringify(text)}`);
  }
  return { objects, failed: diagnostics.some(({ severity }) => severity === 'error') };
}

/** What is read, written as JSON and read again is the same. */
export async function stableObjects(name: string, bytes: Buffer): Promise<boolean> {
  const json = (objects: readonly LoadedObject[]) => objects.map(({ value }) => JSON.stringify(value));
  const { objects, failed } = await readAll(name, bytes);
  const first = json(objects.filter(({ value }) => Object.hasOwn(value, 'kind')));
  // Aliases may make much of little; that is bounded elsewhere.
  if (first.join().length > 1_000_000) return !failed;
  const second = json((await readAll('again.json', Buffer.from(first.join('\n')))).objects);
  const whole = first.filter(
    (each) => typeof (JSON.parse(each) as { apiVersion?: unknown }).apiVersion === 'string',
  );
  check(whole.length === second.length || whole.length < first.length, 'objects come and go');
  if (whole.length === first.length) check(whole.join('\n') === second.join('\n'), 'objects change');
  return !failed && objects.length > 0;
}

export const text = (input: Buffer): string => input.toString('utf8');
export const saved = (ruleset: Ruleset): string => [...printSave(ruleset)].join('');

/** Matches that are known, apart from options in them that are not. */
const OURS = new Set([
  'addrtype',
  'comment',
  'conntrack',
  'mark',
  'recent',
  'set',
  'statistic',
  'tcp',
  'udp',
]);

/** Options that nobody knows are kept as words, and may mean something else behind other options. */
export function hasOnlyKnownOptions({ tables }: Ruleset): boolean {
  return tables.every(({ chains }) =>
    chains.every(({ rules }) =>
      rules.every(
        ({ unparsed, target, matches }) =>
          unparsed === undefined &&
          target?.kind !== 'unknown' &&
          !matches.some((match) => match.kind === 'unknown' && OURS.has(match.name)),
      ),
    ),
  );
}

/** What was read without an error prints, reads and prints the same. */
export function stableSave({ ruleset, problems }: Pick<ParsedSave, 'ruleset' | 'problems'>): boolean {
  if (problems.some(({ severity }) => severity === 'error')) return false;
  if (!hasOnlyKnownOptions(ruleset)) return true;
  const first = saved(ruleset);
  if (first === '') return false;
  const second = saved(parseIptablesSave(first, { family: ruleset.family }).ruleset);
  check(first === second, `prints another text: ${JSON.stringify(first)} → ${JSON.stringify(second)}`);
  return true;
}
