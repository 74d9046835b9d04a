/** One text, from a file or out of an archive → its objects, handed on one by one. */
import type { Diagnostic, Report } from '../diagnostics.ts';
import { isTextProblem, type TextProblem, toText } from './bytes.ts';
import type { LoadedObject } from './flatten.ts';
import { HELP_MAX_ERRORS, type Run } from './load-run.ts';
import { readText } from './read-text.ts';
import { type DiskText, positionIn } from './sources.ts';

/** A text: a file, or one inside of an archive. */
export interface FoundText {
  readonly file: string;
  readonly bytes: Buffer;
  /** Where it can be read again. */
  readonly disk?: Omit<DiskText, 'transcoded'>;
  readonly named: boolean;
}

/** Ends the reading of one object. */
class TooMuchAboutAnObject extends Error {}

/** Reads the objects of one text. What is no text is named, or skipped where nobody asked for it. */
export function readFound(run: Run, { file, bytes: raw, disk, named }: FoundText, report: Report): void {
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

function isBlank(bytes: Buffer): boolean {
  return (
    bytes.length < 65_536 &&
    bytes
      .toString('utf8')
      .replace(/^\ufeff/, '')
      .trim() === ''
  );
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
