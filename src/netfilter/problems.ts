/*
 * What a parser has to say about a text. One kind of fault often comes on thousands of lines: the first ones are
 * reported one by one, the rest as a number.
 */
import type { Severity } from '../diagnostics.ts';
import type { TextFormat } from './detect.ts';
import { describeFormat } from './detect.ts';

export type ParseProblemCode =
  | 'not-iptables-save'
  | 'empty-dump'
  | 'no-table-header'
  | 'assumed-table'
  | 'no-commit'
  | 'duplicate-table'
  | 'mixed-families'
  | 'legacy-tables-present'
  | 'incompatible-table'
  | 'quoted-lines'
  | 'unterminated-quote'
  | 'line-feed-in-quotes'
  | 'unreadable-line'
  | 'trailing-comment'
  | 'undeclared-chain'
  | 'duplicate-chain'
  | 'unparsed-words'
  | 'restore-command'
  | 'input-limit'
  | 'more-problems';

export interface ParseProblem<Code extends string = ParseProblemCode> {
  readonly code: Code;
  readonly severity: Severity;
  /** What was found; one line, no final stop. */
  readonly message: string;
  /** Counts from 1. */
  readonly line: number;
  /** What to do about it. */
  readonly help?: string;
}

/** Collects problems; `line` is the line that is being read. */
export interface Problems<Code extends string = ParseProblemCode> {
  readonly list: ParseProblem<Code | 'more-problems'>[];
  readonly counts: Map<Code, number>;
  /** Of all kinds, whether they are in the list or not. */
  total: number;
  line: number;
}

const MOST_OF_A_KIND = 50;

export function newProblems<Code extends string = ParseProblemCode>(): Problems<Code> {
  return { list: [], counts: new Map(), total: 0, line: 1 };
}

/** One error in place of a ruleset: what the text is, and what to take instead. */
export function refuse(problems: Problems, format: TextFormat): void {
  problems.line = 1;
  if (format === 'empty') {
    report(problems, 'empty-dump', 'error', 'the dump is empty', 'take it with: iptables-save');
    return;
  }
  const message =
    format === 'unknown'
      ? 'this is not the output of iptables-save'
      : `this looks like ${describeFormat(format)}, not like the output of iptables-save`;
  report(problems, 'not-iptables-save', 'error', message, insteadOf(format));
}

function insteadOf(format: TextFormat): string {
  switch (format) {
    case 'ipvsadm -Ln':
    case 'ipvsadm -Sn':
      return 'take the rules with: iptables-save; and the virtual servers with: ipvsadm -Sn';
    case 'ipset list':
    case 'ipset save':
      return 'take the rules with: iptables-save; and the sets with: ipset save';
    case 'nft ruleset':
      return 'take the rules with: iptables-nft-save';
    case 'iptables -L':
    case 'iptables -S':
      return `take iptables-save instead: ${format} leaves out ${format === 'iptables -L' ? 'much of each rule' : 'the names of the tables'}`;
    default:
      return 'take the rules with: iptables-save (IPv6: ip6tables-save)';
  }
}

/** Notes a problem of the current line. */
export function report<Code extends string>(
  problems: Problems<Code>,
  code: Code,
  severity: Severity,
  message: string,
  help?: string,
): void {
  const count = (problems.counts.get(code) ?? 0) + 1;
  problems.counts.set(code, count);
  problems.total++;
  if (count > MOST_OF_A_KIND) return;
  problems.list.push({ code, severity, message, line: problems.line, ...(help !== undefined && { help }) });
}

/** Says how many problems of a kind were not reported one by one. */
export function summarize<Code extends string>(problems: Problems<Code>): void {
  for (const [code, count] of problems.counts) {
    if (count <= MOST_OF_A_KIND) continue;
    const message = `${count - MOST_OF_A_KIND} more problems of the kind ${code}`;
    problems.list.push({ code: 'more-problems', severity: 'note', message, line: problems.line });
  }
}
