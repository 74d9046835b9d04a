/**
 * Cuts YAML bytes into documents, and long block-style Lists into their items, before anything is parsed. So one
 * broken document does not hide the others, and a 500 MB stream needs the memory of one object at a time.
 *
 * It is safe because YAML forbids content that looks like a marker: a line that starts with `---` or `...` and white
 * space ends the document even inside a block scalar (YAML 1.2.2, c-forbidden). In the same way a line of the root
 * sequence's indentation that starts with `- ` can only be an entry, for whatever is inside an entry is indented more.
 */

export interface Range {
  readonly start: number;
  readonly end: number;
}

export interface ListRanges {
  /** The document without its items: bytes before them and bytes after them. */
  readonly head: Range;
  readonly tail: Range;
  readonly items: readonly Range[];
}

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const TAB = 0x09;
const DASH = 0x2d;
const DOT = 0x2e;
const HASH = 0x23;
const PERCENT = 0x25;
const ITEMS = Buffer.from('items:');

/** The documents of `bytes` from `start` on, each with its `---` line, directives and comments. Some may be empty. */
export function* splitDocuments(bytes: Buffer, start: number): Generator<Range> {
  let from = start;
  let search = start;
  // Both are found ahead of need and kept, or each document would search the whole rest of the file.
  let dashes = findMarker(bytes, search, DASH);
  let dots = findMarker(bytes, search, DOT);
  while (from < bytes.length) {
    if (dashes < search) dashes = findMarker(bytes, search, DASH);
    if (dots < search) dots = findMarker(bytes, search, DOT);
    if (dots < dashes) {
      const end = lineEnd(bytes, dots);
      yield { start: from, end };
      from = end;
      search = end;
      continue;
    }
    // `%TAG` lines belong to the document whose `---` follows them.
    if (dashes > from && !isPrefix(bytes, from, Math.min(dashes, bytes.length))) {
      yield { start: from, end: Math.min(dashes, bytes.length) };
      from = dashes;
    }
    search = dashes + 3;
    if (dashes === Number.POSITIVE_INFINITY) {
      if (from < bytes.length) yield { start: from, end: bytes.length };
      return;
    }
  }
}

/**
 * Where the items of a block-style List are, or undefined when the document is not written in that way: it needs a
 * line `items:` without indentation, and entries under it that all start in one column.
 */
export function splitItems(bytes: Buffer, document: Range): ListRanges | undefined {
  const line = findItemsLine(bytes, document);
  if (line === undefined) return undefined;
  const items: { readonly start: number; end: number }[] = [];
  let last: (typeof items)[number] | undefined;
  const hasCarriage = bytes.subarray(document.start, document.end).includes(CR);
  let indent = -1;
  let at = line.end;
  while (at < document.end) {
    const next = Math.min(lineEnd(bytes, at, hasCarriage), document.end);
    let first = at;
    while (first < next && bytes[first] === SPACE) first++;
    const byte = first < next ? bytes[first] : LF;
    if (byte !== LF && byte !== CR && byte !== HASH) {
      const column = first - at;
      const isEntry = byte === DASH && isSpaceOrEnd(bytes, first + 1, document.end);
      if (indent === -1) {
        if (!isEntry) return undefined;
        indent = column;
      }
      if (column < indent || (column === indent && !isEntry)) break;
      if (column === indent) {
        if (last !== undefined) last.end = at;
        last = { start: at, end: at };
        items.push(last);
      }
    }
    at = next;
  }
  if (last === undefined) return undefined;
  last.end = at;
  return { head: { start: document.start, end: line.end }, tail: { start: at, end: document.end }, items };
}

/** Start of the next line that is `---` or `...`, or Infinity. */
function findMarker(bytes: Buffer, from: number, byte: number): number {
  const three = Buffer.from([byte, byte, byte]);
  let at = from;
  for (;;) {
    at = bytes.indexOf(three, at);
    if (at === -1) return Number.POSITIVE_INFINITY;
    if (isSpaceOrEnd(bytes, at + 3, bytes.length)) {
      if (isLineStart(bytes, at)) return at;
      // Files put together by cat may have a byte order mark before each `---`.
      const mark = at - 3;
      if (mark >= from && isMark(bytes, mark) && isLineStart(bytes, mark)) return mark;
    }
    // A long run of dashes has one start.
    while (at < bytes.length && bytes[at] === byte) at++;
  }
}

function isMark(bytes: Buffer, at: number): boolean {
  return bytes[at] === 0xef && bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf;
}

function isLineStart(bytes: Buffer, at: number): boolean {
  if (at === 0) return true;
  const before = bytes[at - 1];
  return before === LF || before === CR || (at === 3 && isMark(bytes, 0));
}

function isSpaceOrEnd(bytes: Buffer, at: number, end: number): boolean {
  if (at >= end) return true;
  const byte = bytes[at];
  return byte === SPACE || byte === TAB || byte === LF || byte === CR;
}

/** Start of the line after the one that holds `at`. */
function lineEnd(bytes: Buffer, at: number, hasCarriage = true): number {
  const feed = bytes.indexOf(LF, at);
  const end = feed === -1 ? bytes.length : feed + 1;
  if (!hasCarriage) return end;
  // A carriage return alone is a line break in YAML, however rare.
  const carriage = bytes.subarray(at, end).indexOf(CR);
  if (carriage === -1 || at + carriage + 2 >= end) return end;
  return at + carriage + 1;
}

/** Whether the bytes are directives, comments and blank lines, with one directive at least. */
function isPrefix(bytes: Buffer, start: number, end: number): boolean {
  let directives = 0;
  let at = isMark(bytes, start) ? start + 3 : start;
  while (at < end) {
    const next = Math.min(lineEnd(bytes, at), end);
    if (bytes[at] === PERCENT) {
      directives++;
    } else {
      let first = at;
      while (first < next && (bytes[first] === SPACE || bytes[first] === TAB)) first++;
      const byte = first < next ? bytes[first] : LF;
      if (byte !== LF && byte !== CR && byte !== HASH) return false;
    }
    at = next;
  }
  return directives > 0;
}

/** The line `items:` at the start of a line, with nothing behind it but a comment. */
function findItemsLine(bytes: Buffer, document: Range): Range | undefined {
  // Searching in a view: indexOf on the file would run on to its end for each document.
  const view = bytes.subarray(document.start, document.end);
  for (let found = view.indexOf(ITEMS); found !== -1; found = view.indexOf(ITEMS, found + ITEMS.length)) {
    if (found > 0 && view[found - 1] !== LF) continue;
    const at = document.start + found;
    const end = Math.min(lineEnd(bytes, at), document.end);
    const rest = bytes.toString('latin1', at + ITEMS.length, end);
    return /^[ \t]*(?:[ \t]#[^\r\n]*)?\r?\n?$/.test(rest) ? { start: at, end } : undefined;
  }
  return undefined;
}
