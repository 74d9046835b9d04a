import type { FieldPath } from '../diagnostics.ts';
import { isDnsLabel, type JsonObject, type ObjectContext, report, showValue, stringField } from './fields.ts';

/** The name of a port, empty where it has none; undefined, after an error, where it cannot be one. */
export function readPortName(context: ObjectContext, port: JsonObject, path: FieldPath): string | undefined {
  const name = stringField(context, port, 'name', path) ?? '';
  if (name === '' || isDnsLabel(name)) return name;
  report(
    context,
    'error',
    'invalid-port-name',
    [...path, 'name'],
    `${showValue(name)} is not a port name (lower-case letters, digits and hyphens, at most 63 characters)`,
  );
  return undefined;
}
