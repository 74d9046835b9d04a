/** The files of a tar archive → their texts. */
import type { Diagnostic, Report } from '../diagnostics.ts';
import { READ_NAMES } from './find-files.ts';
import { inputProblem, type Run } from './load-run.ts';
import { readFound } from './read-found.ts';
import { isInputProblem } from './read-input.ts';
import { countEntries, tarEntries } from './tar.ts';
import { type UnpackAllowance, unpack } from './unpack.ts';

/** Reads the files of an archive that would be read in a directory. Nothing is ever written. */
export function readArchive(
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
