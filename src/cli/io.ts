import { fstatSync, writeSync } from 'node:fs';
import { UsageError } from './usage-error.ts';

/** What a command knows of its surroundings; tests hand in their own. */
export interface Io {
  readonly stdin: () => AsyncIterable<Uint8Array | string>;
  /**
   * Resolves once more may be written; rejects with EPIPE where nobody reads any more, and with a UsageError where
   * the text cannot be written for another reason.
   */
  readonly writeOut: (text: string) => Promise<void>;
  readonly writeError: (text: string) => void;
  readonly outIsTerminal: boolean;
  readonly errorIsTerminal: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The process's own streams. */
export function processIo(): Io {
  // Without a listener an EPIPE would also end the process as an uncaught error.
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {});
  return {
    stdin: () => process.stdin,
    writeOut: async (text) => {
      try {
        if (isFile(process.stdout.fd)) writeAll(process.stdout.fd, text);
        else await writeStream(process.stdout, text);
      } catch (error) {
        if (isBrokenPipe(error) || !(error instanceof Error)) throw error;
        throw new UsageError(`cannot write to standard output: ${error.message}`);
      }
    },
    writeError: (text) => {
      process.stderr.write(text);
    },
    outIsTerminal: process.stdout.isTTY === true,
    errorIsTerminal: process.stderr.isTTY === true,
    env: process.env,
  };
}

function writeStream(stream: NodeJS.WritableStream, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

function isFile(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isFile();
  } catch {
    // A closed one: writing to the stream says so.
    return false;
  }
}

/** Writes all of a text to a file. A disk that fills up takes a part of it first, and only then says so. */
export function writeAll(file: number, text: string): void {
  let rest: Uint8Array = Buffer.from(text);
  while (rest.length > 0) rest = rest.subarray(writeSync(file, rest));
}

/** Whether the error says that the reader of a pipe has gone: `kp-compile … | head` is no failure. */
export function isBrokenPipe(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED')
  );
}
