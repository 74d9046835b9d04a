/*
 * Text of iptables-save (1.4 to 1.8, legacy and nft), or input of iptables-restore, → Ruleset. Made for what
 * people really hand in: cut off, quoted with `>`, pasted between other lines, with CRLF, by hand. Nothing is
 * dropped in silence and nothing throws: what cannot be used is a problem with the number of its line.
 */
import type { TextFormat } from './detect.ts';
import { detectFormat } from './detect.ts';
import { readHeader } from './header-comment.ts';
import type { KnownChains } from './known-chains.ts';
import {
  type ChainDraft,
  finishTable,
  leaveChain,
  noteFamily,
  openTable,
  type ParseState,
  ruleChain,
  type TableDraft,
  type TablePlace,
} from './parse-draft.ts';
import { keepWords, parseCounters, parseRule } from './parse-rule.ts';
import { endRun, isOfRun, startRun } from './parse-runs.ts';
import type { ParseProblem } from './problems.ts';
import { newProblems, refuse, report, summarize } from './problems.ts';
import type { Command, Counters, Family, Ruleset, Statement } from './ruleset.ts';
import { keptWord, newWords, readWords } from './words.ts';

export interface ParsedSave {
  readonly ruleset: Ruleset;
  /** In the order of the lines. An error among them means that the ruleset is empty or has holes. */
  readonly problems: readonly ParseProblem[];
  /** What the text looked like; with anything but `iptables-save` and `unknown` the ruleset is empty. */
  readonly format: TextFormat;
  /** Lines inside of tables that could not be read: there may be more rules than the ruleset has. */
  readonly unread: number;
  /** With `keepOrder`, of each table of the ruleset: where it stands in the text. */
  readonly places?: readonly TablePlace[];
}

export interface ParseOptions {
  /** Whose text this is; without it told from the header comment, else from the addresses, else IPv4. */
  readonly family?: Family;
  /**
   * Keep the order of all rules and commands in `Table.statements`: for restore input that is printed again, or
   * applied. A chain line behind rules, which empties its chain there, is one of the statements then.
   */
  readonly keepOrder?: boolean;
  /** Chains of texts that were read before, and where those of this one are added. Not with `keepOrder`. */
  readonly known?: KnownChains;
}

/**
 * Reads a dump. Never throws. Rules before any `*table` line come back under a table with the name ''
 * (problem `no-table-header`); a table that is given twice comes back twice (`duplicate-table`); a table
 * without COMMIT is taken as it is (`no-commit`: the text was cut off). A text of another kind gives an empty
 * ruleset and the error `not-iptables-save`, which names the kind and the command to use instead.
 */
export function parseIptablesSave(text: string, options: ParseOptions = {}): ParsedSave {
  const state: ParseState = {
    text,
    keepOrder: options.keepOrder ?? false,
    words: newWords(),
    tables: [],
    tableNames: new Set(),
    isFull: false,
    table: undefined,
    chain: undefined,
    rules: [],
    count: 0,
    known: options.keepOrder === true ? undefined : options.known,
    run: undefined,
    problems: newProblems(),
    unread: 0,
    sawIPv4: false,
    sawIPv6: false,
    headerFamily: undefined,
  };
  const format = detectFormat(text);
  if (format === 'iptables-save' || format === 'unknown') readLines(state);
  else refuse(state.problems, format);
  if (format === 'unknown' && state.tables.length === 0) {
    state.problems.list.length = 0;
    refuse(state.problems, format);
  }
  summarize(state.problems);
  const family = options.family ?? state.headerFamily ?? familyOf(state);
  return {
    ruleset: { family, tables: state.tables.map(finishTable) },
    problems: state.problems.list,
    format,
    unread: state.unread,
    ...(state.keepOrder && { places: state.tables.map(({ place }) => place) }),
  };
}

function familyOf(state: ParseState): Family {
  if (state.sawIPv4 || state.sawIPv6) return state.sawIPv6 ? 'ipv6' : 'ipv4';
  return /icmp6-|-p (?:ipv6-icmp|icmpv6)|--mask ffff:|--to-destination \[/.test(state.text) ? 'ipv6' : 'ipv4';
}

const TAB = 9;
const RETURN = 13;
const BLANK = 32;
const HASH = 35;
const STAR = 42;
const DASH = 45;
const COLON = 58;
const GREATER = 62;
const BRACKET = 91;

function readLines(state: ParseState): void {
  const { text } = state;
  let pos = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  while (pos < text.length && !state.isFull) {
    const feed = text.indexOf('\n', pos);
    const lineEnd = feed < 0 ? text.length : feed;
    let start = pos;
    let code = text.charCodeAt(start);
    if (code === GREATER && start < lineEnd) {
      if (!state.problems.counts.has('quoted-lines'))
        report(state.problems, 'quoted-lines', 'note', 'lines are quoted with >');
    }
    while (start < lineEnd && (code === GREATER || code === BLANK || code === TAB))
      code = text.charCodeAt(++start);
    if (state.known !== undefined && !isOfRun(state, pos)) {
      const next = startRun(state, pos);
      if (next > pos) {
        pos = next;
        continue;
      }
    }
    const end = lineEnd > start && text.charCodeAt(lineEnd - 1) === RETURN ? lineEnd - 1 : lineEnd;
    const read = end > start ? readLine(state, start, end, code) : end;
    if (read <= lineEnd) {
      pos = lineEnd + 1;
      state.problems.line++;
    } else {
      pos = read + 1;
      state.problems.line += 1 + state.words.lineFeeds;
    }
  }
  endRun(state, text.length);
  endTable(state, 'the text ends');
}

/** Reads one line; returns where it ended, which is later than `end` if a quoted text runs over its end. */
function readLine(state: ParseState, start: number, end: number, code: number): number {
  switch (code) {
    case HASH:
      state.headerFamily = readHeader(state.problems, state.text.slice(start, end), state.headerFamily);
      return end;
    case STAR:
      // What stands behind the name says nothing to iptables-restore.
      startTable(
        state,
        state.text
          .slice(start + 1, end)
          .trim()
          .split(/[ \t]/, 1)[0] ?? '',
      );
      return end;
    case COLON:
      chainLine(state, start + 1, end);
      return end;
    case DASH:
    case BRACKET:
      return ruleOrCommand(state, start, end, code === BRACKET);
    default:
      if (state.text.slice(start, end).trimEnd() === 'COMMIT') commit(state);
      else unreadable(state, start, end);
      return end;
  }
}

function startTable(state: ParseState, name: string): void {
  endTable(state, `the table ${name} begins`);
  if (name === '') {
    report(state.problems, 'unreadable-line', 'warning', 'a table line without a name');
    return;
  }
  if (state.tableNames.has(name)) {
    report(state.problems, 'duplicate-table', 'warning', `the table ${name} is there more than once`);
  }
  openTable(state, name);
}

function commit(state: ParseState): void {
  if (state.table === undefined)
    report(state.problems, 'unreadable-line', 'warning', 'COMMIT without a table');
  else state.table.place.commit = state.problems.line;
  leaveChain(state);
  state.table = undefined;
}

function endTable(state: ParseState, what: string): void {
  const { table } = state;
  if (table !== undefined && table.name !== '') {
    const message = `the table ${table.name} (line ${table.place.line}) has no COMMIT before ${what}`;
    report(state.problems, 'no-commit', 'warning', message, 'the dump may be cut off: take it again');
  }
  leaveChain(state);
  state.table = undefined;
}

/** The table of a rule that stands in none: excerpts, made with grep or cut from the middle. */
function currentTable(state: ParseState): TableDraft {
  if (state.table !== undefined) return state.table;
  const help = 'take the whole output of iptables-save: a rule means nothing without its table';
  report(state.problems, 'no-table-header', 'error', 'rules without a *table line before them', help);
  return openTable(state, '');
}

/** Of an excerpt without table lines: chain lines behind rules begin another table, for a save prints them first. */
function tableOfChain(state: ParseState): TableDraft {
  const table = currentTable(state);
  return table.name === '' && table.hasRules ? openTable(state, '') : table;
}

/** `:NAME POLICY [packets:bytes]`; old versions print no counters, and neither do people. */
function chainLine(state: ParseState, start: number, end: number): void {
  const { words } = state;
  if (plainChainLine(state, start, end)) return;
  readWords(state.text, start, end, words);
  const [name, policy = '-', counters] = words.texts.slice(0, words.count);
  // No chain can be named so: iptables takes no blanks in a name.
  const isNoName = name === undefined || name === '' || /\s/.test(name);
  if (isNoName || words.count > 3 || !/^(?:-|[A-Z]+)$/.test(policy)) {
    unreadable(state, start - 1, end);
    return;
  }
  const table = tableOfChain(state);
  const pair = counters === undefined ? null : /^\[(\d+):(\d+)\]$/.exec(counters);
  const parsed = pair === null ? undefined : nonZero(parseCounters(pair[1] ?? '', pair[2] ?? ''));
  if (counters !== undefined && pair === null) {
    report(
      state.problems,
      'unreadable-line',
      'warning',
      `the chain ${name} has no counters but ${JSON.stringify(counters)}`,
    );
  }
  if (table.place.statements.length > 0) {
    if (!table.chains.has(name) || table.chains.get(name)?.declared === false)
      table.place.declaredLate.add(name);
    addStatement(state, table, { kind: 'command', words: [keptWord(`:${name}`, false), policy, '[0:0]'] });
  }
  const chain: ChainDraft = table.chains.get(name) ?? { name, policy: undefined, rules: [] };
  if (table.chains.has(name) && chain.declared !== false) {
    report(state.problems, 'duplicate-chain', 'note', `the chain ${name} is declared more than once`);
  }
  delete chain.declared;
  chain.policy = policy === '-' ? undefined : policy;
  if (parsed !== undefined) chain.counters = parsed;
  table.chains.set(name, chain);
  table.declared.push(chain);
}

const NEW_CHAIN = ' - [0:0]';

/** Nearly all chain lines of a large dump: a chain without counters that was not there before. */
function plainChainLine(state: ParseState, start: number, end: number): boolean {
  const { text, table } = state;
  const nameEnd = end - NEW_CHAIN.length;
  if (table === undefined || table.name === '' || table.place.statements.length > 0) return false;
  if (nameEnd <= start || !text.startsWith(NEW_CHAIN, nameEnd)) return false;
  const name = text.slice(start, nameEnd);
  if (/[\s"]/.test(name) || table.chains.has(name)) return false;
  const chain: ChainDraft = { name, policy: undefined, rules: [] };
  table.chains.set(name, chain);
  table.declared.push(chain);
  return true;
}

function nonZero(counters: Counters | undefined): Counters | undefined {
  return counters === undefined || (counters.packets === 0n && counters.bytes === 0n) ? undefined : counters;
}

function ruleOrCommand(state: ParseState, start: number, end: number, hasCounters: boolean): number {
  const { words } = state;
  const read = readWords(state.text, start, end, words);
  const at = hasCounters ? 1 : 0;
  const command = words.texts[at] ?? '';
  const isAppend =
    words.count > at + 1 && words.quoted[at] === 0 && (command === '-A' || command === '--append');
  const counters = hasCounters ? leadingCounters(words.texts[0] ?? '') : undefined;
  if (hasCounters && (counters === undefined || !isAppend)) unreadable(state, start, end);
  else if (isAppend) appendRule(state, at + 1, counters);
  else restoreCommand(state, command, start, end);
  if (words.unterminated) {
    const help = 'iptables-restore takes the rest of the line, its end included, as part of the text';
    report(state.problems, 'unterminated-quote', 'error', 'a quote is opened and never closed', help);
  } else if (words.lineFeeds > 0) {
    report(state.problems, 'line-feed-in-quotes', 'warning', 'a quoted text runs over the end of its line');
  }
  return read;
}

function leadingCounters(word: string): Counters | undefined {
  const colon = word.indexOf(':');
  return word.endsWith(']') ? parseCounters(word.slice(1, colon), word.slice(colon + 1, -1)) : undefined;
}

function appendRule(state: ParseState, at: number, counters: Counters | undefined): void {
  const { words } = state;
  const table = currentTable(state);
  const name = words.texts[at] ?? '';
  // Lines of a run have been looked at already.
  if (state.run === undefined && state.chain?.name !== name) {
    leaveChain(state);
    state.chain = ruleChain(state, table, name);
  }
  table.hasRules = true;
  const { rule, trailingComment } = parseRule(words, at + 1);
  const kept = counters === undefined ? rule : { ...rule, counters };
  state.rules[state.count++] = kept;
  addStatement(state, table, { kind: 'append', chain: name, rule: kept });
  noteFamily(state, rule);
  if (trailingComment !== undefined) {
    const help = 'iptables-restore would not take this line';
    report(
      state.problems,
      'trailing-comment',
      'warning',
      `a comment behind the rule was left out: ${trailingComment}`,
      help,
    );
  }
  if (rule.unparsed !== undefined) {
    const message = `words without an option, or an option without its value: ${rule.unparsed.join(' ')}`;
    report(state.problems, 'unparsed-words', 'error', message, 'iptables-restore would refuse this line');
  }
}

function addStatement(state: ParseState, table: TableDraft, statement: Statement): void {
  if (table.statements === undefined) return;
  table.statements.push(statement);
  table.place.statements.push(state.problems.line);
}

const COMMANDS =
  /^-[IDRXNPFZE]$|^--(?:insert|delete|replace|delete-chain|new-chain|policy|flush|zero|rename-chain)$/;

/** What restore input may hold besides chain lines and `-A`: kept word by word, and declared chains noted. */
function restoreCommand(state: ParseState, command: string, start: number, end: number): void {
  const { words } = state;
  if (words.quoted[0] === 1 || !COMMANDS.test(command)) {
    unreadable(state, start, end);
    return;
  }
  const table = currentTable(state);
  const [, created] = words.texts;
  if (created !== undefined && words.count === 2 && (command === '-N' || command === '--new-chain')) {
    if (!table.chains.has(created)) {
      table.chains.set(created, { name: created, policy: undefined, declared: false, rules: [] });
    }
  }
  const texts = keepWords(words, 0, words.count, []);
  const statement: Command = { kind: 'command', words: texts };
  table.commands.push(statement);
  addStatement(state, table, statement);
  report(
    state.problems,
    'restore-command',
    'note',
    `a command of restore input, not of a dump: ${texts.join(' ')}`,
  );
}

function unreadable(state: ParseState, start: number, end: number): void {
  const text = state.text.slice(start, Math.min(end, start + 80)).trimEnd();
  if (text === '') return;
  if (state.table !== undefined) state.unread++;
  const more = end > start + 80 ? '…' : '';
  report(
    state.problems,
    'unreadable-line',
    'warning',
    `not a line of iptables-save: ${JSON.stringify(text)}${more}`,
  );
}
