/*
 * What the parsers of sets and virtual servers have to say about a text; the same form as the problems of
 * iptables-save. One kind of fault often comes on thousands of lines: the first ones are told one by one.
 */
import type { Severity } from '../diagnostics.ts';

export type IpvsProblemCode =
  | 'not-ipset-save'
  | 'not-ipvsadm-save'
  | 'empty-dump'
  | 'unreadable-line'
  | 'undeclared-set'
  | 'duplicate-set'
  | 'members-missing'
  | 'member-not-there'
  | 'undeclared-virtual-server'
  | 'duplicate-virtual-server'
  | 'duplicate-real-server'
  | 'host-name'
  | 'input-limit'
  | 'more-problems';

export interface IpvsProblem {
  readonly code: IpvsProblemCode;
  readonly severity: Severity;
  /** What was found; one line, no final stop. */
  readonly message: string;
  /** Counts from 1. */
  readonly line: number;
  /** What to do about it. */
  readonly help?: string;
}

/** Collects problems; `line` is the line that is being read. */
export interface IpvsProblems {
  readonly list: IpvsProblem[];
  readonly counts: Map<IpvsProblemCode, number>;
  line: number;
}

const MOST_OF_A_KIND = 50;
/** Of a line that cannot be read, so much is shown. */
const SHOWN = 60;

export function newIpvsProblems(): IpvsProblems {
  return { list: [], counts: new Map(), line: 1 };
}

/** Notes a problem of the current line. */
export function note(
  problems: IpvsProblems,
  code: IpvsProblemCode,
  severity: Severity,
  message: string,
  help?: string,
): void {
  const count = (problems.counts.get(code) ?? 0) + 1;
  problems.counts.set(code, count);
  if (count > MOST_OF_A_KIND) return;
  problems.list.push({ code, severity, message, line: problems.line, ...(help !== undefined && { help }) });
}

/** Notes that the current line says nothing to its reader. */
export function noteUnreadable(problems: IpvsProblems, line: string, wanted: string): void {
  const shown = line.trim().slice(0, SHOWN);
  note(problems, 'unreadable-line', 'warning', `not a line of ${wanted}: ${JSON.stringify(shown)}`);
}

/** The problems, with how many of a kind were not told one by one. */
export function finishedProblems(problems: IpvsProblems): readonly IpvsProblem[] {
  for (const [code, count] of problems.counts) {
    if (count <= MOST_OF_A_KIND) continue;
    const message = `${count - MOST_OF_A_KIND} more problems of the kind ${code}`;
    problems.list.push({ code: 'more-problems', severity: 'note', message, line: problems.line });
  }
  return problems.list;
}

/** The longest line that ipset or ipvsadm prints has some hundred characters. */
const LONGEST_LINE = 65_536;

/** The lines of a text one by one, `problems.line` with them; those that no tool prints are an error. */
export function* dumpLines(text: string, problems: IpvsProblems): Generator<string, void, undefined> {
  for (const raw of text.split('\n')) {
    if (raw.length <= LONGEST_LINE) yield pastedLine(raw);
    else {
      const message = `a line of ${raw.length} characters; at most ${LONGEST_LINE} are read`;
      note(problems, 'input-limit', 'error', message);
    }
    problems.line++;
  }
  problems.line--;
}

/**
 * A line as people paste it: without the `>` of a quotation in front, the carriage return behind, and nothing
 * for what a terminal or a page of text puts around a dump (a prompt with the command, the fence of a code block).
 */
function pastedLine(raw: string): string {
  const line = raw
    .replace(/^\ufeff/, '')
    .replace(/^(?:> ?)+/, '')
    .trimEnd();
  return /^\s*(?:```|~~~)\S*$/.test(line) || isPrompt(line) ? '' : line;
}

/** `root@node-a:~# ipset save`, `$ sudo ipvsadm -Ln`: a prompt, then one of the commands that list. */
function isPrompt(line: string): boolean {
  return /^[^\s"]{0,200}(?: ?~)?[#$%]\s+(?:sudo\s+)?(?:\/\S+\/)?(?:ipset\s+(?:save|list|-S|-L)|ipvsadm\s+(?:-[LlSnc]+|--save|--list)|ip\s)/.test(
    line,
  );
}
