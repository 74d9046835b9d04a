/** Words that several reports use. Whatever came from an input goes through `safe` before it is printed. */
import type { Comparison, Finding, RuleLine } from '../diff/index.ts';
import { escapeText } from '../escape.ts';
import type { Family } from '../netfilter/index.ts';

/** How people write a family. */
export function familyName(family: Family): 'IPv4' | 'IPv6' {
  return family === 'ipv4' ? 'IPv4' : 'IPv6';
}

/** No line is longer that iptables-restore takes (10,240 characters), and hardly any text that joins some of them. */
const MAX_TEXT = 20_000;

/** One line of text that no terminal obeys; whole where anybody could use it, since a rule that is cut says something else. */
export function safe(text: string): string {
  return escapeText(text, MAX_TEXT);
}

/** `shop/web:http`, or `node` for what concerns the whole node. */
export function subjectOf(finding: Finding): string {
  return finding.servicePort === undefined ? 'node' : safe(finding.servicePort);
}

/** What was found of one family, what concerns the node before the service ports. */
export function findingsOf(findings: readonly Finding[], family: Family): Finding[] {
  const ofFamily = findings.filter((finding) => finding.family === family);
  return [
    ...ofFamily.filter(({ servicePort }) => servicePort === undefined),
    ...ofFamily.filter(({ servicePort }) => servicePort !== undefined),
  ];
}

/** The families of which there is anything to say. */
export function reportedFamilies({ families, findings }: Comparison): Family[] {
  return (['ipv4', 'ipv6'] as const).filter(
    (family) =>
      families.some((compared) => compared.family === family && compared.tables.length > 0) ||
      findings.some((finding) => finding.family === family),
  );
}

/** What the lines of a place that is no table of iptables are for. */
const TOOLS: ReadonlyMap<string, string> = new Map([
  ['ipvs', 'ipvsadm'],
  ['ipset', 'ipset'],
  ['kube-ipvs0', 'kube-ipvs0:'],
]);

/** `-t nat -A KUBE-SERVICES …`, `ipvsadm -A -t 10.96.0.1:443 -s rr`, `ipset add KUBE-CLUSTER-IP …`. */
export function lineText({ table, line }: RuleLine): string {
  return `${TOOLS.get(table) ?? `-t ${safe(table)}`} ${safe(line)}`;
}

/** How many service ports of a family differ. */
export function differing(comparison: Comparison, family: Family): number {
  const names = new Set<string>();
  for (const finding of comparison.findings) {
    if (finding.family === family && finding.servicePort !== undefined) names.add(finding.servicePort);
  }
  return names.size;
}

function portsText(count: number): string {
  return `${count} ${count === 1 ? 'service port' : 'service ports'}`;
}

function andUncompared(count: number, words: string): string {
  return count === 0 ? '' : `, and ${count}${words} ${count === 1 ? 'was' : 'were'} not compared in full`;
}

/** The last line: how much differs, and what was not compared. Without line end. */
export function summaryLine(comparison: Comparison): string {
  if (comparison.incomparable !== undefined) return `cannot compare: ${safe(comparison.incomparable)}`;
  const parts: string[] = [];
  for (const { family, tables, servicePorts, uncompared = 0, left } of comparison.families) {
    const name = familyName(family);
    if (tables.length === 0) {
      parts.push(`${name}: not compared${left.length === 0 ? '' : ` (${left.map(safe).join('; ')})`}`);
      continue;
    }
    const ports = portsText(servicePorts);
    const where = left.length === 0 ? name : `${name}, compared in part: ${left.map(safe).join('; ')}`;
    const count = differing(comparison, family);
    const onNode = comparison.findings.some(
      (finding) => finding.family === family && finding.servicePort === undefined,
    );
    if (count > 0) {
      const subject = `${onNode ? 'the node and ' : ''}${count} of ${ports}`;
      const verb = count === 1 && !onNode ? 'differs' : 'differ';
      parts.push(`${subject} ${verb}${andUncompared(uncompared, '')} (${where})`);
    } else if (onNode) {
      parts.push(`the node differs${andUncompared(uncompared, ` of ${ports}`)} (${where})`);
    } else if (uncompared > 0 && uncompared >= servicePorts) {
      parts.push(`none of ${ports} was compared in full (${where})`);
    } else {
      parts.push(
        `no difference in ${portsText(servicePorts - uncompared)}${andUncompared(uncompared, ' more')} (${where})`,
      );
    }
  }
  return parts.length === 0 ? 'nothing was compared' : parts.join('; ');
}
