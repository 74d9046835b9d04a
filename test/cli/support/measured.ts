/** The built commands as children, with the most memory that they had. */
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '..', '..', '..');
/** Writes what a process used to a file when it ends. */
const HOOK = pathToFileURL(join(root, 'bench', 'usage.js')).href;

export interface MeasuredRun {
  /** null where a signal ended it, as one does that runs too long. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly peakMiB: number;
}

/** Runs a command in a folder; it is ended after a minute. */
export function runMeasured(
  command: 'kp-compile' | 'kp-diff',
  args: readonly string[],
  folder: string,
): Promise<MeasuredRun> {
  const usage = join(folder, `${command}.usage`);
  const child = spawn('node', ['--import', HOOK, join(root, 'bin', `${command}.js`), ...args], {
    cwd: folder,
    env: { ...process.env, USAGE_FILE: usage, NO_COLOR: '', FORCE_COLOR: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 60_000,
  });
  const text = (stream: NodeJS.ReadableStream): { all: string } => {
    const read = { all: '' };
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      read.all += chunk;
    });
    return read;
  };
  const stdout = text(child.stdout);
  const stderr = text(child.stderr);
  return new Promise((resolve, reject) => {
    child.on('error', reject).on('close', (code) => {
      const { peakKiB } = JSON.parse(code === null ? '{"peakKiB":0}' : readFileSync(usage, 'utf8')) as {
        peakKiB: number;
      };
      resolve({ code, stdout: stdout.all, stderr: stderr.all, peakMiB: peakKiB / 1024 });
    });
  });
}

/** A text, or one that is there so many times. */
export type Part = string | Uint8Array | readonly [text: string, times: number];

const CHUNK = 1_000_000;

/** Writes a file that may be larger than what this process should hold. */
export function writeParts(path: string, parts: readonly Part[]): void {
  const file = openSync(path, 'w');
  try {
    for (const part of parts) {
      if (typeof part === 'string' || part instanceof Uint8Array) {
        writeSync(file, Buffer.from(part));
        continue;
      }
      const [text, times] = part;
      const inChunk = Math.max(1, Math.floor(CHUNK / text.length));
      const chunk = Buffer.from(text.repeat(inChunk));
      let left = times;
      for (; left >= inChunk; left -= inChunk) writeSync(file, chunk);
      writeSync(file, Buffer.from(text.repeat(left)));
    }
  } finally {
    closeSync(file);
  }
}
