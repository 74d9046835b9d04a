/*
 * What the kernel holds after iptables-restore took an input, worked out in memory; seen from both back ends of
 * iptables 1.8.9. Where one of them refuses what the other takes (`-X INPUT`, `:NEW DROP`), it is an error here:
 * an input that is to be handed to people has to load in either. Counters are not followed.
 *
 * A table is changed at its COMMIT, wholly or not at all; tables before one that failed stay changed.
 */
import { escapeText } from '../escape.ts';
import { applyCommand } from './apply-command.ts';
import type { DraftTable } from './apply-draft.ts';
import { circleIn, declareChain, draftOf, emptyTable, finishDraft, isTableName } from './apply-draft.ts';
import type { ParsedSave } from './parse.ts';
import type { TablePlace } from './parse-draft.ts';
import type { ParseProblemCode } from './problems.ts';
import type { Chain, Ruleset, Statement, Table } from './ruleset.ts';

export type Applied =
  | { readonly ruleset: Ruleset }
  | {
      /** In the words of iptables-nft-restore where it has some; one line, no final stop. */
      readonly error: string;
      /** Of the input, where that came with its places (`keepOrder`); counts from 1. */
      readonly line?: number;
      /** The table that could not be changed. */
      readonly table?: string;
      /** What the kernel holds nonetheless: tables before the one that failed were changed. */
      readonly left: Ruleset;
    };

export interface ApplyOptions {
  /** As `--noflush`, which is the default here; `false`: each table that the input names is emptied first. */
  readonly noflush?: boolean;
}

/** Of an error; it may quote a whole rule. */
const MOST_CHARACTERS = 1000;

/** What the parser passes over or mends, and iptables-restore does not. */
const REFUSED: ReadonlySet<ParseProblemCode> = new Set([
  'not-iptables-save',
  'no-table-header',
  'unreadable-line',
  'trailing-comment',
  'unparsed-words',
]);

/**
 * Applies restore input to what the kernel holds. Input as it comes from `parseIptablesSave(text, { keepOrder:
 * true })` is judged line by line; of a bare ruleset the chain lines come first, then the statements in their
 * order, or else the rules chain after chain and the commands. Never throws.
 *
 * Time grows with the sizes of state and input; untouched tables and chains come back as the same objects.
 */
export function applyRestore(
  state: Ruleset,
  input: Ruleset | ParsedSave,
  options: ApplyOptions = {},
): Applied {
  const ruleset = 'ruleset' in input ? input.ruleset : input;
  const places = 'ruleset' in input ? input.places : undefined;
  const refused = 'ruleset' in input ? firstRefused(input) : undefined;
  const tables = inOnePiece(state.tables);
  const fail = (error: string, line?: number, table?: string): Applied => ({
    error: escapeText(error, MOST_CHARACTERS),
    ...(line !== undefined && { line }),
    ...(table !== undefined && { table }),
    left: { family: state.family, tables },
  });
  if (ruleset.family !== state.family && ruleset.tables.length > 0) {
    return fail(`the input is of ${ruleset.family}, the rules are of ${state.family}`);
  }
  for (const [i, table] of ruleset.tables.entries()) {
    const place = places?.[i];
    if (refused !== undefined && place !== undefined && refused.line < place.line) break;
    const at = tables.findIndex(({ name }) => name === table.name);
    const draft = draftOf(tables[at], table.name, state.family);
    const failure = applyTable(draft, table, place, options.noflush ?? true, refused);
    if (failure !== undefined) return fail(failure.error, failure.line, table.name);
    const done = finishDraft(draft);
    if (at < 0) tables.push(done);
    else tables[at] = done;
  }
  return refused === undefined
    ? { ruleset: { family: state.family, tables } }
    : fail(refused.message, refused.line);
}

/** A table that was read in pieces is one table; of a chain in several of them the rules follow each other. */
function inOnePiece(tables: readonly Table[]): Table[] {
  if (new Set(tables.map(({ name }) => name)).size === tables.length) return [...tables];
  const pieces = new Map<string, Map<string, Chain>>();
  for (const { name, chains } of tables) {
    const known = pieces.get(name) ?? new Map<string, Chain>();
    pieces.set(name, known);
    for (const chain of chains) {
      const before = known.get(chain.name);
      const policy = before?.policy ?? chain.policy;
      const rules = [...(before?.rules ?? []), ...chain.rules];
      known.set(chain.name, before === undefined ? chain : { ...before, policy, rules });
    }
  }
  return [...pieces].map(([name, chains]) => ({ name, chains: [...chains.values()] }));
}

interface Refused {
  readonly line: number;
  readonly message: string;
}

function firstRefused(input: ParsedSave): Refused | undefined {
  return input.problems
    .filter(({ code, severity }) => REFUSED.has(code) && severity !== 'note')
    .reduce<Refused | undefined>(
      (first, problem) => (first === undefined || problem.line < first.line ? problem : first),
      undefined,
    );
}

interface Failure {
  readonly error: string;
  readonly line?: number;
}

function applyTable(
  draft: DraftTable,
  input: Table,
  place: TablePlace | undefined,
  noflush: boolean,
  refused: Refused | undefined,
): Failure | undefined {
  const failed = (error: string | undefined, line: number | undefined): Failure | undefined =>
    error === undefined ? undefined : { error, ...(line !== undefined && { line }) };
  if (!isTableName(input.name)) return failed(`table name '${input.name}' invalid`, place?.line);
  if (!noflush) emptyTable(draft);
  for (const chain of input.chains) {
    if (chain.declared === false || place?.declaredLate.has(chain.name)) continue;
    const error = declareChain(draft, chain.name, chain.policy);
    if (error !== undefined) return failed(error, place?.line);
  }
  let i = 0;
  for (const statement of statementsOf(input)) {
    const line = place?.statements[i++];
    if (refused !== undefined && line !== undefined && line > refused.line) break;
    const error = applyCommand(draft, statement);
    if (error !== undefined) return failed(error, line);
  }
  if (place !== undefined) {
    const end = place.commit ?? Number.POSITIVE_INFINITY;
    if (refused !== undefined && refused.line < end) return failed(refused.message, refused.line);
    if (place.commit === undefined) return failed('COMMIT expected', place.statements.at(-1) ?? place.line);
  }
  const circle = circleIn(draft);
  return failed(circle && `Too many links: chain ${circle} jumps in a circle`, place?.commit);
}

function* statementsOf(table: Table): Generator<Statement, void, undefined> {
  if (table.statements !== undefined) {
    yield* table.statements;
    return;
  }
  for (const { name, rules } of table.chains) {
    for (const rule of rules) yield { kind: 'append', chain: name, rule };
  }
  yield* table.commands ?? [];
}
