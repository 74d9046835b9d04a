/** What a command knows of its surroundings; tests hand in their own. */
export interface Io {
  readonly stdin: () => AsyncIterable<Uint8Array | string>;
  /** Resolves once more may be written; rejects with EPIPE where nobody reads any more. */
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
    writeOut: (text) =>
      new Promise((resolve, reject) => {
        process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
      }),
    writeError: (text) => {
      process.stderr.write(text);
    },
    outIsTerminal: process.stdout.isTTY === true,
    errorIsTerminal: process.stderr.isTTY === true,
    env: process.env,
  };
}

/** Whether the error says that the reader of a pipe has gone: `kp-compile … | head` is no failure. */
export function isBrokenPipe(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED')
  );
}
