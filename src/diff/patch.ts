import {
  applyRestore,
  type Family,
  parseIptablesSave,
  printCommands,
  type RestoreStatement,
  type Ruleset,
  type TableCommands,
} from '../netfilter/index.ts';
import {
  type CompareOptions,
  compareStates,
  type FamilyDifferences,
  familyDifferences,
  type NodeState,
} from './compare.ts';
import type { Finding, ProblemCode } from './comparison.ts';
import { jumpOf } from './rule-key.ts';
import { isBuiltIn, isFixedChain, isServiceChain } from './scope.ts';
import type { TableDifference } from './table-difference.ts';
import type { View } from './view.ts';

/** A patch that does not lead where it should: a fault of this program. */
export class PatchError extends Error {
  override readonly name: string = 'PatchError';
}

/** A patch would need what iptables-restore cannot read or refuses: a dump can hold such rules. */
export class UnwritablePatchError extends PatchError {
  override readonly name = 'UnwritablePatchError';
}

/**
 * Restore input, family by family, that turns the actual state into the expected one: the smallest that
 * rewrites whole chains. Families without a difference are left out. Foreign rules are never touched, and
 * neither are chains that nothing leads to.
 *
 * Each patch is applied in memory and the result compared before it is given out; a PatchError says that this
 * failed, an UnwritablePatchError that a rule cannot be written (a dump can hold comments that no input can), that
 * no kernel could hold one of the sides, or that what is expected is no whole node.
 */
export function patchOf(
  expected: NodeState,
  actual: NodeState,
  options: Pick<CompareOptions, 'family'> = {},
): Partial<Record<Family, string>> {
  const patches: Partial<Record<Family, string>> = {};
  for (const family of ['ipv4', 'ipv6'] as const) {
    if (options.family !== undefined && options.family !== family) continue;
    const ruleset = actual.rulesets[family];
    const differences = familyDifferences(family, expected, actual, { scope: 'kube-proxy', family });
    if (typeof differences === 'string' || ruleset === undefined) continue;
    // Chains that are too many and that no patch takes away are told as differences as well.
    if (differences.tables.every(isSame)) continue;
    const text = mendingText(family, ruleset, differences, expected, actual);
    if (text !== '') patches[family] = text;
  }
  return patches;
}

function isSame({ jumps, shared, balancing, ordinary, missing, surplus }: TableDifference): boolean {
  const { size } = missing;
  return (
    jumps.missing.length + jumps.surplus.length === 0 &&
    shared.size + balancing.size + ordinary.size + size + surplus.size === 0
  );
}

/**
 * What is written may give an effect to what had none: a jump to a chain that was empty. Then the chains that differ
 * afterwards are written as well.
 */
function mendingText(
  family: Family,
  ruleset: Ruleset,
  { left, right, tables }: FamilyDifferences,
  expected: NodeState,
  actual: NodeState,
): string {
  const more = new Map(tables.map(({ table }) => [table, new Set<string>()]));
  for (;;) {
    const text = commandsText(
      tables.map((difference) => tableCommands(difference, left, right, more.get(difference.table))),
      family,
    );
    const after = patched(text, family, ruleset, expected, actual);
    const findings = findingsLeft(family, expected, after);
    if (findings.length === 0) return text;
    if (!addDiffering(more, family, expected, after)) {
      throw unloadable(family, ruleset, expected, actual) ?? unmended(findings, family, expected, actual);
    }
  }
}

/** Adds the chains that differ; false where all of them were there. */
function addDiffering(
  more: ReadonlyMap<string, Set<string>>,
  family: Family,
  expected: NodeState,
  after: NodeState,
): boolean {
  const differences = familyDifferences(family, expected, after, { scope: 'kube-proxy', family });
  if (typeof differences === 'string') return false;
  let grew = false;
  for (const { table, shared, balancing, ordinary, missing } of differences.tables) {
    const chains = more.get(table);
    for (const chain of [...shared.keys(), ...balancing.keys(), ...ordinary, ...missing]) {
      if (chains === undefined || chains.has(chain) || isBuiltIn(chain)) continue;
      chains.add(chain);
      grew = true;
    }
  }
  return grew;
}

function commandsText(commands: readonly TableCommands[], family: Family): string {
  let text = '';
  try {
    for (const chunk of printCommands(commands, family)) text += chunk;
  } catch (error) {
    throw new UnwritablePatchError(
      `no patch for ${family}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  return text;
}

function tableCommands(
  difference: TableDifference,
  left: View,
  right: View,
  more: ReadonlySet<string> = new Set(),
): TableCommands {
  const { table, jumps } = difference;
  const expected = left.tables.get(table)?.chains ?? new Map<string, never>();
  const actual = right.tables.get(table)?.chains ?? new Map<string, never>();
  const rewritten = new Set(
    [
      ...difference.shared.keys(),
      ...difference.balancing.keys(),
      ...difference.ordinary,
      ...difference.missing,
      ...more,
    ].filter((chain) => !isBuiltIn(chain)),
  );
  // A chain that is written may jump to one that the dump lacks (a partial dump): that has to come along.
  const queue = [...rewritten];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    for (const rule of expected.get(next)?.rules ?? []) {
      const target = jumpOf(rule);
      if (target === undefined || actual.has(target) || rewritten.has(target) || !expected.has(target))
        continue;
      rewritten.add(target);
      queue.push(target);
    }
  }
  const removed = removable(difference, rewritten, right);
  const statements: RestoreStatement[] = jumps.surplus.map(({ from, rule }) => ({
    kind: 'delete',
    chain: from,
    rule,
  }));
  for (const chain of rewritten) {
    for (const rule of expected.get(chain)?.rules ?? []) statements.push({ kind: 'append', chain, rule });
  }
  // kube-proxy inserts each missing jump at the head; from the last to the first they end up in its order.
  for (const { from, rule } of jumps.missing.toReversed())
    statements.push({ kind: 'insert', chain: from, at: 1, rule });
  for (const chain of removed) statements.push({ kind: 'delete-chain', chain });
  return { name: table, declare: [...rewritten, ...removed], statements };
}

/** Stale chains of service ports that no rule refers to once the others are rewritten. */
function removable(
  { table, surplus }: TableDifference,
  rewritten: ReadonlySet<string>,
  right: View,
): string[] {
  const stale = [...surplus].filter(isServiceChain);
  if (stale.length === 0) return [];
  const chains = right.tables.get(table)?.chains ?? new Map<string, never>();
  const removed = new Set(stale);
  // What is kept keeps what it refers to.
  const kept = [...chains.keys()].filter((chain) => !removed.has(chain) && !rewritten.has(chain));
  for (let next = kept.pop(); next !== undefined; next = kept.pop()) {
    for (const rule of chains.get(next)?.rules ?? []) {
      const target = jumpOf(rule);
      if (target !== undefined && removed.delete(target)) kept.push(target);
    }
  }
  return [...removed];
}

/** Why no kernel could hold one side: a dump that was edited or cut may jump to chains that it lacks, or in a circle. */
function refusalOf({ kind, rulesets }: NodeState, family: Family, actual: Ruleset): string | undefined {
  const ruleset = rulesets[family];
  if (ruleset === undefined) return undefined;
  const before: Ruleset = kind === 'payload' ? actual : { family, tables: [] };
  const applied = applyRestore(before, ruleset);
  return 'error' in applied ? applied.error : undefined;
}

/** A chain of every sync that the actual side alone has: what is expected is then no node that kube-proxy runs on. */
function lackingChain(expected: NodeState, family: Family, actual: NodeState): string | undefined {
  const chainsOf = ({ rulesets }: NodeState) =>
    (rulesets[family]?.tables ?? []).flatMap(({ name, chains }) =>
      chains.map((chain) => ({ place: `${name}/${chain.name}`, name: chain.name })),
    );
  const places = new Set(chainsOf(expected).map(({ place }) => place));
  return chainsOf(actual).find(({ place, name }) => isFixedChain(name) && !places.has(place))?.name;
}

const UNMENDED: ReadonlySet<ProblemCode> = new Set(['both-backends', 'another-mode', 'mode-leftover']);

/** That one of the sides could be on no node, where it is so: nothing can be said then of a patch. */
function unloadable(
  family: Family,
  ruleset: Ruleset,
  expected: NodeState,
  actual: NodeState,
): UnwritablePatchError | undefined {
  for (const [side, what] of [
    [expected, 'what is expected'],
    [actual, 'what there is'],
  ] as const) {
    const reason = refusalOf(side, family, ruleset);
    if (reason !== undefined) {
      return new UnwritablePatchError(
        `no patch for ${family}: iptables-restore would refuse ${what}: ${reason}`,
      );
    }
  }
  return undefined;
}

/** What there is once the patch was applied. */
function patched(
  text: string,
  family: Family,
  ruleset: Ruleset,
  expected: NodeState,
  actual: NodeState,
): NodeState {
  const applied = applyRestore(ruleset, parseIptablesSave(text, { family, keepOrder: true }));
  if (!('error' in applied)) return { ...actual, rulesets: { [family]: applied.ruleset } };
  throw (
    unloadable(family, ruleset, expected, actual) ??
    new PatchError(`the patch for ${family} does not load: ${applied.error} (line ${applied.line ?? '?'})`)
  );
}

function findingsLeft(family: Family, expected: NodeState, after: NodeState): readonly Finding[] {
  // Rules alone: virtual servers, sets and addresses have patches of their own.
  const { ipvs: _, ...rulesOfExpected } = expected;
  const { ipvs: __, ...rulesAfter } = after;
  const { findings } = compareStates(rulesOfExpected, rulesAfter, { scope: 'kube-proxy', family });
  // That both back ends have rules is nothing that a patch of one of them can mend, and leftovers of another mode
  // stay where nothing leads to them.
  return findings.filter(({ problems }) => problems.some(({ code }) => !UNMENDED.has(code)));
}

function unmended(
  findings: readonly Finding[],
  family: Family,
  expected: NodeState,
  actual: NodeState,
): PatchError {
  const lacking = lackingChain(expected, family, actual);
  if (lacking !== undefined) {
    return new UnwritablePatchError(
      `no patch for ${family}: what is expected has no chain ${lacking}, as a node with kube-proxy has it: it is no dump of a whole node`,
    );
  }
  const [first] = findings;
  return new PatchError(
    `the patch for ${family} leaves ${findings.length} findings: ${first?.servicePort ?? 'node'}: ${first?.problems[0]?.message ?? ''}`,
  );
}
