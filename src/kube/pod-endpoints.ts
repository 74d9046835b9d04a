/**
 * Endpoints that the EndpointSlice controller would make from Pods: for inputs that have Pods, or what makes them,
 * and no slices. Source: getEndpointPorts, podToEndpoint and ShouldPodBeInEndpoints of k8s.io/endpointslice, FindPort,
 * and the hints of its trafficdist package.
 */
import type { Report } from '../diagnostics.ts';
import { type Cluster, compareText, selectingServices } from './cluster.ts';
import type { EndpointSlice, SliceEndpoint, SlicePort } from './endpoint-slice.ts';
import { report as reportAt } from './fields.ts';
import type { IPFamily } from './ip.ts';
import { joinHostPort } from './ip.ts';
import type { Pod, PodTemplate } from './pod.ts';
import { indexByLabels } from './selectors.ts';
import type { Service, ServicePortSpec } from './service.ts';
import { countOf } from './service-addresses.ts';
import { type AssumedReady, asksForOrdinal, type Maker, podByOrdinal, standInPods } from './stand-in-pods.ts';

export interface PodEndpointOptions {
  /** Pods that workloads would have count as ready, at addresses out of these networks. */
  readonly assumeReady: AssumedReady | undefined;
}

/** The cluster with slices for Services that have none of any kind, and whose selector finds Pods. */
export function withPodEndpoints(cluster: Cluster, options: PodEndpointOptions, report: Report): Cluster {
  const { pods, workloads } = cluster;
  const hasPods = pods.length > 0 || workloads.length > 0;
  if (!hasPods && options.assumeReady === undefined) return cluster;
  const services = selectingServices(cluster);
  const slices = groupByService([...cluster.endpointSlices, ...cluster.mirroredSlices]);
  const zones = new Map(cluster.nodes.map(({ name, zone }) => [name, zone]));
  const findPods = indexByLabels(pods);
  const open: Service[] = [];
  const made: EndpointSlice[] = [];
  for (const service of services) {
    const found = findPods(service.namespace, service.template.selector);
    const own = slices.get(`${service.namespace}/${service.name}`);
    if (own !== undefined) {
      if (found.length > 0) reportDisagreement(service, own, slicesOf(service, found, zones), report);
      continue;
    }
    if (found.every(({ addresses }) => addresses.length === 0)) {
      open.push(service);
      continue;
    }
    const ofPods = withPorts(service, slicesOf(service, found, zones), report);
    for (const slice of ofPods) made.push(slice);
    if (ofPods.length === 0) made.push(withoutEndpoints(service));
    else reportNoHints(service, report);
  }
  if (slices.size === 0 && hasPods) reportUnselected(cluster.services, report);
  const assumed = assumeReady(cluster, open, options, zones, report);
  return {
    ...cluster,
    pods: [],
    workloads: [],
    endpointSlices: [...cluster.endpointSlices, ...made, ...assumed.slices].sort(
      (a, b) => compareText(a.namespace, b.namespace) || compareText(a.name, b.name),
    ),
    ...(assumed.invented.length > 0 && { invented: [...(cluster.invented ?? []), ...assumed.invented] }),
  };
}

/** Values of the annotations that turn hints on (KEP-2433). */
const HINTS_WANTED = new Set(['auto', 'Auto']);

/** The controller shares endpoints out to zones by the CPUs of their Nodes; that is not done here. */
function reportNoHints({ namespace, name, annotations, origin }: Service, report: Report): void {
  const wanted = [...annotations].find(([, value]) => HINTS_WANTED.has(value));
  if (wanted === undefined) return;
  report({
    code: 'no-hints',
    severity: 'warning',
    message:
      'endpoints from Pods get no hints of zones, which this annotation asks for: all of them are used',
    object: `Service ${namespace}/${name}`,
    field: ['metadata', 'annotations', wanted[0]],
    origin,
    help: 'compile what the cluster holds: kubectl get endpointslices -A -o yaml',
  });
}

/** Of Pods that all have ended, or listen nowhere: that there are no endpoints is then known, and no gap in the input. */
function withoutEndpoints({ namespace, name, clusterIPs, origin }: Service): EndpointSlice {
  return {
    namespace,
    name: `${name} without endpoints`,
    serviceName: name,
    labels: new Map(),
    addressType: clusterIPs[0]?.family ?? 'IPv4',
    ports: [],
    endpoints: [],
    origin,
  };
}

/**
 * A dump without slices (kubectl cluster-info dump takes none) does not say where default/kubernetes leads, and no Pod
 * does.
 */
function reportUnselected(services: readonly Service[], report: Report): void {
  const names = services
    .filter(({ template }) => template.selector.size === 0)
    .map(({ namespace, name }) => `${namespace}/${name}`);
  if (names.length === 0) return;
  report({
    code: 'no-endpoints',
    severity: 'warning',
    message: `no endpoints are known of ${countOf(names, 'Service', 'Services')} without a selector: the input has neither EndpointSlices nor Endpoints`,
    help: 'add them: kubectl get endpointslices -A -o yaml',
  });
}

function groupByService(slices: readonly EndpointSlice[]): ReadonlyMap<string, readonly EndpointSlice[]> {
  const groups = new Map<string, EndpointSlice[]>();
  for (const slice of slices) {
    const key = `${slice.namespace}/${slice.serviceName}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [slice]);
    else group.push(slice);
  }
  return groups;
}

/** Slices for Services that no Pod serves, of Pods that workloads would have. */
function assumeReady(
  cluster: Cluster,
  open: readonly Service[],
  { assumeReady: asked }: PodEndpointOptions,
  zones: ReadonlyMap<string, string>,
  report: Report,
): { slices: readonly EndpointSlice[]; invented: readonly string[] } {
  const nothing = { slices: [], invented: [] };
  const makers: readonly Maker[] = [
    ...cluster.workloads,
    ...cluster.pods
      .filter(({ addresses, terminal, terminating }) => addresses.length === 0 && !terminal && !terminating)
      .map((pod) => ({
        ...pod,
        kind: 'Pod' as const,
        replicas: 1,
        nodeName: pod.nodeName ?? pod.meantFor,
        nodeSelector: new Map(),
        firstOrdinal: 0,
      })),
  ];
  const find = makersBySelector(makers);
  const served = open.flatMap((service) => {
    const found = find(service);
    return found.length === 0 ? [] : [{ service, found }];
  });
  if (asked !== undefined)
    reportUnfound(cluster, open, new Set(served.map(({ service }) => service)), report);
  if (served.length === 0) return nothing;
  const names = served.map(({ service }) => `${service.namespace}/${service.name}`);
  if (asked === undefined) {
    report({
      code: 'no-endpoints',
      severity: 'warning',
      message: `no endpoints are known of ${countOf(names, 'Service', 'Services')}, though the input has what would make their Pods`,
      help: 'compile what the cluster holds, or invent their addresses with --assume-ready',
    });
    return nothing;
  }
  if (asked.podCIDRs.length === 0) {
    report({
      code: 'no-pod-range',
      severity: 'error',
      message: '--assume-ready invents addresses of Pods, and nobody says of which network',
      help: 'pass --cluster-cidr, or a KubeProxyConfiguration with clusterCIDR',
    });
    return nothing;
  }
  const podsOf = standInPods(cluster, asked, report);
  const slices = served.flatMap(({ service, found }) => {
    const pods = found.flatMap(({ maker, only }) =>
      podsOf(maker).filter(({ name }) => only === undefined || name === only),
    );
    return withPorts(service, slicesOf(service, pods, zones), report);
  });
  const networks = asked.podCIDRs.map(({ text }) => text).join(', ');
  return {
    slices,
    invented: [`endpoints of ${countOf(names, 'Service', 'Services')}, out of ${networks}, taken for ready`],
  };
}

/** A function that gives what makes the Pods that a Service selects, with the name of the Pod where it is one alone. */
function makersBySelector(
  makers: readonly Maker[],
): (service: Service) => readonly { readonly maker: Maker; readonly only?: string }[] {
  const find = indexByLabels(makers);
  const sets = makers.filter(({ kind }) => kind === 'StatefulSet');
  return ({ namespace, template: { selector } }) => {
    const found = find(namespace, selector);
    if (!asksForOrdinal(selector)) return found.map((maker) => ({ maker }));
    return [
      ...found.filter(({ kind }) => kind !== 'StatefulSet').map((maker) => ({ maker })),
      ...sets.flatMap((maker) => {
        const only = maker.namespace === namespace ? podByOrdinal(maker, selector) : undefined;
        return only === undefined ? [] : [{ maker, only }];
      }),
    ];
  };
}

/** Nothing can be invented for a selector that nothing has the labels of; most often one of the two is misspelt. */
function reportUnfound(
  { pods }: Cluster,
  open: readonly Service[],
  served: ReadonlySet<Service>,
  report: Report,
): void {
  const unserved = open.filter((service) => !served.has(service));
  if (unserved.length === 0) return;
  const find = indexByLabels(pods);
  const names = unserved
    .filter(({ namespace, template }) => find(namespace, template.selector).length === 0)
    .map(({ namespace, name }) => `${namespace}/${name}`);
  if (names.length === 0) return;
  report({
    code: 'no-endpoints',
    severity: 'warning',
    message: `no endpoints are known of ${countOf(names, 'Service', 'Services')}: no Pod of the input, and nothing that makes Pods, has the labels of the selector`,
    help: 'compare the selector with the labels, or add what makes the Pods',
  });
}

/** One slice for each family and set of port numbers: Pods may have different numbers for one name. */
function slicesOf(
  service: Service,
  pods: readonly Pod[],
  zones: ReadonlyMap<string, string>,
): EndpointSlice[] {
  const groups = new Map<string, { family: IPFamily; ports: SlicePort[]; endpoints: SliceEndpoint[] }>();
  for (const pod of [...pods].sort((a, b) => compareText(a.name, b.name))) {
    if (pod.terminal) continue;
    const ports = service.ports.flatMap((port) => {
      const number = targetPortOf(port, pod.template);
      return number === undefined ? [] : [{ name: port.name, protocol: port.protocol, port: number }];
    });
    for (const address of pod.addresses) {
      const { family } = address.ip;
      const key = `${family} ${ports.map(({ name, protocol, port }) => `${name}:${port}/${protocol}`).join()}`;
      const group = groups.get(key) ?? { family, ports, endpoints: [] };
      groups.set(key, group);
      group.endpoints.push(endpointOf(service, pod, address, zones, group.endpoints.length));
    }
  }
  return [...groups.values()].map(({ family, ports, endpoints }, index) => ({
    namespace: service.namespace,
    name: `${service.name} of Pods ${index + 1}`,
    serviceName: service.name,
    labels: new Map(),
    addressType: family,
    ports,
    endpoints,
    origin: service.origin,
  }));
}

/** FindPort; undefined where the Pod has no port of that name. */
function targetPortOf(port: ServicePortSpec, { namedPorts }: PodTemplate): number | undefined {
  const target = port.targetPort ?? port.port;
  if (typeof target === 'number') return target;
  return namedPorts.find(({ name, protocol }) => name === target && protocol === port.protocol)?.port;
}

/** podToEndpoint, with the hints of spec.trafficDistribution where the zone of the node is known. */
function endpointOf(
  { template }: Service,
  pod: Pod,
  { given, ip }: Pod['addresses'][number],
  zones: ReadonlyMap<string, string>,
  index: number,
): SliceEndpoint {
  const zone = zones.get(pod.nodeName ?? '') ?? '';
  const { trafficDistribution, publishNotReadyAddresses } = template;
  const sameNode = trafficDistribution === 'PreferSameNode' && pod.nodeName !== undefined;
  return {
    address: given,
    canonicalAddress: ip.text,
    family: ip.family,
    nodeName: pod.nodeName,
    ready: publishNotReadyAddresses || (pod.ready && !pod.terminating),
    serving: pod.ready,
    terminating: pod.terminating,
    zoneHints: trafficDistribution !== '' && zone !== '' ? [zone] : [],
    nodeHints: sameNode ? [pod.nodeName] : [],
    index,
  };
}

/** Says so where no Pod has a port of the name that the Service asks for. */
function withPorts(service: Service, slices: EndpointSlice[], report: Report): EndpointSlice[] {
  service.ports.forEach(({ name, protocol, targetPort }, index) => {
    const has = slices.some(({ ports }) =>
      ports.some((port) => port.name === name && port.protocol === protocol),
    );
    if (has || slices.length === 0) return;
    reportAt(
      { object: `Service ${service.namespace}/${service.name}`, origin: service.origin, report },
      'warning',
      'no-such-port',
      ['spec', 'ports', index, 'targetPort'],
      `none of its Pods has a ${protocol} port named ${JSON.stringify(targetPort)}: no endpoints`,
    );
  });
  return slices;
}

/** A dump is taken object by object: slices may be older or newer than Pods. Only what decides about rules counts. */
function reportDisagreement(
  service: Service,
  slices: readonly EndpointSlice[],
  fromPods: readonly EndpointSlice[],
  report: Report,
): void {
  const families = new Set(service.clusterIPs.map(({ family }) => family));
  const ready = (list: readonly EndpointSlice[]) =>
    new Set(
      list.flatMap(({ addressType, ports, endpoints }) =>
        !families.has(addressType)
          ? []
          : ports.flatMap(({ protocol, port }) =>
              endpoints
                .filter((endpoint) => endpoint.ready)
                .map(({ canonicalAddress }) => `${joinHostPort(canonicalAddress, port)}/${protocol}`),
            ),
      ),
    );
  const [inSlices, inPods] = [ready(slices), ready(fromPods)];
  const surplus = [...inSlices].filter((endpoint) => !inPods.has(endpoint));
  const missing = [...inPods].filter((endpoint) => !inSlices.has(endpoint));
  if (surplus.length === 0 && missing.length === 0) return;
  const parts = [
    ...(surplus.length > 0 ? [`ready in slices alone: ${listOf(surplus)}`] : []),
    ...(missing.length > 0 ? [`ready by Pods alone: ${listOf(missing)}`] : []),
  ];
  reportAt(
    { object: `Service ${service.namespace}/${service.name}`, origin: service.origin, report },
    'warning',
    'slices-and-pods-differ',
    [],
    `EndpointSlices and Pods say different things, and the slices count; ${parts.join('; ')}`,
  );
}

const MAX_LISTED = 3;

function listOf(endpoints: readonly string[]): string {
  const more = endpoints.length > MAX_LISTED ? ` and ${endpoints.length - MAX_LISTED} more` : '';
  return endpoints.slice(0, MAX_LISTED).join(', ') + more;
}
