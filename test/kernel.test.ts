/**
 * Real kernels take the rules of every case and fixture, in both formats, through both back ends of iptables,
 * and print the same rules back.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { canonicalRule, type Ruleset } from '../src/netfilter/index.ts';
import { fixtures } from './support/fixtures.ts';
import { type Backend, kernelIsMissing, type Load, type Loaded, loadRules } from './support/kernel.ts';
import { caseArguments, compileRules, FORMATS } from './support/kp-compile.ts';
import { parseSave } from './support/parse-save.ts';
import { conformanceCases } from './support/shared.ts';
import { temporaryFolder } from './support/temporary.ts';

interface Source {
  readonly name: string;
  readonly args: readonly string[];
}

const BACKENDS: readonly Backend[] = ['legacy', 'nft'];

const missing = kernelIsMissing();
if (missing !== undefined) {
  if (process.env.CI !== undefined) throw new Error(`the kernel tests have to run in CI: ${missing}`);
  process.stderr.write(`Skipped: kernel tests, for ${missing}.\n`);
}

describe.skipIf(missing !== undefined).each(['1.28', '1.30', '1.36'])(
  'kernels take the rules of %s:',
  (version) => {
    const folder = temporaryFolder();
    const sources = sourcesFor(version);
    const failures = new Map<string, string>();
    const loaded = new Map<string, Loaded[]>();

    beforeAll(async () => {
      const loads: Load[] = [];
      for (const { name, args } of sources) {
        try {
          loads.push(...(await loadsOf(name, args)));
        } catch (error) {
          failures.set(name, String(error));
        }
      }
      for (const result of await loadRules(loads, folder)) {
        loaded.set(result.name, [...(loaded.get(result.name) ?? []), result]);
      }
    }, 300_000);

    afterAll(() => loaded.clear());

    test.each(sources.map(({ name }) => name))('%s', (name) => {
      expect(failures.get(name)).toBeUndefined();
      const results = loaded.get(name) ?? [];
      expect(results).toHaveLength(BACKENDS.length * FORMATS.length * 2);
      for (const result of results) {
        const where = `${result.backend}, ${result.family}, ${result.format} format`;
        expect(result.complaint, where).toBe('');
        expect(differences(result), where).toEqual([]);
      }
    });
  },
);

function sourcesFor(version: string): readonly Source[] {
  return [
    ...conformanceCases().map((item) => ({ name: item.name, args: caseArguments(item, version) })),
    ...fixtures().map(({ name, folder }) => ({
      name: `fixture-${name}`,
      args: [folder, '--node', 'node-a', '--kube-version', version],
    })),
  ];
}

async function loadsOf(name: string, args: readonly string[]): Promise<readonly Load[]> {
  const loads: Load[] = [];
  for (const format of FORMATS) {
    const { v4, v6 } = await compileRules(args, format);
    for (const backend of BACKENDS) {
      loads.push({ name, backend, format, family: 'ipv4', text: v4 });
      loads.push({ name, backend, format, family: 'ipv6', text: v6 });
    }
  }
  return loads;
}

/** What the kernel holds beside what was printed, chain by chain, in at most a few lines. */
function differences({ format, family, text, saved }: Loaded): readonly string[] {
  if (saved === undefined) return ['nothing was saved'];
  const ours = chainsOf(parseSave(text, family));
  const theirs = chainsOf(parseSave(saved, family));
  const found: string[] = [];
  for (const chain of new Set([...ours.keys(), ...theirs.keys()])) {
    const printed = ours.get(chain);
    const held = theirs.get(chain);
    // The restore format says nothing of built-in chains; they have to be as empty as before.
    if (printed === undefined && format === 'restore' && held?.length === 1 && held[0] !== USER_CHAIN)
      continue;
    if (printed === undefined) found.push(`${chain}: not printed`);
    else if (held === undefined) found.push(`${chain}: not in the kernel`);
    else found.push(...firstDifference(chain, printed, held));
  }
  if (format === 'save' && found.length === 0 && comparable(text) !== comparable(saved)) {
    found.push(`the same rules in other words:\n${firstLine(comparable(text), comparable(saved))}`);
  }
  return found.slice(0, 5);
}

/** What stands for the policy of a chain that is not built in. */
const USER_CHAIN = 'policy -';

/** `filter INPUT` → its policy, then its rules in their canonical spelling. */
function chainsOf(ruleset: Ruleset): ReadonlyMap<string, readonly string[]> {
  return new Map(
    ruleset.tables.flatMap((table) =>
      table.chains.map((chain) => [
        `${table.name} ${chain.name}`,
        [`policy ${chain.policy ?? '-'}`, ...chain.rules.map((rule) => canonicalRule(rule, ruleset.family))],
      ]),
    ),
  );
}

function firstDifference(
  chain: string,
  printed: readonly string[],
  held: readonly string[],
): readonly string[] {
  const length = Math.max(printed.length, held.length);
  for (let index = 0; index < length; index++) {
    if (printed[index] === held[index]) continue;
    return [
      `${chain}, rule ${index}: printed ${printed[index] ?? 'nothing'}, the kernel holds ${held[index] ?? 'nothing'}`,
    ];
  }
  return [];
}

/**
 * A save without what differs between two saves of the same rules: comments, counters, the order of tables. Our
 * save format is what `iptables-save` prints, to the byte.
 */
function comparable(save: string): string {
  const lines = save.split('\n').filter((line) => !line.startsWith('#'));
  const text = lines.map((line) => line.replace(/^(:\S+ \S+) \[\d+:\d+\]$/, '$1 [0:0]')).join('\n');
  return text
    .split(/(?<=^COMMIT\n)/m)
    .sort()
    .join('');
}

function firstLine(printed: string, held: string): string {
  const lines = held.split('\n');
  const index = printed.split('\n').findIndex((line, place) => line !== lines[place]);
  return `printed ${printed.split('\n')[index] ?? 'nothing'}\nkernel  ${lines[index] ?? 'nothing'}`;
}
