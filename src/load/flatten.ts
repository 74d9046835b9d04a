/** A parsed document → Kubernetes objects: Lists taken apart, what is no object named. */
import type { Diagnostic, FieldPath, Origin } from '../diagnostics.ts';
import { escapeText } from '../escape.ts';

export type Mapping = Readonly<Record<string, unknown>>;

export interface LoadedObject {
  readonly apiVersion: string;
  readonly kind: string;
  /** As it was written: an item of a `ServiceList` may lack its own apiVersion and kind here. */
  readonly value: Mapping;
  readonly origin: Origin;
}

/** What items of a typed List need not repeat. */
export interface Inherited {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
}

export interface Delivery {
  readonly sink: (object: LoadedObject) => void;
  readonly report: (diagnostic: Diagnostic) => void;
  /** The user named this file, or piped it in; in a directory there may be other people's YAML. */
  readonly named: boolean;
}

/** Whether `value` is what JSON calls an object. */
export function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An own member, never one of a prototype. */
function member(value: Mapping, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

/**
 * Whether the mapping is a List: kind `List`, or `ServiceList` and the like with items. A kind that only ends in
 * List, as a custom resource may, is an object when it has no items.
 */
export function isList(value: Mapping): boolean {
  const kind = member(value, 'kind');
  if (typeof kind !== 'string') return false;
  if (kind === 'List') return true;
  if (!kind.endsWith('List')) return false;
  const items = member(value, 'items');
  return Array.isArray(items) || items === null;
}

/** What the items of this List inherit: a `ServiceList` of v1 holds objects of kind Service, v1. */
export function inheritedFrom(list: Mapping): Inherited {
  const kind = member(list, 'kind');
  const apiVersion = member(list, 'apiVersion');
  if (typeof kind !== 'string' || kind === 'List') return {};
  return { kind: kind.slice(0, -'List'.length), ...(typeof apiVersion === 'string' ? { apiVersion } : {}) };
}

/**
 * Hands the objects in one document's value to the sink: the object itself, or the items of a List, from item
 * `skip` on. An empty document is nothing. What is no Kubernetes object is reported: an error in a named file and
 * inside a List, a note in a directory.
 */
export function deliver(value: unknown, origin: Origin, delivery: Delivery, skip = 0): void {
  if (value === null || value === undefined) return;
  deliverOne(value, origin, {}, false, delivery, skip);
}

/** The same for an item of a List. */
export function deliverItem(value: unknown, origin: Origin, inherited: Inherited, delivery: Delivery): void {
  deliverOne(value, origin, inherited, true, delivery, 0);
}

function deliverOne(
  value: unknown,
  origin: Origin,
  inherited: Inherited,
  listed: boolean,
  delivery: Delivery,
  skip: number,
): void {
  const lesser = listed || delivery.named ? 'error' : 'note';
  const refuse = (
    severity: Diagnostic['severity'],
    message: string,
    field: FieldPath,
    help?: string,
  ): void => {
    delivery.report({
      code: 'not-an-object',
      severity,
      message,
      origin,
      ...(field.length === 0 ? {} : { field }),
      ...(help === undefined ? {} : { help }),
    });
  };
  if (!isMapping(value)) {
    const help = Array.isArray(value)
      ? "pass the List itself, or its items one after another (jq '.items[]')"
      : undefined;
    refuse(
      lesser,
      `${describeValue(value)} is no Kubernetes object; expected a mapping with apiVersion and kind`,
      [],
      help,
    );
    return;
  }
  const ownKind = member(value, 'kind');
  const kind = ownKind ?? inherited.kind;
  const apiVersion = member(value, 'apiVersion') ?? inherited.apiVersion;
  if (kind === undefined || kind === null || kind === '') {
    refuse(lesser, 'no kind: this is no Kubernetes object', []);
    return;
  }
  if (typeof kind !== 'string') {
    refuse(lesser, `kind must be a string, found ${describeValue(kind)}`, ['kind']);
    return;
  }
  if (typeof apiVersion !== 'string' || apiVersion === '') {
    const severity = lesser === 'error' ? 'error' : 'warning';
    const shown = escapeText(kind);
    const missing = apiVersion === undefined || apiVersion === null || apiVersion === '';
    if (missing) refuse(severity, `kind ${shown} without apiVersion`, []);
    else
      refuse(severity, `apiVersion of this ${shown} must be a string, found ${describeValue(apiVersion)}`, [
        'apiVersion',
      ]);
    return;
  }
  if (!isList(value)) {
    delivery.sink({ apiVersion, kind, value, origin });
    return;
  }
  const items = member(value, 'items');
  if (items === null || items === undefined) return;
  if (!Array.isArray(items)) {
    refuse(lesser, `items of this ${escapeText(kind)} must be a sequence, found ${describeValue(items)}`, [
      'items',
    ]);
    return;
  }
  const passedOn = inheritedFrom(value);
  for (let index = skip; index < items.length; index++) {
    const path = [...origin.path, 'items', index];
    deliverOne(items[index], { ...origin, path }, passedOn, true, delivery, 0);
  }
}

/** A value in a few words, safe to print. */
function describeValue(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty sequence' : 'a sequence';
  if (typeof value === 'object') return 'a mapping';
  if (typeof value === 'string') return `the string ${JSON.stringify(escapeText(value, 60))}`;
  return `${typeof value === 'boolean' ? 'the boolean' : 'the number'} ${String(value)}`;
}
