/**
 * Patches in real kernels (Proof 1): each case is loaded beside the rules of other programs, and a patch makes it the
 * next case of a seeded shuffle. KP_DIFF_ALL_PAIRS=1 takes every ordered pair instead, which takes long;
 * KP_DIFF_MINUTES ends that sooner.
 */
import { describe, expect, test } from 'vitest';
import { compareStates, patchOf } from '../../src/diff/index.ts';
import { type Family, parseIptablesSave, printSave, type Ruleset } from '../../src/netfilter/index.ts';
import { fixtures } from '../support/fixtures.ts';
import { type Backend, kernelIsMissing } from '../support/kernel.ts';
import { conformanceCases, hasConformance, minorOf } from '../support/shared.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { withForeign } from './support/foreign.ts';
import { type Patched, type PatchJob, patchInKernel } from './support/patched-kernel.ts';
import { seeded } from './support/random.ts';
import { compileCase, compileFixture, stateOf, withRulesMade } from './support/states.ts';

const folder = temporaryFolder();
const missing = kernelIsMissing();
if (missing !== undefined) {
  if (process.env.CI !== undefined) throw new Error(`the kernel tests have to run in CI: ${missing}`);
  process.stderr.write(`Skipped: patches in a kernel, for ${missing}.\n`);
}

const SEED = 20261130;
const ALL_PAIRS = process.env.KP_DIFF_ALL_PAIRS === '1';
const MINUTES = Number(process.env.KP_DIFF_MINUTES ?? Number.POSITIVE_INFINITY);
/** Pairs whose files lie there at the same time. */
const BATCH = 500;

interface Side {
  readonly name: string;
  readonly ruleset: Ruleset;
}

interface Pair {
  readonly from: Side;
  readonly to: Side;
}

describe.skipIf(missing !== undefined).each(['legacy', 'nft'] as const)('%s', (backend) => {
  test.each([
    ['1.28', 'ipv4'],
    ['1.28', 'ipv6'],
    ['1.36', 'ipv4'],
    ['1.36', 'ipv6'],
  ] as const)(
    'kube-proxy %s, %s: a patch makes each node the next one, and leaves the rest alone',
    async (version, family) => {
      const sides = await sidesOf(version, family);
      const pairs = ALL_PAIRS
        ? seeded(SEED).shuffle(
            sides.flatMap((from) => sides.filter((to) => to !== from).map((to) => ({ from, to }))),
          )
        : sides.map((from, i) => ({ from, to: sides[(i + 1) % sides.length] ?? from }));
      const end = Date.now() + (MINUTES * 60_000) / 8;
      const wrong: string[] = [];
      let done = 0;
      for (let at = 0; at < pairs.length && Date.now() < end; at += BATCH) {
        const batch = pairs.slice(at, at + BATCH);
        wrong.push(...(await tryPairs(batch, backend)));
        done += batch.length;
      }
      if (ALL_PAIRS)
        process.stderr.write(`${backend} ${version} ${family}: ${done} of ${pairs.length} pairs\n`);
      expect(wrong).toEqual([]);
      expect(done).toBeGreaterThan(hasConformance() ? 80 : 20);
    },
    ALL_PAIRS ? 3_600_000 : 300_000,
  );
});

async function sidesOf(version: string, family: Family): Promise<Side[]> {
  const random = seeded(SEED + minorOf(version));
  const sources = hasConformance()
    ? conformanceCases()
        .filter((each) => !each.nondeterministic && each.minVersion <= minorOf(version))
        .map((each) => ({ name: each.name, state: compileCase(each, version) }))
    : fixtures().map((each) => ({ name: each.name, state: compileFixture(each, version) }));
  const sides: Side[] = [];
  for (const { name, state } of random.shuffle(sources)) {
    const ruleset = (await state).rulesets[family];
    if (ruleset !== undefined) sides.push({ name, ruleset: withRulesMade(ruleset) });
  }
  return sides;
}

/** What went wrong, a line each. */
async function tryPairs(pairs: readonly Pair[], backend: Backend): Promise<string[]> {
  const states = new Map<Side, string>();
  for (const { from } of pairs) {
    if (states.has(from)) continue;
    states.set(from, [...printSave(withForeign(from.ruleset, seeded(SEED + states.size)))].join(''));
  }
  const job = (from: Side, patch: string | undefined): PatchJob => ({
    backend,
    family: from.ruleset.family,
    state: states.get(from) ?? '',
    patch,
  });
  const froms = [...states.keys()];
  const dumps = await patchInKernel(
    froms.map((from) => job(from, undefined)),
    folder,
  );
  const before = new Map<Side, string>();
  const wrong: string[] = [];
  for (const [i, from] of froms.entries()) {
    const { dump, complaint } = dumps[i] ?? { dump: undefined, complaint: 'not tried' };
    if (dump === undefined || complaint !== '') wrong.push(`${from.name} does not load: ${complaint}`);
    else before.set(from, dump);
  }
  const tried = pairs.flatMap((pair) => {
    const dump = before.get(pair.from);
    return dump === undefined ? [] : [{ ...pair, dump }];
  });
  const results = await patchInKernel(
    tried.map(({ from, to, dump }) =>
      job(from, patchOf(stateOf(to.ruleset), stateOf(read(dump, from)))[from.ruleset.family]),
    ),
    folder,
  );
  for (const [i, { from, to, dump }] of tried.entries()) {
    const result = results[i];
    if (result === undefined) throw new Error('a result is missing');
    wrong.push(...judge(to, dump, result).map((text) => `${from.name} → ${to.name}: ${text}`));
  }
  return wrong;
}

function judge(to: Side, before: string, { dump, complaint }: Patched): string[] {
  if (dump === undefined || complaint !== '') return [complaint];
  const wrong: string[] = [];
  const { findings, notes } = compareStates(stateOf(to.ruleset), stateOf(read(dump, to)), {
    scope: 'kube-proxy',
  });
  for (const { servicePort, problems } of [...findings, ...notes])
    wrong.push(`${servicePort ?? 'node'}: ${problems[0]?.message}`);
  const [foreign, expected] = [foreignText(dump), foreignText(before)];
  if (expected.length < 20) wrong.push('foreign rules are missing before the patch');
  if (foreign.join('\n') !== expected.join('\n')) wrong.push('foreign rules changed');
  return wrong;
}

function read(dump: string, { ruleset: { family } }: Side): Ruleset {
  return parseIptablesSave(dump, { family }).ruleset;
}

/** Lines of a dump that are not kube-proxy's, byte for byte but for counters and times. */
function foreignText(dump: string): string[] {
  return dump
    .split('\n')
    .filter((line) => !/^#|^:KUBE-(?!KUBELET)|^-A KUBE-|-j KUBE-/.test(line))
    .map((line) => line.replace(/^(:\S+ \S+) \[\d+:\d+\]$/, '$1'));
}
