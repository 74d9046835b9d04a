/**
 * Entries of a tar archive that lies in memory: ustar (POSIX.1-1988), pax headers (POSIX.1-2001) for long names and
 * sizes, GNU's long names, and the form of V7 before them. What we need of it fits on a page; nothing is written.
 */

export interface TarEntry {
  readonly name: string;
  /** Bytes of the whole name, where only its beginning was read. */
  readonly wholeName?: number;
  readonly kind: 'file' | 'link' | 'other';
  readonly bytes: Buffer;
}

/** Why an archive cannot be read any further. */
export interface TarProblem {
  readonly code: 'input-unreadable';
  readonly message: string;
}

const BLOCK = 512;
/** Longer than any path that an operating system takes. */
const MAX_NAME = 32_768;

/** Whether the first block is the header of an entry, or the end of an empty archive. */
export function isTar(bytes: Buffer): boolean {
  return bytes.length >= BLOCK && hasChecksum(bytes, 0);
}

/** The entries in their order; the last thing may be a problem. Directories and devices come as `other`. */
export function* tarEntries(archive: Buffer): Generator<TarEntry | TarProblem> {
  let at = 0;
  let longName: Name | undefined;
  let pax: Pax = {};
  let zeros = 0;
  while (at + BLOCK <= archive.length) {
    const header = at;
    at += BLOCK;
    if (archive[header] === 0 && archive.subarray(header, header + BLOCK).every((byte) => byte === 0)) {
      zeros++;
      // Two blocks of zeros end an archive; what comes behind is padding.
      if (zeros === 2) return;
      continue;
    }
    zeros = 0;
    if (!hasChecksum(archive, header)) {
      yield { code: 'input-unreadable', message: `the tar header at byte ${header + 1} is damaged` };
      return;
    }
    const type = String.fromCharCode(archive[header + 156] ?? 0);
    const size =
      type === 'x' || type === 'g' ? numberAt(archive, header) : sizeOf(pax, numberAt(archive, header));
    if (!Number.isSafeInteger(size) || size < 0 || at + size > archive.length) {
      yield {
        code: 'input-unreadable',
        message: `the tar archive ends inside the entry at byte ${header + 1}`,
      };
      return;
    }
    const bytes = archive.subarray(at, at + size);
    at += Math.ceil(size / BLOCK) * BLOCK;
    if (type === 'x') pax = readPax(bytes);
    else if (type === 'L') longName = longNameOf(bytes);
    else if (type !== 'g' && type !== 'K') {
      const { name, wholeName } = pax.path ?? longName ?? { name: nameOf(archive, header) };
      longName = undefined;
      pax = {};
      yield { name, ...(wholeName === undefined ? {} : { wholeName }), kind: kindOf(type, name), bytes };
    }
  }
}

/** How many entries there are; no more is looked at than their headers. */
export function countEntries(archive: Buffer): number {
  let count = 0;
  for (const entry of tarEntries(archive)) count += 'code' in entry ? 0 : 1;
  return count;
}

type Name = Pick<TarEntry, 'name' | 'wholeName'>;

/** A name that ends at a NUL, or with the bytes. */
function longNameOf(bytes: Buffer): Name {
  const nul = bytes.indexOf(0);
  const length = nul === -1 ? bytes.length : nul;
  const name = bytes.toString('utf8', 0, Math.min(length, MAX_NAME));
  return length > MAX_NAME ? { name, wholeName: length } : { name };
}

function kindOf(type: string, name: string): TarEntry['kind'] {
  if (type === '1' || type === '2') return 'link';
  // V7 has no type, and a slash behind the names of directories.
  return (type === '0' || type === '\0' || type === '7') && !name.endsWith('/') ? 'file' : 'other';
}

/** The sum of the header's bytes, its own field taken for blanks. */
function hasChecksum(archive: Buffer, header: number): boolean {
  const stored = /^[\0 ]*([0-7]{1,7})[\0 ]/.exec(archive.toString('latin1', header + 148, header + 156));
  if (stored === null) return false;
  let sum = 0;
  for (let at = 0; at < BLOCK; at++) sum += at >= 148 && at < 156 ? 32 : (archive[header + at] ?? 0);
  return Number.parseInt(stored[1] ?? '', 8) === sum;
}

/** The size field: octal digits, or, from 8 GiB on, GNU's binary form. */
function numberAt(archive: Buffer, header: number): number {
  const field = archive.subarray(header + 124, header + 136);
  if ((field[0] ?? 0) >= 0x80) return field.subarray(1).reduce((sum, byte) => sum * 256 + byte, 0);
  const digits = /^[\0 ]*([0-7]*)[\0 ]*$/.exec(field.toString('latin1'))?.[1];
  return digits === undefined ? Number.NaN : Number.parseInt(digits || '0', 8);
}

function sizeOf({ size }: Pax, plain: number): number {
  return size === undefined ? plain : /^\d{1,15}$/.test(size) ? Number(size) : Number.NaN;
}

function nameOf(archive: Buffer, header: number): string {
  const name = textOf(archive.subarray(header, header + 100));
  const isUstar = archive.toString('latin1', header + 257, header + 263) === 'ustar\0';
  const prefix = isUstar ? textOf(archive.subarray(header + 345, header + 500)) : '';
  return prefix === '' ? name : `${prefix}/${name}`;
}

function textOf(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString('utf8', 0, end === -1 ? bytes.length : end);
}

interface Pax {
  path?: Name;
  size?: string;
}

/** Records `LENGTH KEY=VALUE\n`, where the length counts the whole record; what is damaged is left out. */
function readPax(bytes: Buffer): Pax {
  const records: Pax = {};
  let at = 0;
  while (at < bytes.length) {
    const length = /^(\d{1,9}) /.exec(bytes.toString('latin1', at, at + 10))?.[1];
    if (length === undefined || Number(length) < 5) break;
    const record = bytes.subarray(at + length.length + 1, at + Number(length) - 1);
    const key = record.toString('latin1', 0, 5);
    if (key === 'path=') records.path = longNameOf(record.subarray(5));
    else if (key === 'size=') records.size = record.toString('latin1', 5, 25);
    at += Number(length);
  }
  return records;
}
