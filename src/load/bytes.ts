/** From raw bytes to UTF-8 that may be parsed. Every offset that load/ hands out counts bytes of that UTF-8 form. */
import { isUtf8 } from 'node:buffer';

export interface TextProblem {
  readonly code: 'input-not-text' | 'input-encoding';
  readonly message: string;
  readonly help?: string;
  /** Where in the bytes, if that can be said. */
  readonly offset?: number;
}

export interface TextBytes {
  /** UTF-8; a byte order mark of three bytes may still stand at its start. */
  readonly bytes: Buffer;
  /** Bytes of that mark: where the text starts. */
  readonly start: number;
  /** The bytes are not those of the file, which was UTF-16. */
  readonly transcoded: boolean;
}

const SNIFFED = 8192;

const MAGICS: readonly {
  readonly bytes: readonly number[];
  readonly name: string;
  readonly help?: string;
}[] = [
  {
    bytes: [0x1f, 0x8b],
    name: 'a gzip file',
    help: 'unpack it first and pass the result, for example gzip -dc FILE | … -',
  },
  { bytes: [0x50, 0x4b, 0x03, 0x04], name: 'a zip file', help: 'unpack it first and pass the folder' },
  { bytes: [0x42, 0x5a, 0x68], name: 'a bzip2 file', help: 'unpack it first and pass the result' },
  { bytes: [0x28, 0xb5, 0x2f, 0xfd], name: 'a zstd file', help: 'unpack it first and pass the result' },
  { bytes: [0xfd, 0x37, 0x7a, 0x58, 0x5a], name: 'an xz file', help: 'unpack it first and pass the result' },
];

/** Checks that `raw` is text in UTF-8, or in UTF-16 with a byte order mark, and gives it as UTF-8. */
export function toText(raw: Buffer): TextBytes | TextProblem {
  for (const magic of MAGICS) {
    if (magic.bytes.every((byte, index) => raw[index] === byte)) {
      return notText(`is ${magic.name}, not text`, magic.help);
    }
  }
  if (raw.length > 262 && raw.toString('latin1', 257, 262) === 'ustar') {
    return notText('is a tar archive, not text', 'unpack it first and pass the folder');
  }
  const little = raw[0] === 0xff && raw[1] === 0xfe;
  const big = raw[0] === 0xfe && raw[1] === 0xff;
  if (little || big) return fromUtf16(raw, big);
  const nul = raw.subarray(0, SNIFFED).indexOf(0);
  if (nul !== -1) return { ...notText(`is not text: byte ${nul + 1} is NUL`), offset: nul };
  const start = raw[0] === 0xef && raw[1] === 0xbb && raw[2] === 0xbf ? 3 : 0;
  if (isUtf8(raw)) return { bytes: raw, start, transcoded: false };
  const bad = firstInvalidByte(raw);
  const byte = (raw[bad] ?? 0).toString(16).padStart(2, '0');
  return {
    code: 'input-encoding',
    message: `byte ${bad + 1} (\\x${byte}) is not valid UTF-8`,
    help: 'save the file as UTF-8; UTF-16 is accepted too if it starts with a byte order mark',
    offset: bad,
  };
}

/** Whether `toText` found a problem. */
export function isTextProblem(result: TextBytes | TextProblem): result is TextProblem {
  return 'code' in result;
}

function notText(message: string, help?: string): TextProblem {
  return { code: 'input-not-text', message, ...(help === undefined ? {} : { help }) };
}

function fromUtf16(raw: Buffer, bigEndian: boolean): TextBytes | TextProblem {
  if (raw.length % 2 === 1) {
    return { code: 'input-encoding', message: 'is UTF-16 with an odd number of bytes; it seems cut off' };
  }
  // A Node string holds 512 MiB; nobody has such a file in UTF-16.
  if (raw.length > 2 ** 29)
    return { code: 'input-encoding', message: 'is UTF-16 and over 512 MiB', help: 'save it as UTF-8' };
  const units = bigEndian ? Buffer.from(raw).swap16() : raw;
  const text = units.toString('utf16le', 2);
  if (text.slice(0, SNIFFED).includes('\0')) return notText('is not text: it holds NUL characters');
  const lone = /\p{Cs}/u.exec(text);
  if (lone !== null) {
    return { code: 'input-encoding', message: `byte ${lone.index * 2 + 3} starts half of a UTF-16 pair` };
  }
  return { bytes: Buffer.from(text, 'utf8'), start: 0, transcoded: true };
}

const PIECE = 1 << 16;

/** Index of the first byte that cannot be where it is; only called when there is one. */
function firstInvalidByte(bytes: Buffer): number {
  let at = 0;
  // Whole pieces first; each ends before a character begins.
  for (let end = PIECE; end < bytes.length; end = at + PIECE) {
    while (end > at && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
    if (end === at || !isUtf8(bytes.subarray(at, end))) break;
    at = end;
  }
  while (at < bytes.length) {
    const lead = bytes[at] ?? 0;
    if (lead < 0x80) {
      at++;
      continue;
    }
    const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (!isUtf8(bytes.subarray(at, at + length))) return at;
    at += length;
  }
  return bytes.length;
}
