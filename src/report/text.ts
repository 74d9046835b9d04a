import type { Comparison, Finding, Problem } from '../diff/index.ts';
import { type Colors, NO_COLORS } from './colors.ts';
import {
  familyName,
  findingsOf,
  lineText,
  reportedFamilies,
  safe,
  subjectOf,
  summaryLine,
} from './wording.ts';

export interface TextOptions {
  /** Default: none. */
  readonly colors?: Colors;
  /** With the rules under each problem. */
  readonly verbose: boolean;
}

/**
 * The report for people: what differs, by family, the node before its service ports; then notes, assumptions
 * and one line of counts.
 */
export function* textReport(comparison: Comparison, options: TextOptions): Generator<string> {
  const { colors = NO_COLORS, verbose } = options;
  const families = reportedFamilies(comparison);
  const several = families.length > 1;
  let blank = '';
  if (verbose && comparison.findings.some(hasRules)) {
    yield `Rules: ${colors.red('-')} is there and not expected, ${colors.green('+')} is expected and not there\n`;
    blank = '\n';
  }
  for (const family of families) {
    const findings = findingsOf(comparison.findings, family);
    if (findings.length === 0) continue;
    yield blank;
    if (several) yield `${colors.underline(familyName(family))}\n`;
    for (const finding of findings) yield* findingText(finding, options);
    blank = '\n';
  }
  if (comparison.notes.length > 0 || comparison.assumptions.length > 0) {
    yield blank;
    for (const note of comparison.notes) yield* noteText(note, several, options);
    for (const assumption of comparison.assumptions) yield `${colors.cyan('assumed:')} ${safe(assumption)}\n`;
    blank = '\n';
  }
  const same = comparison.findings.length === 0 && comparison.incomparable === undefined;
  yield `${blank}${same ? colors.green(summaryLine(comparison)) : colors.bold(summaryLine(comparison))}\n`;
}

function* findingText(finding: Finding, { colors = NO_COLORS, verbose }: TextOptions): Generator<string> {
  for (const [index, problem] of finding.problems.entries()) {
    yield index === 0
      ? `${colors.bold(`${subjectOf(finding)}:`)} ${safe(problem.message)}\n`
      : `  ${safe(problem.message)}\n`;
    if (verbose) yield* rulesText(problem, colors);
  }
}

function* noteText(
  note: Finding,
  several: boolean,
  { colors = NO_COLORS, verbose }: TextOptions,
): Generator<string> {
  const family = several ? ` ${familyName(note.family)}:` : '';
  const subject = note.servicePort === undefined ? '' : ` ${subjectOf(note)}:`;
  for (const problem of note.problems) {
    yield `${colors.cyan('note:')}${family}${subject} ${safe(problem.message)}\n`;
    if (verbose) yield* rulesText(problem, colors);
  }
}

/** As a patch would mend it: what is there first, then what should be. */
function* rulesText(problem: Problem, colors: Colors): Generator<string> {
  for (const line of problem.actual) yield `    ${colors.red(`- ${lineText(line)}`)}\n`;
  for (const line of problem.expected) yield `    ${colors.green(`+ ${lineText(line)}`)}\n`;
}

function hasRules({ problems }: Finding): boolean {
  return problems.some(({ expected, actual }) => expected.length > 0 || actual.length > 0);
}
