import { type Endpoint, type EndpointSelection, isDraining } from './endpoint-selection.ts';

/**
 * How kube-proxy up to 1.23 chose endpoints: FilterEndpoints once for the whole service port, whatever way the
 * traffic comes; 1.24 replaced it by CategorizeEndpoints (see endpoint-selection.ts).
 */
export interface FilterRules {
  readonly internalPolicyLocal: boolean;
  readonly externalPolicyLocal: boolean;
  readonly hintsCount: boolean;
  readonly hintsNeededOn: 'ready endpoints' | 'all endpoints';
  /** Terminating endpoints as a last resort under external policy Local (gate ProxyTerminatingEndpoints). */
  readonly terminatingCount: boolean;
  /** Endpoints that are not ready have chains too. */
  readonly chainsOfUnready: boolean;
  readonly zone: string;
}

/** The endpoints must be sorted by destination; so are the results. */
export function filterEndpoints(all: readonly Endpoint[], rules: FilterRules): EndpointSelection {
  const filtered = filter(all, rules);
  const cluster = filtered.filter(({ ready }) => ready);
  let local: readonly Endpoint[] = [];
  if (rules.externalPolicyLocal) {
    local = cluster.filter((endpoint) => endpoint.local);
    if (local.length === 0 && rules.terminatingCount)
      local = filtered.filter((endpoint) => endpoint.local && isDraining(endpoint));
  }
  const used = new Set([...cluster, ...local]);
  const reachable = rules.chainsOfUnready ? filtered : filtered.filter((endpoint) => used.has(endpoint));
  return { cluster, local, reachable, hasAny: cluster.length > 0 };
}

function filter(all: readonly Endpoint[], rules: FilterRules): readonly Endpoint[] {
  if (rules.externalPolicyLocal) return all;
  if (rules.internalPolicyLocal) return all.filter(({ local }) => local);
  if (!rules.hintsCount || rules.zone === '') return all;
  const bearers = rules.hintsNeededOn === 'all endpoints' ? all : all.filter(({ ready }) => ready);
  if (!bearers.every(({ zoneHints }) => zoneHints.length > 0)) return all;
  const ofZone = bearers.filter(({ zoneHints }) => zoneHints.includes(rules.zone));
  return ofZone.length > 0 ? ofZone : all;
}
