import type { FieldPath, Origin, Report } from '../diagnostics.ts';
import {
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
import { type CIDR, type IPAddress, type IPFamily, parseCIDR, parseIP } from './ip.ts';
import { ANNOTATIONS_THAT_COUNT, LABELS_THAT_COUNT } from './kube-proxy-version.ts';
import { readObjectName } from './object-name.ts';
import { readPortName } from './port-name.ts';
import { type Protocol, readProtocol } from './protocol.ts';
import { readServiceTemplate, readTargetPort, type ServiceTemplate } from './service-template.ts';

export type TrafficPolicy = 'Cluster' | 'Local';

/** An address and the text that it was given as: old versions write that text. */
export interface GivenAddress {
  readonly given: string;
  readonly ip: IPAddress;
}

export interface GivenCIDR {
  /** Without the blanks around it. */
  readonly given: string;
  readonly cidr: CIDR;
}

export interface ServicePortSpec {
  /** Empty where the port has no name. */
  readonly name: string;
  readonly protocol: Protocol;
  readonly port: number;
  /** 0 where there is none. */
  readonly nodePort: number;
  /** Where Pods listen; undefined where that is `port` itself. */
  readonly targetPort: number | string | undefined;
}

/** A Service, as far as it matters to kube-proxy. */
export interface Service {
  readonly namespace: string;
  readonly name: string;
  /** Those alone that some kube-proxy asks for, and so of the annotations: others make no copy another Service. */
  readonly labels: ReadonlyMap<string, string>;
  readonly annotations: ReadonlyMap<string, string>;
  readonly type: 'ClusterIP' | 'NodePort' | 'LoadBalancer';
  readonly clusterIPs: readonly { readonly family: IPFamily; readonly ip: IPAddress }[];
  readonly ports: readonly ServicePortSpec[];
  readonly externalIPs: readonly GivenAddress[];
  readonly loadBalancerIPs: readonly (GivenAddress & { readonly ipMode: 'VIP' | 'Proxy' })[];
  readonly sourceRanges: readonly GivenCIDR[];
  /** Seconds that ClientIP affinity lasts; undefined without affinity. */
  readonly affinitySeconds: number | undefined;
  readonly internalTrafficPolicy: TrafficPolicy;
  readonly externalTrafficPolicy: TrafficPolicy;
  readonly healthCheckNodePort: number;
  readonly template: ServiceTemplate;
  readonly origin: Origin;
}

/** A Service that kube-proxy never looks at, whatever its version. */
export type SkippedService = {
  readonly namespace: string;
  readonly name: string;
  readonly origin: Origin;
} & (
  | { readonly skipped: 'ExternalName' | 'headless' }
  /** A manifest that was not applied: the Service as far as it goes, for whoever knows its address. */
  | { readonly skipped: 'no cluster IP'; readonly service: Service }
);

const SERVICE_TYPES = ['ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName'] as const;
const POLICIES: readonly TrafficPolicy[] = ['Cluster', 'Local'];
const FAMILIES: readonly IPFamily[] = ['IPv4', 'IPv6'];
const MAX_PORT = 65535;
/** API default and limit of sessionAffinityConfig.clientIP.timeoutSeconds. */
const DEFAULT_AFFINITY_SECONDS = 10800;
const MAX_AFFINITY_SECONDS = 86400;

/**
 * Reads a Service of core/v1. Returns undefined, after at least one error, where the API server would not
 * have taken it: a rule made from half of it could let in traffic that the whole would not.
 * Which Services are skipped: kube-proxy's ShouldSkipService and GetClusterIPByFamily.
 */
export function readService(
  value: JsonObject,
  origin: Origin,
  sink: Report,
): Service | SkippedService | undefined {
  let failed = false;
  const watch: Report = (diagnostic) => {
    if (diagnostic.severity === 'error') failed = true;
    sink(diagnostic);
  };
  const object = readObjectName('Service', 'namespaced', 'label', value, origin, watch);
  if (object === undefined) return undefined;
  const { namespace, name, metadata, context } = object;
  const spec = objectField(context, value, 'spec', []) ?? {};
  const type = enumField(context, spec, 'type', ['spec'], SERVICE_TYPES) ?? 'ClusterIP';
  if (type === 'ExternalName') {
    report(
      context,
      'note',
      'service-skipped',
      ['spec', 'type'],
      'kube-proxy makes no rules for ExternalName Services',
    );
    return { namespace, name, skipped: 'ExternalName', origin };
  }
  const clusterIPs = readClusterIPs(context, spec);
  if (clusterIPs === 'headless') return { namespace, name, skipped: 'headless', origin };

  const externalTrafficPolicy =
    enumField(context, spec, 'externalTrafficPolicy', ['spec'], POLICIES) ?? 'Cluster';
  const service: Service = {
    namespace,
    name,
    labels: stringMapField(context, metadata, 'labels', ['metadata'], LABELS_THAT_COUNT),
    annotations: stringMapField(context, metadata, 'annotations', ['metadata'], ANNOTATIONS_THAT_COUNT),
    type,
    clusterIPs: clusterIPs === 'no cluster IP' ? [] : clusterIPs,
    ports: readPorts(context, spec),
    externalIPs: readExternalIPs(context, spec),
    loadBalancerIPs: readLoadBalancerIPs(context, value),
    sourceRanges: readSourceRanges(context, spec),
    affinitySeconds: readAffinity(context, spec),
    internalTrafficPolicy: enumField(context, spec, 'internalTrafficPolicy', ['spec'], POLICIES) ?? 'Cluster',
    externalTrafficPolicy,
    healthCheckNodePort: integerField(context, spec, 'healthCheckNodePort', ['spec'], 0, MAX_PORT) ?? 0,
    template: readServiceTemplate(context, spec),
    origin,
  };
  if (
    type === 'LoadBalancer' &&
    externalTrafficPolicy === 'Local' &&
    service.healthCheckNodePort === 0 &&
    service.loadBalancerIPs.length > 0
  ) {
    report(
      context,
      'warning',
      'no-health-check-node-port',
      ['spec', 'healthCheckNodePort'],
      'the Service needs a health check node port and has none; no rule lets health checks in',
    );
  }
  if (clusterIPs !== 'no cluster IP' && type === 'NodePort') reportNoNodePort(context, service);
  if (type === 'ClusterIP') reportUnexpectedNodePort(context, service);
  if (failed) return undefined;
  return clusterIPs === 'no cluster IP' ? { namespace, name, skipped: clusterIPs, service, origin } : service;
}

function reportNoNodePort(context: ObjectContext, { ports }: Service): void {
  const index = ports.findIndex(({ nodePort }) => nodePort === 0);
  if (index === -1) return;
  report(
    context,
    'warning',
    'no-node-port',
    ['spec', 'ports', index],
    'the port of a NodePort Service has no node port yet and gets no rules for it',
    'compile what the cluster holds, or invent node ports with --service-node-port-range 30000-32767',
  );
}

/** kube-proxy goes by the number alone; the API server takes none here. */
function reportUnexpectedNodePort(context: ObjectContext, { ports }: Service): void {
  const index = ports.findIndex(({ nodePort }) => nodePort !== 0);
  if (index === -1) return;
  report(
    context,
    'warning',
    'unexpected-node-port',
    ['spec', 'ports', index, 'nodePort'],
    'a Service of type ClusterIP has a node port, which kube-proxy would open and no API server takes',
    'leave it out, or set type to NodePort',
  );
}

function readClusterIPs(
  context: ObjectContext,
  spec: JsonObject,
): Service['clusterIPs'] | 'headless' | 'no cluster IP' {
  const listed = stringListField(context, spec, 'clusterIPs', ['spec']).map(({ text }) => text);
  const first = stringField(context, spec, 'clusterIP', ['spec']) || listed[0] || '';
  if (first === 'None') {
    const headlessField: FieldPath = ['spec', 'clusterIP'];
    report(
      context,
      'note',
      'service-skipped',
      headlessField,
      'kube-proxy makes no rules for headless Services',
    );
    const external = stringListField(context, spec, 'externalIPs', ['spec']);
    if (external.length > 0) {
      report(
        context,
        'warning',
        'external-ips-unused',
        ['spec', 'externalIPs'],
        'external IPs of a headless Service have no effect',
      );
    }
    return 'headless';
  }
  if (first === '') {
    report(
      context,
      'warning',
      'no-cluster-ip',
      ['spec', 'clusterIP'],
      'the Service has no cluster IP yet and gets no rules',
      'compile what the cluster holds (kubectl get services,endpointslices,nodes -A -o yaml), or invent addresses with --service-cidr',
    );
    return 'no cluster IP';
  }
  const texts = listed.length > 0 ? listed : [first];
  if (texts[0] !== first) {
    report(
      context,
      'error',
      'cluster-ip-mismatch',
      ['spec', 'clusterIPs', 0],
      `found ${showValue(texts[0])}, expected the value of spec.clusterIP, ${showValue(first)}`,
    );
    return [];
  }
  const families = stringListField(context, spec, 'ipFamilies', ['spec']);
  const clusterIPs: { family: IPFamily; ip: IPAddress }[] = [];
  texts.forEach((text, index) => {
    const path = listed.length > 0 ? ['spec', 'clusterIPs', index] : ['spec', 'clusterIP'];
    const ip = parseIP(text);
    if (ip === undefined) {
      report(context, 'error', 'invalid-ip', path, `${showValue(text)} is not an IP address`);
      return;
    }
    // A family that ipFamilies does not name gets no rules (GetClusterIPByFamily goes by its index).
    const declared = families[index]?.text;
    if (families.length > 0 && declared === undefined) {
      report(
        context,
        'note',
        'cluster-ip-unused',
        path,
        'spec.ipFamilies does not name its family: it gets no rules',
      );
      return;
    }
    if (declared !== undefined && declared !== ip.family) {
      const accepted = FAMILIES.some((family) => family === declared)
        ? `the family of spec.clusterIPs[${index}], ${ip.family}`
        : 'IPv4 or IPv6';
      report(
        context,
        'error',
        'invalid-ip-family',
        ['spec', 'ipFamilies', index],
        `found ${showValue(declared)}, expected ${accepted}`,
      );
      return;
    }
    if (clusterIPs.some((other) => other.family === ip.family)) {
      report(
        context,
        'error',
        'invalid-ip-family',
        path,
        `a second ${ip.family} cluster IP; a Service has one of each family`,
      );
      return;
    }
    clusterIPs.push({ family: ip.family, ip });
  });
  return clusterIPs;
}

function readPorts(context: ObjectContext, spec: JsonObject): ServicePortSpec[] {
  const byKey = new Map<string, ServicePortSpec>();
  const ports = objectListField(context, spec, 'ports', ['spec']);
  if (ports.length === 0) {
    report(context, 'warning', 'no-ports', ['spec', 'ports'], 'the Service has no ports and gets no rules');
  }
  for (const { value, index } of ports) {
    const path: FieldPath = ['spec', 'ports', index];
    const name = readPortName(context, value, path);
    if (name === undefined) continue;
    if ((fieldOf(value, 'port') ?? undefined) === undefined) {
      report(
        context,
        'error',
        'no-port',
        [...path, 'port'],
        'the port has no number, expected one from 1 to 65535',
      );
      continue;
    }
    const protocol = readProtocol(context, value, path);
    const port = integerField(context, value, 'port', path, 1, MAX_PORT) ?? 0;
    const nodePort = integerField(context, value, 'nodePort', path, 0, MAX_PORT) ?? 0;
    // kube-proxy's map of service ports keeps the later of two entries.
    const key = `${name}:${protocol}`;
    if (byKey.has(key)) {
      report(
        context,
        'warning',
        'duplicate-port',
        path,
        `another port of this Service has the same name and protocol (${showValue(name)}, ${protocol}); kube-proxy uses this one alone`,
      );
      byKey.delete(key);
    }
    const targetPort = readTargetPort(context, value, path);
    byKey.set(key, { name, protocol, port, nodePort, targetPort });
  }
  return [...byKey.values()];
}

function readExternalIPs(context: ObjectContext, spec: JsonObject): GivenAddress[] {
  const addresses: GivenAddress[] = [];
  for (const { text, index } of stringListField(context, spec, 'externalIPs', ['spec'])) {
    const ip = parseIP(text);
    if (ip === undefined) {
      report(
        context,
        'error',
        'invalid-ip',
        ['spec', 'externalIPs', index],
        `${showValue(text)} is not an IP address`,
      );
    } else addresses.push({ given: text, ip });
  }
  return addresses;
}

function readLoadBalancerIPs(context: ObjectContext, value: JsonObject): Service['loadBalancerIPs'] {
  const status = objectField(context, value, 'status', []);
  const loadBalancer = status && objectField(context, status, 'loadBalancer', ['status']);
  if (loadBalancer === undefined) return [];
  const at: FieldPath = ['status', 'loadBalancer', 'ingress'];
  const addresses: (GivenAddress & { ipMode: 'VIP' | 'Proxy' })[] = [];
  for (const { value: ingress, index } of objectListField(context, loadBalancer, 'ingress', [
    'status',
    'loadBalancer',
  ])) {
    const path = [...at, index];
    const text = stringField(context, ingress, 'ip', path) ?? '';
    if (text === '') {
      report(
        context,
        'note',
        'ingress-without-ip',
        path,
        'an ingress without an IP address gets no rules; its host name is resolved outside of the cluster',
      );
      continue;
    }
    const ip = parseIP(text);
    if (ip === undefined) {
      report(context, 'error', 'invalid-ip', [...path, 'ip'], `${showValue(text)} is not an IP address`);
      continue;
    }
    addresses.push({
      given: text,
      ip,
      ipMode: enumField(context, ingress, 'ipMode', path, ['VIP', 'Proxy'] as const) ?? 'VIP',
    });
  }
  return addresses;
}

function readSourceRanges(context: ObjectContext, spec: JsonObject): GivenCIDR[] {
  const ranges: GivenCIDR[] = [];
  for (const { text, index } of stringListField(context, spec, 'loadBalancerSourceRanges', ['spec'])) {
    const path: FieldPath = ['spec', 'loadBalancerSourceRanges', index];
    const given = text.trim();
    const cidr = parseCIDR(given);
    if (cidr === undefined) {
      report(context, 'error', 'invalid-cidr', path, `${showValue(text)} is not a CIDR such as 192.0.2.0/24`);
      continue;
    }
    if (given !== text) {
      report(
        context,
        'warning',
        'blanks-in-cidr',
        path,
        `blanks around ${given} were cut off, as kube-proxy does`,
      );
    }
    ranges.push({ given, cidr });
  }
  return ranges;
}

function readAffinity(context: ObjectContext, spec: JsonObject): number | undefined {
  if (enumField(context, spec, 'sessionAffinity', ['spec'], ['None', 'ClientIP'] as const) !== 'ClientIP') {
    return undefined;
  }
  const path = ['spec', 'sessionAffinityConfig'];
  const config = objectField(context, spec, 'sessionAffinityConfig', ['spec']);
  const clientIP = config && objectField(context, config, 'clientIP', path);
  return (
    (clientIP &&
      integerField(context, clientIP, 'timeoutSeconds', [...path, 'clientIP'], 1, MAX_AFFINITY_SECONDS)) ??
    DEFAULT_AFFINITY_SECONDS
  );
}
