/*
 * Dumps that end in the middle. A save prints the chain lines of a table first, then its rules chain by chain in the
 * same order: so it is known which chains are whole, which one may lack rules, and of which nothing is known.
 */
import { type NodeState, servicePortsIn } from '../diff/index.ts';
import type { Chain, Dump, Family, Ruleset, Table } from '../netfilter/index.ts';

export interface CutTable {
  readonly family: Family;
  readonly table: string;
  /** Chains of which rules may be missing. */
  readonly unknown: ReadonlySet<string>;
  /** The text holds a few chains of the table alone; of all others nothing is known. */
  readonly isExcerpt?: boolean;
  /** The text ends before any rule: there may be chains of which not even the name is known. */
  readonly beforeRules: boolean;
}

/** The table in which the text ends, if it ends before a COMMIT. */
export function cutTable({ ruleset, problems }: Dump, family: Family): CutTable | undefined {
  const cut = problems.some(({ code, message }) => code === 'no-commit' && message.endsWith('the text ends'));
  const table = cut ? ruleset.tables.at(-1) : undefined;
  if (table === undefined) return undefined;
  const declared = table.chains.filter((chain) => chain.declared !== false);
  const last = declared.findLastIndex(({ rules }) => rules.length > 0);
  const unknown = new Set(declared.slice(Math.max(0, last)).map(({ name }) => name));
  return { family, table: table.name, unknown, beforeRules: last < 0 };
}

/**
 * The tables of which a listing holds a few chains: `iptables -t nat -nvL KUBE-SERVICES`. A listing of a whole table
 * has its built-in chains.
 */
export function excerptTables({ ruleset, format }: Dump, family: Family): CutTable[] {
  if (format !== 'iptables -L' && format !== 'iptables -S') return [];
  return ruleset.tables
    .filter(({ chains }) =>
      chains.every(({ policy, declared }) => policy === undefined && declared !== false),
    )
    .map(({ name }) => ({ family, table: name, unknown: new Set(), isExcerpt: true, beforeRules: false }));
}

/** `nat is cut off: 12 chains are not compared`. */
export function describeCut({ table, unknown, isExcerpt, beforeRules }: CutTable): string {
  if (isExcerpt) return `the table ${table} is listed in part: its other chains are not compared`;
  if (beforeRules) return `the table ${table} is cut off before its rules and not compared`;
  const count = unknown.size === 1 ? 'one chain is' : `${unknown.size} chains are`;
  return `the table ${table} is cut off: ${count} not compared`;
}

/**
 * Gives what is unknown of a state the form that it has on the other side, so that it is no difference. A table of
 * which nothing of kube-proxy is known is left out.
 */
export function withoutUnknown(state: NodeState, other: NodeState, cuts: readonly CutTable[]): NodeState {
  if (cuts.length === 0) return state;
  const rulesets: Partial<Record<Family, Ruleset>> = { ...state.rulesets };
  for (const cut of cuts) {
    const { family } = cut;
    const ruleset = rulesets[family];
    if (ruleset === undefined) continue;
    const model = other.rulesets[family]?.tables.find(({ name }) => name === cut.table);
    const tables = ruleset.tables.flatMap((table) =>
      table.name === cut.table ? completed(table, model, cut) : [table],
    );
    rulesets[family] = { family, tables };
  }
  return { ...state, rulesets };
}

/** Suffixes of the service ports that the other side has in what is unknown of a state, by family. */
export function unknownPorts(
  state: NodeState,
  other: NodeState,
  cuts: readonly CutTable[],
): ReadonlyMap<Family, ReadonlySet<string>> {
  const found = new Map<Family, ReadonlySet<string>>();
  for (const family of new Set(cuts.map((cut) => cut.family))) {
    const model = other.rulesets[family];
    if (model === undefined) continue;
    const ofFamily = cuts.filter((cut) => cut.family === family);
    const has = new Map(
      state.rulesets[family]?.tables.map(({ name, chains }) => [
        name,
        new Set(chains.map((chain) => chain.name)),
      ]),
    );
    const isUnknown = (table: string, chain: string): boolean => {
      const cut = ofFamily.find((each) => each.table === table);
      // The text ends before a table that is not there.
      if (cut === undefined) return !has.has(table);
      if (cut.beforeRules || cut.unknown.has(chain)) return true;
      return cut.isExcerpt === true && has.get(table)?.has(chain) !== true;
    };
    found.set(family, servicePortsIn(model, [...state.owners, ...other.owners], isUnknown));
  }
  return found;
}

function completed(
  table: Table,
  model: Table | undefined,
  { unknown, isExcerpt, beforeRules }: CutTable,
): Table[] {
  const models = new Map(model?.chains.map((chain) => [chain.name, chain]));
  const knows = (chain: Chain) => !unknown.has(chain.name) && chain.name.startsWith('KUBE-');
  if (beforeRules || !table.chains.some(knows)) return [];
  // `-A KUBE-SVC-67N` at the end of the text is no chain of its own.
  const isHalfAName = ({ name, declared, rules }: Chain) =>
    declared === false && rules.length === 1 && [...unknown].some((whole) => whole.startsWith(name));
  const chains = table.chains
    .filter((chain) => !isHalfAName(chain))
    .map((chain) => (unknown.has(chain.name) ? (models.get(chain.name) ?? chain) : chain));
  const listed = new Set(chains.map(({ name }) => name));
  const others = isExcerpt ? (model?.chains ?? []).filter(({ name }) => !listed.has(name)) : [];
  return [{ name: table.name, chains: [...chains, ...others] }];
}
