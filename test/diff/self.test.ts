import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { compareStates, type NodeState, patchOf } from '../../src/diff/index.ts';
import { splitDumps } from '../../src/netfilter/index.ts';

const folder = join(import.meta.dirname, '..', '..', '..', 'shared', 'field', 'dumps');
const dumps = existsSync(folder) ? readdirSync(folder) : [];
if (dumps.length === 0)
  process.stderr.write('Skipped: dumps from the field, for ../shared/field is not there.\n');

test.skipIf(dumps.length === 0)('every dump from the field is the same as itself, and needs no patch', () => {
  for (const name of dumps) {
    for (const { family, ruleset } of splitDumps(readFileSync(join(folder, name), 'utf8'))) {
      const state: NodeState = {
        kind: 'rules',
        rulesets: { [family]: ruleset },
        owners: [],
        assumptions: [],
      };
      expect(compareStates(state, state, { scope: 'kube-proxy' }).findings, name).toEqual([]);
      expect(compareStates(state, state, { scope: 'all' }).findings, name).toEqual([]);
      expect(patchOf(state, state), name).toEqual({});
    }
  }
});
