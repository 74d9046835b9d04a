/** Where a field of an object stands in its file: only asked when a message is about to be printed. */
import { isAlias, isMap, isScalar, isSeq, type Node, type ParsedNode, parseDocument } from 'yaml';
import type { FieldPath, Origin } from '../diagnostics.ts';
import type { Position, Sources } from './sources.ts';
import { countMarks } from './yaml-marks.ts';

/**
 * Line and column of the value at `path` inside the object that came from `origin`, or of its nearest parent that is
 * there. An alias is followed to its anchor's value only when the path leads into it. Gives undefined when the text
 * cannot be had again: a file that has changed since, or is gone.
 *
 * Parses the one document, slowly and with positions; the last one is remembered, for messages come in groups.
 */
export function locate(origin: Origin, path: FieldPath, sources: Sources): Position | undefined {
  const parsed = parseAgain(origin, sources);
  if (parsed === undefined) return sources.position(origin.file, origin.start);
  const index = findIndex(parsed.root, [...origin.path, ...path], parsed.anchors);
  const offset = index === undefined ? 0 : Buffer.byteLength(parsed.text.slice(0, index));
  return sources.position(origin.file, origin.start + offset);
}

interface Parsed {
  readonly file: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly root: ParsedNode | null;
  readonly anchors: ReadonlyMap<string, Node>;
}

const lastParsed = new WeakMap<Sources, Parsed>();

/** Beyond this a tree with positions costs too much for a message; the start of the text has to do. */
const MAX_TEXT = 2 * 1024 ** 2;
/** The same in places where a value may begin, of which each costs some microseconds: of one text, and of all. */
const MAX_MARKS = 100_000;
const MAX_MARKS_IN_ALL = 1_000_000;
const marksSoFar = new WeakMap<Sources, number>();

function parseAgain(origin: Origin, sources: Sources): Parsed | undefined {
  const last = lastParsed.get(sources);
  if (last?.file === origin.file && last.start === origin.start && last.end === origin.end) return last;
  if (origin.end - origin.start > MAX_TEXT) return undefined;
  const bytes = sources.slice(origin.file, origin.start, origin.end);
  if (bytes === undefined) return undefined;
  const marks = countMarks(bytes);
  const all = (marksSoFar.get(sources) ?? 0) + marks;
  if (marks > MAX_MARKS || all > MAX_MARKS_IN_ALL) return undefined;
  marksSoFar.set(sources, all);
  const text = bytes.toString('utf8');
  let root: ParsedNode | null;
  const anchors = new Map<string, Node>();
  try {
    // JSON is YAML; errors do not matter here, the loader has taken the text.
    const document = parseDocument(text, {
      version: '1.2',
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: 'silent',
      merge: true,
    });
    root = document.contents;
    collectAnchors(root, anchors);
  } catch {
    return undefined;
  }
  const parsed = { file: origin.file, start: origin.start, end: origin.end, text, root, anchors };
  lastParsed.set(sources, parsed);
  return parsed;
}

function collectAnchors(root: unknown, anchors: Map<string, Node>): void {
  const waiting: unknown[] = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (isScalar(node) || isMap(node) || isSeq(node)) {
      if (node.anchor !== undefined) anchors.set(node.anchor, node);
    }
    if (isSeq(node)) for (const item of node.items) waiting.push(item);
    else if (isMap(node)) for (const pair of node.items) waiting.push(pair.key, pair.value);
  }
}

/** Offset of the node at `path`, of its key when its value is empty, of the deepest node on the way when it is missing. */
function findIndex(root: unknown, path: FieldPath, anchors: ReadonlyMap<string, Node>): number | undefined {
  let index = startOf(root);
  let node = resolve(root, anchors);
  for (const step of path) {
    let next: unknown;
    let at: number | undefined;
    if (isSeq(node) && typeof step === 'number') {
      next = node.items[step];
      at = startOf(next);
    } else if (isMap(node)) {
      const found = findPair(node, String(step), anchors, 0);
      next = found?.value;
      at = startOf(found?.value) ?? startOf(found?.key);
    }
    if (at === undefined) return index;
    index = at;
    node = resolve(next, anchors);
  }
  return index;
}

interface PairNodes {
  readonly key: unknown;
  readonly value: unknown;
}

/** The pair of that key: own pairs first, then what `<<` merges. */
function findPair(
  map: Node,
  key: string,
  anchors: ReadonlyMap<string, Node>,
  depth: number,
): PairNodes | undefined {
  if (!isMap(map) || depth > 20) return undefined;
  for (const pair of map.items) {
    const own = resolve(pair.key, anchors);
    if (isScalar(own) && (String(own.value) === key || own.source === key)) return pair;
  }
  for (const pair of map.items) {
    if (!isScalar(pair.key) || (pair.key.value !== '<<' && pair.key.source !== '<<')) continue;
    const merged = resolve(pair.value, anchors);
    for (const source of isSeq(merged) ? merged.items : [merged]) {
      const resolved = resolve(source, anchors);
      const found = resolved === undefined ? undefined : findPair(resolved, key, anchors, depth + 1);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function resolve(node: unknown, anchors: ReadonlyMap<string, Node>): Node | undefined {
  if (isAlias(node)) return anchors.get(node.source);
  return isMap(node) || isSeq(node) || isScalar(node) ? node : undefined;
}

function startOf(node: unknown): number | undefined {
  if (!isAlias(node) && !isMap(node) && !isSeq(node) && !isScalar(node)) return undefined;
  // An empty value (`port:`) has a range without length; its key is the better place.
  if (isScalar(node) && node.range !== null && node.range !== undefined && node.range[0] === node.range[1])
    return undefined;
  return node.range?.[0];
}
