/**
 * Random changes to compiled rules (Proof 2): whatever changes what becomes of a packet is found and told to whom
 * it belongs, whatever does not is silent; and each change can be mended. What packets do is worked out by an
 * oracle of its own, in support/packets.ts. KP_DIFF_SEED and KP_DIFF_MUTATIONS (for each case and family) try more.
 *
 * What the issue settles is so whatever packets do: a jump of kube-proxy's that is missing from a built-in chain is
 * told, the order of such jumps is not; what kube-proxy always keeps counts even while nothing leads there; and a
 * chain of the filter table that is missing with all jumps to it is a note.
 */
import { describe, expect, test } from 'vitest';
import { compareStates, type NodeState } from '../../src/diff/index.ts';
import { fixtures } from '../support/fixtures.ts';
import { conformanceCases, hasConformance } from '../support/shared.ts';
import { judge } from './support/judge.ts';
import { Mutator } from './support/mutations.ts';
import { seeded } from './support/random.ts';
import { compileCase, compileFixture, stateOf, withRulesMade } from './support/states.ts';

const VERSION = '1.36';
const SEED = Number(process.env.KP_DIFF_SEED ?? 20261130);
const MUTATIONS = Number(process.env.KP_DIFF_MUTATIONS ?? 12);
/** The oracle takes minutes where there are more chains; such cases hold nothing that smaller ones do not. */
const MOST_CHAINS = 200;

interface Source {
  readonly name: string;
  readonly compile: () => Promise<NodeState>;
}

const sources: readonly Source[] = hasConformance()
  ? conformanceCases()
      .filter(({ nondeterministic }) => !nondeterministic)
      .map((each) => ({ name: each.name, compile: () => compileCase(each, VERSION) }))
  : fixtures().map((each) => ({ name: each.name, compile: () => compileFixture(each, VERSION) }));

describe('what changes is told, what does not is not', () => {
  test.each(sources.map((source, index) => [source.name, source, index] as const))(
    '%s',
    async (_name, source, index) => {
      const { rulesets } = await source.compile();
      for (const family of ['ipv4', 'ipv6'] as const) {
        const compiled = rulesets[family];
        if (compiled === undefined) throw new Error('no rules');
        const original = withRulesMade(compiled);
        const itself = compareStates(stateOf(original), stateOf(original), { scope: 'all' });
        expect(itself.findings).toEqual([]);
        if (original.tables.some(({ chains }) => chains.length > MOST_CHAINS)) continue;
        const mutator = new Mutator(original, seeded(SEED + 2 * index + (family === 'ipv4' ? 0 : 1)));
        const wrong: string[] = [];
        let made = 0;
        for (let tries = 0; made < MUTATIONS && tries < 10 * MUTATIONS; tries++) {
          const mutation = mutator.next();
          if (mutation === undefined) continue;
          made++;
          const said = judge(original, mutation, mutator);
          wrong.push(...said.map((text) => `${mutation.kind}: ${text}\n    ${mutation.what}`));
        }
        expect(wrong).toEqual([]);
        expect(made).toBe(MUTATIONS);
      }
    },
  );
});
