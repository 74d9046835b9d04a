import type { FieldPath, Origin, Report } from '../diagnostics.ts';
import type { EndpointSlice, SliceEndpoint, SlicePort } from './endpoint-slice.ts';
import {
  integerField,
  type JsonObject,
  type ObjectContext,
  objectListField,
  report,
  showValue,
  stringField,
  stringMapField,
} from './fields.ts';
import { parseIP } from './ip.ts';
import { LABELS_THAT_COUNT } from './kube-proxy-version.ts';
import { readObjectName } from './object-name.ts';
import { readPortName } from './port-name.ts';
import { readProtocol } from './protocol.ts';

const SKIP_MIRROR_LABEL = 'endpointslice.kubernetes.io/skip-mirror';
const LABELS: ReadonlySet<string> = new Set([SKIP_MIRROR_LABEL, ...LABELS_THAT_COUNT]);
const LEADER_ANNOTATION = 'control-plane.alpha.kubernetes.io/leader';

/**
 * Reads an Endpoints object and gives the slices that the EndpointSliceMirroring controller (KEP-752) would
 * make of it: one for each subset and family, each endpoint with its node and its readiness.
 */
export function readEndpoints(value: JsonObject, origin: Origin, sink: Report): readonly EndpointSlice[] {
  const object = readObjectName('Endpoints', 'namespaced', 'subdomain', value, origin, sink);
  if (object === undefined) return [];
  const { namespace, name, metadata, context } = object;
  const labels = stringMapField(context, metadata, 'labels', ['metadata'], LABELS);
  if (labels.get(SKIP_MIRROR_LABEL) === 'true') {
    report(
      context,
      'note',
      'endpoints-skipped',
      ['metadata', 'labels', SKIP_MIRROR_LABEL],
      'not mirrored into EndpointSlices, so kube-proxy never sees it',
    );
    return [];
  }
  const annotations = stringMapField(context, metadata, 'annotations', ['metadata']);
  if (annotations.has(LEADER_ANNOTATION)) {
    report(
      context,
      'note',
      'endpoints-skipped',
      ['metadata', 'annotations', LEADER_ANNOTATION],
      'a leader election record, no endpoints of a Service',
    );
    return [];
  }
  const slices = objectListField(context, value, 'subsets', []).flatMap(({ value: subset, index }) => {
    const path: FieldPath = ['subsets', index];
    const ports = readPorts(context, subset, path);
    const endpoints = [
      ...readAddresses(context, subset, 'addresses', true, path),
      ...readAddresses(context, subset, 'notReadyAddresses', false, path),
    ];
    return (['IPv4', 'IPv6'] as const).flatMap((family): EndpointSlice[] => {
      const ofFamily = endpoints.filter((endpoint) => endpoint.family === family);
      if (ofFamily.length === 0) return [];
      return [
        {
          namespace,
          name: `${name} subset ${index} ${family}`,
          serviceName: name,
          labels,
          addressType: family,
          ports,
          endpoints: ofFamily,
          origin,
        },
      ];
    });
  });
  if (slices.length > 0) return slices;
  // Without addresses it still says something: that the Service has no endpoints.
  const none: Pick<EndpointSlice, 'addressType' | 'ports' | 'endpoints'> = {
    addressType: 'IPv4',
    ports: [],
    endpoints: [],
  };
  return [{ namespace, name: `${name} without subsets`, serviceName: name, labels, ...none, origin }];
}

function readPorts(context: ObjectContext, subset: JsonObject, at: FieldPath): SlicePort[] {
  const ports: SlicePort[] = [];
  for (const { value, index } of objectListField(context, subset, 'ports', at)) {
    const path = [...at, 'ports', index];
    const name = readPortName(context, value, path);
    if (name === undefined) continue;
    const port = integerField(context, value, 'port', path, 1, 65535);
    if (port !== undefined) ports.push({ name, protocol: readProtocol(context, value, path), port });
  }
  return ports;
}

function readAddresses(
  context: ObjectContext,
  subset: JsonObject,
  key: 'addresses' | 'notReadyAddresses',
  ready: boolean,
  at: FieldPath,
): SliceEndpoint[] {
  const endpoints: SliceEndpoint[] = [];
  for (const { value, index } of objectListField(context, subset, key, at)) {
    const path = [...at, key, index];
    const address = stringField(context, value, 'ip', path) ?? '';
    const ip = parseIP(address);
    if (ip === undefined) {
      report(context, 'error', 'invalid-ip', [...path, 'ip'], `${showValue(address)} is not an IP address`);
      continue;
    }
    endpoints.push({
      address,
      canonicalAddress: ip.text,
      family: ip.family,
      nodeName: stringField(context, value, 'nodeName', path),
      // Mirrored endpoints carry the ready condition alone; serving is unset and counts as true.
      ready,
      serving: true,
      terminating: false,
      zoneHints: [],
      nodeHints: [],
      index,
    });
  }
  return endpoints;
}
