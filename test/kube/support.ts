import { type Diagnostic, formatFieldPath, type Origin, type Report } from '../../src/diagnostics.ts';
import { type Cluster, clusterCollector } from '../../src/kube/index.ts';
import { DEFAULT_LIMITS, parseYaml } from '../../src/load/index.ts';

export const ORIGIN: Origin = { file: 'test.yaml', format: 'yaml', start: 0, end: 0, path: [] };

export interface Told<T> {
  readonly value: T;
  /** `error invalid-ip at spec.clusterIP: "x" is not an IP address` */
  readonly problems: readonly string[];
}

/** Runs something that reports, and gives what it said beside what it returned. */
export function told<T>(run: (report: Report) => T): Told<T> {
  const problems: string[] = [];
  return { value: run((diagnostic) => problems.push(inOneLine(diagnostic))), problems };
}

function inOneLine({ severity, code, field, message }: Diagnostic): string {
  const at = field === undefined || field.length === 0 ? '' : ` at ${formatFieldPath(field)}`;
  return `${severity} ${code}${at}: ${message}`;
}

export type Manifest = Readonly<Record<string, unknown>>;

/** The documents of a YAML text, with the meaning that they have for kubectl. */
export function documents(text: string): readonly unknown[] {
  return parseYaml(text, DEFAULT_LIMITS);
}

export function serviceManifest(spec: Manifest, rest: Manifest = {}): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'shop', name: 'web' },
    spec: { clusterIP: '10.96.0.50', ports: [{ port: 80 }], ...spec },
    ...rest,
  };
}

export function sliceManifest(fields: Manifest, metadata: Manifest = {}): Manifest {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      namespace: 'shop',
      name: 'web-1',
      labels: { 'kubernetes.io/service-name': 'web' },
      ...metadata,
    },
    addressType: 'IPv4',
    ports: [{ name: '', port: 8080, protocol: 'TCP' }],
    endpoints: [{ addresses: ['10.244.1.10'], nodeName: 'node-a' }],
    ...fields,
  };
}

export function nodeManifest(status: Manifest, rest: Manifest = {}): Manifest {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-a' }, status, ...rest };
}

export function configurationManifest(fields: Manifest): Manifest {
  return {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    ...fields,
  };
}

export function collect(objects: readonly Manifest[], report: Report): Cluster {
  const collector = clusterCollector(report, (text) => documents(text)[0]);
  for (const value of objects) {
    collector.add({
      apiVersion: String(value.apiVersion),
      kind: String(value.kind),
      value,
      origin: ORIGIN,
    });
  }
  return collector.cluster();
}
