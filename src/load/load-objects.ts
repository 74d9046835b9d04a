/** Inputs as the user named them → objects, one by one. */
import { statSync } from 'node:fs';
import type { Diagnostic, Report } from '../diagnostics.ts';
import { isTextProblem, type TextProblem, toText } from './bytes.ts';
import { findFiles, READ_NAMES } from './find-files.ts';
import type { LoadedObject } from './flatten.ts';
import { DEFAULT_LIMITS, type LoadLimits } from './limits.ts';
import { isInputProblem, type RawInput, readFileBytes, readStdin } from './read-input.ts';
import { readText } from './read-text.ts';
import { createSourceStore, type SourceStore, type Sources } from './sources.ts';
import { tarEntries } from './tar.ts';
import { unpack } from './unpack.ts';

export interface LoadOptions {
  /** Which objects are handed on; the others are only counted. All are, by default. */
  readonly wants?: (apiVersion: string, kind: string) => boolean;
  /** Standard input, for the input `-`: process.stdin in the command. */
  readonly stdin?: () => AsyncIterable<Uint8Array | string>;
  /** Inputs whose bytes the caller has read already, by name: a pipe can be read but once. */
  readonly given?: ReadonlyMap<string, RawInput>;
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

/**
 * Reads files, directories (.yaml, .yml and .json in them, at any depth), archives and `-`, and hands every Kubernetes object
 * that `wants` takes to `sink`, in the order of the inputs, then of paths, then of the text. Lists are taken apart.
 * Nothing is kept of an object once the sink returns.
 *
 * Whatever cannot be read goes to `report` and does not stop the rest. Throws only what sink, report and wants throw.
 */
export async function loadObjects(
  inputs: readonly string[],
  sink: (object: LoadedObject) => void,
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
  };
  const entered = new Set<string>();
  let found = 0;
  let stdinRead = false;
  for (const input of inputs) {
    run.place = { input, index: 0, count: 1 };
    if (input === '-') {
      if (stdinRead) {
        report(inputProblem('-', 'input-unreadable', "standard input can be read once; '-' was given twice"));
      } else {
        stdinRead = true;
        await readStandardInput(run);
      }
    } else if (isDirectory(input)) {
      const maxFiles = run.limits.maxFiles - found;
      run.store.begin(input);
      const files = findFiles(input, { entered, maxFiles, report });
      found += files.length;
      for (const [index, file] of files.entries()) {
        run.place = { input, index, count: files.length };
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
      await readFile(run, input, true);
    }
  }
  return { files: run.files, objects: run.objects, skipped: run.skipped, sources: run.store };
}

/** Ends the reading of one file. */
class TooManyProblems extends Error {
  readonly next: Diagnostic;
  constructor(next: Diagnostic) {
    super();
    this.next = next;
  }
}

interface Run {
  readonly sink: (object: LoadedObject) => void;
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
}

async function readStandardInput(run: Run): Promise<void> {
  run.store.begin('-');
  const raw = run.options.given?.get('-') ?? (await readStdin(run.options.stdin, run.limits.maxFileBytes));
  if (isInputProblem(raw)) run.report(inputProblem('-', raw.code, raw.message, raw.help));
  else readBytes(run, '-', '-', raw, true);
}

async function readFile(run: Run, path: string, named: boolean): Promise<void> {
  run.store.begin(path);
  const raw = run.options.given?.get(path) ?? (await readFileBytes(path, run.limits.maxFileBytes));
  if (isInputProblem(raw)) {
    run.report(inputProblem(path, raw.code, raw.message, raw.help));
    return;
  }
  if (raw.stat !== undefined) {
    const identity = `${raw.stat.dev}:${raw.stat.ino}`;
    if (run.seenFiles.has(identity)) {
      const message = 'this file was read already, by another name or through a link; not read again';
      run.report({ code: 'file-seen', severity: 'note', message, place: { file: path } });
      return;
    }
    run.seenFiles.add(identity);
  }
  readBytes(run, path, path, raw, named);
}

function readBytes(run: Run, file: string, path: string, packed: RawInput, named: boolean): void {
  const unpacked = unpack(packed.bytes, run.limits.maxUnpackedBytes);
  if (isInputProblem(unpacked)) {
    run.report(inputProblem(file, unpacked.code, unpacked.message, unpacked.help));
    return;
  }
  // In a folder, and in another archive, an archive is somebody else's.
  if (unpacked.kind === 'tar' && named) {
    readArchive(run, file, unpacked.bytes);
    return;
  }
  const raw: RawInput = unpacked.kind === 'text' && unpacked.packed ? { bytes: unpacked.bytes } : packed;
  const text = toText(raw.bytes);
  if (isTextProblem(text)) {
    run.report(textProblem(file, text, raw.bytes, named));
    return;
  }
  const { stat } = raw;
  const disk =
    stat === undefined
      ? undefined
      : { path, size: stat.size, mtimeMs: stat.mtimeMs, transcoded: text.transcoded };
  run.store.hold(file, text.bytes, disk);
  run.options.onFile?.({ ...run.place, size: text.bytes.length });
  run.files++;
  let seen = 0;
  let reported = 0;
  let errors = 0;
  const report: Report = (diagnostic) => {
    reported++;
    if (diagnostic.severity === 'error') errors++;
    if (errors > run.limits.maxProblems) throw new TooManyProblems(diagnostic);
    run.report(diagnostic);
  };
  const take = (object: LoadedObject): void => {
    seen++;
    if (run.options.wants === undefined || run.options.wants(object.apiVersion, object.kind)) {
      run.objects++;
      run.sink(object);
    } else {
      run.skipped.set(object.kind, (run.skipped.get(object.kind) ?? 0) + 1);
    }
  };
  const { bytes, start } = text;
  const delivery = { sink: take, report, named };
  try {
    readText({ file, bytes, start, limits: run.limits, sources: run.store, delivery, report });
  } catch (error) {
    if (!(error instanceof TooManyProblems)) throw error;
    const message = `more than ${run.limits.maxProblems} errors in this file; from here on it was not read`;
    const { origin, place } = error.next;
    run.report({
      code: 'input-limit',
      severity: 'error',
      message,
      place: place ?? { file },
      ...(origin === undefined ? {} : { origin }),
    });
  }
  if (named && seen === 0 && reported === 0 && isBlank(text.bytes)) {
    run.report({ code: 'input-empty', severity: 'warning', message: 'is empty', place: { file } });
  }
  run.store.release(file);
}

/** Reads the files of an archive that would be read in a directory. Nothing is ever written. */
function readArchive(run: Run, archive: string, bytes: Buffer): void {
  let found = 0;
  const refuse = (code: string, severity: Diagnostic['severity'], name: string, message: string): void => {
    run.report({ code, severity, message, place: { file: inArchive(archive, name) } });
  };
  const count = [...tarEntries(bytes)].length;
  let index = 0;
  for (const entry of tarEntries(bytes)) {
    run.place = { input: archive, index: index++, count };
    if ('code' in entry) {
      run.report(inputProblem(archive, entry.code, entry.message, 'the archive may be cut off'));
      break;
    }
    const name = entry.name.replace(/^(?:\.\/+)+/, '');
    if (name.startsWith('/') || /^[A-Za-z]:[\\/]/.test(name) || name.split(/[\\/]/).includes('..')) {
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
      readBytes(run, file, file, { bytes: entry.bytes }, false);
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
    const before = bytes.subarray(0, problem.offset);
    const start = before.lastIndexOf(0x0a) + 1;
    const line = before.toString('latin1').split('\n').length;
    position = { line, column: before.toString('utf8', start).length + 1 };
  }
  return {
    code: problem.code,
    severity: skipped ? 'note' : 'error',
    message: skipped ? `${problem.message}; skipped` : problem.message,
    place: { file, ...position },
    ...(problem.help === undefined ? {} : { help: problem.help }),
  };
}
