/** Applies patches to rules in real kernels: many in each namespace, since starting one for each takes minutes. */
import { spawn } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Family } from '../../../src/netfilter/index.ts';
import type { Backend } from '../../support/kernel.ts';

export interface PatchJob {
  readonly backend: Backend;
  readonly family: Family;
  /** In the save format. */
  readonly state: string;
  /** undefined: the state is loaded and dumped, no more. */
  readonly patch: string | undefined;
}

export interface Patched {
  /** What iptables-save printed afterwards; undefined where a step failed. */
  readonly dump: string | undefined;
  readonly complaint: string;
}

const SCRIPT = join(import.meta.dirname, 'patch-rules.sh');
const environment = { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/sbin:/sbin` };

/** The legacy tools share one lock on the whole machine; the nft tools mostly wait for the kernel. */
const WORKERS: Readonly<Record<Backend, number>> = { legacy: 1, nft: availableParallelism() * 4 };

/** Runs all jobs and gives their results in the same order. Files lie in `folder` meanwhile. */
export async function patchInKernel(jobs: readonly PatchJob[], folder: string): Promise<readonly Patched[]> {
  const lines = jobs.map(({ backend, family, state, patch }, i) => {
    const at = (what: string) => join(folder, `${i}.${what}`);
    writeFileSync(at('state'), state);
    if (patch !== undefined) writeFileSync(at('patch'), patch);
    const tool = `${family === 'ipv4' ? 'iptables' : 'ip6tables'}-${backend}`;
    return {
      backend,
      line: `${tool} ${at('state')} ${patch === undefined ? '-' : at('patch')} ${at('dump')}\n`,
    };
  });
  await Promise.all(
    (['legacy', 'nft'] as const).flatMap((backend) => {
      const own = lines.filter((line) => line.backend === backend);
      const workers = Math.min(WORKERS[backend], own.length);
      return Array.from({ length: workers }, (_, worker) =>
        runInNamespace(own.filter((_line, i) => i % workers === worker).map(({ line }) => line)),
      );
    }),
  );
  return jobs.map((_, i) => {
    const result = {
      dump: readIfThere(join(folder, `${i}.dump`)),
      complaint: readIfThere(join(folder, `${i}.dump.err`)) ?? 'not tried',
    };
    for (const what of ['state', 'patch', 'dump', 'dump.err'])
      rmSync(join(folder, `${i}.${what}`), { force: true });
    return result;
  });
}

function runInNamespace(lines: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('unshare', ['-n', 'sh', SCRIPT], {
      env: environment,
      stdio: ['pipe', 'inherit', 'inherit'],
    });
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`the patching script ended with ${code ?? signal}`));
    });
    child.stdin.end(lines.join(''));
  });
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
