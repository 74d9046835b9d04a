/** gzip and tar, in memory and within limits. Told by what they begin with, never by their name. */
import { gunzipSync } from 'node:zlib';
import type { InputProblem } from './read-input.ts';
import { isTar } from './tar.ts';

export type Unpacked =
  /** Text, as far as can be told; `packed` where it came out of a gzip file. */
  | { readonly kind: 'text'; readonly bytes: Buffer; readonly packed: boolean }
  | { readonly kind: 'tar'; readonly bytes: Buffer };

/** Unpacks a gzip file, up to `maxBytes`; anything else is left as it is. */
export function unpack(bytes: Buffer, maxBytes: number): Unpacked | InputProblem {
  if (!(bytes[0] === 0x1f && bytes[1] === 0x8b)) {
    return isTar(bytes) ? { kind: 'tar', bytes } : { kind: 'text', bytes, packed: false };
  }
  let inner: Buffer;
  try {
    inner = gunzipSync(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE') {
      return {
        code: 'input-limit',
        message: `unpacks to more than ${maxBytes} bytes`,
        help: 'raise --max-unpacked-bytes, if that is no archive bomb',
      };
    }
    const reason = error instanceof Error ? error.message : 'not gzip';
    return {
      code: 'input-unreadable',
      message: `cannot be unpacked: ${reason}`,
      help: 'it may be cut off: gzip -t FILE',
    };
  }
  return isTar(inner) ? { kind: 'tar', bytes: inner } : { kind: 'text', bytes: inner, packed: true };
}
