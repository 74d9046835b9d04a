/** Options for objects that were not applied to a cluster yet, and what becomes of a cluster by them. */
import type { Command } from 'commander';
import type { Diagnostic, Report } from '../diagnostics.ts';
import {
  type CIDR,
  type Cluster,
  DEFAULT_NODE_PORTS,
  parseCIDR,
  type ServiceRanges,
  withServiceAddresses,
} from '../kube/index.ts';
import { UsageError } from './usage-error.ts';

export interface ManifestOptions {
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
    );
}

/** The ranges of the options. Throws a UsageError. */
export function serviceRanges(options: ManifestOptions): ServiceRanges {
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

function nodePortRange(options: ManifestOptions): ServiceRanges['nodePorts'] {
  const text = options.serviceNodePortRange;
  if (text === undefined) return options.serviceCidr === undefined ? undefined : DEFAULT_NODE_PORTS;
  const [, first, last] = /^(\d{1,5})-(\d{1,5})$/.exec(text) ?? [];
  const range = { first: Number(first), last: Number(last) };
  if (!(range.first > 0 && range.first <= range.last && range.last <= 65535)) {
    throw new UsageError(
      `--service-node-port-range: ${JSON.stringify(text)} is not a range of ports such as 30000-32767`,
    );
  }
  return range;
}

/** The cluster with what the options invent. */
export function completeCluster(cluster: Cluster, ranges: ServiceRanges, report: Report): Cluster {
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
