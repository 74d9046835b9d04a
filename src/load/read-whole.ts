/** One input as a whole, for texts that hold no Kubernetes objects, and to see what an input is. */
import type { Stats } from 'node:fs';
import type { Diagnostic } from '../diagnostics.ts';
import { isTextProblem, toText } from './bytes.ts';
import { DEFAULT_LIMITS, LONGEST_TEXT, type LoadLimits } from './limits.ts';
import { type InputProblem, isInputProblem, type RawInput, readFileBytes, readStdin } from './read-input.ts';
import { type UnpackAllowance, type Unpacked, unpack, unpackAllowance } from './unpack.ts';

/** One input, read and unpacked. A tar archive is still one: loadObjects finds the files in it. */
export interface WholeInput extends Unpacked {
  /** Of a regular file, which can be read again. */
  readonly stat?: Stats;
  /** What files inside of an archive may still unpack to. */
  readonly allowance: UnpackAllowance;
}

/** A file, a pipe, or standard input (`-`), unpacked if it is gzip. */
export async function readInput(
  input: string,
  stdin: (() => AsyncIterable<Uint8Array | string>) | undefined,
  limits: LoadLimits,
): Promise<WholeInput | InputProblem> {
  const { maxFileBytes } = limits;
  const raw = input === '-' ? await readStdin(stdin, maxFileBytes) : await readFileBytes(input, maxFileBytes);
  return isInputProblem(raw) ? raw : unpackInput(raw, limits);
}

/** Bytes as they were read; a gzip file unpacked. */
export function unpackInput(raw: RawInput, { maxUnpackedBytes }: LoadLimits): WholeInput | InputProblem {
  const allowance = unpackAllowance(maxUnpackedBytes);
  const unpacked = unpack(raw.bytes, allowance);
  if (isInputProblem(unpacked)) return unpacked;
  return { ...unpacked, allowance, ...(raw.stat === undefined ? {} : { stat: raw.stat }) };
}

/** The same for the command line: what cannot be read is returned as an error. */
export async function readWhole(
  input: string,
  stdin: () => AsyncIterable<Uint8Array | string>,
  limits: Partial<LoadLimits> = {},
): Promise<WholeInput | Diagnostic> {
  const read = await readInput(input, stdin, { ...DEFAULT_LIMITS, ...limits });
  return isInputProblem(read) ? { ...read, severity: 'error', place: { file: input } } : read;
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
export function textOf(
  file: string,
  raw: Pick<WholeInput, 'bytes'>,
  maxBytes?: number,
): WholeText | Diagnostic {
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
  if (end - start > LONGEST_TEXT) {
    return problem('input-limit', `is larger than ${LONGEST_TEXT} bytes (${bytes.length})`);
  }
  const bytewise = isTextProblem(found);
  return { text: bytes.toString(bytewise ? 'latin1' : 'utf8', start, end), bytewise };
}
