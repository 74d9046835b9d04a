/*
 * Workflow commands of GitHub Actions: a line each, shown beside the Service in the manifests. Source:
 * https://docs.github.com/actions/reference/workflow-commands-for-github-actions and actions/toolkit, command.ts.
 */
import type { Comparison, Finding } from '../diff/index.ts';
import type { PlaceOf } from './places.ts';
import { familyName, lineText, safe, subjectOf, summaryLine } from './wording.ts';

export interface GithubOptions {
  readonly placeOf: PlaceOf;
  /** With the rules under each problem. */
  readonly verbose: boolean;
}

/** Annotations: an error for each finding, a notice for each note; then assumptions and the line of counts. */
export function* githubReport(comparison: Comparison, options: GithubOptions): Generator<string> {
  if (comparison.incomparable !== undefined) {
    yield command('error', [['title', 'kp-diff']], summaryLine(comparison));
  }
  for (const finding of comparison.findings) yield annotation('error', finding, options);
  for (const note of comparison.notes) yield annotation('notice', note, options);
  for (const assumption of comparison.assumptions) yield `${plain(`assumed: ${safe(assumption)}`)}\n`;
  yield `${plain(summaryLine(comparison))}\n`;
}

function annotation(
  level: 'error' | 'notice',
  finding: Finding,
  { placeOf, verbose }: GithubOptions,
): string {
  const place = finding.servicePort === undefined ? undefined : placeOf(finding.servicePort);
  const properties: [string, string][] = [];
  if (place !== undefined) {
    properties.push(['file', safe(place.file)]);
    if (place.line !== undefined) properties.push(['line', String(place.line)]);
  }
  properties.push(['title', `${subjectOf(finding)} (${familyName(finding.family)})`]);
  const lines: string[] = [];
  for (const { message, expected, actual } of finding.problems) {
    lines.push(safe(message));
    if (!verbose) continue;
    for (const line of actual) lines.push(`- ${lineText(line)}`);
    for (const line of expected) lines.push(`+ ${lineText(line)}`);
  }
  return command(level, properties, lines.join('\n'));
}

function command(name: string, properties: readonly (readonly [string, string])[], message: string): string {
  const words = properties.map(([key, value]) => `${key}=${escapeProperty(value)}`).join(',');
  return `::${name} ${words}::${escapeData(message)}\n`;
}

function escapeData(text: string): string {
  return plain(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** The runner still obeys the old form of commands, `##[…]`, wherever it stands in a line. */
function plain(text: string): string {
  return text.replaceAll('##[', '## [');
}
