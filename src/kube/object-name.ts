import type { Origin, Report } from '../diagnostics.ts';
import {
  isDnsLabel,
  isDnsSubdomain,
  type JsonObject,
  type ObjectContext,
  objectField,
  report,
  showValue,
  stringField,
} from './fields.ts';

export interface ObjectName {
  readonly namespace: string;
  readonly name: string;
  readonly metadata: JsonObject;
  readonly context: ObjectContext;
}

const DEFAULT_NAMESPACE = 'default';

/**
 * Name and namespace of an object, checked: they end up in rules. Returns undefined after an error.
 * A namespaced object without a namespace is in `default`, where kubectl would put it.
 */
export function readObjectName(
  kind: string,
  scope: 'cluster' | 'namespaced',
  nameForm: 'label' | 'subdomain',
  value: JsonObject,
  origin: Origin,
  sink: Report,
): ObjectName | undefined {
  const unnamed: ObjectContext = { object: kind, origin, report: sink };
  const metadata = objectField(unnamed, value, 'metadata', []);
  const name = metadata && stringField(unnamed, metadata, 'name', ['metadata']);
  if (metadata === undefined || name === undefined) {
    report(unnamed, 'error', 'no-name', ['metadata', 'name'], `the ${kind} has no name`);
    return undefined;
  }
  const isName = nameForm === 'label' ? isDnsLabel : isDnsSubdomain;
  if (!isName(name)) {
    report(
      unnamed,
      'error',
      'invalid-name',
      ['metadata', 'name'],
      `${showValue(name)} is not a name of ${kind.startsWith('E') ? 'an' : 'a'} ${kind} (lower-case letters, digits${nameForm === 'subdomain' ? ', dots' : ''} and hyphens, at most ${nameForm === 'label' ? 63 : 253} characters)`,
    );
    return undefined;
  }
  if (scope === 'cluster') {
    return { namespace: '', name, metadata, context: { ...unnamed, object: `${kind} ${name}` } };
  }
  const namespace = stringField(unnamed, metadata, 'namespace', ['metadata']) || DEFAULT_NAMESPACE;
  if (!isDnsLabel(namespace)) {
    report(
      { ...unnamed, object: `${kind} ${name}` },
      'error',
      'invalid-name',
      ['metadata', 'namespace'],
      `${showValue(namespace)} is not a name of a namespace (lower-case letters, digits and hyphens, at most 63 characters)`,
    );
    return undefined;
  }
  return { namespace, name, metadata, context: { ...unnamed, object: `${kind} ${namespace}/${name}` } };
}
