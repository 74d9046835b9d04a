/** gzip and tar, in memory and within limits. Told by what they begin with, never by their name. */
import { gunzipSync } from 'node:zlib';
import type { InputProblem } from './read-input.ts';
import { isTar } from './tar.ts';

/** `packed` where it came out of a gzip file. */
export interface Unpacked {
  /** Text, as far as can be told. */
  readonly kind: 'text' | 'tar';
  readonly bytes: Buffer;
  readonly packed: boolean;
}

/** How much may still be unpacked: one allowance for whatever is packed in one input. */
export interface UnpackAllowance {
  readonly most: number;
  left: number;
}

export function unpackAllowance(most: number): UnpackAllowance {
  return { most, left: most };
}

/** Unpacks a gzip file, as far as the allowance goes; anything else is left as it is. */
export function unpack(bytes: Buffer, allowance: UnpackAllowance): Unpacked | InputProblem {
  if (!(bytes[0] === 0x1f && bytes[1] === 0x8b)) {
    return { kind: isTar(bytes) ? 'tar' : 'text', bytes, packed: false };
  }
  if (allowance.left <= 0) return tooMuch(allowance);
  let inner: Buffer;
  try {
    inner = gunzipSync(bytes, {
      maxOutputLength: allowance.left,
      chunkSize: chunkSize(bytes, allowance.left),
    });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE') {
      // Another bomb in the same archive is not unpacked again up to there.
      allowance.left = 0;
      return tooMuch(allowance);
    }
    const reason = error instanceof Error ? error.message : 'not gzip';
    return {
      code: 'input-unreadable',
      message: `cannot be unpacked: ${reason}`,
      help: 'it may be cut off: gzip -t FILE',
    };
  }
  allowance.left -= inner.length;
  return { kind: isTar(inner) ? 'tar' : 'text', bytes: inner, packed: true };
}

function tooMuch({ most }: UnpackAllowance): InputProblem {
  return {
    code: 'input-limit',
    message: `unpacks to more than ${most} bytes`,
    help: 'raise --max-unpacked-bytes, if that is no archive bomb',
  };
}

/**
 * Room for all of it at once: of several pieces zlib makes one at the end, and all bytes would be in memory twice. The
 * last four bytes say how many there are; where they lie, only the memory is wasted, and pages that nobody writes to
 * take none.
 */
function chunkSize(bytes: Buffer, most: number): number {
  const said = bytes.length < 18 ? 0 : bytes.readUInt32LE(bytes.length - 4);
  return Math.max(64 * 1024, Math.min(said, most) + 1);
}
