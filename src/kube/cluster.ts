import type { Diagnostic, Origin, Report } from '../diagnostics.ts';
import { type EndpointSlice, readEndpointSlice } from './endpoint-slice.ts';
import { readEndpoints } from './endpoints.ts';
import { fieldOf, isObject, type JsonObject, report as reportAt } from './fields.ts';
import { misspelt, readerOf } from './kinds.ts';
import { type KubeProxyConfiguration, readKubeProxyConfiguration } from './kube-proxy-configuration.ts';
import { type Node, readNode } from './node.ts';
import { type Pod, podReader, readWorkload, type Workload, type WorkloadKind } from './pod.ts';
import { type Copies, copiesThatMatter } from './pod-copies.ts';
import { readService, type Service, type SkippedService } from './service.ts';

/** The objects of a cluster that decide about a node's rules, in a compact and checked form. */
export interface Cluster {
  readonly services: readonly Service[];
  readonly skippedServices: readonly SkippedService[];
  readonly endpointSlices: readonly EndpointSlice[];
  /** Slices that would be mirrored from Endpoints objects; used for Services that have no slice of their own. */
  readonly mirroredSlices: readonly EndpointSlice[];
  readonly nodes: readonly Node[];
  /** For Services without slices. */
  readonly pods: readonly Pod[];
  readonly workloads: readonly Workload[];
  readonly configurations: readonly FoundConfiguration[];
  /** Addresses that no cluster gave: whose, and out of which range, in words for the head of the output. */
  readonly invented?: readonly string[];
}

export interface FoundConfiguration {
  readonly configuration: KubeProxyConfiguration;
  readonly origin: Origin;
}

/** An object of the input. */
export interface InputObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly value: JsonObject;
  readonly origin: Origin;
}

function reportMisspelt({ apiVersion, kind, value, origin }: InputObject, report: Report): void {
  const mistake = misspelt(apiVersion, kind);
  if (mistake === undefined) return;
  const metadata = fieldOf(value, 'metadata');
  const name = isObject(metadata) ? fieldOf(metadata, 'name') : undefined;
  const object = typeof name === 'string' ? `${kind} ${name}` : kind;
  const code = mistake.field === 'kind' ? 'unknown-kind' : 'unknown-api-version';
  reportAt({ object, origin, report }, 'warning', code, [mistake.field], mistake.message);
}

/** Names under which kubeadm, EKS and others keep kube-proxy's configuration. */
const CONFIG_MAPS = new Set(['kube-proxy', 'kube-proxy-config', 'kube-proxy-worker']);

export interface CollectorOptions {
  /** Of objects with one name that say different things the later one counts, and that is no error. */
  readonly lastWins?: boolean;
}

/**
 * Collects a cluster object by object. `parseYaml` reads the KubeProxyConfiguration inside a ConfigMap and
 * throws where it cannot. Of objects with the same kind, namespace and name the first counts; where another one
 * differs in something that matters to rules, that is an error that names both. Whether two Pods matter is known once
 * all is there, so what `cluster()` finds goes to `report`; `add` may be given another one, for that object alone.
 */
export function clusterCollector(
  report: Report,
  parseYaml: (text: string) => unknown,
  { lastWins = false }: CollectorOptions = {},
): { add(object: InputObject, about?: Report): void; cluster(): Cluster } {
  const services = new Map<string, Service | SkippedService>();
  const slices = new Map<string, EndpointSlice>();
  const mirrored = new Map<string, { readonly origin: Origin; readonly slices: readonly EndpointSlice[] }>();
  const nodes = new Map<string, Node>();
  const pods = new Map<string, Pod>();
  const workloads: Readonly<Record<WorkloadKind, Map<string, Workload>>> = {
    DaemonSet: new Map(),
    Deployment: new Map(),
    ReplicaSet: new Map(),
    StatefulSet: new Map(),
  };
  const readPod = podReader();
  const configurations: FoundConfiguration[] = [];
  let copies: Copies[] = [];

  /** Keeps one of two objects of one name: the first, unless the last wins. */
  const keepOne = <T extends object>(
    known: Map<string, T>,
    key: string,
    item: T,
    differs: (before: T) => void,
  ) => {
    const before = known.get(key);
    if (before === undefined) known.set(key, item);
    else if (contents(before) !== contents(item)) {
      differs(before);
      if (lastWins) known.set(key, item);
    }
  };

  const add = (object: InputObject, about: Report = report): void => {
    const { value, origin } = object;
    const reader = readerOf(object.apiVersion, object.kind);
    if (reader === undefined) {
      reportMisspelt(object, about);
      return;
    }
    const keep = <T extends { readonly origin: Origin }>(
      known: Map<string, T>,
      key: string,
      kind: string,
      item: T,
    ) =>
      keepOne(known, key, item, (before) =>
        about(conflict(`${kind} ${key}`, before.origin, item.origin, lastWins)),
      );
    const keepHelper = <T extends Pod | Workload>(known: Map<string, T>, kind: string, item: T) => {
      const key = `${item.namespace}/${item.name}`;
      keepOne<T>(known, key, item, (first) => void copies.push({ kind, key, first, second: item }));
    };
    switch (reader) {
      case 'Service': {
        const service = readService(value, origin, about);
        if (service !== undefined) keep(services, `${service.namespace}/${service.name}`, 'Service', service);
        break;
      }
      case 'EndpointSlice': {
        const slice = readEndpointSlice(object.apiVersion, value, origin, about);
        if (slice !== undefined) keep(slices, `${slice.namespace}/${slice.name}`, 'EndpointSlice', slice);
        break;
      }
      case 'Endpoints': {
        const found = readEndpoints(value, origin, about);
        const first = found[0];
        if (first !== undefined) {
          keep(mirrored, `${first.namespace}/${first.serviceName}`, 'Endpoints', { origin, slices: found });
        }
        break;
      }
      case 'Node': {
        const node = readNode(value, origin, about);
        if (node !== undefined) keep(nodes, node.name, 'Node', node);
        break;
      }
      case 'Pod': {
        const pod = readPod(value, origin, about);
        if (pod !== undefined) keepHelper(pods, 'Pod', pod);
        break;
      }
      case 'Deployment':
      case 'StatefulSet':
      case 'DaemonSet':
      case 'ReplicaSet': {
        const workload = readWorkload(reader, value, origin, about);
        if (workload !== undefined) keepHelper(workloads[reader], reader, workload);
        break;
      }
      case 'KubeProxyConfiguration':
        configurations.push({
          configuration: readKubeProxyConfiguration(value, {
            object: 'KubeProxyConfiguration',
            origin,
            report: about,
          }),
          origin,
        });
        break;
      case 'ConfigMap':
        configurations.push(...readConfigMap(value, origin, about, parseYaml));
        break;
    }
  };

  const cluster = (): Cluster => {
    const found: Cluster = {
      services: sorted(
        [...services.values()].filter((service): service is Service => !('skipped' in service)),
      ),
      skippedServices: sorted(
        [...services.values()].filter((service): service is SkippedService => 'skipped' in service),
      ),
      endpointSlices: sorted([...slices.values()]),
      mirroredSlices: sorted([...mirrored.values()].flatMap((item) => item.slices)),
      nodes: sorted([...nodes.values()].map((node) => ({ namespace: '', ...node }))),
      pods: sorted([...pods.values()]),
      workloads: Object.values(workloads).flatMap((ofKind) => sorted([...ofKind.values()])),
      configurations,
    };
    reportCopies(copies, found, lastWins, report);
    // Once is enough, however often somebody asks for the cluster.
    copies = [];
    return found;
  };

  return { add, cluster };
}

/** The Services that select Pods, those without a cluster IP so far among them. */
export function selectingServices({ services, skippedServices }: Cluster): readonly Service[] {
  const unaddressed = skippedServices.flatMap((skipped) =>
    skipped.skipped === 'no cluster IP' ? [skipped.service] : [],
  );
  return [...services, ...unaddressed].filter(({ template }) => template.selector.size > 0);
}

function reportCopies(copies: readonly Copies[], cluster: Cluster, lastWins: boolean, report: Report): void {
  if (copies.length === 0) return;
  const served = new Set(
    [...cluster.endpointSlices, ...cluster.mirroredSlices].map(
      ({ namespace, serviceName }) => `${namespace}/${serviceName}`,
    ),
  );
  const open = selectingServices(cluster).filter(
    ({ namespace, name }) => !served.has(`${namespace}/${name}`),
  );
  const matter = copiesThatMatter(copies, open, cluster.pods);
  for (const pair of copies) {
    const { kind, key, first, second } = pair;
    const found = conflict(`${kind} ${key}`, first.origin, second.origin, lastWins);
    if (lastWins || matter.has(pair)) report(found);
    else {
      const { help: _, ...rest } = found;
      const message = `${found.message}; no endpoints come from it`;
      report({ ...rest, severity: 'warning', message });
    }
  }
}

function readConfigMap(
  value: JsonObject,
  origin: Origin,
  report: Report,
  parseYaml: (text: string) => unknown,
): FoundConfiguration[] {
  const metadata = fieldOf(value, 'metadata');
  const name = isObject(metadata) ? fieldOf(metadata, 'name') : undefined;
  const data = fieldOf(value, 'data');
  if (typeof name !== 'string' || !CONFIG_MAPS.has(name) || !isObject(data)) return [];
  const object = `ConfigMap ${String(isObject(metadata) ? (fieldOf(metadata, 'namespace') ?? 'default') : 'default')}/${name}`;
  const found: FoundConfiguration[] = [];
  for (const [key, text] of Object.entries(data)) {
    if (typeof text !== 'string' || !text.includes('KubeProxyConfiguration')) continue;
    // Fields inside of the text have no place of their own in the file: messages point at the key.
    const inner: Report = (diagnostic) =>
      report({
        ...diagnostic,
        object: `${object} (${key})`,
        field: ['data', key],
        message: within(diagnostic),
      });
    const context = { object, origin, report: inner };
    let parsed: unknown;
    try {
      parsed = parseYaml(text);
    } catch (error) {
      const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
      reportAt({ ...context, report }, 'error', 'invalid-yaml', ['data', key], `not YAML: ${reason}`);
      continue;
    }
    if (!isObject(parsed) || fieldOf(parsed, 'kind') !== 'KubeProxyConfiguration') continue;
    found.push({ configuration: readKubeProxyConfiguration(parsed, context), origin });
  }
  return found;
}

function within(diagnostic: Diagnostic): string {
  const path = (diagnostic.field ?? []).join('.');
  return path === '' ? diagnostic.message : `${path}: ${diagnostic.message}`;
}

function conflict(object: string, first: Origin, second: Origin, lastWins: boolean): Diagnostic {
  const common = {
    object,
    field: ['metadata', 'name'],
    origin: second,
    other: { origin: first, field: ['metadata', 'name'] },
  };
  if (lastWins) {
    return {
      ...common,
      code: 'overridden-object',
      severity: 'note',
      message: 'the same object was read before with other contents; this one counts',
    };
  }
  return {
    ...common,
    code: 'conflicting-objects',
    severity: 'error',
    message: `the same object was read before with other contents (${first.file})`,
    help: 'leave one of them out: the input has to be one cluster at one time; or let the later one count with --last-wins',
  };
}

/** What an object says, apart from where it stood. */
function contents(item: object): string {
  return JSON.stringify(item, (key, value: unknown) =>
    key === 'origin' ? undefined : value instanceof Map ? [...value].sort() : value,
  );
}

/** By namespace, then name, byte by byte: the order of everything that kube-proxy leaves to chance. */
function sorted<T extends { readonly namespace: string; readonly name: string }>(items: T[]): T[] {
  return items.sort((a, b) => compareText(a.namespace, b.namespace) || compareText(a.name, b.name));
}

/** Order of code units, which does not depend on any locale. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
