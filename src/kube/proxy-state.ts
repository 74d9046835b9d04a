import type { Report } from '../diagnostics.ts';
import type { Cluster } from './cluster.ts';
import { compareText } from './cluster.ts';
import { filterEndpoints } from './endpoint-filtering.ts';
import { type Endpoint, type EndpointSelection, selectEndpoints } from './endpoint-selection.ts';
import type { EndpointSlice } from './endpoint-slice.ts';
import { gateIsOn, NO_GATES } from './feature-gates.ts';
import { report as reportAt } from './fields.ts';
import { reportMappedEndpoints } from './given-endpoints.ts';
import { type IPAddress, type IPFamily, joinHostPort } from './ip.ts';
import { DEFAULT_IPVS_SETTINGS, type IpvsSettings } from './ipvs-settings.ts';
import type { KubeProxyConfiguration } from './kube-proxy-configuration.ts';
import type { KubeProxyVersion } from './kube-proxy-version.ts';
import { type LocalDetector, localDetector } from './local-detection.ts';
import type { Node } from './node.ts';
import {
  boundIP,
  LOOPBACK_INTERFACE,
  type NetworkInterface,
  type NodePortAddresses,
  nodeIPs,
  nodePortAddresses,
} from './node-addresses.ts';
import type { Service } from './service.ts';
import {
  reportMisreadAddresses,
  reportUnusedAddresses,
  type ServicePort,
  type ServicePortWithoutEndpoints,
  servicePorts,
  usesEndpoints,
} from './service-port.ts';
import { reportShadowedPorts } from './shadowed-ports.ts';

/** Whose rules: the node, its kube-proxy's version and configuration. */
export interface NodeSettings {
  /** Empty where nobody said: then no endpoint is local. */
  readonly nodeName: string;
  readonly node: Node | undefined;
  /** Interfaces apart from lo; undefined: the Node's internal addresses. */
  readonly interfaces: readonly NetworkInterface[] | undefined;
  readonly configuration: KubeProxyConfiguration;
  readonly version: KubeProxyVersion;
}

/** All that decides about the rules of one family on one node: what every proxy mode compiles from. */
export interface ProxyState {
  readonly family: IPFamily;
  readonly version: KubeProxyVersion;
  readonly servicePorts: readonly ServicePort[];
  /** Endpoints of all service ports together, usable or not. */
  readonly totalEndpoints: number;
  readonly nodeIP: IPAddress;
  readonly localDetector: LocalDetector;
  readonly nodePortAddresses: NodePortAddresses;
  readonly masqueradeAll: boolean;
  readonly masqueradeBit: number;
  readonly localhostNodePorts: boolean;
  readonly tcpBeLiberal: boolean;
  /** Addresses of all interfaces of the node, of both families, lo among them. */
  readonly interfaceAddresses: readonly IPAddress[];
  readonly ipvs: IpvsSettings;
}

const DEFAULT_MASQUERADE_BIT = 14;

/** The state of both families, as on a dual-stack node; service ports by namespace, name, port name, protocol. */
export function proxyStates(
  cluster: Cluster,
  settings: NodeSettings,
  report: Report,
): Readonly<Record<IPFamily, ProxyState>> {
  const services = cluster.services.filter((service) => isWatched(service, settings, report));
  for (const service of services) {
    reportUnusedAddresses(service, report);
    reportMisreadAddresses(service, settings.version, report);
  }
  reportShadowedPorts(services, report);
  const slices = slicesByService(cluster, services, settings, report);
  reportMappedEndpoints(slices.values(), settings.version, report);
  return {
    IPv4: proxyState('IPv4', services, slices, settings),
    IPv6: proxyState('IPv6', services, slices, settings),
  };
}

/** kube-proxy's watch leaves out Services that carry certain labels, whatever their value. */
function isWatched(service: Service, settings: NodeSettings, report: Report): boolean {
  const label = settings.version.behaviour.serviceIgnoredBy.find((name) => service.labels.has(name));
  if (label === undefined) return true;
  reportAt(
    { object: `Service ${service.namespace}/${service.name}`, origin: service.origin, report },
    'note',
    'service-skipped',
    ['metadata', 'labels', label],
    `kube-proxy ${settings.version.text} does not look at Services with the label ${label}`,
  );
  return false;
}

type SlicesByService = ReadonlyMap<string, readonly EndpointSlice[]>;

function slicesByService(
  cluster: Cluster,
  services: readonly Service[],
  { version }: NodeSettings,
  report: Report,
): SlicesByService {
  const byService = new Map<string, EndpointSlice[]>();
  const known = new Set(services.map((service) => `${service.namespace}/${service.name}`));
  const note = (slice: EndpointSlice, code: string, path: readonly string[], message: string) =>
    reportAt(
      { object: `EndpointSlice ${slice.namespace}/${slice.name}`, origin: slice.origin, report },
      'note',
      code,
      path,
      message,
    );
  const withOwnSlices = new Set<string>();
  for (const slice of cluster.endpointSlices) {
    const key = `${slice.namespace}/${slice.serviceName}`;
    withOwnSlices.add(key);
    const label = version.behaviour.endpointSliceIgnoredBy.find((name) => slice.labels.has(name));
    if (label !== undefined) {
      note(
        slice,
        'slice-skipped',
        ['metadata', 'labels', label],
        `kube-proxy ${version.text} does not look at EndpointSlices with the label ${label}`,
      );
    } else if (!known.has(key)) {
      note(
        slice,
        'slice-without-service',
        ['metadata', 'labels'],
        `no rules: there is no Service ${key} that gets any`,
      );
    } else add(byService, key, ofOneFamily(slice, version, report));
  }
  const told = new Set<string>();
  for (const slice of cluster.mirroredSlices) {
    const key = `${slice.namespace}/${slice.serviceName}`;
    const reason = whyUnused(slice, key, known, withOwnSlices, version);
    if (reason === undefined) add(byService, key, slice);
    else if (!told.has(key)) {
      told.add(key);
      reportAt(
        { object: `Endpoints ${key}`, origin: slice.origin, report },
        'note',
        'endpoints-unused',
        [],
        reason,
      );
    }
  }
  return byService;
}

/** Why a slice that was mirrored from an Endpoints object has no part in the rules; undefined where it has. */
function whyUnused(
  slice: EndpointSlice,
  service: string,
  known: ReadonlySet<string>,
  withOwnSlices: ReadonlySet<string>,
  version: KubeProxyVersion,
): string | undefined {
  if (!known.has(service)) return `no rules: there is no Service ${service} that gets any`;
  if (withOwnSlices.has(service)) return 'the Service has EndpointSlices, which count';
  // The labels of an Endpoints object are copied to its slices.
  const label = version.behaviour.endpointSliceIgnoredBy.find((name) => slice.labels.has(name));
  return label && `kube-proxy ${version.text} does not look at EndpointSlices with the label ${label}`;
}

function add(map: Map<string, EndpointSlice[]>, key: string, slice: EndpointSlice): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [slice]);
  else list.push(slice);
}

/**
 * Takes out endpoints whose address is not of the slice's type. Versions that check it skip them; the later
 * ones would write them, and the kernel would refuse the whole table.
 */
function ofOneFamily(slice: EndpointSlice, version: KubeProxyVersion, report: Report): EndpointSlice {
  const { addressType } = slice;
  if (slice.endpoints.every(({ family }) => family === addressType)) return slice;
  const checks = version.behaviour.checksEndpointFamily;
  const endpoints = slice.endpoints.filter(({ family, address, index }) => {
    if (family === addressType) return true;
    reportAt(
      { object: `EndpointSlice ${slice.namespace}/${slice.name}`, origin: slice.origin, report },
      checks ? 'warning' : 'error',
      'wrong-family',
      ['endpoints', index, 'addresses', 0],
      checks
        ? `${address} is skipped: the slice is of address type ${addressType}`
        : `${address} in a slice of address type ${addressType}; kube-proxy ${version.text} does not check that and its rules would not load`,
      checks ? undefined : `move it to a slice of address type ${family}`,
    );
    return false;
  });
  return { ...slice, endpoints };
}

function proxyState(
  family: IPFamily,
  services: readonly Service[],
  slices: SlicesByService,
  settings: NodeSettings,
): ProxyState {
  const { configuration, version, node } = settings;
  const ips = nodeIPs(node, configuration);
  const interfaces = [
    LOOPBACK_INTERFACE,
    ...(settings.interfaces ?? [{ name: '', addresses: node?.internalIPs ?? [] }]),
  ];
  const addresses = nodePortAddresses(configuration, family, ips, interfaces, version);
  let totalEndpoints = 0;
  const ports: ServicePort[] = [];
  for (const service of services) {
    const specs = servicePorts(service, family, version, configuration);
    if (specs.length === 0) continue;
    const ofService = slices.get(`${service.namespace}/${service.name}`) ?? [];
    const hintsCount = hintsOfServiceCount(service, settings);
    specs.sort((a, b) => compareText(a.portName, b.portName) || compareText(a.protocol, b.protocol));
    for (const port of specs) {
      const endpoints = endpointsOf(port, family, ofService, settings);
      totalEndpoints += endpoints.length;
      ports.push(withEndpoints(port, endpoints, hintsCount, settings));
    }
  }
  return {
    family,
    version,
    servicePorts: ports,
    totalEndpoints,
    nodeIP: version.behaviour.nodeIP === 'bindAddress' ? boundIP(configuration, family) : ips[family],
    localDetector: localDetector(configuration, node, version, family),
    nodePortAddresses: addresses,
    masqueradeAll: configuration.masqueradeAll ?? false,
    masqueradeBit: configuration.masqueradeBit ?? DEFAULT_MASQUERADE_BIT,
    // Only 127.0.0.0/8 can be routed off the host, and only where node ports are open on it.
    localhostNodePorts:
      family === 'IPv4' &&
      (!version.behaviour.honoursLocalhostNodePorts || (configuration.localhostNodePorts ?? true)) &&
      addresses.containsIPv4Loopback,
    tcpBeLiberal: version.behaviour.honoursTcpBeLiberal && (configuration.tcpBeLiberal ?? false),
    interfaceAddresses: interfaces.flatMap((each) => each.addresses),
    ipvs: { ...DEFAULT_IPVS_SETTINGS, ...configuration.ipvs },
  };
}

/** Endpoints of a service port by destination; slices in the order of their names. */
function endpointsOf(
  port: ServicePortWithoutEndpoints,
  family: IPFamily,
  slices: readonly EndpointSlice[],
  { nodeName, version }: NodeSettings,
): Endpoint[] {
  const { endpointAddress, endpointSource, tracksTerminating } = version.behaviour;
  const endpoints: Endpoint[] = [];
  for (const slice of slices) {
    if (slice.addressType !== family) continue;
    for (const slicePort of slice.ports) {
      if (slicePort.name !== port.portName || slicePort.protocol !== port.protocol) continue;
      for (const endpoint of slice.endpoints) {
        if (!tracksTerminating && !endpoint.ready) continue;
        const address = endpointAddress === 'canonical' ? endpoint.canonicalAddress : endpoint.address;
        endpoints.push({
          destination: joinHostPort(address, slicePort.port),
          sourceAddress: endpointSource === 'canonical' ? endpoint.canonicalAddress : endpoint.address,
          local: nodeName !== '' && endpoint.nodeName === nodeName,
          ready: endpoint.ready,
          serving: endpoint.serving,
          terminating: endpoint.terminating,
          zoneHints: endpoint.zoneHints,
          nodeHints: endpoint.nodeHints,
        });
      }
    }
  }
  endpoints.sort((a, b) => compareText(a.destination, b.destination));
  return withoutDuplicates(endpoints, version.behaviour);
}

/** Of endpoints with the same destination, which the sort has left in the order of slices, one is kept. */
function withoutDuplicates(
  sorted: Endpoint[],
  { duplicateEndpoints, endpointIdentity }: NodeSettings['version']['behaviour'],
): Endpoint[] {
  // Ports of one address stand together, since they are sorted by the text of both.
  const same = (a: Endpoint, b: Endpoint | undefined) =>
    a.destination === b?.destination || (endpointIdentity === 'address' && addressOf(a) === addressOf(b));
  if (!sorted.some((endpoint, index) => same(endpoint, sorted[index - 1]))) return sorted;
  const kept: Endpoint[] = [];
  for (const endpoint of sorted) {
    if (!same(endpoint, kept.at(-1))) kept.push(endpoint);
    else if (duplicateEndpoints === 'local' ? endpoint.local : !endpoint.terminating) {
      kept[kept.length - 1] = endpoint;
    }
  }
  return kept;
}

/** Without the port. */
function addressOf(endpoint: Endpoint | undefined): string | undefined {
  return endpoint?.destination.slice(0, endpoint.destination.lastIndexOf(':'));
}

function withEndpoints(
  port: ServicePortWithoutEndpoints,
  endpoints: readonly Endpoint[],
  hintsCount: boolean,
  settings: NodeSettings,
): ServicePort {
  // Added to the object, which is new and nobody else's: a spread of it takes 2 µs.
  return Object.assign(port, {
    localEndpoints: endpoints.filter(({ local }) => local),
    endpoints: chooseEndpoints(port, endpoints, hintsCount, settings),
  });
}

function chooseEndpoints(
  port: ServicePortWithoutEndpoints,
  endpoints: readonly Endpoint[],
  hintsCount: boolean,
  { nodeName, node, version, configuration }: NodeSettings,
): EndpointSelection {
  const gates = configuration.featureGates ?? NO_GATES;
  const zone = node?.zone ?? '';
  const terminatingCount = gateIsOn(version, gates, 'ProxyTerminatingEndpoints');
  const { endpointSelection, hintsNeededOn, chainsOfUnreadyEndpoints } = version.behaviour;
  if (endpointSelection === 'filtered once') {
    const { internalPolicyLocal, externalPolicyLocal } = port;
    return filterEndpoints(endpoints, {
      internalPolicyLocal,
      externalPolicyLocal,
      hintsCount,
      hintsNeededOn,
      terminatingCount,
      chainsOfUnready: chainsOfUnreadyEndpoints,
      zone,
    });
  }
  const uses = usesEndpoints(port);
  return selectEndpoints(endpoints, {
    usesCluster: uses.cluster,
    usesLocal: uses.local,
    hintsCount,
    nodeHintsCount: gateIsOn(version, gates, 'PreferSameTrafficDistribution'),
    terminatingCount,
    nodeName,
    zone,
  });
}

/** Whether hints on its endpoints count: always under ServiceTrafficDistribution, else if an annotation says so. */
function hintsOfServiceCount(service: Service, { version, configuration }: NodeSettings): boolean {
  const gates = configuration.featureGates ?? NO_GATES;
  if (!gateIsOn(version, gates, 'TopologyAwareHints')) return false;
  if (gateIsOn(version, gates, 'ServiceTrafficDistribution')) return true;
  const { hintsAnnotations, hintsAnnotationValues } = version.behaviour;
  const present = hintsAnnotations.find((name) => service.annotations.has(name));
  const value = service.annotations.get(present ?? '') ?? '';
  if (hintsAnnotationValues === 'auto') return value === 'auto' || value === 'Auto';
  return value !== '' && value !== 'disabled' && value !== 'Disabled';
}
