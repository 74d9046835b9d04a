import type { Endpoint, ServicePort } from '../../kube/index.ts';
import type { IpvsLayout } from './layout.ts';
import { filterChains, JUMPS, natChains } from './rules.ts';
import { SET_NAMES } from './sets.ts';

/** The layout of kube-proxy 1.30 to 1.36. */
export const NEWEST_LAYOUT: IpvsLayout = {
  jumps: JUMPS,
  ensuredNatChains: [],
  sets: SET_NAMES,
  nat: natChains,
  filter: filterChains,
  endpointsOf,
  bindsAddressesOfOthers: false,
};

/** Under policy Local without an endpoint on this node, ipvs mode falls back to all of them. */
function endpointsOf({ endpoints }: ServicePort, local: boolean): readonly Endpoint[] {
  return local && endpoints.local.length > 0 ? endpoints.local : endpoints.cluster;
}
