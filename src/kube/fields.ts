import type { Diagnostic, FieldPath, Origin, Report } from '../diagnostics.ts';

/** An object of the input on its way into a typed form: says where it is when something is wrong with it. */
export interface ObjectContext {
  /** `Service shop/web` */
  readonly object: string;
  readonly origin: Origin;
  readonly report: Report;
}

export type JsonObject = Readonly<Record<string, unknown>>;

/** Own property only: an object that holds `__proto__` or lacks `constructor` must not reach the prototype. */
export function fieldOf(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

const MAX_SHOWN = 80;

/** A value as messages show it. */
export function showValue(value: unknown): string {
  // More of a long text would be escaped for nothing.
  const text =
    value === undefined ? 'nothing' : asJson(typeof value === 'string' ? value.slice(0, MAX_SHOWN) : value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

/** JSON, with the numbers that YAML has and JSON does not as YAML writes them. */
function asJson(value: unknown): string {
  const mark = '\u0000';
  const text = JSON.stringify(value, (_, item: unknown) =>
    typeof item === 'number' && !Number.isFinite(item) ? `${mark}${yamlNumber(item)}` : item,
  );
  return text.replace(/"\\u0000(-?\.\w+)"/g, '$1');
}

function yamlNumber(value: number): string {
  if (Number.isNaN(value)) return '.nan';
  return value < 0 ? '-.inf' : '.inf';
}

export function report(
  context: ObjectContext,
  severity: Diagnostic['severity'],
  code: string,
  path: FieldPath,
  message: string,
  help?: string,
): void {
  context.report({
    code,
    severity,
    message,
    object: context.object,
    field: path,
    origin: context.origin,
    ...(help === undefined ? {} : { help }),
  });
}

function wrongType(context: ObjectContext, path: FieldPath, value: unknown, accepted: string): undefined {
  // In JSON there is no infinite number: it was one that no float64 holds.
  const found =
    context.origin.format === 'json' && (value === Infinity || value === -Infinity)
      ? 'a number beyond 10^308'
      : showValue(value);
  report(context, 'error', 'wrong-type', path, `found ${found}, expected ${accepted}`);
  return undefined;
}

/** The string at `key`; undefined where it is missing, null, or (after an error) of another type. */
export function stringField(
  context: ObjectContext,
  object: JsonObject,
  key: string,
  path: FieldPath,
): string | undefined {
  const value = fieldOf(object, key);
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : wrongType(context, [...path, key], value, 'a string');
}

export function booleanField(
  context: ObjectContext,
  object: JsonObject,
  key: string,
  path: FieldPath,
): boolean | undefined {
  const value = fieldOf(object, key);
  if (value === undefined || value === null) return undefined;
  return typeof value === 'boolean' ? value : wrongType(context, [...path, key], value, 'true or false');
}

/** A whole number between `low` and `high`. */
export function integerField(
  context: ObjectContext,
  object: JsonObject,
  key: string,
  path: FieldPath,
  low: number,
  high: number,
): number | undefined {
  const value = fieldOf(object, key);
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= low && value <= high) return value;
  return wrongType(context, [...path, key], value, `a whole number from ${low} to ${high}`);
}

export function objectField(
  context: ObjectContext,
  object: JsonObject,
  key: string,
  path: FieldPath,
): JsonObject | undefined {
  const value = fieldOf(object, key);
  if (value === undefined || value === null) return undefined;
  return isObject(value) ? value : wrongType(context, [...path, key], value, 'a mapping');
}

/** No API server stores an object with so many of anything. */
const MAX_LIST = 1_000_000;

/** The list at `key`; an empty one where it is missing or null. */
function listField(
  context: ObjectContext,
  object: JsonObject,
  key: string,
  path: FieldPath,
): readonly unknown[] {
  const value = fieldOf(object, key);
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) {
    wrongType(context, [...path, key], value, 'a list');
    return [];
  }
  if (value.length <= MAX_LIST) return value;
  const message = `found a list of ${value.length}, expected at most ${MAX_LIST} members`;
  report(context, 'error', 'wrong-type', [...path, key], message);
  return [];
}

/** The list of strings at `key`, with each one's place in the list (members of other types are reported). */
export function stringListField(
  context: ObjectContext,
  object: JsonObject,
  key: string,
  path: FieldPath,
): readonly { readonly text: string; readonly index: number }[] {
  const strings: { text: string; index: number }[] = [];
  listField(context, object, key, path).forEach((value, index) => {
    if (typeof value === 'string') strings.push({ text: value, index });
    else wrongType(context, [...path, key, index], value, 'a string');
  });
  return strings;
}

/** The list of mappings at `key`, with each one's place in the list (members of other types are reported). */
export function objectListField(
  context: ObjectContext,
  object: JsonObject,
  key: string,
  path: FieldPath,
): readonly { readonly value: JsonObject; readonly index: number }[] {
  const objects: { value: JsonObject; index: number }[] = [];
  listField(context, object, key, path).forEach((value, index) => {
    if (isObject(value)) objects.push({ value, index });
    else wrongType(context, [...path, key, index], value, 'a mapping');
  });
  return objects;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The strings of a mapping such as labels or annotations, or of those only whose names are `wanted`; all are checked. */
export function stringMapField(
  context: ObjectContext,
  object: JsonObject,
  key: string,
  path: FieldPath,
  wanted?: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  const map = new Map<string, string>();
  const value = objectField(context, object, key, path);
  if (value === undefined) return map;
  for (const [name, text] of Object.entries(value)) {
    if (typeof text !== 'string') wrongType(context, [...path, key, name], text, 'a string');
    else if (wanted?.has(name) !== false) map.set(name, text);
  }
  return map;
}

/** One of the accepted words, else undefined after an error that lists them. */
export function enumField<T extends string>(
  context: ObjectContext,
  object: JsonObject,
  key: string,
  path: FieldPath,
  accepted: readonly T[],
): T | undefined {
  const value = fieldOf(object, key);
  if (value === undefined || value === null || value === '') return undefined;
  const found = accepted.find((word) => word === value);
  if (found !== undefined) return found;
  return wrongType(context, [...path, key], value, `one of ${accepted.join(', ')}`);
}

const DNS_LABEL = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

/** RFC 1123 label: what namespaces, Service names and port names must be (apimachinery validation). */
export function isDnsLabel(text: string): boolean {
  return DNS_LABEL.test(text);
}

const DNS_SUBDOMAIN = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;

/** RFC 1123 subdomain of at most 253 characters: names of Nodes and EndpointSlices. */
export function isDnsSubdomain(text: string): boolean {
  return text.length <= 253 && DNS_SUBDOMAIN.test(text);
}
