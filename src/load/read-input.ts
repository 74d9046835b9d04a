/** Reads one input as raw bytes: a regular file, a pipe such as the shell's `<(…)`, or standard input. */
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { Socket } from 'node:net';

export interface RawInput {
  readonly bytes: Buffer;
  /** Of a regular file, which can be read again. */
  readonly stat?: Stats;
}

export interface InputProblem {
  readonly code: 'input-unreadable' | 'input-limit';
  readonly message: string;
  readonly help?: string;
}

/** Whether reading failed. */
export function isInputProblem<T extends object>(result: T | InputProblem): result is InputProblem {
  return 'code' in result;
}

/**
 * The bytes of the file at `path`. Never waits for a pipe that nobody writes to, and never reads a device.
 * Problems of the file are returned, not thrown.
 */
export async function readFileBytes(path: string, maxBytes: number): Promise<RawInput | InputProblem> {
  let handle: number | undefined;
  try {
    // Without O_NONBLOCK, opening a pipe waits for its writer, possibly for ever.
    handle = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = fstatSync(handle);
    if (stat.isFile()) return readRegularFile(handle, stat, maxBytes);
    if (stat.isFIFO()) {
      const first = readWhatIsThere(handle);
      if (first === undefined)
        return { code: 'input-unreadable', message: 'is a pipe with nothing in it and nobody writing to it' };
      const socket = new Socket({ fd: handle, readable: true, writable: false });
      handle = undefined;
      return await readStream(socket, maxBytes, first);
    }
    return { code: 'input-unreadable', message: `is ${kindOfFile(stat)}, not a file` };
  } catch (error) {
    return { code: 'input-unreadable', message: describeSystemError(error) };
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

/** All bytes of standard input. */
export async function readStdin(
  stdin: (() => AsyncIterable<Uint8Array | string>) | undefined,
  maxBytes: number,
): Promise<RawInput | InputProblem> {
  if (stdin === undefined) return { code: 'input-unreadable', message: 'there is no standard input here' };
  return readStream(stdin(), maxBytes);
}

/** All bytes of a stream behind those that were read already, up to `maxBytes` together. */
async function readStream(
  stream: AsyncIterable<Uint8Array | string>,
  maxBytes: number,
  first: Buffer = Buffer.alloc(0),
): Promise<RawInput | InputProblem> {
  const chunks: Buffer[] = [first];
  let { length } = first;
  try {
    for await (const chunk of stream) {
      const bytes =
        typeof chunk === 'string'
          ? Buffer.from(chunk)
          : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
      length += bytes.length;
      if (length > maxBytes) return tooLarge(maxBytes);
      chunks.push(bytes);
    }
  } catch (error) {
    return { code: 'input-unreadable', message: describeSystemError(error) };
  }
  return { bytes: Buffer.concat(chunks, length) };
}

/** `ENOENT: no such file or directory, open 'x'` → `cannot be read: no such file or directory`. */
export function describeSystemError(error: unknown): string {
  if (!(error instanceof Error)) return 'cannot be read';
  const reason = /^E[A-Z0-9]+: ([^,]+)/.exec(error.message)?.[1] ?? error.message;
  return `cannot be read: ${reason}`;
}

/** What a pipe holds now, maybe nothing yet; undefined when it is at its end and has no writer. */
function readWhatIsThere(handle: number): Buffer | undefined {
  const bytes = Buffer.alloc(65_536);
  try {
    const got = readSync(handle, bytes, 0, bytes.length, null);
    return got === 0 ? undefined : bytes.subarray(0, got);
  } catch (error) {
    // EAGAIN: there is a writer, who has not written yet.
    if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return bytes.subarray(0, 0);
    throw error;
  }
}

function readRegularFile(handle: number, stat: Stats, maxBytes: number): RawInput | InputProblem {
  if (stat.size > maxBytes) return tooLarge(maxBytes, stat.size);
  // Some file systems (/proc) say 0 and have more.
  let bytes = Buffer.allocUnsafeSlow(stat.size === 0 ? 65_536 : stat.size);
  let filled = 0;
  for (;;) {
    if (filled === bytes.length) {
      if (stat.size !== 0) break;
      if (filled * 2 > maxBytes) return tooLarge(maxBytes);
      bytes = Buffer.concat([bytes], filled * 2);
    }
    // One call reads at most 2 GiB.
    const got = readSync(handle, bytes, filled, Math.min(bytes.length - filled, 1 << 30), null);
    if (got === 0) break;
    filled += got;
  }
  return { bytes: bytes.subarray(0, filled), stat };
}

function tooLarge(maxBytes: number, size?: number): InputProblem {
  const found = size === undefined ? 'more' : `${size} bytes`;
  return { code: 'input-limit', message: `is larger than ${maxBytes} bytes (${found})` };
}

function kindOfFile(stat: Stats): string {
  if (stat.isCharacterDevice() || stat.isBlockDevice()) return 'a device';
  return stat.isDirectory() ? 'a directory' : 'a special file';
}
