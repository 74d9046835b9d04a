/**
 * Which endpoints a service port uses on this node: kube-proxy's CategorizeEndpoints and its topology rules
 * (KEP-1669 terminating endpoints, KEP-2433 and KEP-4444 hints, KEP-3015 same-node hints).
 */

export interface Endpoint {
  /** `address:port`, in the text that this version hashes, sorts and writes into `--to-destination`. */
  readonly destination: string;
  /** Address in the `-s` of its KUBE-SEP chain. */
  readonly sourceAddress: string;
  readonly local: boolean;
  readonly ready: boolean;
  readonly serving: boolean;
  readonly terminating: boolean;
  readonly zoneHints: readonly string[];
  readonly nodeHints: readonly string[];
}

export interface EndpointSelection {
  /** Used by traffic under policy Cluster. */
  readonly cluster: readonly Endpoint[];
  /** Used by traffic under policy Local. */
  readonly local: readonly Endpoint[];
  /** Union of the two: what gets a KUBE-SEP chain. */
  readonly reachable: readonly Endpoint[];
  /** Whether the service port has a usable endpoint anywhere. */
  readonly hasAny: boolean;
}

/** What selection needs to know of the service port and the node. */
export interface SelectionRules {
  readonly usesCluster: boolean;
  readonly usesLocal: boolean;
  /** Hints count: by gate, or by the Service's annotation in versions that want it. */
  readonly hintsCount: boolean;
  readonly nodeHintsCount: boolean;
  /** Terminating endpoints that still serve are the last resort (KEP-1669). */
  readonly terminatingCount: boolean;
  readonly nodeName: string;
  readonly zone: string;
}

/** Terminating, and still able to serve. */
export const isDraining = (endpoint: Endpoint): boolean => endpoint.serving && endpoint.terminating;

/** The endpoints must be sorted by destination; so are the results. */
export function selectEndpoints(all: readonly Endpoint[], rules: SelectionRules): EndpointSelection {
  const isLastResort = (endpoint: Endpoint) => rules.terminatingCount && isDraining(endpoint);
  let cluster: readonly Endpoint[] = [];
  if (rules.usesCluster) {
    const isReady = (endpoint: Endpoint) => endpoint.ready;
    // Usually all are: then there need not be a second list.
    cluster = nearest(all.every(isReady) ? all : all.filter(isReady), rules);
    if (cluster.length === 0) cluster = all.filter(isLastResort);
  }
  if (!rules.usesLocal) return { cluster, local: [], reachable: cluster, hasAny: cluster.length > 0 };

  let local = all.filter((endpoint) => endpoint.local && endpoint.ready);
  if (local.length === 0) local = all.filter((endpoint) => endpoint.local && isLastResort(endpoint));
  const hasAny = cluster.length > 0 || all.some((endpoint) => endpoint.ready || isLastResort(endpoint));
  if (!rules.usesCluster) return { cluster, local, reachable: local, hasAny };
  const chosen = new Set([...cluster, ...local]);
  return { cluster, local, reachable: all.filter((endpoint) => chosen.has(endpoint)), hasAny };
}

/** The ready endpoints that hints give to this node, or all of them where hints are missing or do not help. */
function nearest(ready: readonly Endpoint[], rules: SelectionRules): readonly Endpoint[] {
  if (!rules.hintsCount) return ready;
  if (rules.nodeHintsCount && ready.every((endpoint) => endpoint.nodeHints.length > 0)) {
    const sameNode = ready.filter((endpoint) => endpoint.nodeHints.includes(rules.nodeName));
    if (sameNode.length > 0) return sameNode;
  }
  if (rules.zone === '' || !ready.every((endpoint) => endpoint.zoneHints.length > 0)) return ready;
  const sameZone = ready.filter((endpoint) => endpoint.zoneHints.includes(rules.zone));
  return sameZone.length > 0 ? sameZone : ready;
}
