/** One YAML document's text → values, within limits, with problems that say where they are. */
import { constructFromEvents, EVENT_ID, type Event, parseEvents, YAMLException } from 'js-yaml';
import { escapeText } from '../escape.ts';
import type { LoadLimits } from './limits.ts';
import { countMarks } from './yaml-marks.ts';
import { anchorOf, hasMerges, withMergesInOrder } from './yaml-merge.ts';
import { KUBERNETES_SCHEMA } from './yaml-schema.ts';

/** Why a text is no YAML that we take; `index` counts UTF-16 code units of that text. */
export class YamlProblem extends Error {
  readonly code: 'yaml-syntax' | 'duplicate-key' | 'input-limit';
  readonly index: number;
  readonly help: string | undefined;
  /** The text alone may be the reason: an alias to an anchor outside it. */
  readonly needsMoreText: boolean;

  constructor(
    code: YamlProblem['code'],
    index: number,
    message: string,
    help?: string,
    needsMoreText = false,
  ) {
    super(message);
    this.code = code;
    this.index = index;
    this.help = help;
    this.needsMoreText = needsMoreText;
  }
}

/**
 * The documents in `text`, usually one; none where it holds only comments. Throws YamlProblem for whatever is wrong
 * with the text. Plain scalars mean what they mean to kubectl (yaml-schema.ts).
 */
export function parseYaml(text: string, limits: LoadLimits): unknown[] {
  checkSize(text, limits);
  let joined = text;
  let first: YamlProblem | undefined;
  for (let tries = 1; ; tries++) {
    try {
      return parseOnce(joined, limits);
    } catch (error) {
      if (!(error instanceof YamlProblem)) throw error;
      first ??= error;
      const isWorthIt = tries <= MAX_JOINS && tries * text.length <= MAX_JOINED_LENGTH;
      const next =
        error.message === TOO_LITTLE_INDENTED && isWorthIt ? joinLine(joined, error.index) : undefined;
      if (next !== undefined) joined = next;
      // What is wrong behind the last joined line may be that they did not belong together.
      else throw error.needsMoreText ? error : first;
    }
  }
}

/** How often one text is tried again, and how much text all tries may have together. */
const MAX_JOINS = 100;
const MAX_JOINED_LENGTH = 2_000_000;

/**
 * Brackets and quotes may go on in a line that is indented as little as one likes, and tabs may stand before them: so
 * does go-yaml read what js-yaml refuses. One blank for the end of a line means the same there. Gives the text
 * with the line at `index` joined to the one before it, every character at its old place; undefined where that would
 * mean something else.
 */
function joinLine(text: string, index: number): string | undefined {
  const start = Math.max(text.lastIndexOf('\n', index - 1), text.lastIndexOf('\r', index - 1)) + 1;
  const before = text.slice(start, index);
  if (before.includes('\t') && !/["']/.test(before)) {
    return text.slice(0, start) + before.replaceAll('\t', ' ') + text.slice(index);
  }
  const run = /[ \t]*(?:\r\n|\n|\r)[ \t]*$/.exec(text.slice(Math.max(0, start - 1000), index))?.[0];
  if (run === undefined || before.trim() !== '') return undefined;
  const from = index - run.length;
  // A blank line is a line feed inside of quotes, and behind a backslash the end of a line is nothing.
  if (from === 0 || /[\\\r\n]/.test(text[from - 1] ?? '')) return undefined;
  return text.slice(0, from) + ' '.repeat(run.length) + text.slice(index);
}

function parseOnce(text: string, limits: LoadLimits): unknown[] {
  try {
    const { maxExpandedNodes } = limits;
    const events = parseEvents(text, { maxDepth: limits.maxDepth });
    checkAliases(events, text, maxExpandedNodes);
    const merged = hasMerges(events, text) ? withMergesInOrder(events, text, maxExpandedNodes) : events;
    if (merged === undefined) throw tooManyNodes(0, 'merge keys (<<) copy', maxExpandedNodes);
    return constructFromEvents(merged, {
      source: text,
      schema: KUBERNETES_SCHEMA,
      maxTotalMergeKeys: maxExpandedNodes,
    });
  } catch (error) {
    if (error instanceof YamlProblem) throw error;
    if (error instanceof YAMLException) throw fromException(error, text, limits);
    // js-yaml recurses over the nesting; with a larger maxDepth than the stack allows it ends here.
    if (error instanceof RangeError) {
      throw new YamlProblem(
        'input-limit',
        0,
        'is nested too deeply, or has a word that is too long, to be read',
      );
    }
    throw error;
  }
}

/** A text of ordinary lines has two for each value. */
const MARKS_PER_NODE = 3;

/** Refuses what would take the parser too much memory. */
function checkSize(text: string, { maxYamlBytes, maxExpandedNodes }: LoadLimits): void {
  if (text.length > maxYamlBytes) {
    const message = `is ${text.length} characters long; at most ${maxYamlBytes} bytes are read`;
    throw new YamlProblem('input-limit', 0, message, 'raise --max-yaml-bytes, if there is reason to');
  }
  const most = MARKS_PER_NODE * maxExpandedNodes;
  if (text.length <= most) return;
  if (countMarks(text) > most)
    throw tooManyNodes(0, 'lines, commas, colons and dashes may make', maxExpandedNodes);
}

function tooManyNodes(index: number, what: string, most: number): YamlProblem {
  return new YamlProblem(
    'input-limit',
    index,
    `${what} more than ${most} values out of this document`,
    'raise --max-yaml-nodes, if that is no alias bomb',
  );
}

/**
 * Counts the nodes that the document has once each alias stands for a copy of its anchor's node, without making
 * them: ten levels of ten aliases are a hundred lines and ten billion nodes.
 */
function checkAliases(events: readonly Event[], text: string, maxNodes: number): void {
  if (!events.some((event) => event.type === EVENT_ID.ALIAS)) return;
  const sizes = new Map<string, number>();
  const open: { anchor: string | undefined; size: number }[] = [];
  let size = 0;
  let last: number | undefined;
  for (const event of events) {
    switch (event.type) {
      case EVENT_ID.DOCUMENT:
        sizes.clear();
        open.push({ anchor: undefined, size });
        size = 0;
        break;
      case EVENT_ID.SEQUENCE:
      case EVENT_ID.MAPPING: {
        const anchor = anchorOf(event, text);
        if (anchor !== undefined) sizes.set(anchor, Number.NaN);
        open.push({ anchor, size });
        size = 1;
        break;
      }
      case EVENT_ID.SCALAR: {
        const anchor = anchorOf(event, text);
        if (anchor !== undefined) sizes.set(anchor, 1);
        size += 1;
        break;
      }
      case EVENT_ID.ALIAS: {
        const name = text.slice(event.anchorStart, event.anchorEnd);
        const aliased = sizes.get(name);
        if (aliased !== undefined && Number.isNaN(aliased)) {
          throw new YamlProblem(
            'yaml-syntax',
            event.anchorStart - 1,
            `the alias *${escapeText(name)} stands inside the value that it names`,
          );
        }
        size += aliased ?? 1;
        last = event.anchorStart - 1;
        break;
      }
      case EVENT_ID.POP: {
        const closed = open.pop();
        if (closed === undefined) break;
        if (closed.anchor !== undefined) sizes.set(closed.anchor, size);
        size += closed.size;
        break;
      }
    }
    if (size > maxNodes && last !== undefined) throw tooManyNodes(last, 'aliases make', maxNodes);
  }
}

function fromException(error: YAMLException, text: string, limits: LoadLimits): YamlProblem {
  const index = error.mark?.position ?? 0;
  const { reason } = error;
  if (reason === 'duplicated mapping key') {
    const key = /^[^\r\n:'",{}]{1,100}/.exec(text.slice(index, index + 100))?.[0].trim() ?? '';
    return new YamlProblem(
      'duplicate-key',
      index,
      `the key ${JSON.stringify(escapeText(key))} stands twice in one mapping`,
    );
  }
  if (reason.startsWith('nesting exceeded')) {
    const message = `nested deeper than ${limits.maxDepth} levels`;
    return new YamlProblem('input-limit', index, message, 'raise --max-depth, if there is reason to');
  }
  if (reason.startsWith('merge keys exceeded')) {
    return tooManyNodes(index, 'merge keys (<<) copy', limits.maxExpandedNodes);
  }
  if (reason === 'object-based map does not support complex keys') {
    // The usual cause is an unrendered template: `{{ … }}` is a mapping whose key is a mapping.
    const template = text.indexOf('{{');
    const at = template === -1 ? index : template;
    return new YamlProblem(
      'yaml-syntax',
      at,
      'a mapping or sequence stands where a key must be',
      helpFor(text, at),
    );
  }
  const message = REWORDED[reason] ?? escapeText(reason);
  return new YamlProblem(
    'yaml-syntax',
    index,
    message,
    helpFor(text, index),
    reason.startsWith('unidentified alias'),
  );
}

const TOO_LITTLE_INDENTED = 'a bracket or quote is still open here, or its text is indented too little';

/** What js-yaml says in words of its own parts. */
const REWORDED: Readonly<Record<string, string>> = {
  'deficient indentation': TOO_LITTLE_INDENTED,
  'end of the stream or a document separator is expected':
    'this does not belong to what stands before it; expected a new document',
};

function helpFor(text: string, index: number): string | undefined {
  const start = Math.max(text.lastIndexOf('\n', index - 1), text.lastIndexOf('\r', index - 1)) + 1;
  const line = /^[^\r\n]{0,500}/.exec(text.slice(start, start + 500))?.[0] ?? '';
  if (line.includes('{{'))
    return 'this looks like a template; render it first, for example helm template CHART | … -';
  if (/^[ ]*\t/.test(line)) return 'indent with spaces; YAML does not allow tabs there';
  return undefined;
}
