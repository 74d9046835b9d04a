/** One input as a whole, for texts that hold no Kubernetes objects, and to see what an input is. */
import { constants } from 'node:buffer';
import type { Diagnostic } from '../diagnostics.ts';
import { isTextProblem, toText } from './bytes.ts';
import { DEFAULT_LIMITS, type LoadLimits } from './limits.ts';
import { isInputProblem, type RawInput, readFileBytes, readStdin } from './read-input.ts';
import { unpack } from './unpack.ts';

/** The bytes of a file, a pipe, or standard input (`-`), unpacked if they are gzip. What cannot be read is returned as an error. */
export async function readWhole(
  input: string,
  stdin: () => AsyncIterable<Uint8Array | string>,
  limits: Partial<LoadLimits> = {},
): Promise<RawInput | Diagnostic> {
  const { maxFileBytes, maxUnpackedBytes } = { ...DEFAULT_LIMITS, ...limits };
  const raw = input === '-' ? await readStdin(stdin, maxFileBytes) : await readFileBytes(input, maxFileBytes);
  if (isInputProblem(raw)) return { ...raw, severity: 'error', place: { file: input } };
  const unpacked = unpack(raw.bytes, maxUnpackedBytes);
  if (isInputProblem(unpacked)) return { ...unpacked, severity: 'error', place: { file: input } };
  // An archive is for loadObjects, which finds the files in it.
  return unpacked.kind === 'text' && unpacked.packed ? { bytes: unpacked.bytes } : raw;
}

/** Whether the bytes are a tar archive, maybe one in gzip. */
export function isArchive({ bytes }: RawInput): boolean {
  const unpacked = unpack(bytes, DEFAULT_LIMITS.maxUnpackedBytes);
  return !isInputProblem(unpacked) && unpacked.kind === 'tar';
}

export interface WholeText {
  readonly text: string;
  /** It is no UTF-8: each byte is the character of its number. Dumps hold whatever somebody put into a comment. */
  readonly bytewise: boolean;
}

/**
 * The text of an input, or of its first `maxBytes` bytes, which may then end within a character. Bytes that are
 * no text at all (an archive, a program) are returned as an error.
 */
export function textOf(file: string, raw: RawInput, maxBytes?: number): WholeText | Diagnostic {
  const problem = (code: string, message: string, help?: string): Diagnostic => ({
    code,
    severity: 'error',
    message,
    place: { file },
    ...(help === undefined ? {} : { help }),
  });
  const found = toText(raw.bytes);
  const utf16 = /^(?:\xff\xfe|\xfe\xff)/.test(raw.bytes.toString('latin1', 0, 2));
  if (isTextProblem(found) && (found.code !== 'input-encoding' || utf16)) {
    return problem(found.code, found.message, found.help);
  }
  const { bytes, start } = isTextProblem(found) ? { bytes: raw.bytes, start: 0 } : found;
  const end = Math.min(bytes.length, start + (maxBytes ?? bytes.length));
  if (end - start > constants.MAX_STRING_LENGTH) {
    return problem('input-limit', `is larger than ${constants.MAX_STRING_LENGTH} bytes (${bytes.length})`);
  }
  const bytewise = isTextProblem(found);
  return { text: bytes.toString(bytewise ? 'latin1' : 'utf8', start, end), bytewise };
}
