/**
 * The texts that were read, for messages about them. A file is read again from disk when a message needs it; only
 * what cannot be read twice (standard input, a pipe) is kept, in the Buffer that held it anyway.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { isTextProblem, toText } from './bytes.ts';
import { isInputProblem } from './read-input.ts';
import { unpack, unpackAllowance } from './unpack.ts';

/** Line and column count from 1; the column counts UTF-16 code units, as editors do. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface Sources {
  /** Place of `file` in the order of reading; Infinity for a file that was not read. */
  readonly order: (file: string) => number;
  /** Bytes `start` to `end` of the UTF-8 form of `file`, or undefined when it cannot be read again or has changed. */
  readonly slice: (file: string, start: number, end: number) => Buffer | undefined;
  /** Line and column of a byte offset, or undefined as above. */
  readonly position: (file: string, offset: number) => Position | undefined;
}

export interface SourceStore extends Sources {
  /** Notes a file in reading order; whatever becomes of it. */
  readonly begin: (file: string) => void;
  /** Gives the text of the file that is being read; `keep` where it cannot be read again. */
  readonly hold: (file: string, bytes: Buffer, disk?: DiskText) => void;
  /** The file has been read: forget the bytes that can be had from disk. */
  readonly release: (file: string) => void;
}

/** How to find the same bytes again. */
export interface DiskText {
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
  readonly transcoded: boolean;
  /** Of a gzip file: no more than this. */
  readonly unpacksTo?: number;
}

interface Entry {
  readonly order: number;
  bytes?: Buffer | undefined;
  size: number;
  disk?: DiskText | undefined;
  lines?: LineIndex | undefined;
}

const BLOCK = 1 << 16;

/** Lines that begin before each block of the text, found as far as they were asked for. */
interface LineIndex {
  /** For each block: line number at its first byte, and where that line starts. */
  readonly lineAt: number[];
  readonly lineStartAt: number[];
}

/** Makes an empty store; loadObjects fills it. */
export function createSourceStore(): SourceStore {
  const entries = new Map<string, Entry>();
  // Of files that are not as they lie on disk, the last one: messages come file by file.
  let last: { readonly disk: DiskText; readonly bytes: Buffer | undefined } | undefined;

  function slice(file: string, start: number, end: number): Buffer | undefined {
    const entry = entries.get(file);
    if (entry === undefined) return undefined;
    if (entry.bytes !== undefined) return entry.bytes.subarray(start, end);
    if (entry.disk === undefined) return undefined;
    if (!entry.disk.transcoded && entry.disk.unpacksTo === undefined)
      return readRange(entry.disk, start, end);
    if (last?.disk !== entry.disk) last = { disk: entry.disk, bytes: readAgain(entry.disk) };
    return last.bytes?.subarray(start, end);
  }

  function position(file: string, offset: number): Position | undefined {
    const entry = entries.get(file);
    if (entry === undefined) return undefined;
    const read = (start: number, end: number) => slice(file, start, Math.min(end, entry.size));
    entry.lines ??= { lineAt: [1], lineStartAt: [0] };
    return findPosition(entry.lines, Math.min(offset, entry.size), read);
  }

  return {
    begin: (file) => {
      if (!entries.has(file)) entries.set(file, { order: entries.size, size: 0 });
    },
    hold: (file, bytes, disk) => {
      const order = entries.get(file)?.order ?? entries.size;
      entries.set(file, { order, bytes, size: bytes.length, disk });
    },
    release: (file) => {
      const entry = entries.get(file);
      if (entry?.disk !== undefined) entry.bytes = undefined;
    },
    order: (file) => entries.get(file)?.order ?? Number.POSITIVE_INFINITY,
    slice,
    position,
  };
}

function findPosition(
  index: LineIndex,
  offset: number,
  read: (start: number, end: number) => Buffer | undefined,
): Position | undefined {
  const wanted = Math.floor(offset / BLOCK);
  while (index.lineAt.length <= wanted) {
    const block = index.lineAt.length - 1;
    // One byte more shows whether a carriage return at the end of the block is followed by a line feed.
    const bytes = read(block * BLOCK, (block + 1) * BLOCK + 1);
    if (bytes === undefined) return undefined;
    const found = countLines(bytes, Math.min(BLOCK, bytes.length));
    index.lineAt.push((index.lineAt[block] ?? 1) + found.count);
    index.lineStartAt.push(
      found.count === 0 ? (index.lineStartAt[block] ?? 0) : block * BLOCK + found.lastStart,
    );
  }
  const from = wanted * BLOCK;
  const bytes = read(from, offset + 1);
  if (bytes === undefined) return undefined;
  const found = countLines(bytes, offset - from);
  const lineStart = found.count === 0 ? (index.lineStartAt[wanted] ?? 0) : from + found.lastStart;
  let column = 1;
  for (let at = lineStart; at < offset; at += BLOCK) {
    const piece = read(at, Math.min(at + BLOCK, offset));
    if (piece === undefined) return undefined;
    column += utf16Length(piece) - (at === lineStart && startsWithMark(piece) ? 1 : 0);
  }
  return { line: (index.lineAt[wanted] ?? 1) + found.count, column };
}

/** Line and column of a byte of a text that is all there. */
export function positionIn(bytes: Buffer, offset: number): Position {
  const { count, lastStart } = countLines(bytes, offset);
  const before = bytes.subarray(lastStart, offset);
  return { line: count + 1, column: utf16Length(before) - (startsWithMark(before) ? 1 : 0) + 1 };
}

function startsWithMark(bytes: Buffer): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

/** UTF-16 code units of UTF-8 bytes, without making a string of them: a line may be longer than one can be. */
function utf16Length(bytes: Buffer): number {
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte >= 0xf0) length += 2;
    else if (byte < 0x80 || byte >= 0xc0) length++;
  }
  return length;
}

/** Line breaks in `bytes[0, length)`: \n, \r\n, and \r alone, as YAML and editors count them. */
function countLines(bytes: Buffer, length: number): { count: number; lastStart: number } {
  let count = 0;
  let lastStart = 0;
  for (let at = 0; at < length; at++) {
    const byte = bytes[at];
    if (byte === 0x0a || (byte === 0x0d && bytes[at + 1] !== 0x0a)) {
      count++;
      lastStart = at + 1;
    }
  }
  return { count, lastStart };
}

/** The text of a file that has to be unpacked or recoded. */
function readAgain(disk: DiskText): Buffer | undefined {
  const raw = readRange(disk, 0, disk.size);
  if (raw === undefined) return undefined;
  const unpacked = unpack(raw, unpackAllowance(disk.unpacksTo ?? 0));
  if (isInputProblem(unpacked)) return undefined;
  const text = toText(unpacked.bytes);
  return isTextProblem(text) ? undefined : text.bytes;
}

function readRange(disk: DiskText, start: number, end: number): Buffer | undefined {
  let handle: number | undefined;
  try {
    handle = openSync(disk.path, 'r');
    const stat = fstatSync(handle);
    if (!stat.isFile() || stat.size !== disk.size || stat.mtimeMs !== disk.mtimeMs) return undefined;
    const bytes = Buffer.allocUnsafeSlow(Math.max(0, Math.min(end, disk.size) - start));
    let filled = 0;
    while (filled < bytes.length) {
      const got = readSync(handle, bytes, filled, Math.min(bytes.length - filled, 1 << 30), start + filled);
      if (got === 0) return undefined;
      filled += got;
    }
    return bytes;
  } catch {
    // The file is gone or closed to us; the message is then printed without a line.
    return undefined;
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}
