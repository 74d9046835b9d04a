/**
 * Loads rules into real kernels: each batch runs in a network namespace of its own (`unshare -n`), so nothing
 * reaches the host, and in one process, since starting one for each file would take minutes.
 */
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Family } from '../../src/netfilter/index.ts';

export type Backend = 'legacy' | 'nft';

export interface Load {
  /** Also the name of its files: letters, digits, dots and dashes. */
  readonly name: string;
  readonly backend: Backend;
  readonly family: Family;
  /** `restore` is loaded with --noflush into empty tables, as kube-proxy does. */
  readonly format: 'save' | 'restore';
  readonly text: string;
}

export interface Loaded extends Load {
  /** What the matching `iptables-save` printed; undefined where a step failed. */
  readonly saved: string | undefined;
  /** What the tools said on standard error. */
  readonly complaint: string;
}

interface Job {
  readonly load: Load;
  readonly input: string;
  readonly output: string;
}

const SCRIPT = join(import.meta.dirname, 'load-rules.sh');

const TOOLS = ['iptables-legacy', 'iptables-nft', 'ip6tables-legacy', 'ip6tables-nft'].flatMap((tool) => [
  `${tool}-restore`,
  `${tool}-save`,
]);

/** Empty tables with their built-in chains. */
const EMPTY = [
  ['filter', 'INPUT', 'FORWARD', 'OUTPUT'],
  ['mangle', 'PREROUTING', 'INPUT', 'FORWARD', 'OUTPUT', 'POSTROUTING'],
  ['nat', 'PREROUTING', 'INPUT', 'OUTPUT', 'POSTROUTING'],
]
  .flatMap(([table, ...chains]) => [
    `*${table}`,
    ...chains.map((chain) => `:${chain} ACCEPT [0:0]`),
    'COMMIT',
    '',
  ])
  .join('\n');

/**
 * Namespaces at once. The nft tools mostly wait for the kernel, so that many of them share a core; the legacy
 * tools share one lock on the whole machine. A namespace has rules of one back end only, for nft-save warns
 * where it sees legacy tables.
 */
const WORKERS: Readonly<Record<Backend, number>> = { legacy: 1, nft: availableParallelism() * 4 };

/** Debian keeps these tools where the path of an ordinary user does not look. */
const environment = { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/sbin:/sbin` };

/** Why rules cannot be loaded here, in a few words; undefined where they can. */
export function kernelIsMissing(): string | undefined {
  const script = `for tool in ip nfacct ${TOOLS.join(' ')}; do
    command -v "$tool" >/dev/null || { echo "$tool is not installed"; exit 1; }
  done
  unshare -n sh -c 'ip link set lo up && nfacct add probe' 2>&1`;
  const { status, stdout, error } = spawnSync('sh', ['-c', script], { encoding: 'utf8', env: environment });
  if (error !== undefined) return error.message;
  return status === 0 ? undefined : stdout.trim() || 'no network namespace can be made';
}

/** Loads each text and reads the kernel's own dump of it; the files lie in `folder`, which must be empty. */
export async function loadRules(loads: readonly Load[], folder: string): Promise<readonly Loaded[]> {
  const empty = join(folder, 'empty');
  writeFileSync(empty, EMPTY);
  const jobs: readonly Job[] = loads.map((load) => {
    const input = join(folder, `${load.name}.${load.backend}.${load.family}.${load.format}`);
    writeFileSync(input, load.text);
    return { load, input, output: `${input}.saved` };
  });
  await Promise.all(
    (['legacy', 'nft'] as const).flatMap((backend) => {
      const own = jobs.filter(({ load }) => load.backend === backend);
      const workers = Math.min(WORKERS[backend], own.length);
      return Array.from({ length: workers }, (_, worker) =>
        runInNamespace(
          empty,
          own.filter((_job, index) => index % workers === worker),
        ),
      );
    }),
  );
  return jobs.map(({ load, output }) => ({
    ...load,
    saved: readIfThere(output),
    complaint: readIfThere(`${output}.err`) ?? 'not tried',
  }));
}

function toolOf({ backend, family }: Load): string {
  return `${family === 'ipv4' ? 'iptables' : 'ip6tables'}-${backend}`;
}

function runInNamespace(empty: string, jobs: readonly Job[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('unshare', ['-n', 'sh', SCRIPT, empty], {
      env: environment,
      stdio: ['pipe', 'inherit', 'inherit'],
    });
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`the loading script ended with ${code ?? signal}`));
    });
    child.stdin.end(
      jobs.map(({ load, input, output }) => `${toolOf(load)} ${load.format} ${input} ${output}\n`).join(''),
    );
  });
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
