import { type Command, CommanderError } from 'commander';
import { escapeText } from '../escape.ts';
import { EXIT_BUG, EXIT_OK, EXIT_TROUBLE } from './exit-codes.ts';
import { type Io, isBrokenPipe } from './io.ts';
import { spellOutBooleans } from './kube-proxy-flags.ts';
import { UsageError } from './usage-error.ts';

/** Messages may quote a file that is no longer than this on one line. */
const MAX_LINE = 1000;
const MAX_TRACE = 50;

/**
 * Reads the words after the command's name and runs it. Resolves to the exit code; what is a fault of this
 * program itself is caught as well (70).
 */
export async function runCommand(
  command: Command,
  argv: readonly string[],
  io: Io,
  run: () => Promise<number>,
): Promise<number> {
  const name = command.name();
  const output: string[] = [];
  command.exitOverride().configureOutput({
    writeOut: (text) => output.push(text),
    writeErr: (text) => io.writeError(text),
    outputError: (text, write) => write(`${name}: ${text.replace(/^error: /, '')}`),
  });
  try {
    try {
      command.parse(spellOutBooleans(argv), { from: 'user' });
    } catch (error) {
      if (!(error instanceof CommanderError)) throw error;
      for (const text of output) await io.writeOut(text);
      return error.exitCode === 0 ? EXIT_OK : EXIT_TROUBLE;
    }
    return await run();
  } catch (error) {
    if (isBrokenPipe(error)) return EXIT_OK;
    if (error instanceof UsageError) {
      for (const line of error.message.split('\n', MAX_TRACE))
        io.writeError(`${name}: ${escapeText(line, MAX_LINE)}\n`);
      return EXIT_TROUBLE;
    }
    const trace = (error instanceof Error ? error.stack : undefined) ?? String(error);
    const lines = trace.split('\n', MAX_TRACE).map((line) => `${escapeText(line, MAX_LINE)}\n`);
    io.writeError(`${name}: this is a fault of ${name} itself; please report it\n${lines.join('')}`);
    return EXIT_BUG;
  }
}
