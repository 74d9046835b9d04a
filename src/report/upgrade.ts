/** What an upgrade of kube-proxy changes in a node's rules, as text and as JSON. */
import type { Upgrade } from '../diff/index.ts';
import { safeJson } from './json.ts';
import { safe } from './wording.ts';

/** Lines that are shown of each group; all of them with `verbose`. */
const EXAMPLES = 2;

export function upgradeText({ from, to, mode, groups, withoutEffect }: Upgrade, verbose: boolean): string {
  const lines: string[] = [];
  for (const { change, removed, added } of groups) {
    lines.push(
      `1.${change.since}: ${change.what}`,
      `  ${removed.length} removed, ${added.length} added`,
      ...shown(removed, verbose).map((line) => `  - ${line}`),
      ...shown(added, verbose).map((line) => `  + ${line}`),
      '',
    );
  }
  const none = withoutEffect.length;
  const rest = `${none} other ${none === 1 ? 'change makes' : 'changes make'} no difference to these Services`;
  if (verbose) for (const { since, what } of withoutEffect) lines.push(`no difference: 1.${since}: ${what}`);
  const few = groups.length === 0 ? 'the rules stay the same' : `${groups.length} changes of the rules`;
  lines.push(`${from.text} to ${to.text}, ${mode} mode: ${few}; ${rest}`);
  return lines.map((line) => `${safe(line)}\n`).join('');
}

function shown(lines: readonly string[], verbose: boolean): readonly string[] {
  if (verbose || lines.length <= EXAMPLES + 1) return lines;
  return [...lines.slice(0, EXAMPLES), `… and ${lines.length - EXAMPLES} more (-v shows all)`];
}

export function upgradeJson({ from, to, mode, groups, withoutEffect }: Upgrade): string {
  const words = ({ since, what }: Upgrade['withoutEffect'][number]) => ({ since: `1.${since}`, what });
  return `${safeJson({
    from: from.text,
    to: to.text,
    mode,
    groups: groups.map(({ change, removed, added }) => ({ ...words(change), removed, added })),
    withoutEffect: withoutEffect.map(words),
  })}\n`;
}
