import type { Comparison, Finding, RuleLine } from '../diff/index.ts';
import type { PlaceOf } from './places.ts';
import { differing, familyName } from './wording.ts';

/** Changes when a reader of the old form would be misled; members that are added do not change it. */
const JSON_SCHEMA = 'kp-diff/1';

/** One side of the comparison, as the user named it. */
export interface SideDescription {
  readonly kind: string;
  readonly sources: readonly string[];
}

export interface JsonOptions {
  readonly expected: SideDescription;
  readonly actual: SideDescription;
  readonly placeOf: PlaceOf;
}

type Json = string | number | null | readonly Json[] | { readonly [key: string]: Json };

/** The report for programs, in the form of schema/kp-diff-1.schema.json; keys always in the same order. */
export function* jsonReport(comparison: Comparison, options: JsonOptions): Generator<string> {
  const { incomparable, findings } = comparison;
  const result = incomparable !== undefined ? 'incomparable' : findings.length > 0 ? 'different' : 'same';
  yield `{\n  "schema": ${print(JSON_SCHEMA, 2)},\n  "result": ${print(result, 2)},\n`;
  yield `  "reason": ${print(incomparable ?? null, 2)},\n`;
  yield `  "expected": ${print(side(options.expected), 2)},\n  "actual": ${print(side(options.actual), 2)},\n`;
  yield `  "families": ${print(families(comparison), 2)},\n`;
  yield* list(
    'findings',
    findings.map((finding) => () => findingJson(finding, options.placeOf)),
  );
  yield ',\n';
  yield* list(
    'notes',
    comparison.notes.map((note) => () => findingJson(note, options.placeOf)),
  );
  yield `,\n  "assumptions": ${print(comparison.assumptions, 2)}\n}\n`;
}

/** One chunk an element: a whole node may differ. */
function* list(name: string, elements: readonly (() => Json)[]): Generator<string> {
  if (elements.length === 0) {
    yield `  "${name}": []`;
    return;
  }
  yield `  "${name}": [`;
  for (const [index, element] of elements.entries())
    yield `${index === 0 ? '' : ','}\n    ${print(element(), 4)}`;
  yield '\n  ]';
}

function side({ kind, sources }: SideDescription): Json {
  return { kind, sources };
}

function families(comparison: Comparison): Json {
  return comparison.families.map(({ family, tables, servicePorts, uncompared, left }) => ({
    family: familyName(family),
    tables,
    servicePorts,
    differing: differing(comparison, family),
    ...(uncompared === undefined ? {} : { comparedInPart: uncompared }),
    notCompared: left,
  }));
}

function findingJson({ family, servicePort, problems }: Finding, placeOf: PlaceOf): Json {
  const place = servicePort === undefined ? undefined : placeOf(servicePort);
  return {
    family: familyName(family),
    servicePort: servicePort ?? null,
    place: place === undefined ? null : { file: place.file, line: place.line ?? null },
    problems: problems.map(({ code, message, expected, actual }) => ({
      code,
      message,
      expected: expected.map(rule),
      actual: actual.map(rule),
    })),
  };
}

function rule({ table, line }: RuleLine): Json {
  return { table, line };
}

// What JSON lets through and terminals obey: DEL, C1 controls, bidi controls and the like. JSON escapes the rest.
const UNSAFE = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

function print(value: Json, indent: number): string {
  return safeJson(value).replaceAll('\n', `\n${' '.repeat(indent)}`);
}

/** JSON in lines, without a character that does something to a terminal. */
export function safeJson(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(
    UNSAFE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
