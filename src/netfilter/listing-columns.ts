/*
 * Output of `iptables -L` with -v, as support bundles carry it: `Chain X (…)`, a line that names the columns, and
 * a line a rule. Each rule is turned back into the words of iptables-save, and read as those are. A rule of which
 * anything is not understood is kept as its words and reported: it is never read as something else.
 */
import { matchExtensions, targetExtensions } from './extensions/index.ts';
import { readExtensions } from './listing-extensions.ts';
import { parseCounters, parseRule } from './parse-rule.ts';
import type { Problems } from './problems.ts';
import { report } from './problems.ts';
import { canonicalProtocol } from './protocols.ts';
import type { Chain, Counters, Rule } from './ruleset.ts';
import { keptWord, newWords, readWords } from './words.ts';

export interface ListedChain extends Chain {
  /** Counts from 1. */
  readonly line: number;
  readonly rules: Rule[];
}

export interface ColumnListing {
  readonly chains: readonly ListedChain[];
  /** A chain was listed without its interfaces (`iptables -L` without -v), on this line. */
  readonly withoutInterfaces: number | undefined;
}

const CHAIN =
  /^Chain (\S+) \((?:policy ([A-Z]+)(?: (\d+[KMGTP]?) packets, (\d+[KMGTP]?) bytes)?|(\d+) references)\)\s*$/;
const HEADER = /^(num +)?( *pkts +bytes +)?target +prot +(?:opt +)?(in +out +)?source +destination\s*$/;

interface State {
  readonly chains: ListedChain[];
  readonly problems: Problems;
  hasNumbers: boolean;
  hasInterfaces: boolean;
  withoutInterfaces: number | undefined;
}

/** Reads the lines of one listing; `problems.line` is the number of the first. */
export function readColumns(lines: readonly string[], problems: Problems): ColumnListing {
  const state: State = {
    chains: [],
    problems,
    hasNumbers: false,
    hasInterfaces: true,
    withoutInterfaces: undefined,
  };
  for (const line of lines) {
    readLine(state, line.replace(/^(?:> ?)+/, '').trimEnd());
    problems.line++;
  }
  const { chains, withoutInterfaces } = state;
  return { chains, withoutInterfaces };
}

function readLine(state: State, line: string): void {
  if (line === '') return;
  const chain = CHAIN.exec(line);
  if (chain !== null) {
    startChain(state, chain);
    return;
  }
  const header = HEADER.exec(line.trimStart());
  if (header !== null) {
    state.hasNumbers = header[1] !== undefined;
    state.hasInterfaces = header[3] !== undefined;
    if (!state.hasInterfaces) state.withoutInterfaces ??= state.problems.line;
    return;
  }
  const last = state.chains.at(-1);
  if (last === undefined || !state.hasInterfaces || !/^\s*\d/.test(line)) {
    if (state.hasInterfaces) unreadable(state, line);
    return;
  }
  const rule = readRule(state, line);
  if (rule === undefined) unreadable(state, line);
  else last.rules.push(rule);
}

function startChain(state: State, [, name = '', policy, packets, bytes]: RegExpExecArray): void {
  const counters = packets === undefined || bytes === undefined ? undefined : countersOf(packets, bytes);
  const isCounted = counters !== undefined && (counters.packets > 0n || counters.bytes > 0n);
  state.chains.push({
    name,
    policy,
    ...(isCounted && { counters }),
    rules: [],
    line: state.problems.line,
  });
}

function unreadable(state: State, line: string): void {
  const text = line.length > 80 ? `${JSON.stringify(line.slice(0, 80))}…` : JSON.stringify(line);
  report(state.problems, 'unreadable-line', 'warning', `not a line of iptables -L: ${text}`);
}

const UNIT: Readonly<Record<string, bigint>> = {
  K: 1000n,
  M: 1000_000n,
  G: 1000_000_000n,
  T: 1000_000_000_000n,
  P: 1000_000_000_000_000n,
};

/** `12K` is what iptables prints for 11500 to 12499 without -x: such counters are not exact. */
function countersOf(packets: string, bytes: string): Counters | undefined {
  const exact = parseCounters(packets.replace(/[A-Z]$/, ''), bytes.replace(/[A-Z]$/, ''));
  if (exact === undefined) return undefined;
  return {
    packets: exact.packets * (UNIT[packets.at(-1) ?? ''] ?? 1n),
    bytes: exact.bytes * (UNIT[bytes.at(-1) ?? ''] ?? 1n),
  };
}

interface Columns {
  readonly counters: Counters | undefined;
  readonly target: string;
  readonly protocol: string;
  /** `--`, `-f`, `!f`; ip6tables printed nothing there for long. */
  readonly fragment: string;
  readonly inInterface: string;
  readonly outInterface: string;
  readonly source: string;
  readonly destination: string;
  readonly rest: string;
}

const WORD = /\S+/y;
const OPT = /^(?:--|-f|!f)$/;
const ADDRESS = /^!?(?:[0-9a-fA-F.:]+(?:\/[0-9a-fA-F.:]+)?|anywhere)$/;

function readRule(state: State, line: string): Rule | undefined {
  const columns = splitColumns(line, state.hasNumbers);
  if (columns === undefined) return undefined;
  const { counters } = columns;
  const text = ruleText(columns);
  const words = newWords();
  if (text !== undefined) {
    readWords(text, 0, text.length, words);
    const { rule } = parseRule(words, 0);
    if (rule.unparsed === undefined && !words.unterminated && isUnderstood(rule))
      return counters ? { ...rule, counters } : rule;
  }
  const message = `a rule is not understood: ${line.trim()}`;
  report(state.problems, 'unparsed-words', 'error', message, 'take iptables-save: it prints rules in full');
  const shown = line
    .trim()
    .split(/\s+/)
    .slice(2)
    .map((word) => keptWord(word, false));
  return { matches: [], unparsed: shown, ...(counters && { counters }) };
}

/** Without -n ports have names, of which not all are known here: then the parser leaves the match as it is. */
function isUnderstood({ matches, target }: Rule): boolean {
  const isKnown = matches.every((match) => match.kind !== 'unknown' || !matchExtensions.has(match.name));
  return isKnown && (target?.kind !== 'unknown' || !targetExtensions.has(target.name));
}

/** Two columns may be empty, the target and, of ip6tables, the options; which ones are there is told by the others. */
function splitColumns(line: string, hasNumbers: boolean): Columns | undefined {
  const words: string[] = [];
  const ends: number[] = [];
  for (let pos = 0; words.length < 10; ) {
    while (line.charCodeAt(pos) === 32) pos++;
    WORD.lastIndex = pos;
    const word = WORD.exec(line);
    if (word === null) break;
    words.push(word[0]);
    pos += word[0].length;
    ends.push(pos);
  }
  const first = hasNumbers ? 1 : 0;
  const [packets = '', bytes = ''] = words.slice(first);
  if (!/^\d+[KMGTP]?$/.test(packets) || !/^\d+[KMGTP]?$/.test(bytes)) return undefined;
  const at = first + 2;
  const counters = countersOf(packets, bytes);
  for (const hasOpt of [true, false]) {
    for (const hasTarget of [true, false]) {
      const protocolAt = at + (hasTarget ? 1 : 0);
      const inAt = protocolAt + (hasOpt ? 2 : 1);
      const [inInterface, outInterface, source, destination] = words.slice(inAt);
      const fragment = hasOpt ? (words[protocolAt + 1] ?? '') : '--';
      if (!OPT.test(fragment) || inInterface === undefined || outInterface === undefined) continue;
      if (source === undefined || destination === undefined) continue;
      if (!hasOpt && !(ADDRESS.test(source) && ADDRESS.test(destination))) continue;
      return {
        counters,
        target: hasTarget ? (words[at] ?? '') : '',
        protocol: words[protocolAt] ?? '',
        fragment,
        inInterface,
        outInterface,
        source,
        destination,
        rest: line.slice(ends[inAt + 3] ?? line.length),
      };
    }
  }
  return undefined;
}

/** The rule's options as iptables-save would print them; undefined where something is not understood. */
function ruleText(columns: Columns): string | undefined {
  const { target, fragment, source, destination } = columns;
  if (!ADDRESS.test(source) || !ADDRESS.test(destination)) return undefined;
  const goto = /^\s+\[goto\](?=\s|$)/.exec(columns.rest);
  const rest = goto === null ? columns.rest : columns.rest.slice(goto[0].length);
  const extensions = readExtensions(rest, goto === null ? target : '');
  if (extensions === undefined || (goto !== null && target === '')) return undefined;
  return (
    option('-s', source, isAnyAddress) +
    option('-d', destination, isAnyAddress) +
    option('-i', columns.inInterface, isAnyInterface) +
    option('-o', columns.outInterface, isAnyInterface) +
    option('-p', protocolName(columns.protocol), isAnyProtocol) +
    (fragment === '--' ? '' : fragment === '-f' ? ' -f' : ' ! -f') +
    extensions.matches +
    (target === '' ? '' : ` ${goto === null ? '-j' : '-g'} ${target}${extensions.target}`)
  );
}

/** `-n` prints numbers since iptables 1.8.9, where all else has names. */
function protocolName(column: string): string {
  const isNegated = column.startsWith('!');
  return (isNegated ? '!' : '') + canonicalProtocol(isNegated ? column.slice(1) : column);
}

/** `*`, `any`, `anywhere` and the like are no option; `!x` is ` ! OPTION x`. */
function option(name: string, column: string, isAny: (text: string) => boolean): string {
  const isNegated = column.startsWith('!');
  const text = isNegated ? column.slice(1) : column;
  if (isAny(text)) return isNegated ? ` ! ${name} ${text}` : '';
  return `${isNegated ? ' !' : ''} ${name} ${text}`;
}

const isAnyAddress = (text: string) => text === '0.0.0.0/0' || text === '::/0' || text === 'anywhere';
const isAnyInterface = (text: string) => text === '*' || text === 'any';
const isAnyProtocol = (text: string) => text === 'all' || text === '0' || text === 'ip';
