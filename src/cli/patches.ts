/** What --patch and --reverse-patch write. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { IpvsPatch } from '../diff/index.ts';
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

/** Files of the IPVS side. */
const IPVS_FILES = {
  ipset: 'patch.ipset',
  ipvsadm: 'patch.ipvsadm.sh',
  addresses: 'patch.addr.batch',
} as const satisfies Readonly<Record<keyof IpvsPatch, string>>;

/**
 * Writes the patches of the families that need one, those of the IPVS side, and a script that applies them. A patch
 * that lies there from before and is not needed any more is removed: somebody could apply it.
 */
export function writePatches(directory: string, patches: Patches, ipvs: IpvsPatch): void {
  const files = new Map<string, Iterable<string>>();
  for (const family of FAMILIES) {
    const text = patches[family];
    if (text !== undefined) files.set(FILES[family].name, [text]);
  }
  if (ipvs.ipset !== '') files.set(IPVS_FILES.ipset, [ipvs.ipset]);
  if (ipvs.ipvsadm !== '') files.set(IPVS_FILES.ipvsadm, [`#!/bin/sh\nset -eu\n${ipvs.ipvsadm}`]);
  if (ipvs.addresses !== '') files.set(IPVS_FILES.addresses, [ipvs.addresses]);
  files.set(SCRIPT, [
    script(
      FAMILIES.filter((family) => patches[family] !== undefined),
      ipvs,
    ),
  ]);
  writeFiles(directory, files, new Set([SCRIPT, IPVS_FILES.ipvsadm]));
  for (const name of [...Object.values(FILES).map((file) => file.name), ...Object.values(IPVS_FILES)]) {
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

/**
 * Sets grow before rules, virtual servers and addresses count on them, and shrink once nothing does. An address comes
 * after the virtual server that answers there.
 */
function script(families: readonly Family[], ipvs: IpvsPatch): string {
  const run = (family: Family, test: string) =>
    `${FILES[family].tool} -w 5 --noflush${test} < ${FILES[family].name}\n`;
  const sets = ipvs.ipset.split('\n').filter((line) => line !== '');
  const shrinks = sets.some((line) => line.startsWith('del '));
  const steps = [
    ...(sets.some((line) => !line.startsWith('del '))
      ? [
          `# What is added to sets; rules need the sets that they match.\ngrep -v '^del ' ${IPVS_FILES.ipset} | ipset restore\n`,
        ]
      : []),
    ...(families.length > 0
      ? [
          `# Every patch is tried first; each is then applied whole or not at all.\n${families.map((family) => run(family, ' --test')).join('')}${families.map((family) => run(family, '')).join('')}`,
        ]
      : []),
    ...(ipvs.ipvsadm === '' ? [] : [`sh ./${IPVS_FILES.ipvsadm}\n`]),
    ...(ipvs.addresses === ''
      ? []
      : [
          `ip link show dev kube-ipvs0 >/dev/null 2>&1 || ip link add kube-ipvs0 type dummy\nip -batch ${IPVS_FILES.addresses}\n`,
        ]),
    ...(shrinks ? [`# What is taken from sets.\ngrep '^del ' ${IPVS_FILES.ipset} | ipset restore\n`] : []),
  ];
  const body = steps.length === 0 ? '# Nothing to do.\n' : `cd -- "$(dirname -- "$0")"\n${steps.join('')}`;
  return `#!/bin/sh\n# Written by kp-diff. Run it as root on the node whose rules were compared.\nset -eu\n${body}`;
}
