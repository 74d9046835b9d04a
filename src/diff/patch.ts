import {
  applyRestore,
  type Family,
  parseIptablesSave,
  printCommands,
  type RestoreStatement,
  type Ruleset,
  type TableCommands,
} from '../netfilter/index.ts';
import { type CompareOptions, compareStates, familyDifferences, type NodeState } from './compare.ts';
import type { ProblemCode } from './comparison.ts';
import { jumpOf } from './rule-key.ts';
import { isBuiltIn, isServiceChain } from './scope.ts';
import type { TableDifference } from './table-difference.ts';
import type { View } from './view.ts';

/** A patch that does not lead where it should: a fault of this program. */
export class PatchError extends Error {
  override readonly name: string = 'PatchError';
}

/** A patch would need a rule that iptables-restore cannot read: a dump can hold such rules. */
export class UnwritablePatchError extends PatchError {
  override readonly name = 'UnwritablePatchError';
}

/**
 * Restore input, family by family, that turns the actual state into the expected one: the smallest that
 * rewrites whole chains. Families without a difference are left out. Foreign rules are never touched, and
 * neither are chains that nothing leads to.
 *
 * Each patch is applied in memory and the result compared before it is given out; a PatchError says that this
 * failed, an UnwritablePatchError that a rule cannot be written (a dump can hold comments that no input can).
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
    const { left, right, tables } = differences;
    const commands = tables.map((difference) => tableCommands(difference, left, right));
    let text = '';
    try {
      for (const chunk of printCommands(commands, family)) text += chunk;
    } catch (error) {
      throw new UnwritablePatchError(
        `no patch for ${family}: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
    if (text === '') continue;
    verify(text, family, ruleset, expected, actual);
    patches[family] = text;
  }
  return patches;
}

function tableCommands(difference: TableDifference, left: View, right: View): TableCommands {
  const { table, jumps } = difference;
  const expected = left.tables.get(table)?.chains ?? new Map<string, never>();
  const actual = right.tables.get(table)?.chains ?? new Map<string, never>();
  const rewritten = new Set(
    [
      ...difference.shared.keys(),
      ...difference.balancing.keys(),
      ...difference.ordinary,
      ...difference.missing,
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

const UNMENDED: ReadonlySet<ProblemCode> = new Set(['both-backends', 'another-mode', 'mode-leftover']);

function verify(
  text: string,
  family: Family,
  ruleset: Ruleset,
  expected: NodeState,
  actual: NodeState,
): void {
  const applied = applyRestore(ruleset, parseIptablesSave(text, { family, keepOrder: true }));
  if ('error' in applied) {
    throw new PatchError(
      `the patch for ${family} does not load: ${applied.error} (line ${applied.line ?? '?'})`,
    );
  }
  // Rules alone: virtual servers, sets and addresses have patches of their own.
  const { ipvs: _, ...rulesOfExpected } = expected;
  const { ipvs: __, ...rulesOfActual } = actual;
  const after: NodeState = { ...rulesOfActual, rulesets: { [family]: applied.ruleset } };
  const { findings } = compareStates(rulesOfExpected, after, { scope: 'kube-proxy', family });
  const [first] = findings;
  // That both back ends have rules is nothing that a patch of one of them can mend, and leftovers of another mode
  // stay where nothing leads to them.
  const left = findings.filter(({ problems }) => problems.some(({ code }) => !UNMENDED.has(code)));
  if (left.length > 0) {
    throw new PatchError(
      `the patch for ${family} leaves ${left.length} findings: ${first?.servicePort ?? 'node'}: ${first?.problems[0]?.message ?? ''}`,
    );
  }
}
