/** One file's text → objects: finds its documents and decides for each whether it is JSON or YAML. */
import type { Diagnostic, Origin, Report } from '../diagnostics.ts';
import { type Delivery, deliver, deliverItem, inheritedFrom, isList, isMapping } from './flatten.ts';
import { countKeys, findJsonProblem } from './json-check.ts';
import { JsonScanError, JsonScanner, type ScannedValue, type Slice, skipJsonSpace } from './json-scan.ts';
import type { LoadLimits } from './limits.ts';
import type { Sources } from './sources.ts';
import { parseYaml, YamlProblem } from './yaml-parse.ts';
import { type Range, splitDocuments, splitItems } from './yaml-split.ts';

const QUOTE = 0x22;
const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Byte order mark, `---`, and `...`, which may be all that a document has. */
const MARKERS = [
  [0xef, 0xbb, 0xbf],
  [0x2d, 0x2d, 0x2d],
  [0x2e, 0x2e, 0x2e],
];

export interface Reading {
  readonly file: string;
  readonly bytes: Buffer;
  /** Where the text starts: behind a byte order mark. */
  readonly start: number;
  readonly limits: LoadLimits;
  readonly sources: Sources;
  readonly delivery: Delivery;
  readonly report: Report;
}

/**
 * Reads all objects of one text. A document that starts with `{` or `[` is tried as JSON, several values one after
 * another if there are; in a file that is not named .json, what is no JSON may still be YAML in flow style.
 * A document that cannot be read is reported and the ones after it are read.
 */
export function readText(reading: Reading): void {
  for (const range of splitDocuments(reading.bytes, reading.start)) {
    const start = contentStart(reading.bytes, range);
    if (start === range.end) continue;
    const first = reading.bytes[start];
    if (first === OPEN_BRACE || first === OPEN_BRACKET) readJsonDocument(reading, range, start);
    else readYaml(reading, range);
  }
}

// ---------------------------------------------------------------------------------------------------------- JSON

function readJsonDocument(reading: Reading, range: Range, start: number): void {
  const { bytes, file } = reading;
  const values: ScannedValue[] = [];
  let failure: JsonScanError | undefined;
  try {
    const scanner = new JsonScanner(bytes, start, range.end, reading.limits.maxDepth);
    for (let value = scanner.next(); value !== undefined; value = scanner.next()) values.push(value);
  } catch (error) {
    if (!(error instanceof JsonScanError)) throw error;
    failure = error;
  }
  const onlyJson = /\.json$/i.test(file);
  if (failure !== undefined && !onlyJson && !failure.limit && tryYaml(reading, range, 0, start)) return;
  for (const value of values) {
    // YAML in flow style can look like JSON until one of its values turns out not to be.
    const mayBeYaml = !onlyJson && failure === undefined && values.length === 1;
    const asYaml = (done: number): boolean => mayBeYaml && tryYaml(reading, range, done, start);
    if (readJsonValue(reading, value, asYaml) === 'stop') return;
  }
  if (failure !== undefined) {
    const from = values.at(-1)?.end ?? start;
    const problem = failure.limit ? undefined : findJsonProblem(bytes, from, range.end);
    reportAt(reading, {
      code: failure.limit ? 'input-limit' : 'json-syntax',
      message: `${problem?.code === 'json-syntax' ? problem.message : failure.message}; this value and what follows it were not read`,
      offset: problem?.code === 'json-syntax' ? problem.offset : failure.offset,
      range: { start: from, end: range.end },
      format: 'json',
      help: failure.limit ? 'raise --max-depth, if there is reason to' : undefined,
    });
  }
}

/** Delivers one JSON value; `asYaml(n)` may take over behind n items when something in it is no JSON. */
function readJsonValue(
  reading: Reading,
  value: ScannedValue,
  asYaml: (done: number) => boolean,
): 'next' | 'stop' {
  const { bytes, delivery } = reading;
  const { items, itemsRange } = value;
  if (items !== undefined && itemsRange !== undefined) {
    const around = `${bytes.toString('utf8', value.start, itemsRange.start)}[]${bytes.toString('utf8', itemsRange.end, value.end)}`;
    const head = parseOrUndefined(around);
    if (isMapping(head) && isList(head)) {
      const inside = items.reduce((sum, item) => sum + item.members, 0);
      if (countKeys(head) !== value.members - inside) {
        reportSlice(reading, value);
        return 'next';
      }
      const inherited = inheritedFrom(head);
      for (const [index, item] of items.entries()) {
        const parsed = parseSlice(reading, item);
        if (parsed === undefined) {
          if (asYaml(index)) return 'stop';
          reportSlice(reading, item);
          continue;
        }
        deliverItem(parsed.value, originOf(reading, item, 'json'), inherited, delivery);
      }
      return 'next';
    }
  }
  const parsed = parseSlice(reading, value);
  if (parsed !== undefined) {
    deliver(parsed.value, originOf(reading, value, 'json'), delivery);
    return 'next';
  }
  if (asYaml(0)) return 'stop';
  reportSlice(reading, value);
  return 'next';
}

/** The slice's value in a box, or undefined when it is no JSON, too long, or has a key twice. */
function parseSlice(reading: Reading, slice: Slice): { readonly value: unknown } | undefined {
  if (slice.end - slice.start > reading.limits.maxJsonBytes) return undefined;
  try {
    const value: unknown = JSON.parse(reading.bytes.toString('utf8', slice.start, slice.end));
    // JSON.parse takes the last of two equal keys in silence.
    return countKeys(value) === slice.members ? { value } : undefined;
  } catch {
    return undefined;
  }
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function reportSlice(reading: Reading, slice: Slice): void {
  if (tooLong(reading, slice, 'json')) return;
  const problem = findJsonProblem(reading.bytes, slice.start, slice.end);
  reportAt(reading, {
    code: problem?.code ?? 'json-syntax',
    message: problem?.message ?? 'this is no JSON',
    offset: problem?.offset ?? slice.start,
    range: slice,
    format: 'json',
  });
}

/** Where the document's content starts, behind its `---`; its end when there is only white space. */
function contentStart(bytes: Buffer, range: Range): number {
  let at = skipJsonSpace(bytes, range.start, range.end);
  for (const marker of MARKERS) {
    if (marker.every((byte, index) => bytes[at + index] === byte)) at = Math.min(at + 3, range.end);
  }
  return skipJsonSpace(bytes, at, range.end);
}

/**
 * Reads what looked like JSON as YAML instead, from item `done` on; false, and nothing reported, when it is no YAML
 * either and its first key is in quotes, so that the complaint about JSON is the better one.
 */
function tryYaml(reading: Reading, range: Range, done: number, start: number): boolean {
  const { bytes, delivery, limits } = reading;
  if (range.end - range.start > limits.maxYamlBytes) return false;
  try {
    const documents = parseYaml(bytes.toString('utf8', range.start, range.end), limits);
    for (const document of documents) deliver(document, originOf(reading, range, 'yaml'), delivery, done);
    return true;
  } catch (error) {
    if (!(error instanceof YamlProblem)) throw error;
    const inside = bytes[skipJsonSpace(bytes, start + 1, range.end)];
    const looksJson =
      inside === QUOTE || inside === CLOSE_BRACE || (bytes[start] === OPEN_BRACKET && inside === OPEN_BRACE);
    if (looksJson) return false;
    reportYaml(reading, range, bytes.toString('utf8', range.start, range.end), error);
    return true;
  }
}

// ---------------------------------------------------------------------------------------------------------- YAML

function readYaml(reading: Reading, range: Range): void {
  if (!readYamlItems(reading, range)) readYamlFrom(reading, range, 0);
}

/** Reads a block-style List item by item; false when the document is not one, or its root is broken. */
function readYamlItems(reading: Reading, range: Range): boolean {
  const { bytes, delivery, limits } = reading;
  const list = splitItems(bytes, range);
  if (list === undefined) return false;
  let head: unknown;
  try {
    const around =
      bytes.toString('utf8', list.head.start, list.head.end) +
      bytes.toString('utf8', list.tail.start, list.tail.end);
    [head] = parseYaml(around, limits);
  } catch (error) {
    if (error instanceof YamlProblem) return false;
    throw error;
  }
  if (!isMapping(head) || !isList(head)) return false;
  const inherited = inheritedFrom(head);
  for (const [index, item] of list.items.entries()) {
    if (tooLong(reading, item, 'yaml')) continue;
    const text = bytes.toString('utf8', item.start, item.end);
    try {
      const [entries] = parseYaml(text, limits);
      const origin: Origin = { ...originOf(reading, item, 'yaml'), path: [0] };
      deliverItem(Array.isArray(entries) ? entries[0] : entries, origin, inherited, delivery);
    } catch (error) {
      if (!(error instanceof YamlProblem)) throw error;
      if (error.needsMoreText) {
        // An anchor in another item: this List has to be read as a whole.
        readYamlFrom(reading, range, index);
        return true;
      }
      reportYaml(reading, item, text, error);
    }
  }
  return true;
}

/** Reads a whole document; of a List, the items from `skip` on. */
function readYamlFrom(reading: Reading, range: Range, skip: number): void {
  if (tooLong(reading, range, 'yaml')) return;
  const text = reading.bytes.toString('utf8', range.start, range.end);
  try {
    for (const document of parseYaml(text, reading.limits)) {
      deliver(document, originOf(reading, range, 'yaml'), reading.delivery, skip);
    }
  } catch (error) {
    if (!(error instanceof YamlProblem)) throw error;
    reportYaml(reading, range, text, error);
  }
}

// ------------------------------------------------------------------------------------------------------ reporting

function originOf(reading: Reading, range: Range, format: Origin['format']): Origin {
  return { file: reading.file, format, start: range.start, end: range.end, path: [] };
}

function reportYaml(reading: Reading, range: Range, text: string, problem: YamlProblem): void {
  reportAt(reading, {
    code: problem.code,
    message: problem.message,
    offset: range.start + Buffer.byteLength(text.slice(0, problem.index)),
    range,
    format: 'yaml',
    help: problem.help,
  });
}

function tooLong(reading: Reading, range: Range, format: Origin['format']): boolean {
  const size = range.end - range.start;
  const most = format === 'json' ? reading.limits.maxJsonBytes : reading.limits.maxYamlBytes;
  if (size <= most) return false;
  reportAt(reading, {
    code: 'input-limit',
    message: `one object's text is ${size} bytes long; at most ${most} are read`,
    offset: range.start,
    range,
    format,
    help: `raise --max-${format}-bytes, if there is reason to`,
  });
  return true;
}

interface Finding {
  readonly code: string;
  readonly message: string;
  readonly offset: number;
  readonly range: Range;
  readonly format: Origin['format'];
  readonly help?: string | undefined;
}

function reportAt(reading: Reading, finding: Finding): void {
  const { file } = reading;
  const position = reading.sources.position(file, finding.offset);
  const diagnostic: Diagnostic = {
    code: finding.code,
    severity: 'error',
    message: finding.message,
    place: { file, ...position },
    origin: originOf(reading, finding.range, finding.format),
    ...(finding.help === undefined ? {} : { help: finding.help }),
  };
  reading.report(diagnostic);
}
