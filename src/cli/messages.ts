import type { ChalkInstance } from 'chalk';
import type { Diagnostic, Severity } from '../diagnostics.ts';
import { compareDiagnostics, locate, renderDiagnostic, type Sources } from '../load/index.ts';

export type Verbosity = 'quiet' | 'normal' | 'verbose';

const SHOWN: Readonly<Record<Verbosity, readonly Severity[]>> = {
  quiet: ['error'],
  normal: ['error', 'warning'],
  verbose: ['error', 'warning', 'note'],
};

/** More warnings than this of one kind are counted, not printed: a dump of a large cluster repeats itself. */
const MAX_OF_A_KIND = 20;
/** More errors than this nobody reads. Reading a file ends before it has as many. */
const MAX_ERRORS = 2000;

/** The diagnostics that the verbosity asks for, as text for stderr, in the order of the input. */
export function renderDiagnostics(
  diagnostics: readonly Diagnostic[],
  sources: Sources | undefined,
  verbosity: Verbosity,
  colors: ChalkInstance,
): string {
  const shown = diagnostics.filter(({ severity }) => SHOWN[verbosity].includes(severity));
  const sorted = sources === undefined ? shown : shown.toSorted(compareDiagnostics(sources));
  const warnings = new Map<string, number>();
  let errors = 0;
  let text = '';
  for (const diagnostic of sorted) {
    const { code, severity } = diagnostic;
    let isLeftOut: boolean;
    if (severity === 'error') isLeftOut = ++errors > MAX_ERRORS;
    else {
      const count = (warnings.get(code) ?? 0) + 1;
      warnings.set(code, count);
      isLeftOut = count > MAX_OF_A_KIND;
    }
    if (isLeftOut && verbosity !== 'verbose') continue;
    const line = renderDiagnostic(diagnostic, (origin, path) =>
      sources === undefined ? undefined : locate(origin, path, sources),
    );
    text += `${paint(line, severity, colors)}\n`;
  }
  if (verbosity === 'verbose') return text;
  for (const [code, count] of warnings) {
    if (count <= MAX_OF_A_KIND) continue;
    text += `${count - MAX_OF_A_KIND} more warnings of the kind ${code}; -v shows them all\n`;
  }
  if (errors > MAX_ERRORS) text += `${errors - MAX_ERRORS} more errors; -v shows them all\n`;
  return text;
}

function paint(line: string, severity: Severity, colors: ChalkInstance): string {
  const color = severity === 'error' ? colors.red : severity === 'warning' ? colors.yellow : colors.cyan;
  return line.replace(`${severity}: `, color(`${severity}: `));
}
