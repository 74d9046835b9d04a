/*
 * Support bundles and terminals: one text with the outputs of several commands. This cuts it where another
 * command's output begins, so that each piece is of one kind, one family and one back end.
 */
import type { Family } from './family.ts';
import type { Backend } from './header-comment.ts';
import { parseGenerator, saysLegacyTables } from './header-comment.ts';
import { declaredChain } from './listing-rules.ts';
import { listingBoundaries } from './listing-tables.ts';

export type SectionKind = 'save' | 'rules' | 'columns';

/** What is known of a piece from the command or the header comment above it. */
interface Hint {
  readonly family: Family | undefined;
  readonly backend: Backend | undefined;
  readonly table: string | undefined;
  /** A line shows the command that printed it. */
  readonly isNamed: boolean;
}

export interface Section extends Hint {
  readonly kind: SectionKind;
  /** Number of its first line, from 1. */
  readonly line: number;
  /** Its lines, those that show commands blank. Of a large dump it is the text itself, which costs nothing. */
  readonly text: string;
}

const NO_HINT: Hint = { family: undefined, backend: undefined, table: undefined, isNamed: false };

/** A command as prompts, `set -x` and scripts show it: `# iptables -t nat -nvL`, `=== ip6tables-save ===`. */
const COMMAND = /(?:^|[\s/'"`=(])(ip6?|x)tables(-legacy|-nft)?(-save)?(?=[\s'"`=)]|$)(.*)$/;
const CHAIN = /^Chain (\S+) \((?:policy |\d+ references)/;

/** A line of the text. */
interface Line {
  /** Its number, from 1. */
  readonly number: number;
  readonly start: number;
  readonly end: number;
}

interface State {
  readonly text: string;
  /** Lines of the current piece that show a command, which are no part of its output. */
  commands: Line[];
  readonly sections: Section[];
  current: { readonly kind: SectionKind; readonly start: Line; hint: Hint } | undefined;
  /** Lines behind the last piece that belong to the next one, if another begins. */
  pending: { readonly start: Line; readonly hint: Hint } | undefined;
  tables: Set<string>;
  inTable: boolean;
  beginsListing: (chain: string) => boolean;
}

/** Outputs in one text; a support bundle has some ten. */
export const MOST_SECTIONS = 1000;

/**
 * Cuts a text; none where nothing in it begins as one of the three does. What lies before belongs to the first. Ends
 * early where there are more pieces than any text has.
 */
export function cutSections(text: string): readonly Section[] {
  const state: State = {
    text,
    commands: [],
    sections: [],
    current: undefined,
    pending: undefined,
    tables: new Set(),
    inTable: false,
    beginsListing: listingBoundaries(),
  };
  for (let number = 1, start = 0; start <= text.length && state.sections.length <= MOST_SECTIONS; number++) {
    const feed = text.indexOf('\n', start);
    const end = feed < 0 ? text.length : feed;
    if (!state.inTable || !isWithinTable(text.charCodeAt(start))) {
      const line = text
        .slice(start, end)
        .replace(/^[>\s\ufeff]+/, '')
        .trimEnd();
      readLine(state, { number, start, end }, line);
    }
    start = end + 1;
  }
  close(state, text.length + 1);
  return state.sections;
}

/** Whether a line that begins so can only be one more of its table: nearly all lines of a large dump. */
function isWithinTable(first: number): boolean {
  return first === DASH || first === COLON || first === BRACKET;
}

const HASH = 35;
const STAR = 42;
const DASH = 45;
const ZERO = 48;
const NINE = 57;
const COLON = 58;
const CAPITAL_C = 67;
const BRACKET = 91;

function readLine(state: State, at: Line, line: string): void {
  const first = line.charCodeAt(0);
  const generator = first === HASH ? parseGenerator(line) : undefined;
  if (state.inTable && first !== STAR && generator === undefined) {
    if (line === 'COMMIT') state.inTable = false;
    return;
  }
  if (generator !== undefined) {
    const { family = state.pending?.hint.family, backend = state.pending?.hint.backend } = generator;
    const isNamed = state.pending?.hint.isNamed ?? false;
    state.pending = {
      start: state.pending?.start ?? at,
      hint: { family, backend, table: undefined, isNamed },
    };
    state.inTable = false;
  } else if (first === STAR) tableLine(state, at, line.slice(1));
  else if (first === DASH) {
    const chain = /^-[PN] /.test(line) ? declaredChain(line) : undefined;
    if (chain !== undefined) begin(state, at, 'rules', state.beginsListing(chain));
  } else if (first === CAPITAL_C && CHAIN.test(line)) {
    begin(state, at, 'columns', state.beginsListing(CHAIN.exec(line)?.[1] ?? ''));
  } else if (first === HASH && saysLegacyTables(line)) {
    // The nft tool says so behind its tables; before them where both of its outputs went to one file.
    if (state.current?.hint.backend === 'legacy') state.pending ??= { start: at, hint: NO_HINT };
  } else if (first !== COLON && first !== BRACKET && !(first >= ZERO && first <= NINE))
    command(state, at, line);
}

function tableLine(state: State, at: Line, name: string): void {
  if (!/^[a-z]+$/.test(name)) return;
  begin(state, at, 'save', state.tables.has(name));
  state.tables.add(name);
  state.inTable = true;
}

/** A line on which something of that kind begins. */
function begin(state: State, at: Line, kind: SectionKind, isAnother: boolean): void {
  const { current, pending } = state;
  const hint = pending?.hint ?? NO_HINT;
  if (current === undefined) {
    state.current = { kind, start: { number: 1, start: 0, end: 0 }, hint };
  } else if (current.kind !== kind || isAnother || hint.isNamed || !isSameTool(current.hint, hint)) {
    const start = pending?.start ?? at;
    close(state, start.start);
    state.current = { kind, start, hint };
  } else if (pending !== undefined) {
    current.hint = {
      ...current.hint,
      family: current.hint.family ?? hint.family,
      backend: current.hint.backend ?? hint.backend,
    };
  }
  state.pending = undefined;
}

function isSameTool(a: Hint, b: Hint): boolean {
  const isFamily = a.family === undefined || b.family === undefined || a.family === b.family;
  return isFamily && (a.backend === undefined || b.backend === undefined || a.backend === b.backend);
}

/** A line that names a command; what follows is that command's output. */
function command(state: State, at: Line, line: string): void {
  const found = line.length < 400 ? COMMAND.exec(line) : null;
  if (found === null) return;
  const [, prefix, backend, isSave, rest = ''] = found;
  const table = /(?:^|\s)(?:-[a-zA-Z]*t\s*|--table[\s=])([a-z]+)\b/.exec(rest)?.[1];
  const isListing = isSave === undefined && /(?:^|\s)(?:-[a-zA-Z]*[SL]|--list)/.test(rest);
  // Prose that speaks of iptables, a prompt with another command of it.
  if (isSave === undefined && !isListing) return;
  state.commands.push(at);
  state.pending = {
    start: state.pending?.start ?? at,
    hint: {
      family: prefix === 'x' ? undefined : prefix === 'ip6' ? 'ipv6' : 'ipv4',
      backend: backend === undefined ? undefined : backend === '-nft' ? 'nft' : 'legacy',
      table: table ?? (isListing ? 'filter' : undefined),
      isNamed: true,
    },
  };
}

/** Ends the current piece; what follows begins at `next`. */
function close(state: State, next: number): void {
  const { current } = state;
  if (current === undefined) return;
  const { kind, start, hint } = current;
  const text = withoutCommands(state, start.start, Math.max(start.start, next - 1));
  state.sections.push({ kind, line: start.number, text, ...hint });
  state.commands = state.commands.filter((line) => line.start >= next);
  state.current = undefined;
  state.tables = new Set();
}

function withoutCommands({ text, commands }: State, from: number, to: number): string {
  let kept = '';
  let at = from;
  for (const { start, end } of commands) {
    if (start < from || end > to) continue;
    kept += text.slice(at, start);
    at = end;
  }
  return kept + text.slice(at, to);
}
