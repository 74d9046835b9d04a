/*
 * What the parsers of sets and virtual servers have to say about a text, in the same form as the problems of
 * iptables-save.
 */
import { type ParseProblem, type Problems, report } from './problems.ts';

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

export type IpvsProblem = ParseProblem<IpvsProblemCode>;

export type IpvsProblems = Problems<IpvsProblemCode>;

/** Of a line that cannot be read, so much is shown. */
const SHOWN = 60;

/** Notes that the current line says nothing to its reader. */
export function noteUnreadable(problems: IpvsProblems, line: string, wanted: string): void {
  const shown = line.trim().slice(0, SHOWN);
  report(problems, 'unreadable-line', 'warning', `not a line of ${wanted}: ${JSON.stringify(shown)}`);
}

/** The longest line that ipset or ipvsadm prints has some hundred characters. */
const LONGEST_LINE = 65_536;

/** The lines of a text one by one, `problems.line` with them; those that no tool prints are an error. */
export function* dumpLines(text: string, problems: IpvsProblems): Generator<string, void, undefined> {
  for (const raw of text.split('\n')) {
    if (raw.length <= LONGEST_LINE) yield pastedLine(raw);
    else {
      const message = `a line of ${raw.length} characters; at most ${LONGEST_LINE} are read`;
      report(problems, 'input-limit', 'error', message);
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
