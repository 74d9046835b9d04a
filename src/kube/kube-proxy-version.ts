/**
 * What each kube-proxy minor version does differently, in one table: the newest version is written out, and
 * every older one is the sum of the changes between it and the newest. A new behaviour is a field here, a
 * value in NEWEST, and one line in HISTORY for the versions before it.
 */
export interface KubeProxyBehaviour {
  /** `-m nfacct` counters in KUBE-FORWARD and for node ports on the loopback network. */
  readonly nfacct: boolean;
  /** The INVALID drop rule is left out where conntrack is told to be liberal with TCP. */
  readonly honoursTcpBeLiberal: boolean;
  /** One /0 among the source ranges of a family is the same as no source ranges. */
  readonly zeroSourceRangeMeansAll: boolean;
  /** How external IPs, load-balancer IPs and source ranges are written: as parsed, or as they were given. */
  readonly serviceAddresses: 'canonical' | 'as given';
  readonly sourceRanges: 'canonical' | 'as given';
  /** Endpoint address in hashes, comments, sorting and `--to-destination`. */
  readonly endpointAddress: 'canonical' | 'as given';
  /** Endpoint address in the `-s` of its KUBE-SEP chain. */
  readonly endpointSource: 'canonical' | 'as given';
  readonly clusterCIDR: 'canonical' | 'as given';
  /** Which of two endpoints with the same address and port survives. */
  readonly duplicateEndpoints: 'not terminating' | 'local';
  /** Endpoints whose address is not of the slice's address type are dropped. */
  readonly checksEndpointFamily: boolean;
  /** Which labels take a Service or an EndpointSlice away from kube-proxy. */
  readonly serviceIgnoredBy: readonly string[];
  readonly endpointSliceIgnoredBy: readonly string[];
  /** How a /0 among the nodePortAddresses, which stands for all addresses, is told from the rest. */
  readonly zeroNodePortAddresses: 'by length' | 'by text';
  /** nodePortAddresses may be `["primary"]`. */
  readonly nodePortAddressesPrimary: boolean;
  /** ipvs mode takes the scheduler mh. */
  readonly ipvsMaglev: boolean;
  /** Which endpoints are used: chosen for each traffic policy apart, or filtered once for the service port. */
  readonly endpointSelection: 'by policy' | 'filtered once';
  /** Endpoints that only terminate are kept in mind; before, whatever was not ready was dropped at once. */
  readonly tracksTerminating: boolean;
  /** Endpoints that are not ready have their KUBE-SEP chains all the same. */
  readonly chainsOfUnreadyEndpoints: boolean;
  /** What makes two endpoints of a service port one. */
  readonly endpointIdentity: 'address and port' | 'address';
  /** Which of the endpoints must carry hints, for hints to count. */
  readonly hintsNeededOn: 'ready endpoints' | 'all endpoints';
  /** Annotations that turn hints on, the one that wins first, and which of their values do. */
  readonly hintsAnnotations: readonly string[];
  readonly hintsAnnotationValues: 'any' | 'auto';
  /** externalTrafficPolicy counts on Services of type ClusterIP that have external IPs. */
  readonly externalPolicyOfClusterIPServices: boolean;
  /** The node's own address: from the Node, or bindAddress, which is 0.0.0.0 or :: as a rule. */
  readonly nodeIP: 'of the Node' | 'bindAddress';
  /** detectLocalMode may go by an interface. */
  readonly detectsLocalByInterface: boolean;
  /** localhostNodePorts can be turned off. */
  readonly honoursLocalhostNodePorts: boolean;
  /** What a service port without a name is called. */
  readonly unnamedPort: 'namespace/name' | 'namespace/name:';
  readonly featureGates: Readonly<Record<string, FeatureGate>>;
}

/** `locked`: the gate can not be changed any more, is gone, or is not there yet. */
export interface FeatureGate {
  readonly default: boolean;
  readonly stage: 'alpha' | 'beta' | 'deprecated' | 'locked';
}

const SERVICE_PROXY_NAME = 'service.kubernetes.io/service-proxy-name';
const HEADLESS = 'service.kubernetes.io/headless';
const HINTS_ANNOTATION = 'service.kubernetes.io/topology-aware-hints';
const MODE_ANNOTATION = 'service.kubernetes.io/topology-mode';
const ABSENT: FeatureGate = { default: false, stage: 'locked' };
const ALPHA: FeatureGate = { default: false, stage: 'alpha' };
const BETA: FeatureGate = { default: true, stage: 'beta' };
const BETA_OFF: FeatureGate = { default: false, stage: 'beta' };
const LOCKED: FeatureGate = { default: true, stage: 'locked' };

const NOTHING: ReadonlySet<string> = new Set();

const NEWEST_MINOR = 36;
const OLDEST_MINOR = 18;

const NEWEST: KubeProxyBehaviour = {
  nfacct: true,
  honoursTcpBeLiberal: true,
  zeroSourceRangeMeansAll: true,
  serviceAddresses: 'canonical',
  sourceRanges: 'canonical',
  endpointAddress: 'canonical',
  endpointSource: 'canonical',
  clusterCIDR: 'canonical',
  duplicateEndpoints: 'not terminating',
  checksEndpointFamily: false,
  serviceIgnoredBy: [SERVICE_PROXY_NAME],
  endpointSliceIgnoredBy: [HEADLESS],
  zeroNodePortAddresses: 'by length',
  nodePortAddressesPrimary: true,
  ipvsMaglev: true,
  endpointSelection: 'by policy',
  tracksTerminating: true,
  chainsOfUnreadyEndpoints: false,
  endpointIdentity: 'address and port',
  hintsNeededOn: 'ready endpoints',
  hintsAnnotations: [HINTS_ANNOTATION, MODE_ANNOTATION],
  hintsAnnotationValues: 'any',
  externalPolicyOfClusterIPServices: true,
  nodeIP: 'of the Node',
  detectsLocalByInterface: true,
  honoursLocalhostNodePorts: true,
  unnamedPort: 'namespace/name',
  featureGates: {
    AllowServiceExternalIPs: { default: true, stage: 'deprecated' },
    ExternalPolicyForExternalIP: LOCKED,
    LoadBalancerIPMode: LOCKED,
    PreferSameTrafficDistribution: LOCKED,
    ProxyTerminatingEndpoints: LOCKED,
    ServiceInternalTrafficPolicy: LOCKED,
    ServiceTrafficDistribution: LOCKED,
    TopologyAwareHints: LOCKED,
  },
};

interface Change {
  /** The first minor version with the newer behaviour. */
  readonly since: number;
  readonly what: string;
  /** The behaviour of the versions before it. */
  readonly before: Partial<Omit<KubeProxyBehaviour, 'featureGates'>> & {
    readonly featureGates?: Readonly<Record<string, FeatureGate>>;
  };
}

const HISTORY: readonly Change[] = [
  {
    since: 36,
    what: 'gate AllowServiceExternalIPs (KEP-5707)',
    before: { featureGates: { AllowServiceExternalIPs: LOCKED } },
  },
  {
    since: 36,
    what: 'of two equal endpoints the one that is not terminating wins; before, the local one',
    before: { duplicateEndpoints: 'local' },
  },
  {
    since: 36,
    what: 'service-proxy-name is looked for on Services only, headless on EndpointSlices only',
    before: {
      serviceIgnoredBy: [SERVICE_PROXY_NAME, HEADLESS],
      endpointSliceIgnoredBy: [SERVICE_PROXY_NAME, HEADLESS],
    },
  },
  {
    since: 35,
    what: 'same-node hints (KEP-3015) locked',
    before: { featureGates: { PreferSameTrafficDistribution: BETA } },
  },
  {
    since: 34,
    what: 'a /0 source range stands for no source ranges',
    before: { zeroSourceRangeMeansAll: false },
  },
  {
    since: 34,
    what: 'any /0 in nodePortAddresses stands for all addresses; before, only 0.0.0.0/0 and ::/0, spelled so',
    before: { zeroNodePortAddresses: 'by text' },
  },
  {
    since: 34,
    what: 'same-node hints on by default',
    before: { featureGates: { PreferSameTrafficDistribution: ALPHA } },
  },
  {
    since: 33,
    what: 'same-node hints (alpha); hints no longer need the annotation',
    before: {
      featureGates: {
        PreferSameTrafficDistribution: ABSENT,
        ServiceTrafficDistribution: BETA,
        TopologyAwareHints: BETA,
      },
    },
  },
  {
    since: 33,
    what: 'addresses of the wrong family inside a slice are no longer looked for',
    before: { checksEndpointFamily: true },
  },
  {
    since: 32,
    what: 'load-balancer ipMode locked (KEP-1860)',
    before: { featureGates: { LoadBalancerIPMode: BETA } },
  },
  { since: 31, what: 'nfacct counters', before: { nfacct: false } },
  {
    since: 31,
    what: 'endpoint addresses and the cluster CIDR are written canonically',
    before: { endpointAddress: 'as given', endpointSource: 'as given', clusterCIDR: 'as given' },
  },
  { since: 31, what: 'nodePortAddresses: ["primary"]', before: { nodePortAddressesPrimary: false } },
  {
    since: 31,
    what: 'hints decide without the annotation (gate ServiceTrafficDistribution on)',
    before: { featureGates: { ServiceTrafficDistribution: ALPHA } },
  },
  {
    since: 30,
    what: 'source ranges, external and load-balancer IPs are written as parsed; KUBE-SEP sources as given',
    before: { serviceAddresses: 'as given', sourceRanges: 'as given', endpointSource: 'canonical' },
  },
  {
    since: 30,
    what: 'load-balancer ipMode on by default; gate ServiceTrafficDistribution (alpha)',
    before: {
      featureGates: { LoadBalancerIPMode: ALPHA, ServiceTrafficDistribution: ABSENT },
    },
  },
  {
    since: 29,
    what: 'conntrack.tcpBeLiberal; load-balancer ipMode (alpha)',
    before: {
      honoursTcpBeLiberal: false,
      featureGates: { LoadBalancerIPMode: ABSENT },
    },
  },
  {
    since: 28,
    what: 'the node IP is the Node’s; before, bindAddress alone, which is 0.0.0.0 or :: as a rule',
    before: { nodeIP: 'bindAddress' },
  },
  {
    since: 28,
    what: 'terminating endpoints as a last resort (KEP-1669) locked',
    before: { featureGates: { ProxyTerminatingEndpoints: BETA } },
  },
  { since: 27, what: 'ipvs: scheduler mh', before: { ipvsMaglev: false } },
  {
    since: 27,
    what: 'hints: annotation topology-mode, and any value but "disabled" turns them on; before, "auto" alone',
    before: { hintsAnnotations: [HINTS_ANNOTATION], hintsAnnotationValues: 'auto' },
  },
  {
    since: 26,
    what: 'terminating endpoints as a last resort on by default; internalTrafficPolicy locked',
    before: {
      featureGates: { ProxyTerminatingEndpoints: ALPHA, ServiceInternalTrafficPolicy: BETA },
    },
  },
  {
    since: 26,
    what: 'localhostNodePorts can be turned off (iptables mode)',
    before: { honoursLocalhostNodePorts: false },
  },
  {
    since: 24,
    what: 'endpoints are chosen for each traffic policy apart; before, internalTrafficPolicy Local or hints took the others away from all traffic, and nothing of both applied under externalTrafficPolicy Local',
    before: { endpointSelection: 'filtered once', externalPolicyOfClusterIPServices: false },
  },
  {
    since: 24,
    what: 'detectLocalMode BridgeInterface and InterfaceNamePrefix',
    before: { detectsLocalByInterface: false },
  },
  {
    since: 24,
    what: 'hints on by default',
    before: { featureGates: { TopologyAwareHints: BETA_OFF } },
  },
  {
    since: 23,
    what: 'hints are needed on ready endpoints alone; before, on all',
    before: { hintsNeededOn: 'all endpoints', featureGates: { TopologyAwareHints: ALPHA } },
  },
  {
    since: 23,
    what: 'endpoints that are not ready have no KUBE-SEP chain (1.22 alone wrote them)',
    before: { chainsOfUnreadyEndpoints: true },
  },
  {
    since: 22,
    what: 'endpoints that are not ready have KUBE-SEP chains (1.22 alone)',
    before: { chainsOfUnreadyEndpoints: false },
  },
  {
    since: 22,
    what: 'endpoints are told apart by address and port; before, by address alone',
    before: { endpointIdentity: 'address' },
  },
  {
    since: 22,
    what: 'internalTrafficPolicy on by default; terminating endpoints as a last resort (alpha)',
    before: {
      featureGates: { ProxyTerminatingEndpoints: ABSENT, ServiceInternalTrafficPolicy: ALPHA },
    },
  },
  {
    since: 21,
    what: 'hints and internalTrafficPolicy (alpha); endpoints are known to be terminating',
    before: {
      tracksTerminating: false,
      featureGates: { TopologyAwareHints: ABSENT, ServiceInternalTrafficPolicy: ABSENT },
    },
  },
  {
    since: 20,
    what: 'externalTrafficPolicy Local counts for external IPs without a gate',
    before: { featureGates: { ExternalPolicyForExternalIP: ALPHA } },
  },
  {
    since: 19,
    what: 'a port without a name is namespace/name; before, namespace/name: with a colon, in hashes too',
    before: { unnamedPort: 'namespace/name:' },
  },
];

export interface KubeProxyVersion {
  readonly minor: number;
  /** `1.36` */
  readonly text: string;
  readonly behaviour: KubeProxyBehaviour;
  /** Changes of this very version, by their words, that are left out: a step on the way to it. */
  readonly without: ReadonlySet<string>;
}

/** `1.28 … 1.36`, for messages. */
export const KNOWN_VERSIONS = `1.${OLDEST_MINOR} … 1.${NEWEST_MINOR}`;

/** The newest version whose rules are known. */
export const NEWEST_VERSION: KubeProxyVersion = kubeProxyVersion(NEWEST_MINOR);

/** The oldest one. */
export const OLDEST_VERSION: KubeProxyVersion = kubeProxyVersion(OLDEST_MINOR);

const ALL_BEHAVIOURS: readonly Change['before'][] = [NEWEST, ...HISTORY.map(({ before }) => before)];

/** Labels by which some version leaves out a Service or an EndpointSlice. */
export const LABELS_THAT_COUNT: ReadonlySet<string> = new Set(
  ALL_BEHAVIOURS.flatMap(({ serviceIgnoredBy = [], endpointSliceIgnoredBy = [] }) => [
    ...serviceIgnoredBy,
    ...endpointSliceIgnoredBy,
  ]),
);

/** Annotations of Services that some version reads. */
export const ANNOTATIONS_THAT_COUNT: ReadonlySet<string> = new Set(
  ALL_BEHAVIOURS.flatMap(({ hintsAnnotations = [] }) => hintsAnnotations),
);

/** The version 1.`minor`, whose number must be in the known range (see parseMinor, isKnownMinor). */
export function kubeProxyVersion(minor: number, without: ReadonlySet<string> = NOTHING): KubeProxyVersion {
  let behaviour = NEWEST;
  for (const change of HISTORY) {
    if (!isBefore({ minor, without }, change)) continue;
    behaviour = {
      ...behaviour,
      ...change.before,
      featureGates: { ...behaviour.featureGates, ...change.before.featureGates },
    };
  }
  return { minor, text: `1.${minor}`, behaviour, without };
}

/** Whether a version, or a step on the way to it, comes before a change. */
export function isBefore(
  { minor, without }: Pick<KubeProxyVersion, 'minor' | 'without'>,
  { since, what }: VersionChange,
): boolean {
  return minor < since || (minor === since && without.has(what));
}

/** A change between two versions, in words. */
export interface VersionChange {
  /** The first minor version that has it. */
  readonly since: number;
  readonly what: string;
}

/** What kube-proxy makes of Services and endpoints in other ways than before; the newest changes first. */
export function behaviourChanges(): readonly VersionChange[] {
  return HISTORY;
}

/** `1.30`, `v1.30.5`, `v1.30.5+k3s1`, `v1.29.3-eks-adc7111` → 30; undefined for anything else. */
export function parseMinor(text: string): number | undefined {
  const match = /^v?1\.(\d{1,3})(?:\.\d+)?\+?(?:[-+].*)?$/.exec(text.trim());
  return match?.[1] === undefined ? undefined : Number(match[1]);
}

/** Where a minor version stands to the range that is known. */
export function placeOfMinor(minor: number): 'older' | 'known' | 'newer' {
  return minor < OLDEST_MINOR ? 'older' : minor > NEWEST_MINOR ? 'newer' : 'known';
}
