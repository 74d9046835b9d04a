/** Bytes → objects with their places, and the text of messages about them. What other folders may use. */
export { escapeText } from '../escape.ts';
export type { LoadedObject } from './flatten.ts';
export { DEFAULT_LIMITS, LONGEST_TEXT, type LoadLimits } from './limits.ts';
export { type LoadSummary, loadObjects } from './load-objects.ts';
export type { LoadOptions, ObjectSink, ReadingPlace } from './load-run.ts';
export { locate } from './locate.ts';
export { readWhole, textOf, type WholeInput, type WholeText } from './read-whole.ts';
export { compareDiagnostics, type Locate, renderDiagnostic } from './render.ts';
export type { Position, Sources } from './sources.ts';
export { parseYaml } from './yaml-parse.ts';
