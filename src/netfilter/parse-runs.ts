/*
 * Runs: the `-A` lines of one chain, one behind the other. Where the same run is known from another text, its rules are
 * taken from there and its lines are not read at all.
 */
import { type ChainDraft, leaveChain, noteFamily, type ParseState, type TableDraft } from './parse-draft.ts';

const APPEND = '-A ';

const LINE_FEED = 10;
const BLANK = 32;

/** Whether the line at `pos` goes on with the current run. */
export function isOfRun({ run, text }: ParseState, pos: number): boolean {
  return run !== undefined && isAppendTo(text, pos, run.chain.name);
}

function isAppendTo(text: string, pos: number, chain: string): boolean {
  const behind = pos + APPEND.length + chain.length;
  // Its last character is asked for first: most chains begin alike.
  return (
    text.charCodeAt(behind) === BLANK &&
    text.charCodeAt(behind - 1) === chain.charCodeAt(chain.length - 1) &&
    text.startsWith(APPEND, pos) &&
    text.startsWith(chain, pos + APPEND.length)
  );
}

/**
 * Where lines of another chain begin, or of none: notes those before as known, and takes the rules of these from
 * those that are known, if they are the same characters. Returns where reading goes on, `pos` if nothing was taken.
 */
export function startRun(state: ParseState, pos: number): number {
  const { text, table } = state;
  endRun(state, pos);
  if (table?.known === undefined || !text.startsWith(APPEND, pos)) return pos;
  const chain = chainAppendedTo(table, text, pos);
  if (chain === undefined || chain.declared === false || chain.rules.length > 0) return pos;
  const same = table.known.find(chain.name, text, pos);
  if (same !== undefined && !isAppendTo(text, pos + same.text.length, chain.name)) {
    for (const rule of same.rules) noteFamily(state, rule);
    chain.rules = same.rules;
    state.problems.line += same.lines;
    return pos + same.text.length;
  }
  state.chain = chain;
  state.run = { chain, start: pos, line: state.problems.line, problems: state.problems.total };
  return pos;
}

/** Chains without rules may stand between two that have some. */
const LOOKED_AT = 8;

function chainAppendedTo(table: TableDraft, text: string, pos: number): ChainDraft | undefined {
  const { declared, next } = table;
  for (let place = next; place < next + LOOKED_AT; place++) {
    const chain = declared[place];
    if (chain === undefined) break;
    if (!isAppendTo(text, pos, chain.name)) continue;
    table.next = place + 1;
    return chain;
  }
  const start = pos + APPEND.length;
  const blank = text.indexOf(' ', start);
  return blank < 0 ? undefined : table.chains.get(text.slice(start, blank));
}

/** Nothing is kept of lines that are worth a message. */
export function endRun(state: ParseState, end: number): void {
  const { run, table, text, problems } = state;
  state.run = undefined;
  leaveChain(state);
  if (run === undefined || table?.known === undefined) return;
  if (problems.total > run.problems || text.charCodeAt(end - 1) !== LINE_FEED) return;
  const { rules, name } = run.chain;
  const lines = problems.line - run.line;
  table.known.add({ name, text: text.slice(run.start, end), lines, rules });
}
