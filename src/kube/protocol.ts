import type { FieldPath } from '../diagnostics.ts';
import { enumField, type JsonObject, type ObjectContext } from './fields.ts';

export type Protocol = 'TCP' | 'UDP' | 'SCTP';

const PROTOCOLS: readonly Protocol[] = ['TCP', 'UDP', 'SCTP'];

/** The protocol of a port; TCP where none is given, as the API server fills it in. */
export function readProtocol(context: ObjectContext, port: JsonObject, path: FieldPath): Protocol {
  return enumField(context, port, 'protocol', path, PROTOCOLS) ?? 'TCP';
}
