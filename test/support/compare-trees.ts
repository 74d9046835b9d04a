import { spawnSync } from 'node:child_process';
import { comparator } from './shared.ts';

export interface Comparison {
  /** What differs, by the name of the case; a case that is not here is equal. */
  readonly differences: ReadonlyMap<string, string>;
  readonly files: number;
}

/** One run of the comparator over two trees of cases; reads its report: some lines, then `FAIL name`. */
export function compareTrees(expected: string, actual: string): Comparison {
  const { stdout, stderr, error } = spawnSync(
    'python3',
    [comparator, '--tree', '--max', '4', expected, actual],
    {
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    },
  );
  if (error !== undefined) throw error;
  const lines = stdout.trimEnd().split('\n');
  const summary = /^\d+ case\(s\), (\d+) file\(s\) compared/.exec(lines.pop() ?? '');
  if (summary === null) throw new Error(`the comparator broke off:\n${stdout}${stderr}`);

  const differences = new Map<string, string>();
  let pending: string[] = [];
  for (const line of lines) {
    const name = /^FAIL (.*)$/.exec(line)?.[1];
    if (name === undefined) {
      pending.push(line);
    } else {
      differences.set(name, pending.join('\n'));
      pending = [];
    }
  }
  return { differences, files: Number(summary[1]) };
}
