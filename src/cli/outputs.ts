/** What kp-compile can print or write of a compilation, by name. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Compilation } from '../compile/index.ts';
import type { IPFamily } from '../kube/index.ts';
import { applyScript } from './apply-script.ts';
import { type Format, RULES_FILES, rulesText } from './artefacts.ts';
import { IPVS_FILES, type IpvsArtefact, ipvsText } from './ipvs-artefacts.ts';
import { UsageError } from './usage-error.ts';
import { writeFiles } from './write-files.ts';

/** What --emit takes. */
export const EMITTED = ['rules', 'ipset', 'ipvsadm', 'addr', 'sysctl', 'script'] as const;

export type Emitted = (typeof EMITTED)[number];

const FAMILIES: readonly IPFamily[] = ['IPv4', 'IPv6'];

export interface OutputOptions {
  readonly format: Format;
  /** Rules: that of the node's first address by default; everything else: both. */
  readonly family: IPFamily | undefined;
}

/** What goes to stdout. Throws a UsageError where this mode has no such text, or nobody should apply it. */
export function emittedText(
  compilation: Compilation,
  emitted: Emitted,
  { format, family }: OutputOptions,
): Iterable<string> {
  const families = family === undefined ? FAMILIES : [family];
  if (emitted === 'rules') return rulesText(compilation, family ?? compilation.primaryFamily, format);
  if (emitted === 'script') {
    const [invented] = compilation.invented;
    if (invented === undefined) return applyScript(compilation, families);
    throw new UsageError(
      `--emit script: addresses were invented (${invented}), and no node should get those`,
    );
  }
  const { ipvs, mode } = compilation;
  if (ipvs === undefined) {
    throw new UsageError(
      `--emit ${emitted}: there is none in ${mode} mode, only in ipvs mode (--proxy-mode ipvs); rules and script are there in any mode`,
    );
  }
  return [ipvsText(compilation, ipvs, emitted, families)];
}

/** Files for --out-dir and --check, by name: both families of everything that the mode has. */
export function outputFiles(compilation: Compilation, format: Format): ReadonlyMap<string, Iterable<string>> {
  const files = new Map<string, Iterable<string>>();
  for (const family of FAMILIES) files.set(RULES_FILES[family], rulesText(compilation, family, format));
  const { ipvs } = compilation;
  if (ipvs === undefined) return files;
  for (const artefact of Object.keys(IPVS_FILES) as IpvsArtefact[]) {
    files.set(IPVS_FILES[artefact], [ipvsText(compilation, ipvs, artefact, FAMILIES)]);
  }
  return files;
}

/**
 * Writes them into a folder. What lies there of ipvs mode from before, and is not part of them now, is removed: the
 * folder stands for a node.
 */
export function writeOutputs(directory: string, files: ReadonlyMap<string, Iterable<string>>): void {
  writeFiles(directory, files);
  for (const name of Object.values(IPVS_FILES)) {
    if (!files.has(name)) rmSync(join(directory, name), { force: true });
  }
}
