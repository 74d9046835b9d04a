import type { Compilation } from '../compile/index.ts';
import { escapeText } from '../escape.ts';
import type { IPFamily } from '../kube/index.ts';
import { printRestore, printSave } from '../netfilter/index.ts';

export type Format = 'save' | 'restore';

/** File names of what --out-dir writes. */
export const RULES_FILES: Readonly<Record<IPFamily, string>> = { IPv4: 'rules.v4', IPv6: 'rules.v6' };

/** The text of one family in one format, with its head of comments, chunk by chunk. */
export function* rulesText(compilation: Compilation, family: IPFamily, format: Format): Generator<string> {
  yield head(compilation, family, format);
  const { kernel, payload } = compilation.rules[family];
  yield* format === 'save' ? printSave(kernel) : printRestore(payload);
}

/** How the first lines of a text begin that no node can have: kp-diff looks for it. */
const INVENTED = 'invented addresses: ';

const INVENTED_LINE = `# ${INVENTED}`;

/** What may stand before it on its line: a quotation mark, a byte order mark. */
const BEFORE = /(?:^|[\r\n])[> \t\ufeff]*$/;
const MOST_BEFORE = 200;

/** Whether any line of a text says that addresses in it were invented, whatever was put around it since. */
export function saysInvented(text: string): boolean {
  for (let at = text.indexOf(INVENTED_LINE); at >= 0; at = text.indexOf(INVENTED_LINE, at + 1)) {
    if (BEFORE.test(text.slice(Math.max(0, at - MOST_BEFORE), at))) return true;
  }
  return false;
}

/** Longer than any name of a node. */
const MAX_LINE = 1000;

/**
 * Says what the rules are and what they rest on. No time and no version of this program: files that are kept
 * under version control must change only when the rules do. What comes from the input (a Node may call its version
 * `v1.99.0\n-A …`) stays on its line.
 */
function head(compilation: Compilation, family: IPFamily, format: Format): string {
  const tool = family === 'IPv4' ? 'iptables-restore' : 'ip6tables-restore';
  const usage =
    format === 'save'
      ? `as ${family === 'IPv4' ? 'iptables-save' : 'ip6tables-save'} prints it; ${tool} without --noflush replaces all that these tables hold`
      : `as kube-proxy feeds it to ${tool} --noflush; the jumps from built-in chains come apart from it`;
  return headLines(compilation, `, ${family}`, [usage]);
}

/** The same head for texts of other tools: `usage` says which one takes it, and how. */
export function commentHead(compilation: Compilation, ...usage: readonly string[]): string {
  return headLines(compilation, '', usage);
}

function headLines(compilation: Compilation, suffix: string, usage: readonly string[]): string {
  const { nodeName, version, mode, assumptions, invented } = compilation;
  const lines = [
    ...invented.map((text) => `${INVENTED}${text}`),
    `${nodeName === '' ? 'no node named' : `node ${nodeName}`}, kube-proxy ${version.text}, ${mode} mode${suffix}`,
    ...assumptions.map((assumption) => `assumed: ${assumption}`),
    ...usage,
  ];
  return lines.map((line) => `# ${escapeText(line, MAX_LINE)}\n`).join('');
}
