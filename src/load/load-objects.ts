/** Inputs as the user named them → objects, one by one. */
import { statSync } from 'node:fs';
import type { Report } from '../diagnostics.ts';
import { findFiles } from './find-files.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import {
  HELP_MAX_ERRORS,
  inputProblem,
  type LoadOptions,
  newTally,
  type ObjectSink,
  type Run,
  TooManyProblems,
} from './load-run.ts';
import { readArchive } from './read-archive.ts';
import { readFound } from './read-found.ts';
import { type InputProblem, isInputProblem } from './read-input.ts';
import { readInput, unpackInput, type WholeInput } from './read-whole.ts';
import { createSourceStore, type Sources } from './sources.ts';

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
      const { files, isNew } = findFiles(input, { entered, maxFiles, report });
      found += files.length;
      for (const [index, file] of files.entries()) {
        run.place = { input, index, count: files.length };
        if (isGivenUp(run)) break;
        await readFile(run, file, false);
      }
      if (files.length === 0 && isNew) {
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

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // Reading it as a file says what is wrong.
    return false;
  }
}
