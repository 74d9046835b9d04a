/**
 * One kind of message for the whole suite. Everything that was read and could not be used, or that surprises
 * people, becomes a Diagnostic; exceptions are for bugs and for options that cannot be understood.
 */
export type Severity = 'error' | 'warning' | 'note';

export type FieldPath = readonly (string | number)[];

/** Where an object came from: enough to find it again in its text when a message about it is printed. */
export interface Origin {
  /** As the user named it; `-` for standard input. */
  readonly file: string;
  readonly format: 'yaml' | 'json';
  /**
   * The text of the document (YAML) or of the object itself (JSON): bytes of the file's UTF-8 form, which are
   * plain file offsets where the file is UTF-8.
   */
  readonly start: number;
  readonly end: number;
  /** From the root of that text to the object, for example `['items', 3]`; empty where it is the root. */
  readonly path: FieldPath;
}

export interface Diagnostic {
  /** Part of the interface: stable, documented, tested. */
  readonly code: string;
  readonly severity: Severity;
  /** What was found and what is accepted; one line, no final stop. */
  readonly message: string;
  /** For example `Service shop/web`. */
  readonly object?: string;
  /** Path of the field inside the object; printed as `spec.ports[0].port`. */
  readonly field?: FieldPath;
  readonly origin?: Origin;
  /** Another place that the message is about; printed on a line of its own. */
  readonly other?: { readonly origin: Origin; readonly field: FieldPath };
  /** Where there is no object: a syntax error, an unreadable file. Line and column count from 1. */
  readonly place?: { readonly file: string; readonly line?: number; readonly column?: number };
  /** What to do about it; names the option to pass. */
  readonly help?: string;
}

/** Collects diagnostics; handed down to whatever may have something to say. */
export type Report = (diagnostic: Diagnostic) => void;

/** `['spec', 'ports', 0, 'port']` → `spec.ports[0].port`; keys that are no plain words are quoted. */
export function formatFieldPath(path: FieldPath): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(step)) text += text === '' ? step : `.${step}`;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text;
}
