/** The kinds of objects that are read, and their versions. */
import { showValue } from './fields.ts';
import type { WorkloadKind } from './pod.ts';

/**
 * Whether a collector has anything to do with objects of this kind: it reads them, or warns that their kind or version
 * is misspelt. The rest can be skipped before it is built.
 */
export function isReadKind(apiVersion: string, kind: string): boolean {
  return readerOf(apiVersion, kind) !== undefined || misspelt(apiVersion, kind) !== undefined;
}

/** What decides about rules; Pods and what makes them only help where a Service has no slices. */
export function isCompiledKind(apiVersion: string, kind: string): boolean {
  const reader = readerOf(apiVersion, kind);
  return reader === 'Service' || reader === 'EndpointSlice' || reader === 'Endpoints' || reader === 'Node';
}

type Reader =
  | 'Service'
  | 'Endpoints'
  | 'Node'
  | 'EndpointSlice'
  | 'Pod'
  | WorkloadKind
  | 'KubeProxyConfiguration'
  | 'ConfigMap';

/** Those of 1.8 and earlier are still in repositories. */
const WORKLOAD_VERSIONS = ['apps/v1', 'apps/v1beta2', 'apps/v1beta1', 'extensions/v1beta1'];

/** Which reader an object goes to; undefined where none reads it. */
export function readerOf(apiVersion: string, kind: string): Reader | undefined {
  switch (kind) {
    case 'Service':
    case 'Endpoints':
    case 'Node':
    case 'Pod':
    case 'ConfigMap':
      return apiVersion === 'v1' ? kind : undefined;
    case 'Deployment':
    case 'StatefulSet':
    case 'DaemonSet':
    case 'ReplicaSet':
      return WORKLOAD_VERSIONS.includes(apiVersion) ? kind : undefined;
    case 'EndpointSlice':
      return apiVersion === 'discovery.k8s.io/v1' || apiVersion === 'discovery.k8s.io/v1beta1'
        ? kind
        : undefined;
    case 'KubeProxyConfiguration':
      return kind;
    default:
      return undefined;
  }
}

const ACCEPTED_VERSIONS: Readonly<Record<Reader, readonly string[]>> = {
  Service: ['v1'],
  Endpoints: ['v1'],
  Node: ['v1'],
  Pod: ['v1'],
  ConfigMap: ['v1'],
  Deployment: WORKLOAD_VERSIONS,
  StatefulSet: WORKLOAD_VERSIONS,
  DaemonSet: WORKLOAD_VERSIONS,
  ReplicaSet: WORKLOAD_VERSIONS,
  EndpointSlice: ['discovery.k8s.io/v1', 'discovery.k8s.io/v1beta1'],
  KubeProxyConfiguration: ['kubeproxy.config.k8s.io/v1alpha1'],
};

const READ_KINDS: ReadonlyMap<string, { readonly kind: string; readonly versions: readonly string[] }> =
  new Map([
    ['list', { kind: 'List', versions: ['v1'] }],
    ...Object.entries(ACCEPTED_VERSIONS).flatMap(([kind, versions]) => [
      [kind.toLowerCase(), { kind, versions }] as const,
      [`${kind.toLowerCase()}list`, { kind: `${kind}List`, versions }] as const,
    ]),
  ]);

/** A kind of this name in any other group is somebody else's: Service of serving.knative.dev. */
const GROUPS = new Set(['', 'core', 'apps', 'extensions', 'discovery.k8s.io', 'kubeproxy.config.k8s.io']);

/** What is wrong with a kind that is almost one of those that are read. */
export function misspelt(
  apiVersion: string,
  kind: string,
): { readonly field: 'kind' | 'apiVersion'; readonly message: string } | undefined {
  const read = READ_KINDS.get(kind.toLowerCase());
  if (read === undefined || apiVersion === '') return undefined;
  const slash = apiVersion.indexOf('/');
  const group = slash < 0 ? '' : apiVersion.slice(0, slash).toLowerCase();
  if (!GROUPS.has(group)) return undefined;
  if (read.kind !== kind) {
    return { field: 'kind', message: `found ${showValue(kind)}, expected ${read.kind}; it is not read` };
  }
  // Lists are taken apart before anybody asks.
  if (kind.endsWith('List') || readerOf(apiVersion, kind) !== undefined) return undefined;
  const accepted = read.versions.join(', ').replace(/, ([^,]*)$/, ' or $1');
  return {
    field: 'apiVersion',
    message: `found ${showValue(apiVersion)}, expected ${accepted} for ${/^[AEIOU]/.test(kind) ? 'an' : 'a'} ${kind}; it is not read`,
  };
}
