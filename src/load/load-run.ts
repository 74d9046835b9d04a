/** What goes on while inputs are read: counts, what was seen, and how much may be said of one file. */
import type { Diagnostic, Report } from '../diagnostics.ts';
import type { LoadedObject } from './flatten.ts';
import type { LoadLimits } from './limits.ts';
import type { RawInput } from './read-input.ts';
import type { WholeInput } from './read-whole.ts';
import type { SourceStore } from './sources.ts';

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

/** Takes an object; what it says about that object to the second argument counts towards the limit of problems. */
export type ObjectSink = (object: LoadedObject, report: Report) => void;

/** One call of loadObjects. */
export interface Run {
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

/** Ends the reading of one file. */
export class TooManyProblems extends Error {
  readonly next: Diagnostic;
  constructor(next: Diagnostic) {
    super();
    this.next = next;
  }
}

export const HELP_MAX_ERRORS = 'raise --max-errors to see the others';

/** What is reported of one file, or of one archive: errors up to the limit, of the rest no more than are read. */
export function newTally(run: Run): {
  readonly report: Report;
  readonly tellLeftOut: (file: string) => void;
} {
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

/** An error about a file as a whole. */
export function inputProblem(file: string, code: string, message: string, help?: string): Diagnostic {
  return { code, severity: 'error', message, place: { file }, ...(help === undefined ? {} : { help }) };
}
