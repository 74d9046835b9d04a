import type { Comparison, ProblemCode } from '../diff/index.ts';
import { type Colors, NO_COLORS } from './colors.ts';
import { familyName, reportedFamilies, summaryLine } from './wording.ts';

/** How many problems there are of each kind, by family; the most frequent first. */
export function* statReport(comparison: Comparison, colors: Colors = NO_COLORS): Generator<string> {
  const families = reportedFamilies(comparison);
  const counts = new Map<ProblemCode, number[]>();
  for (const { family, problems } of comparison.findings) {
    const column = families.indexOf(family);
    if (column < 0) continue;
    for (const { code } of problems) {
      const row = counts.get(code) ?? families.map(() => 0);
      row[column] = (row[column] ?? 0) + 1;
      counts.set(code, row);
    }
  }
  if (counts.size > 0) {
    const sum = (row: readonly number[]) => row.reduce((total, count) => total + count, 0);
    const rows = [...counts].sort(([a, rowA], [b, rowB]) => sum(rowB) - sum(rowA) || (a < b ? -1 : 1));
    const first = Math.max(...rows.map(([code]) => code.length));
    const width = Math.max(4, ...rows.flatMap(([, row]) => row.map((count) => String(count).length)));
    const line = (name: string, cells: readonly string[]) =>
      `${name.padEnd(first)}${cells.map((cell) => `  ${cell.padStart(width)}`).join('')}`;
    yield `${colors.bold(line('', families.map(familyName)))}\n`;
    for (const [code, row] of rows) yield `${line(code, row.map(String))}\n`;
  }
  yield `${summaryLine(comparison)}\n`;
}
