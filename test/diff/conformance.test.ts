import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { compareStates, type NodeState, patchOf } from '../../src/diff/index.ts';
import { type Family, parseIptablesSave } from '../../src/netfilter/index.ts';
import { conformanceCases, expectedFolder, hasConformance } from '../support/shared.ts';
import { compileCase } from './support/states.ts';

const VERSIONS = ['1.28', '1.30', '1.36'] as const;
const cases = hasConformance() ? conformanceCases().filter(({ nondeterministic }) => !nondeterministic) : [];

function kernelState(version: string, name: string): NodeState {
  const read = (family: Family, file: string) =>
    parseIptablesSave(readFileSync(join(expectedFolder(version), name, file), 'utf8'), { family }).ruleset;
  return {
    kind: 'rules',
    rulesets: { ipv4: read('ipv4', 'save.v4'), ipv6: read('ipv6', 'save.v6') },
    owners: [],
    assumptions: [],
  };
}

describe.skipIf(cases.length === 0).each(VERSIONS)('what kube-proxy %s left in the kernel', (version) => {
  test.each(cases.map((each) => [each.name, each] as const))(
    'is the same as what the manifests of %s compile to',
    async (name, each) => {
      const compiled = await compileCase(each, version);
      const comparison = compareStates(compiled, kernelState(version, name), { scope: 'kube-proxy' });
      expect(comparison.findings).toEqual([]);
      expect(comparison.notes).toEqual([]);
      expect(comparison.incomparable).toBeUndefined();
      expect(compareStates(compiled, kernelState(version, name), { scope: 'all' }).findings).toEqual([]);
      expect(patchOf(compiled, kernelState(version, name))).toEqual({});
    },
  );
});

describe.skipIf(cases.length === 0)('a patch from one case to another', () => {
  test.each(cases.map((each) => [each.name, each] as const))(
    'from %s leads to every other case and back again',
    async (name) => {
      const from = kernelState('1.36', name);
      for (const other of cases) {
        if (other.name === name) continue;
        const to = kernelState('1.36', other.name);
        // patchOf applies the patch in memory, compares, and throws where that is not the same.
        const there = patchOf(to, from);
        const same = compareStates(to, from, { scope: 'kube-proxy' }).findings.length === 0;
        expect(Object.keys(there).length === 0).toBe(same);
      }
    },
  );
});
