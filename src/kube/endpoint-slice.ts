import type { FieldPath, Origin, Report } from '../diagnostics.ts';
import {
  booleanField,
  enumField,
  fieldOf,
  integerField,
  type JsonObject,
  type ObjectContext,
  objectField,
  objectListField,
  report,
  showValue,
  stringField,
  stringListField,
  stringMapField,
} from './fields.ts';
import { type IPFamily, parseIP } from './ip.ts';
import { LABELS_THAT_COUNT } from './kube-proxy-version.ts';
import { readObjectName } from './object-name.ts';
import { readPortName } from './port-name.ts';
import { type Protocol, readProtocol } from './protocol.ts';

/** An endpoint of a slice with its first address: kube-proxy reads no other. */
export interface SliceEndpoint {
  /** As given: kube-proxy up to 1.30 hashes and writes that text. */
  readonly address: string;
  readonly canonicalAddress: string;
  readonly family: IPFamily;
  readonly nodeName: string | undefined;
  readonly ready: boolean;
  readonly serving: boolean;
  readonly terminating: boolean;
  readonly zoneHints: readonly string[];
  readonly nodeHints: readonly string[];
  /** Place in the list of endpoints, for messages. */
  readonly index: number;
}

export interface SlicePort {
  readonly name: string;
  readonly protocol: Protocol;
  readonly port: number;
}

/** An EndpointSlice, as far as it matters to kube-proxy. */
export interface EndpointSlice {
  readonly namespace: string;
  readonly name: string;
  /** From the label kubernetes.io/service-name. */
  readonly serviceName: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly addressType: IPFamily;
  readonly ports: readonly SlicePort[];
  readonly endpoints: readonly SliceEndpoint[];
  readonly origin: Origin;
}

const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';

const LABELS: ReadonlySet<string> = new Set([SERVICE_NAME_LABEL, ...LABELS_THAT_COUNT]);

const ADDRESS_TYPES = ['IPv4', 'IPv6', 'FQDN'] as const;
const NONE: readonly string[] = [];

/**
 * Reads an EndpointSlice of discovery.k8s.io/v1 or v1beta1. Returns undefined where kube-proxy has no use for
 * it (a note says why) and where it cannot be read (an error says why). A single endpoint or port that cannot
 * be read is left out after an error. Source: kube-proxy's EndpointSliceCache.
 */
export function readEndpointSlice(
  apiVersion: string,
  value: JsonObject,
  origin: Origin,
  sink: Report,
): EndpointSlice | undefined {
  const object = readObjectName('EndpointSlice', 'namespaced', 'subdomain', value, origin, sink);
  if (object === undefined) return undefined;
  const { namespace, name, metadata, context } = object;
  const labels = stringMapField(context, metadata, 'labels', ['metadata'], LABELS);
  const serviceName = labels.get(SERVICE_NAME_LABEL) ?? '';
  if (serviceName === '') {
    report(
      context,
      'note',
      'slice-without-service',
      ['metadata', 'labels'],
      `without the label ${SERVICE_NAME_LABEL} the slice belongs to no Service`,
    );
    return undefined;
  }
  const addressType = readAddressType(context, value);
  if (addressType === undefined) return undefined;
  if (addressType === 'FQDN') {
    report(
      context,
      'note',
      'slice-skipped',
      ['addressType'],
      'kube-proxy has no use for slices of host names',
    );
    return undefined;
  }
  const readEndpoint = apiVersion.endsWith('/v1beta1') ? betaEndpoint : endpoint;
  const endpoints: SliceEndpoint[] = [];
  for (const { value: item, index } of objectListField(context, value, 'endpoints', [])) {
    const found = readEndpoint(context, item, index);
    if (found !== undefined) endpoints.push(found);
  }
  return {
    namespace,
    name,
    serviceName,
    labels,
    addressType,
    ports: readPorts(context, value),
    endpoints,
    origin,
  };
}

function readAddressType(context: ObjectContext, value: JsonObject) {
  if ((fieldOf(value, 'addressType') ?? '') === '') {
    report(
      context,
      'error',
      'no-address-type',
      ['addressType'],
      `the slice has no address type (one of ${ADDRESS_TYPES.join(', ')})`,
    );
    return undefined;
  }
  return enumField(context, value, 'addressType', [], ADDRESS_TYPES);
}

function readPorts(context: ObjectContext, value: JsonObject): SlicePort[] {
  const ports: SlicePort[] = [];
  for (const { value: item, index } of objectListField(context, value, 'ports', [])) {
    const path: FieldPath = ['ports', index];
    // The API server fills in an empty name; only a slice that never saw one has none at all.
    const name = readPortName(context, item, path);
    if (name === undefined) continue;
    const port = fieldOf(item, 'port');
    if (port === undefined || port === null || port === 0) {
      report(context, 'note', 'slice-port-without-number', path, 'kube-proxy skips a port without a number');
      continue;
    }
    const number = integerField(context, item, 'port', path, 1, 65535);
    if (number !== undefined) ports.push({ name, protocol: readProtocol(context, item, path), port: number });
  }
  return ports;
}

function endpoint(context: ObjectContext, item: JsonObject, index: number): SliceEndpoint | undefined {
  const path: FieldPath = ['endpoints', index];
  const addresses = fieldOf(item, 'addresses');
  const address = Array.isArray(addresses) ? addresses[0] : undefined;
  if (typeof address !== 'string') {
    if (stringListField(context, item, 'addresses', path).length === 0) {
      report(
        context,
        'note',
        'endpoint-without-address',
        path,
        'kube-proxy skips an endpoint without an address',
      );
    }
    return undefined;
  }
  const ip = parseIP(address);
  if (ip === undefined) {
    report(
      context,
      'error',
      'invalid-ip',
      [...path, 'addresses', 0],
      `${showValue(address)} is not an IP address`,
    );
    return undefined;
  }
  if (Array.isArray(addresses) && addresses.length > 1) {
    report(
      context,
      'warning',
      'more-than-one-address',
      [...path, 'addresses', 1],
      'kube-proxy uses the first address of an endpoint alone',
    );
  }
  const conditions = objectField(context, item, 'conditions', path) ?? {};
  const at: FieldPath = ['endpoints', index, 'conditions'];
  const hints = objectField(context, item, 'hints', path);
  return {
    address,
    canonicalAddress: ip.text,
    family: ip.family,
    nodeName: stringField(context, item, 'nodeName', path),
    // Unset conditions: ready and serving count as true, terminating as false (newBaseEndpointInfo).
    ready: booleanField(context, conditions, 'ready', at) ?? true,
    serving: booleanField(context, conditions, 'serving', at) ?? true,
    terminating: booleanField(context, conditions, 'terminating', at) ?? false,
    zoneHints: hints === undefined ? NONE : hintNames(context, hints, 'forZones', [...path, 'hints']),
    nodeHints: hints === undefined ? NONE : hintNames(context, hints, 'forNodes', [...path, 'hints']),
    index,
  };
}

function hintNames(
  context: ObjectContext,
  hints: JsonObject,
  key: string,
  path: FieldPath,
): readonly string[] {
  const names: string[] = [];
  for (const { value, index } of objectListField(context, hints, key, path)) {
    const name = stringField(context, value, 'name', [...path, key, index]);
    if (name !== undefined) names.push(name);
  }
  return names;
}

/** v1beta1 may name the node in its topology instead of in nodeName (KEP-752, before 1.20). */
function betaEndpoint(context: ObjectContext, item: JsonObject, index: number): SliceEndpoint | undefined {
  const found = endpoint(context, item, index);
  if (found === undefined || found.nodeName !== undefined) return found;
  const topology = stringMapField(context, item, 'topology', ['endpoints', index]);
  return { ...found, nodeName: topology.get('kubernetes.io/hostname') };
}
