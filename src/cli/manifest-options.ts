/** Options for objects that were not applied to a cluster yet, and what becomes of a cluster by them. */
import type { Command } from 'commander';
import type { Diagnostic, Report } from '../diagnostics.ts';
import {
  type CIDR,
  type Cluster,
  DEFAULT_NODE_PORTS,
  parseCIDR,
  type ServiceRanges,
  type SettingsRequest,
  withPodEndpoints,
  withServiceAddresses,
} from '../kube/index.ts';
import { UsageError } from './usage-error.ts';

export interface ManifestOptions {
  readonly assumeReady?: boolean;
  readonly lastWins?: boolean;
  readonly serviceCidr?: string;
  readonly serviceNodePortRange?: string;
}

/** Adds them, in the group that is open. */
export function addManifestOptions(command: Command): void {
  command
    .option(
      '--service-cidr <cidr[,cidr]>',
      'invent cluster IPs for Services that have none, the same ones on every run; and node ports',
    )
    .option(
      '--service-node-port-range <low-high>',
      `where node ports are invented; with --service-cidr by default ${DEFAULT_NODE_PORTS.first}-${DEFAULT_NODE_PORTS.last}`,
    )
    .option(
      '--assume-ready',
      'invent endpoints, out of the cluster CIDR, for Services whose Pods are known by their Deployments and the like alone',
    )
    .option(
      '--last-wins',
      'of objects with one name that differ, the later one counts; without, they are an error',
    );
}

/** What the options ask for. */
export interface ManifestRequest {
  readonly ranges: ServiceRanges;
  readonly assumeReady: boolean;
}

/** Throws a UsageError. */
export function manifestRequest(options: ManifestOptions): ManifestRequest {
  return { ranges: serviceRanges(options), assumeReady: options.assumeReady === true };
}

function serviceRanges(options: ManifestOptions): ServiceRanges {
  const serviceCIDRs = (options.serviceCidr ?? '').split(',').flatMap((text): CIDR[] => {
    if (text.trim() === '') return [];
    const cidr = parseCIDR(text.trim());
    if (cidr === undefined) {
      throw new UsageError(`--service-cidr: ${JSON.stringify(text)} is not a CIDR such as 10.96.0.0/12`);
    }
    return [cidr];
  });
  if (options.serviceCidr !== undefined && serviceCIDRs.length === 0) {
    throw new UsageError('--service-cidr: found nothing, expected a CIDR such as 10.96.0.0/12');
  }
  if (new Set(serviceCIDRs.map(({ family }) => family)).size < serviceCIDRs.length) {
    throw new UsageError('--service-cidr: give one CIDR, or one of each family');
  }
  const small = serviceCIDRs.find(({ bytes, prefixLength }) => bytes.length * 8 - prefixLength < 2);
  if (small !== undefined) throw new UsageError(`--service-cidr: ${small.text} has no room for Services`);
  return { serviceCIDRs, nodePorts: nodePortRange(options) };
}

/** As kube-apiserver's option takes it (PortRange.Set in apimachinery): `30000-32767`, `30000+2767`, `30000`. */
function nodePortRange(options: ManifestOptions): ServiceRanges['nodePorts'] {
  const text = options.serviceNodePortRange;
  if (text === undefined) return options.serviceCidr === undefined ? undefined : DEFAULT_NODE_PORTS;
  const [, first, sign, second = first] = /^(\d{1,5})(?:([-+])(\d{1,5}))?$/.exec(text) ?? [];
  const range = { first: Number(first), last: Number(second) + (sign === '+' ? Number(first) : 0) };
  if (!(range.first > 0 && range.first <= range.last && range.last <= 65535)) {
    throw new UsageError(
      `--service-node-port-range: ${JSON.stringify(text)} is not a range of ports such as 30000-32767`,
    );
  }
  return range;
}

/** The cluster with endpoints from its Pods where it has no slices; those of --assume-ready are invented. */
export function deriveEndpoints(
  cluster: Cluster,
  { assumeReady }: ManifestRequest,
  { flags, configuration, node }: Pick<SettingsRequest, 'flags' | 'configuration' | 'node'>,
  report: Report,
): Cluster {
  const found = configuration ?? cluster.configurations[0];
  const texts = flags?.clusterCIDRs ?? found?.configuration.clusterCIDRs ?? [];
  const podCIDRs = texts.flatMap((text) => parseCIDR(text) ?? []);
  return withPodEndpoints(
    cluster,
    { assumeReady: assumeReady ? { podCIDRs, nodeName: node } : undefined },
    report,
  );
}

/** The cluster with addresses for its Services; they are invented. */
export function inventAddresses(cluster: Cluster, { ranges }: ManifestRequest, report: Report): Cluster {
  return withServiceAddresses(cluster, ranges, report);
}

/** Whether a message about a Service that lacks something says nothing any more: in this cluster it has it. */
export function answeredBy(cluster: Cluster): (diagnostic: Diagnostic) => boolean {
  const services = new Map(
    cluster.services.map((service) => [`Service ${service.namespace}/${service.name}`, service]),
  );
  return ({ code, object = '' }) => {
    const service = services.get(object);
    if (service === undefined) return false;
    if (code === 'no-cluster-ip') return true;
    if (code === 'no-node-port') return service.ports.every(({ nodePort }) => nodePort !== 0);
    return code === 'no-health-check-node-port' && service.healthCheckNodePort !== 0;
  };
}
