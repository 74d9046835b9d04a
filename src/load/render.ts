/** Diagnostics as text, and the order in which they are printed. */
import { type Diagnostic, type FieldPath, formatFieldPath, type Origin } from '../diagnostics.ts';
import { escapeText } from '../escape.ts';
import type { Position, Sources } from './sources.ts';

/** Bound to the sources of a load: `(origin, path) => locate(origin, path, summary.sources)`. */
export type Locate = (origin: Origin, path: FieldPath) => Position | undefined;

const MAX_FILE = 1000;
const MAX_MESSAGE = 1000;

/**
 * One diagnostic as `file:line:column: severity: object: field: message`, and its help on an indented line of its
 * own. Parts that are not known are left out. No final line feed. Nothing from the input gets through raw:
 * control characters, terminal escapes and bidi controls are escaped, long texts cut.
 */
export function renderDiagnostic(diagnostic: Diagnostic, locate: Locate): string {
  const { object, field, help } = diagnostic;
  let text = renderPlace(diagnostic, locate);
  text += `${diagnostic.severity}: `;
  if (object !== undefined) text += `${escapeText(object)}: `;
  if (field !== undefined && field.length > 0) text += `${escapeText(formatFieldPath(field))}: `;
  text += escapeText(diagnostic.message, MAX_MESSAGE);
  if (diagnostic.other !== undefined) {
    const { origin, field: path } = diagnostic.other;
    const position = locate(origin, path);
    text += `\n  other: ${renderFile(origin.file)}${renderPosition(position?.line, position?.column)}`;
  }
  if (help !== undefined) text += `\n  help: ${escapeText(help, MAX_MESSAGE)}`;
  return text;
}

/**
 * A total order for printing: inputs in the order of reading, what belongs to no file first, then the place in the
 * file. Equal places keep the order in which they were reported, for Array.prototype.sort is stable.
 */
export function compareDiagnostics(sources: Sources): (a: Diagnostic, b: Diagnostic) => number {
  const fileOf = (diagnostic: Diagnostic) => diagnostic.origin?.file ?? diagnostic.place?.file;
  const orderOf = (file: string | undefined) => (file === undefined ? -1 : sources.order(file));
  return (a, b) => {
    const fileA = fileOf(a);
    const fileB = fileOf(b);
    const orderA = orderOf(fileA);
    const orderB = orderOf(fileB);
    if (orderA !== orderB) return orderA < orderB ? -1 : 1;
    if (fileA !== fileB && fileA !== undefined && fileB !== undefined) return fileA < fileB ? -1 : 1;
    const start = (a.origin?.start ?? -1) - (b.origin?.start ?? -1);
    if (start !== 0) return start;
    return (a.place?.line ?? 0) - (b.place?.line ?? 0) || (a.place?.column ?? 0) - (b.place?.column ?? 0);
  };
}

function renderPlace(diagnostic: Diagnostic, locate: Locate): string {
  const { place, origin } = diagnostic;
  if (place !== undefined && (place.line !== undefined || origin === undefined)) {
    return `${renderFile(place.file)}${renderPosition(place.line, place.column)}: `;
  }
  if (origin === undefined) return '';
  const position = locate(origin, diagnostic.field ?? []);
  return `${renderFile(origin.file)}${renderPosition(position?.line, position?.column)}: `;
}

function renderFile(file: string): string {
  return file === '-' ? '<stdin>' : escapeText(file, MAX_FILE);
}

function renderPosition(line: number | undefined, column: number | undefined): string {
  if (line === undefined) return '';
  return column === undefined ? `:${line}` : `:${line}:${column}`;
}
