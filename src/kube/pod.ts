/** Pods and what makes Pods: what the endpoint controllers read, when the input has no endpoints of a Service. */
import type { FieldPath, Origin, Report } from '../diagnostics.ts';
import {
  booleanField,
  fieldOf,
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
import { type IPAddress, parseIP } from './ip.ts';
import { readObjectName } from './object-name.ts';
import { type Protocol, readProtocol } from './protocol.ts';

export interface ContainerPort {
  readonly name: string;
  readonly protocol: Protocol;
  readonly port: number;
}

/** What a Pod has from its template. */
export interface PodTemplate {
  readonly labels: ReadonlyMap<string, string>;
  /** Ports of its containers that have a name, in the order in which the controllers look for one. */
  readonly namedPorts: readonly ContainerPort[];
  readonly hostNetwork: boolean;
}

/** A workload of the same namespace. */
export interface Owner {
  readonly kind: WorkloadKind;
  readonly name: string;
}

export interface Pod {
  readonly namespace: string;
  readonly name: string;
  readonly template: PodTemplate;
  readonly nodeName: string | undefined;
  /** The node that the DaemonSet controller made it for, while the scheduler has not put it there yet. */
  readonly meantFor: string | undefined;
  readonly addresses: readonly { readonly given: string; readonly ip: IPAddress }[];
  readonly ready: boolean;
  /** It has a deletionTimestamp. */
  readonly terminating: boolean;
  /** Phase Succeeded or Failed: no endpoint any more. */
  readonly terminal: boolean;
  readonly owner: Owner | undefined;
  readonly origin: Origin;
}

const WORKLOAD_KINDS = ['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet'] as const;

export type WorkloadKind = (typeof WORKLOAD_KINDS)[number];

/** What makes Pods: one for each node (DaemonSet), or as many as it says. */
export interface Workload {
  readonly kind: WorkloadKind;
  readonly namespace: string;
  readonly name: string;
  readonly template: PodTemplate;
  readonly replicas: number;
  /** spec.nodeName and spec.nodeSelector of its template. */
  readonly nodeName: string | undefined;
  readonly nodeSelector: ReadonlyMap<string, string>;
  /** Of a StatefulSet, spec.ordinals.start. */
  readonly firstOrdinal: number;
  /** Of a ReplicaSet, its Deployment. */
  readonly owner: Owner | undefined;
  readonly origin: Origin;
}

/** kube-proxy never sees Pods: one that cannot be read is left out, and that is no error. */
function asWarnings(sink: Report): Report {
  return (diagnostic) =>
    sink(diagnostic.severity === 'error' ? { ...diagnostic, severity: 'warning' } : diagnostic);
}

/** A reader of Pods; those of one template share what they have in common, for there may be very many. */
export function podReader(): (value: JsonObject, origin: Origin, sink: Report) => Pod | undefined {
  const templates = new Map<string, PodTemplate>();
  return (value, origin, sink) => {
    const object = readObjectName('Pod', 'namespaced', 'subdomain', value, origin, asWarnings(sink));
    if (object === undefined) return undefined;
    const { namespace, name, metadata, context } = object;
    const spec = objectField(context, value, 'spec', []) ?? {};
    const status = objectField(context, value, 'status', []) ?? {};
    const phase = stringField(context, status, 'phase', ['status']);
    const template = readPodTemplate(context, metadata, spec, []);
    const key = JSON.stringify([[...template.labels], template.namedPorts, template.hostNetwork]);
    const shared = templates.get(key) ?? template;
    templates.set(key, shared);
    const nodeName = stringField(context, spec, 'nodeName', ['spec']) || undefined;
    return {
      namespace,
      name,
      template: shared,
      nodeName,
      meantFor: nodeName === undefined ? readTarget(context, spec) : undefined,
      addresses: readAddresses(context, status),
      ready: isReady(context, status),
      terminating: (fieldOf(metadata, 'deletionTimestamp') ?? null) !== null,
      terminal: phase === 'Succeeded' || phase === 'Failed',
      owner: readOwner(context, metadata),
      origin,
    };
  };
}

/** GetTargetNodeName of the DaemonSet controller. */
function readTarget(context: ObjectContext, spec: JsonObject): string | undefined {
  const path = ['spec', 'affinity', 'nodeAffinity', 'requiredDuringSchedulingIgnoredDuringExecution'];
  let affinity: JsonObject = spec;
  for (const [depth, field] of path.slice(1).entries()) {
    const inner = objectField(context, affinity, field, path.slice(0, depth + 1));
    if (inner === undefined) return undefined;
    affinity = inner;
  }
  for (const { value: term, index } of objectListField(context, affinity, 'nodeSelectorTerms', path)) {
    const at = [...path, 'nodeSelectorTerms', index];
    for (const { value: field, index: place } of objectListField(context, term, 'matchFields', at)) {
      if (fieldOf(field, 'key') !== 'metadata.name' || fieldOf(field, 'operator') !== 'In') continue;
      const [only, ...others] = stringListField(context, field, 'values', [...at, 'matchFields', place]);
      if (only !== undefined && others.length === 0) return only.text;
    }
  }
  return undefined;
}

/** status.podIPs, or the one of status.podIP: one of each family. */
function readAddresses(context: ObjectContext, status: JsonObject): Pod['addresses'] {
  const path: FieldPath = ['status', 'podIPs'];
  const listed = objectListField(context, status, 'podIPs', ['status']).map(({ value, index }) => ({
    text: stringField(context, value, 'ip', [...path, index]) ?? '',
    at: [...path, index, 'ip'] as FieldPath,
  }));
  const single = stringField(context, status, 'podIP', ['status']) ?? '';
  const texts = listed.length > 0 ? listed : [{ text: single, at: ['status', 'podIP'] as FieldPath }];
  const addresses: { given: string; ip: IPAddress }[] = [];
  for (const { text, at } of texts) {
    if (text === '') continue;
    const ip = parseIP(text);
    if (ip === undefined) {
      report(context, 'warning', 'invalid-ip', at, `${showValue(text)} is not an IP address and is left out`);
    } else if (!addresses.some((other) => other.ip.family === ip.family)) addresses.push({ given: text, ip });
  }
  return addresses;
}

function isReady(context: ObjectContext, status: JsonObject): boolean {
  return objectListField(context, status, 'conditions', ['status']).some(
    ({ value }) => fieldOf(value, 'type') === 'Ready' && fieldOf(value, 'status') === 'True',
  );
}

/** Reads a Deployment, StatefulSet, DaemonSet or ReplicaSet of any version of its API; undefined after a warning. */
export function readWorkload(
  kind: WorkloadKind,
  value: JsonObject,
  origin: Origin,
  sink: Report,
): Workload | undefined {
  const object = readObjectName(kind, 'namespaced', 'subdomain', value, origin, asWarnings(sink));
  if (object === undefined) return undefined;
  const { namespace, name, metadata, context } = object;
  const spec = objectField(context, value, 'spec', []) ?? {};
  const template = objectField(context, spec, 'template', ['spec']) ?? {};
  const at: FieldPath = ['spec', 'template'];
  const replicas = fieldOf(spec, 'replicas') ?? 1;
  if (typeof replicas !== 'number' || !Number.isInteger(replicas) || replicas < 0) {
    report(
      context,
      'warning',
      'wrong-type',
      ['spec', 'replicas'],
      `found ${showValue(replicas)}, expected a whole number from 0; the ${kind} is left out`,
    );
    return undefined;
  }
  const podSpec = objectField(context, template, 'spec', at) ?? {};
  const ordinals = objectField(context, spec, 'ordinals', ['spec']) ?? {};
  const start = fieldOf(ordinals, 'start');
  return {
    kind,
    namespace,
    name,
    template: readPodTemplate(context, objectField(context, template, 'metadata', at) ?? {}, podSpec, at),
    replicas,
    nodeName: stringField(context, podSpec, 'nodeName', [...at, 'spec']) || undefined,
    nodeSelector: stringMapField(context, podSpec, 'nodeSelector', [...at, 'spec']),
    firstOrdinal: typeof start === 'number' && Number.isInteger(start) && start > 0 ? start : 0,
    owner: readOwner(context, metadata),
    origin,
  };
}

function readOwner(context: ObjectContext, metadata: JsonObject): Owner | undefined {
  for (const { value } of objectListField(context, metadata, 'ownerReferences', ['metadata'])) {
    const kind = WORKLOAD_KINDS.find((each) => each === fieldOf(value, 'kind'));
    const name = fieldOf(value, 'name');
    if (kind !== undefined && typeof name === 'string') return { kind, name };
  }
  return undefined;
}

/** Ports as FindPort of the controllers looks for them: containers first, then sidecars (KEP-753). */
function readPodTemplate(
  context: ObjectContext,
  metadata: JsonObject,
  spec: JsonObject,
  at: FieldPath,
): PodTemplate {
  const namedPorts: ContainerPort[] = [];
  for (const list of ['containers', 'initContainers']) {
    for (const { value: container, index } of objectListField(context, spec, list, [...at, 'spec'])) {
      if (list === 'initContainers' && fieldOf(container, 'restartPolicy') !== 'Always') continue;
      const path = [...at, 'spec', list, index];
      for (const { value: port, index: place } of objectListField(context, container, 'ports', path)) {
        const name = fieldOf(port, 'name');
        const number = fieldOf(port, 'containerPort');
        if (typeof name !== 'string' || name === '') continue;
        if (typeof number !== 'number' || !Number.isInteger(number) || number < 1 || number > 65535) continue;
        namedPorts.push({
          name,
          protocol: readProtocol(context, port, [...path, 'ports', place]),
          port: number,
        });
      }
    }
  }
  return {
    labels: stringMapField(context, metadata, 'labels', [...at, 'metadata']),
    namedPorts,
    hostNetwork: booleanField(context, spec, 'hostNetwork', [...at, 'spec']) ?? false,
  };
}
