/** Inputs as the user named them → objects, one by one. */
import { statSync } from 'node:fs';
import type { Diagnostic, Report } from '../diagnostics.ts';
import { isTextProblem, type TextProblem, toText } from './bytes.ts';
import { findFiles, READ_NAMES } from './find-files.ts';
import type { LoadedObject } from './flatten.ts';
import { DEFAULT_LIMITS, type LoadLimits } from './limits.ts';
import { type InputProblem, isInputProblem, type RawInput } from './read-input.ts';
import { readText } from './read-text.ts';
import { readInput, unpackInput, type WholeInput } from './read-whole.ts';
import { createSourceStore, type DiskText, positionIn, type SourceStore, type Sources } from './sources.ts';
import { countEntries, tarEntries } from './tar.ts';
import { type UnpackAllowance, unpack } from './unpack.ts';

export interface LoadOptions {
  /** Which objects are handed on; the others are only counted. All are, by default. */
  readonly wants?: (apiVersion: string, kind: string) => boolean;
  /** Standard input, for the input `-`: process.stdin in the command. */
  readonly stdin?: () => AsyncIterable<Uint8Array | string>;
  /**
   * Inputs that the caller has read already, by name: a pipe can be read but once, and nothing is unpacked twice.
   * Each is taken out of the map when its turn comes.
   */
  readonly given?: Map<string, RawInput | WholeInput>;
  readonly limits?: Partial<LoadLimits>;
  /** Told before the text of each file is read, for whoever shows how far it is. */
  readonly onFile?: (place: ReadingPlace) => void;
}

/** How far reading is: a file, and its place among those of its input. */
export interface ReadingPlace {
  /** As the user named it: a file, a directory, an archive. */
  readonly input: string;
  readonly index: number;
  readonly count: number;
  /** Bytes of its text. */
  readonly size: number;
}

export interface LoadSummary {
  /** Files whose text was read, standard input included. */
  readonly files: number;
  /** Objects that went to the sink. */
  readonly objects: number;
  /** Objects of other kinds, by kind. */
  readonly skipped: ReadonlyMap<string, number>;
  /** For `locate` and `compareDiagnostics`: finds the texts again. */
  readonly sources: Sources;
}

/** Takes an object; what it says about that object to the second argument counts towards the limit of problems. */
export type ObjectSink = (object: LoadedObject, report: Report) => void;

/**
 * Reads files, directories (.yaml, .yml and .json in them, at any depth), archives and `-`, and hands every Kubernetes object
 * that `wants` takes to `sink`, in the order of the inputs, then of paths, then of the text. Lists are taken apart.
 * Nothing is kept of an object once the sink returns.
 *
 * Whatever cannot be read goes to `report` and does not stop the rest, unless there is too much of it (`maxProblems`).
 * Throws only what sink, report and wants throw.
 */
export async function loadObjects(
  inputs: readonly string[],
  sink: ObjectSink,
  report: Report,
  options: LoadOptions = {},
): Promise<LoadSummary> {
  const run: Run = {
    sink,
    report,
    options,
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    store: createSourceStore(),
    skipped: new Map(),
    seenFiles: new Set(),
    place: { input: '', index: 0, count: 1 },
    files: 0,
    objects: 0,
    errors: 0,
  };
  const entered = new Set<string>();
  let found = 0;
  let stdinRead = false;
  for (const input of inputs) {
    run.place = { input, index: 0, count: 1 };
    if (isGivenUp(run)) break;
    if (input === '-' && stdinRead) {
      report(inputProblem('-', 'input-unreadable', "standard input can be read once; '-' was given twice"));
    } else if (input !== '-' && isDirectory(input)) {
      const maxFiles = run.limits.maxFiles - found;
      run.store.begin(input);
      const files = findFiles(input, { entered, maxFiles, report });
      found += files.length;
      for (const [index, file] of files.entries()) {
        run.place = { input, index, count: files.length };
        if (isGivenUp(run)) break;
        await readFile(run, file, false);
      }
      if (files.length === 0) {
        report({
          code: 'input-empty',
          severity: 'warning',
          message: 'no .yaml, .yml or .json file was read in this directory',
          place: { file: input },
        });
      }
    } else {
      stdinRead ||= input === '-';
      await readFile(run, input, true);
    }
  }
  if (isGivenUp(run)) {
    const message = `more than ${MOST_IN_ALL * run.limits.maxProblems} errors; nothing more was read`;
    report({ code: 'input-limit', severity: 'error', message });
  }
  return { files: run.files, objects: run.objects, skipped: run.skipped, sources: run.store };
}

/** Files whose errors reach the limit, of which no more are looked at. */
const MOST_IN_ALL = 100;

function isGivenUp({ errors, limits }: Run): boolean {
  return errors > MOST_IN_ALL * limits.maxProblems;
}

/** Ends the reading of one file. */
class TooManyProblems extends Error {
  readonly next: Diagnostic;
  constructor(next: Diagnostic) {
    super();
    this.next = next;
  }
}

/** Ends the reading of one object. */
class TooMuchAboutAnObject extends Error {}

interface Run {
  readonly sink: ObjectSink;
  readonly report: Report;
  readonly options: LoadOptions;
  readonly limits: LoadLimits;
  readonly store: SourceStore;
  readonly skipped: Map<string, number>;
  /** Device and inode of what was read: a file under two names is read once. */
  readonly seenFiles: Set<string>;
  place: Omit<ReadingPlace, 'size'>;
  files: number;
  objects: number;
  errors: number;
}

/** A text: a file, or one inside of an archive. */
interface FoundText {
  readonly file: string;
  readonly bytes: Buffer;
  /** Where it can be read again. */
  readonly disk?: Omit<DiskText, 'transcoded'>;
  readonly named: boolean;
}

/** A file, a pipe, or standard input (`-`). */
async function readFile(run: Run, path: string, named: boolean): Promise<void> {
  const { limits, options } = run;
  run.store.begin(path);
  const input = takeGiven(run, path) ?? (await readInput(path, options.stdin, limits));
  if (isInputProblem(input)) {
    run.report(inputProblem(path, input.code, input.message, input.help));
    run.errors++;
    return;
  }
  const { stat } = input;
  if (stat !== undefined) {
    const identity = `${stat.dev}:${stat.ino}`;
    if (run.seenFiles.has(identity)) {
      const message = 'this file was read already, by another name or through a link; not read again';
      run.report({ code: 'file-seen', severity: 'note', message, place: { file: path } });
      return;
    }
    run.seenFiles.add(identity);
  }
  const tally = newTally(run);
  try {
    // In a folder, and in another archive, an archive is somebody else's.
    if (input.kind === 'tar' && named) readArchive(run, path, input, tally.report);
    else {
      const { bytes, packed, allowance } = input;
      const disk = stat && {
        path,
        size: stat.size,
        mtimeMs: stat.mtimeMs,
        ...(packed ? { unpacksTo: allowance.most } : {}),
      };
      readFound(run, { file: path, bytes, named, ...(disk && { disk }) }, tally.report);
    }
  } catch (error) {
    if (!(error instanceof TooManyProblems)) throw error;
    const { origin, place } = error.next;
    run.report({
      code: 'input-limit',
      severity: 'error',
      message: `more than ${limits.maxProblems} errors in this file; from here on it was not read`,
      place: place ?? { file: path },
      ...(origin === undefined ? {} : { origin }),
      help: HELP_MAX_ERRORS,
    });
  }
  tally.tellLeftOut(path);
}

function takeGiven({ options: { given }, limits }: Run, path: string): WholeInput | InputProblem | undefined {
  const found = given?.get(path);
  given?.delete(path);
  return found === undefined || 'kind' in found ? found : unpackInput(found, limits);
}

const HELP_MAX_ERRORS = 'raise --max-errors to see the others';

/** What is reported of one file, or of one archive: errors up to the limit, of the rest no more than are read. */
function newTally(run: Run): { readonly report: Report; readonly tellLeftOut: (file: string) => void } {
  const most = run.limits.maxProblems;
  let errors = 0;
  let others = 0;
  let severity: Diagnostic['severity'] = 'note';
  return {
    report: (diagnostic) => {
      if (diagnostic.severity === 'error') {
        errors++;
        run.errors++;
        if (errors > most) throw new TooManyProblems(diagnostic);
      } else if (++others > most) {
        if (diagnostic.severity === 'warning') severity = 'warning';
        return;
      }
      run.report(diagnostic);
    },
    tellLeftOut: (file) => {
      if (others <= most) return;
      const message = `${others - most} more messages about this file were left out`;
      run.report({ code: 'input-limit', severity, message, place: { file }, help: HELP_MAX_ERRORS });
    },
  };
}

function readFound(run: Run, { file, bytes: raw, disk, named }: FoundText, report: Report): void {
  const found = toText(raw);
  if (isTextProblem(found)) {
    report(textProblem(file, found, raw, named));
    return;
  }
  const { bytes, start, transcoded } = found;
  run.store.hold(file, bytes, disk && { ...disk, transcoded });
  run.options.onFile?.({ ...run.place, size: bytes.length });
  run.files++;
  let seen = 0;
  let reported = 0;
  const counting: Report = (diagnostic) => {
    reported++;
    report(diagnostic);
  };
  const aboutText: Report =
    !named && isForeignJson(file, bytes, start)
      ? (diagnostic) => counting({ ...diagnostic, severity: 'note' })
      : counting;
  const sink = (object: LoadedObject): void => {
    seen++;
    if (run.options.wants === undefined || run.options.wants(object.apiVersion, object.kind)) {
      run.objects++;
      handOn(run, object, counting);
    } else {
      run.skipped.set(object.kind, (run.skipped.get(object.kind) ?? 0) + 1);
    }
  };
  try {
    const delivery = { sink, report: counting, named };
    readText({ file, bytes, start, limits: run.limits, sources: run.store, delivery, report: aboutText });
    if (named && seen === 0 && reported === 0 && isBlank(bytes)) {
      report({ code: 'input-empty', severity: 'warning', message: 'is empty', place: { file } });
    }
  } finally {
    run.store.release(file);
  }
}

/** Named so, and no JSON from its first character on: must-gather keeps metrics of Prometheus in metrics.json. */
function isForeignJson(file: string, bytes: Buffer, start: number): boolean {
  if (!/\.json(?:\.gz)?$/i.test(file)) return false;
  const first = bytes.toString('latin1', start, start + 1000).trimStart()[0];
  return first !== undefined && first !== '{' && first !== '[';
}

/** Errors that the sink finds count as those of the file. */
function handOn(run: Run, object: LoadedObject, report: Report): void {
  const { maxProblems } = run.limits;
  let said = 0;
  try {
    run.sink(object, (diagnostic) => {
      said++;
      if (said > maxProblems) throw new TooMuchAboutAnObject();
      if (diagnostic.severity === 'error') report(diagnostic);
      else run.report(diagnostic);
    });
  } catch (error) {
    if (!(error instanceof TooMuchAboutAnObject)) throw error;
    report({
      code: 'input-limit',
      severity: 'error',
      message: `more than ${maxProblems} messages about one object; it was left out`,
      origin: object.origin,
      help: HELP_MAX_ERRORS,
    });
  }
}

/** Reads the files of an archive that would be read in a directory. Nothing is ever written. */
function readArchive(
  run: Run,
  archive: string,
  { bytes, allowance }: { readonly bytes: Buffer; readonly allowance: UnpackAllowance },
  report: Report,
): void {
  let found = 0;
  const refuse = (code: string, severity: Diagnostic['severity'], name: string, message: string): void => {
    report({ code, severity, message, place: { file: inArchive(archive, name) } });
  };
  const count = countEntries(bytes);
  let index = 0;
  for (const entry of tarEntries(bytes)) {
    run.place = { input: archive, index: index++, count };
    if ('code' in entry) {
      report(inputProblem(archive, entry.code, entry.message, 'the archive may be cut off'));
      break;
    }
    const name = entry.name.replace(/^(?:\.\/+)+/, '');
    if (entry.wholeName !== undefined) {
      const message = `the name has ${entry.wholeName} bytes, more than any system takes; not read`;
      refuse('archive-entry', 'error', name, message);
    } else if (name.startsWith('/') || /^[A-Za-z]:[\\/]/.test(name) || name.split(/[\\/]/).includes('..')) {
      refuse('archive-entry', 'error', entry.name, 'the name leads out of the archive; not read');
    } else if (entry.kind === 'link') {
      const severity = READ_NAMES.test(name) ? 'error' : 'note';
      refuse('archive-entry', severity, name, 'is a link; links in archives are not followed');
    } else if (entry.kind === 'file' && READ_NAMES.test(name) && !/(?:^|\/)\./.test(name)) {
      found++;
      if (found > run.limits.maxFiles) {
        refuse('input-limit', 'error', name, `more than ${run.limits.maxFiles} files; the rest was not read`);
        break;
      }
      const file = inArchive(archive, name);
      run.store.begin(file);
      const unpacked = unpack(entry.bytes, allowance);
      if (isInputProblem(unpacked)) {
        report(inputProblem(file, unpacked.code, unpacked.message, unpacked.help));
      } else {
        readFound(run, { file, bytes: unpacked.bytes, named: false }, report);
      }
    }
  }
  if (found === 0) {
    const message = 'no .yaml, .yml or .json file was read in this archive';
    run.report({ code: 'input-empty', severity: 'warning', message, place: { file: archive } });
  }
}

/** `dump.tar.gz!shop/services.yaml` */
function inArchive(archive: string, name: string): string {
  return `${archive === '-' ? '<stdin>' : archive}!${name}`;
}

function isBlank(bytes: Buffer): boolean {
  return (
    bytes.length < 65_536 &&
    bytes
      .toString('utf8')
      .replace(/^\ufeff/, '')
      .trim() === ''
  );
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // Reading it as a file says what is wrong.
    return false;
  }
}

function inputProblem(file: string, code: string, message: string, help?: string): Diagnostic {
  return { code, severity: 'error', message, place: { file }, ...(help === undefined ? {} : { help }) };
}

/** In a directory, a file that is no text is somebody else's; named by the user, it is a mistake. */
function textProblem(file: string, problem: TextProblem, bytes: Buffer, named: boolean): Diagnostic {
  const skipped = problem.code === 'input-not-text' && !named;
  let position: { line: number; column: number } | undefined;
  if (problem.code === 'input-encoding' && problem.offset !== undefined) {
    position = positionIn(bytes, problem.offset);
  }
  return {
    code: problem.code,
    severity: skipped ? 'note' : 'error',
    message: skipped ? `${problem.message}; skipped` : problem.message,
    place: { file, ...position },
    ...(problem.help === undefined ? {} : { help: problem.help }),
  };
}
