/** What --patch and --reverse-patch write. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Family } from '../netfilter/index.ts';
import { UsageError } from './usage-error.ts';
import { writeFiles } from './write-files.ts';

export type Patches = Readonly<Partial<Record<Family, string>>>;

const FILES: Readonly<Record<Family, { readonly name: string; readonly tool: string }>> = {
  ipv4: { name: 'patch.v4', tool: 'iptables-restore' },
  ipv6: { name: 'patch.v6', tool: 'ip6tables-restore' },
};
const FAMILIES: readonly Family[] = ['ipv4', 'ipv6'];
const SCRIPT = 'apply.sh';

/**
 * Writes the patches of the families that need one, and a script that applies them. A patch that lies there from
 * before and is not needed any more is removed: somebody could apply it.
 */
export function writePatches(directory: string, patches: Patches): void {
  const files = new Map<string, Iterable<string>>();
  for (const family of FAMILIES) {
    const text = patches[family];
    if (text !== undefined) files.set(FILES[family].name, [text]);
  }
  files.set(SCRIPT, [script(FAMILIES.filter((family) => patches[family] !== undefined))]);
  writeFiles(directory, files, new Set([SCRIPT]));
  for (const { name } of Object.values(FILES)) {
    if (!files.has(name)) rmSync(join(directory, name), { force: true });
  }
}

/** The patch that stdout can hold; empty where none is needed. Throws a UsageError where there are two. */
export function singlePatch(option: string, patches: Patches): string {
  const { ipv4, ipv6 } = patches;
  if (ipv4 !== undefined && ipv6 !== undefined) {
    throw new UsageError(
      `${option} -: both families differ; choose one with --family ipv4 or --family ipv6, or name a folder`,
    );
  }
  return ipv4 ?? ipv6 ?? '';
}

function script(families: readonly Family[]): string {
  const run = (family: Family, test: string) =>
    `${FILES[family].tool} -w 5 --noflush${test} < ${FILES[family].name}\n`;
  const body =
    families.length === 0
      ? '# Nothing to do.\n'
      : `cd -- "$(dirname -- "$0")"
# Every patch is tried first; each is then applied whole or not at all.
${families.map((family) => run(family, ' --test')).join('')}${families.map((family) => run(family, '')).join('')}`;
  return `#!/bin/sh\n# Written by kp-diff. Run it as root on the node whose rules were compared.\nset -eu\n${body}`;
}
