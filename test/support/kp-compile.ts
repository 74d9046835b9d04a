import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from './run.ts';
import type { ConformanceCase, Mode } from './shared.ts';

export const FORMATS = ['save', 'restore'] as const;

export type Format = (typeof FORMATS)[number];

/** The rules of both families, as `--out-dir` writes them. */
export interface Rules {
  readonly v4: string;
  readonly v6: string;
}

/** The options that stand for the node on which the real kube-proxy ran. */
export function caseArguments(
  item: ConformanceCase,
  version: string,
  files: readonly string[] = [item.cluster],
  mode: Mode = 'iptables',
): readonly string[] {
  return [
    ...files,
    ...['--config', item.config, '--proxy-mode', mode, '--node', item.node, '--kube-version', version],
    ...item.interfaces.flatMap(({ name, addresses }) => ['--interface', `${name}=${addresses.join(',')}`]),
  ];
}

/** What the command prints. Throws what it said where it did not end well. */
export async function printed(args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(args);
  if (code !== 0) throw new Error(`kp-compile ${args.join(' ')} ended with ${code}:\n${stderr}`);
  return stdout;
}

/** Throws what the command said where it did not end well. */
export async function compileRules(args: readonly string[], format: Format): Promise<Rules> {
  const files = await compileFiles(args, format);
  return { v4: files['rules.v4'] ?? '', v6: files['rules.v6'] ?? '' };
}

/** What `--out-dir` writes, by name. Throws what the command said where it did not end well. */
export async function compileFiles(
  args: readonly string[],
  format: Format,
): Promise<Readonly<Record<string, string>>> {
  const folder = mkdtempSync(join(tmpdir(), 'kp-compile-test-'));
  try {
    const { code, stderr } = await run([...args, '--format', format, '--out-dir', folder]);
    if (code !== 0) throw new Error(`kp-compile ${args.join(' ')} ended with ${code}:\n${stderr}`);
    return Object.fromEntries(
      readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
