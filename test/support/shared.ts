/**
 * The conformance material lies beside the repository, in ../shared, where the project is developed; a clone
 * of the repository alone does not have it, and the tests that need it then say that they were skipped.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const sharedFolder = join(import.meta.dirname, '..', '..', '..', 'shared');

const conformanceFolder = join(sharedFolder, 'conformance');

export const comparator = join(conformanceFolder, 'compare.py');

export interface ConformanceCase {
  readonly name: string;
  readonly folder: string;
  readonly cluster: string;
  readonly config: string;
  readonly node: string;
  readonly interfaces: readonly { readonly name: string; readonly addresses: readonly string[] }[];
  /** kube-proxy itself is random there: no expectation. */
  readonly nondeterministic: boolean;
  /** The lowest kube-proxy version that has the case, as its minor number. */
  readonly minVersion: number;
}

/** Says so in one line where the material is not there: a skipped test alone does not tell why. */
export function hasConformance(): boolean {
  if (existsSync(comparator)) return true;
  process.stderr.write('Skipped: conformance tests, for ../shared/conformance is not there.\n');
  return false;
}

export type Mode = 'iptables' | 'ipvs';

/** The cases of a mode, by name; none where ../shared is not there. */
export function conformanceCases(mode: Mode = 'iptables'): readonly ConformanceCase[] {
  const folder = join(conformanceFolder, 'cases');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .sort()
    .flatMap((name) => {
      const found = readCase(name, join(folder, name), mode);
      return found === undefined ? [] : [found];
    });
}

export function expectedFolder(version: string, mode: Mode = 'iptables'): string {
  return join(conformanceFolder, 'expected', version, mode);
}

function readCase(name: string, folder: string, mode: Mode): ConformanceCase | undefined {
  const text = readFileSync(join(folder, 'case.json'), 'utf8');
  const data: {
    readonly node: string;
    readonly interfaces?: ConformanceCase['interfaces'];
    readonly modes?: readonly string[];
    readonly min_version?: string;
    readonly nondeterministic?: string;
  } = JSON.parse(text);
  if (data.modes !== undefined && !data.modes.includes(mode)) return undefined;
  return {
    name,
    folder,
    cluster: join(folder, 'cluster.yaml'),
    config: join(folder, 'kube-proxy.yaml'),
    node: data.node,
    interfaces: data.interfaces ?? [],
    nondeterministic: data.nondeterministic !== undefined,
    minVersion: minorOf(data.min_version ?? '1.0'),
  };
}

/** `1.28` → 28. */
export function minorOf(version: string): number {
  return Number(version.split('.')[1]);
}
