/**
 * Every case of ipvs mode in ../shared/conformance against what the real kube-proxy of each version left: rules, sets
 * and virtual servers by the comparator, addresses as a set, and the sysctls that were captured.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Comparison, compareTrees } from './support/compare-trees.ts';
import { caseArguments, compileFiles } from './support/kp-compile.ts';
import { type ConformanceCase, conformanceCases, expectedFolder, hasConformance } from './support/shared.ts';
import { temporaryFolder } from './support/temporary.ts';

const VERSIONS = ['1.23', '1.26', '1.28', '1.30', '1.36'];

const cases = conformanceCases('ipvs');

/** The comparator's names of what we write. */
const NAMES: readonly (readonly [ours: string, theirs: string])[] = [
  ['ipset.restore', 'ipset.save'],
  ['ipvsadm.restore', 'ipvsadm.save'],
  ['kube-ipvs0.batch', 'kube-ipvs0.addr'],
];

describe.skipIf(!hasConformance())('conformance in ipvs mode', () => {
  describe.each(VERSIONS)('kube-proxy %s programs the same for', (version) => {
    const expected = expectedFolder(version, 'ipvs');
    const folder = temporaryFolder();
    // Not every case was run in every version.
    const settled = cases.filter(
      ({ name, nondeterministic }) => !nondeterministic && existsSync(join(expected, name)),
    );
    const failures = new Map<string, string>();
    const sysctls = new Map<string, string>();
    let comparison: Comparison;

    beforeAll(async () => {
      for (const item of settled) {
        try {
          await writeActual(join(folder, item.name), item, version);
        } catch (error) {
          failures.set(item.name, String(error));
        }
      }
      comparison = compareTrees(expected, folder);
    });

    /** Lays one case out under the comparator's file names. */
    async function writeActual(place: string, item: ConformanceCase, at: string): Promise<void> {
      mkdirSync(place, { recursive: true });
      const args = caseArguments(item, at, [item.cluster], 'ipvs');
      for (const format of ['save', 'restore'] as const) {
        const files = await compileFiles(args, format);
        for (const family of ['v4', 'v6'] as const) {
          writeFileSync(join(place, `${format}.${family}`), files[`rules.${family}`] ?? '');
        }
        for (const [ours, theirs] of NAMES) {
          const text = files[ours] ?? '';
          writeFileSync(join(place, theirs), theirs === 'kube-ipvs0.addr' ? asListed(text) : text);
        }
        sysctls.set(item.name, files['sysctl.conf'] ?? '');
      }
    }

    test('there are cases', () => {
      expect(settled.length).toBeGreaterThan(30);
    });

    test.each(settled.map(({ name }) => name))('%s', (name) => {
      expect(failures.get(name) ?? comparison.differences.get(name) ?? 'equal').toBe('equal');
      const place = (tree: string) => addressesOf(readFileSync(join(tree, name, 'kube-ipvs0.addr'), 'utf8'));
      expect(place(folder)).toEqual(place(expected));
      expect(otherSysctls(join(expected, name, 'sysctl'), sysctls.get(name) ?? '')).toEqual([]);
    });
  });
});

/** Lines of `ip -batch` in the form of `ip -o addr`. */
function asListed(batch: string): string {
  return [...batch.matchAll(/^addr replace (\S+) dev (\S+)$/gm)]
    .map(
      ([, address = '', name = '']) =>
        `9: ${name}    ${address.includes(':') ? 'inet6' : 'inet'} ${address} scope global ${name}\n`,
    )
    .join('');
}

function addressesOf(listing: string): readonly string[] {
  return [...listing.matchAll(/ inet6? (\S+)/g)].map(([, address = '']) => address).sort();
}

/** Captured keys that have another value in ours. A key that was captured as 0 may be one that nobody set. */
function otherSysctls(captured: string, ours: string): readonly string[] {
  const values = (text: string) =>
    new Map(
      [...text.matchAll(/^([a-z0-9_.]+) ?= ?(-?\d+)$/gm)].map(([, key = '', value = '']) => [key, value]),
    );
  const own = values(ours);
  const found = values(existsSync(captured) ? readFileSync(captured, 'utf8') : '');
  return [...found].flatMap(([key, value]) => {
    const mine = own.get(key) ?? '0';
    return mine === value ? [] : [`${key}: captured ${value}, ours ${own.get(key) ?? 'none'}`];
  });
}
