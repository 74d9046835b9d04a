/* What has been read of a dump so far: tables with their chains and rules, still growing. */
import { type KnownChains, type KnownTableReader, readerOf } from './known-chains.ts';
import { type Problems, report } from './problems.ts';
import type { Chain, Command, Family, Rule, Statement, Table } from './ruleset.ts';
import type { Words } from './words.ts';

/** Lines of one table of restore input; they count from 1. */
export interface TablePlace {
  readonly line: number;
  /** The line of its COMMIT; undefined where it has none. */
  readonly commit: number | undefined;
  /** Of each statement. */
  readonly statements: readonly number[];
  /** Chains whose first chain line stands behind rules or commands. */
  readonly declaredLate: ReadonlySet<string>;
}

export type ChainDraft = { -readonly [K in keyof Chain]: Chain[K] } & { rules: Rule[] };

export type PlaceDraft = { -readonly [K in keyof TablePlace]: TablePlace[K] } & {
  statements: number[];
  declaredLate: Set<string>;
};

export interface TableDraft {
  readonly name: string;
  readonly chains: Map<string, ChainDraft>;
  /** Those that chain lines declare, in their order, which is that of their rules in a save as well. */
  readonly declared: ChainDraft[];
  /** Place among them of the one whose rules are expected next. */
  next: number;
  readonly known: KnownTableReader | undefined;
  hasRules: boolean;
  readonly commands: Command[];
  readonly statements: Statement[] | undefined;
  readonly place: PlaceDraft;
}

/** `-A` lines of one chain, one behind the other, which started when the chain had no rules. */
export interface Run {
  readonly chain: ChainDraft;
  readonly start: number;
  /** The line that it starts on, and how many problems there were before it. */
  readonly line: number;
  readonly problems: number;
}

export interface ParseState {
  readonly text: string;
  readonly keepOrder: boolean;
  readonly words: Words;
  readonly tables: TableDraft[];
  readonly tableNames: Set<string>;
  /** There are more tables than are read. */
  isFull: boolean;
  table: TableDraft | undefined;
  chain: ChainDraft | undefined;
  /** Rules of `chain` that are not in its list yet, which so gets its right length at once; `count` of them count. */
  readonly rules: Rule[];
  count: number;
  readonly known: KnownChains | undefined;
  run: Run | undefined;
  readonly problems: Problems;
  /** Lines inside of tables that say nothing to the reader: rules may be lost. */
  unread: number;
  sawIPv4: boolean;
  sawIPv6: boolean;
  headerFamily: Family | undefined;
}

/** Five are all that there are; pieces of one may follow each other. */
const MOST_TABLES = 1000;

/** Begins a table, which is the current one then. */
export function openTable(state: ParseState, name: string): TableDraft {
  leaveChain(state);
  if (state.tables.length === MOST_TABLES) {
    const message = `more than ${MOST_TABLES} tables in one dump; the rest was not read`;
    report(state.problems, 'input-limit', 'error', message);
    state.isFull = true;
  }
  const statements = state.keepOrder ? [] : undefined;
  const place = {
    line: state.problems.line,
    commit: undefined,
    statements: [],
    declaredLate: new Set<string>(),
  };
  const isFirst = name !== '' && !state.tableNames.has(name);
  state.tableNames.add(name);
  const known = state.known !== undefined && isFirst ? readerOf(state.known, name) : undefined;
  const table: TableDraft = {
    name,
    chains: new Map(),
    declared: [],
    next: 0,
    known,
    hasRules: false,
    commands: [],
    statements,
    place,
  };
  state.tables.push(table);
  state.table = table;
  return table;
}

/** The chain that rules name, its list free to be added to; reports one that no line declares. */
export function ruleChain(state: ParseState, table: TableDraft, name: string): ChainDraft {
  const before = table.chains.get(name);
  if (before !== undefined) {
    // What is known stays as it is.
    if (before.rules.length > 0 && table.known?.owns(name, before.rules)) before.rules = [...before.rules];
    return before;
  }
  const chain: ChainDraft = { name, policy: undefined, declared: false, rules: [] };
  table.chains.set(name, chain);
  if (table.name !== '')
    report(state.problems, 'undeclared-chain', 'warning', `no line declares the chain ${name}`);
  return chain;
}

/** Puts the rules that were read into the list of their chain. */
export function leaveChain(state: ParseState): void {
  const { chain, rules, count } = state;
  state.chain = undefined;
  state.count = 0;
  if (chain === undefined || count === 0) return;
  const added = rules.slice(0, count);
  if (chain.rules.length === 0) chain.rules = added;
  else for (const rule of added) chain.rules.push(rule);
}

/** A text without a header is of the family of its addresses. */
export function noteFamily(state: ParseState, rule: Rule): void {
  const address = rule.source?.address ?? rule.destination?.address;
  if (address === undefined) return;
  if (address.includes(':')) state.sawIPv6 = true;
  else if (address.includes('.')) state.sawIPv4 = true;
}

/** The draft as part of a ruleset. */
export function finishTable(draft: TableDraft): Table {
  return {
    name: draft.name,
    chains: [...draft.chains.values()],
    ...(draft.commands.length > 0 && { commands: draft.commands }),
    ...(draft.statements !== undefined && { statements: draft.statements }),
  };
}
