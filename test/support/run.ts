import type { Io } from '../../src/cli/io.ts';
import { main as kpCompile } from '../../src/cli/kp-compile.ts';
import { main as kpDiff } from '../../src/cli/kp-diff.ts';

export interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Surroundings {
  /** What comes in on standard input; nothing by default. */
  readonly stdin?: string | Uint8Array;
  readonly terminal?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs kp-compile in this process, on streams of its own. */
export function run(args: readonly string[], surroundings: Surroundings = {}): Promise<Run> {
  return runMain(kpCompile, args, surroundings);
}

/** Runs kp-diff in this process, on streams of its own. */
export function runDiff(args: readonly string[], surroundings: Surroundings = {}): Promise<Run> {
  return runMain(kpDiff, args, surroundings);
}

async function runMain(
  main: (args: readonly string[], io: Io) => Promise<number>,
  args: readonly string[],
  surroundings: Surroundings,
): Promise<Run> {
  const { stdin = '', terminal = false, env = {} } = surroundings;
  let stdout = '';
  let stderr = '';
  const code = await main(args, {
    stdin: async function* () {
      yield Buffer.from(stdin);
    },
    writeOut: async (text) => {
      stdout += text;
    },
    writeError: (text) => {
      stderr += text;
    },
    outIsTerminal: terminal,
    errorIsTerminal: terminal,
    env,
  });
  return { code, stdout, stderr };
}
