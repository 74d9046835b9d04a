/*
 * Text of iptables-save (1.4 to 1.8, legacy and nft), or input of iptables-restore, → Ruleset. Made for what
 * people really hand in: cut off, quoted with `>`, pasted between other lines, with CRLF, by hand. Nothing is
 * dropped in silence and nothing throws: what cannot be used is a problem with the number of its line.
 */
import type { TextFormat } from './detect.ts';
import { detectFormat } from './detect.ts';
import { readHeader } from './header-comment.ts';
import { type KnownChains, type KnownTableReader, readerOf } from './known-chains.ts';
import { keepWords, parseCounters, parseRule } from './parse-rule.ts';
import type { ParseProblem, Problems } from './problems.ts';
import { newProblems, refuse, report, summarize } from './problems.ts';
import type { Chain, Command, Counters, Family, Rule, Ruleset, Statement, Table } from './ruleset.ts';
import type { Words } from './words.ts';
import { keptWord, newWords, readWords } from './words.ts';

export interface ParsedSave {
  readonly ruleset: Ruleset;
  /** In the order of the lines. An error among them means that the ruleset is empty or has holes. */
  readonly problems: readonly ParseProblem[];
  /** What the text looked like; with anything but `iptables-save` and `unknown` the ruleset is empty. */
  readonly format: TextFormat;
  /** With `keepOrder`, of each table of the ruleset: where it stands in the text. */
  readonly places?: readonly TablePlace[];
}

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

type ChainDraft = { -readonly [K in keyof Chain]: Chain[K] } & { rules: Rule[] };

type PlaceDraft = { -readonly [K in keyof TablePlace]: TablePlace[K] } & {
  statements: number[];
  declaredLate: Set<string>;
};

interface TableDraft {
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
interface Run {
  readonly chain: ChainDraft;
  readonly start: number;
  /** The line that it starts on, and how many problems there were before it. */
  readonly line: number;
  readonly problems: number;
}

interface State {
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
  sawIPv4: boolean;
  sawIPv6: boolean;
  headerFamily: Family | undefined;
}

/**
 * Reads a dump. Never throws. Rules before any `*table` line come back under a table with the name ''
 * (problem `no-table-header`); a table that is given twice comes back twice (`duplicate-table`); a table
 * without COMMIT is taken as it is (`no-commit`: the text was cut off). A text of another kind gives an empty
 * ruleset and the error `not-iptables-save`, which names the kind and the command to use instead.
 */
export function parseIptablesSave(text: string, options: ParseOptions = {}): ParsedSave {
  const state: State = {
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
    ...(state.keepOrder && { places: state.tables.map(({ place }) => place) }),
  };
}

function familyOf(state: State): Family {
  if (state.sawIPv4 || state.sawIPv6) return state.sawIPv6 ? 'ipv6' : 'ipv4';
  return /icmp6-|-p (?:ipv6-icmp|icmpv6)|--mask ffff:|--to-destination \[/.test(state.text) ? 'ipv6' : 'ipv4';
}

function finishTable(draft: TableDraft): Table {
  return {
    name: draft.name,
    chains: [...draft.chains.values()],
    ...(draft.commands.length > 0 && { commands: draft.commands }),
    ...(draft.statements !== undefined && { statements: draft.statements }),
  };
}

const APPEND = '-A ';

const TAB = 9;
const LINE_FEED = 10;
const RETURN = 13;
const BLANK = 32;
const HASH = 35;
const STAR = 42;
const DASH = 45;
const COLON = 58;
const GREATER = 62;
const BRACKET = 91;

function readLines(state: State): void {
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

function isOfRun({ run, text }: State, pos: number): boolean {
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
function startRun(state: State, pos: number): number {
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
function endRun(state: State, end: number): void {
  const { run, table, text, problems } = state;
  state.run = undefined;
  leaveChain(state);
  if (run === undefined || table?.known === undefined) return;
  if (problems.total > run.problems || text.charCodeAt(end - 1) !== LINE_FEED) return;
  const { rules, name } = run.chain;
  const lines = problems.line - run.line;
  table.known.add({ name, text: text.slice(run.start, end), lines, rules });
}

/** Reads one line; returns where it ended, which is later than `end` if a quoted text runs over its end. */
function readLine(state: State, start: number, end: number, code: number): number {
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

function startTable(state: State, name: string): void {
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

/** Five are all that there are; pieces of one may follow each other. */
const MOST_TABLES = 1000;

function openTable(state: State, name: string): TableDraft {
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

function commit(state: State): void {
  if (state.table === undefined)
    report(state.problems, 'unreadable-line', 'warning', 'COMMIT without a table');
  else state.table.place.commit = state.problems.line;
  leaveChain(state);
  state.table = undefined;
}

function endTable(state: State, what: string): void {
  const { table } = state;
  if (table !== undefined && table.name !== '') {
    const message = `the table ${table.name} (line ${table.place.line}) has no COMMIT before ${what}`;
    report(state.problems, 'no-commit', 'warning', message, 'the dump may be cut off: take it again');
  }
  leaveChain(state);
  state.table = undefined;
}

/** The table of a rule that stands in none: excerpts, made with grep or cut from the middle. */
function currentTable(state: State): TableDraft {
  if (state.table !== undefined) return state.table;
  const help = 'take the whole output of iptables-save: a rule means nothing without its table';
  report(state.problems, 'no-table-header', 'error', 'rules without a *table line before them', help);
  return openTable(state, '');
}

/** Of an excerpt without table lines: chain lines behind rules begin another table, for a save prints them first. */
function tableOfChain(state: State): TableDraft {
  const table = currentTable(state);
  return table.name === '' && table.hasRules ? openTable(state, '') : table;
}

/** `:NAME POLICY [packets:bytes]`; old versions print no counters, and neither do people. */
function chainLine(state: State, start: number, end: number): void {
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
function plainChainLine(state: State, start: number, end: number): boolean {
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

function ruleOrCommand(state: State, start: number, end: number, hasCounters: boolean): number {
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

function appendRule(state: State, at: number, counters: Counters | undefined): void {
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

/** Puts the rules that were read into the list of their chain. */
function leaveChain(state: State): void {
  const { chain, rules, count } = state;
  state.chain = undefined;
  state.count = 0;
  if (chain === undefined || count === 0) return;
  const added = rules.slice(0, count);
  if (chain.rules.length === 0) chain.rules = added;
  else for (const rule of added) chain.rules.push(rule);
}

function ruleChain(state: State, table: TableDraft, name: string): ChainDraft {
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

function addStatement(state: State, table: TableDraft, statement: Statement): void {
  if (table.statements === undefined) return;
  table.statements.push(statement);
  table.place.statements.push(state.problems.line);
}

function noteFamily(state: State, rule: Rule): void {
  const address = rule.source?.address ?? rule.destination?.address;
  if (address === undefined) return;
  if (address.includes(':')) state.sawIPv6 = true;
  else if (address.includes('.')) state.sawIPv4 = true;
}

const COMMANDS =
  /^-[IDRXNPFZE]$|^--(?:insert|delete|replace|delete-chain|new-chain|policy|flush|zero|rename-chain)$/;

/** What restore input may hold besides chain lines and `-A`: kept word by word, and declared chains noted. */
function restoreCommand(state: State, command: string, start: number, end: number): void {
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

function unreadable(state: State, start: number, end: number): void {
  const text = state.text.slice(start, Math.min(end, start + 80)).trimEnd();
  if (text === '') return;
  const more = end > start + 80 ? '…' : '';
  report(
    state.problems,
    'unreadable-line',
    'warning',
    `not a line of iptables-save: ${JSON.stringify(text)}${more}`,
  );
}
