/**
 * The strict second look at JSON that JSON.parse refused, or that has a key twice: says what is wrong and at which
 * byte, in the same words whatever the version of Node. Slow and thorough; never run on good input.
 */
import { describeByte, skipJsonSpace } from './json-scan.ts';

export interface JsonProblem {
  readonly code: 'json-syntax' | 'duplicate-key';
  readonly offset: number;
  readonly message: string;
}

interface Frame {
  readonly keys: Set<string> | undefined;
}

const ESCAPES = new Set([...'"\\/bfnrt'].map((character) => character.charCodeAt(0)));

/** The first problem of the one value in `bytes[start, end)` (RFC 8259, plus: no key twice in an object). */
export function findJsonProblem(bytes: Buffer, start: number, end: number): JsonProblem | undefined {
  const frames: Frame[] = [];
  let at = skipJsonSpace(bytes, start, end);

  const wrong = (offset: number, expected: string): JsonProblem => ({
    code: 'json-syntax',
    offset,
    message: `expected ${expected}, found ${describeByte(bytes[offset], offset >= end)}`,
  });

  /** A string from its opening quote; moves behind it. */
  function string(): JsonProblem | undefined {
    const open = at;
    at++;
    while (at < end) {
      const byte = bytes[at] ?? 0;
      if (byte === 0x22) {
        at++;
        return undefined;
      }
      if (byte < 0x20) {
        return {
          code: 'json-syntax',
          offset: at,
          message: `${describeByte(byte, false)} must be escaped in a string`,
        };
      }
      if (byte === 0x5c) {
        const escaped = bytes[at + 1] ?? 0;
        if (escaped === 0x75) {
          if (!/^[0-9a-fA-F]{4}$/.test(bytes.toString('latin1', at + 2, Math.min(at + 6, end)))) {
            return wrong(at + 2, 'four hexadecimal digits behind \\u');
          }
          at += 6;
        } else if (at + 1 < end && ESCAPES.has(escaped)) {
          at += 2;
        } else {
          return wrong(at + 1, `one of "\\/bfnrtu behind '\\'`);
        }
      } else {
        at++;
      }
    }
    return { code: 'json-syntax', offset: open, message: 'a string that starts here does not end' };
  }

  function key(frame: Frame): JsonProblem | undefined {
    if (at >= end || bytes[at] !== 0x22) return wrong(at, 'a key in double quotes');
    const from = at;
    const bad = string();
    if (bad !== undefined) return bad;
    const name = String(JSON.parse(bytes.toString('utf8', from, at)));
    if (frame.keys?.has(name) === true) {
      const shown = name.length > 100 ? `${name.slice(0, 100)}…` : name;
      return {
        code: 'duplicate-key',
        offset: from,
        message: `the key ${JSON.stringify(shown)} stands twice in one object`,
      };
    }
    frame.keys?.add(name);
    at = skipJsonSpace(bytes, at, end);
    if (at >= end || bytes[at] !== 0x3a) return wrong(at, `':' after the key`);
    at = skipJsonSpace(bytes, at + 1, end);
    return undefined;
  }

  for (;;) {
    // A value starts here.
    const byte = at < end ? bytes[at] : undefined;
    if (byte === 0x7b || byte === 0x5b) {
      const frame: Frame = { keys: byte === 0x7b ? new Set() : undefined };
      at = skipJsonSpace(bytes, at + 1, end);
      if (at < end && bytes[at] === (byte ?? 0) + 2) {
        at++;
      } else {
        frames.push(frame);
        if (frame.keys !== undefined) {
          const bad = key(frame);
          if (bad !== undefined) return bad;
        }
        continue;
      }
    } else if (byte === 0x22) {
      const bad = string();
      if (bad !== undefined) return bad;
    } else {
      const word = /^[^\s,:{}[\]"]*/.exec(bytes.toString('latin1', at, Math.min(at + 400, end)))?.[0] ?? '';
      if (!/^(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)$/.test(word)) {
        return wrong(at, 'a value');
      }
      at += word.length;
    }
    // Behind a value: close what ends here, go on with the next member.
    for (;;) {
      at = skipJsonSpace(bytes, at, end);
      const frame = frames.at(-1);
      if (frame === undefined) return at < end ? wrong(at, 'the end of the value') : undefined;
      const close = frame.keys === undefined ? 0x5d : 0x7d;
      if (at < end && bytes[at] === close) {
        frames.pop();
        at++;
        continue;
      }
      if (at >= end || bytes[at] !== 0x2c) return wrong(at, `',' or '${String.fromCharCode(close)}'`);
      at = skipJsonSpace(bytes, at + 1, end);
      if (frame.keys !== undefined) {
        const bad = key(frame);
        if (bad !== undefined) return bad;
      }
      break;
    }
  }
}

/** Keys of all objects in a parsed value; compare with the members that were counted in its text. */
export function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object' && item !== null) count += countKeys(item);
    return count;
  }
  const object = value as Record<string, unknown>;
  for (const key in object) {
    count++;
    const member = object[key];
    if (typeof member === 'object' && member !== null) count += countKeys(member);
  }
  return count;
}
