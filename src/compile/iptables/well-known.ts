/** Chains, comments and jumps that do not depend on Services. Source: kube-proxy's iptables proxier. */

export const SERVICES = 'KUBE-SERVICES';
export const EXTERNAL_SERVICES = 'KUBE-EXTERNAL-SERVICES';
export const NODEPORTS = 'KUBE-NODEPORTS';
export const POSTROUTING = 'KUBE-POSTROUTING';
export const MARK_MASQ = 'KUBE-MARK-MASQ';
export const FORWARD = 'KUBE-FORWARD';
export const PROXY_FIREWALL = 'KUBE-PROXY-FIREWALL';
/** Shared with kubelet, which keeps the same rule in it. */
export const FIREWALL = 'KUBE-FIREWALL';
/** Empty: that it is gone tells kube-proxy that somebody flushed the table. */
export const CANARY = 'KUBE-PROXY-CANARY';

export const NFACCT_INVALID_DROPPED = 'ct_state_invalid_dropped_pkts';
export const NFACCT_LOCALHOST_NODE_PORTS = 'localhost_nps_accepted_pkts';

/** The objects that `nfacct add` has to make before rules with `-m nfacct` load. */
export const NFACCT_OBJECTS: readonly string[] = [NFACCT_INVALID_DROPPED, NFACCT_LOCALHOST_NODE_PORTS];

export interface Jump {
  readonly table: 'filter' | 'nat';
  readonly from: 'INPUT' | 'FORWARD' | 'OUTPUT' | 'PREROUTING' | 'POSTROUTING';
  readonly to: string;
  readonly comment: string;
  /** Only packets of new connections. */
  readonly newOnly: boolean;
}

const jump = (
  table: Jump['table'],
  from: Jump['from'],
  to: string,
  comment: string,
  newOnly: boolean,
): Jump => ({ table, from, to, comment, newOnly });

/**
 * Jumps out of built-in chains, in the order in which kube-proxy ensures them. It inserts each one that is
 * missing at the head of its chain, so on a fresh node the last of these comes first.
 */
export const JUMPS: readonly Jump[] = [
  jump('filter', 'INPUT', EXTERNAL_SERVICES, 'kubernetes externally-visible service portals', true),
  jump('filter', 'FORWARD', EXTERNAL_SERVICES, 'kubernetes externally-visible service portals', true),
  jump('filter', 'INPUT', NODEPORTS, 'kubernetes health check service ports', false),
  jump('filter', 'FORWARD', SERVICES, 'kubernetes service portals', true),
  jump('filter', 'OUTPUT', SERVICES, 'kubernetes service portals', true),
  jump('filter', 'FORWARD', FORWARD, 'kubernetes forwarding rules', false),
  jump('filter', 'INPUT', PROXY_FIREWALL, 'kubernetes load balancer firewall', true),
  jump('filter', 'OUTPUT', PROXY_FIREWALL, 'kubernetes load balancer firewall', true),
  jump('filter', 'FORWARD', PROXY_FIREWALL, 'kubernetes load balancer firewall', true),
  jump('nat', 'OUTPUT', SERVICES, 'kubernetes service portals', false),
  jump('nat', 'PREROUTING', SERVICES, 'kubernetes service portals', false),
  jump('nat', 'POSTROUTING', POSTROUTING, 'kubernetes postrouting rules', false),
  jump('filter', 'INPUT', FIREWALL, '', false),
  jump('filter', 'OUTPUT', FIREWALL, '', false),
];

/** Chains that every sync writes, in the order of the restore payload. */
export const FILTER_CHAINS: readonly string[] = [
  SERVICES,
  EXTERNAL_SERVICES,
  FORWARD,
  NODEPORTS,
  PROXY_FIREWALL,
];
export const NAT_CHAINS: readonly string[] = [SERVICES, NODEPORTS, POSTROUTING, MARK_MASQ];

export const BUILT_IN_CHAINS: Readonly<Record<'filter' | 'mangle' | 'nat', readonly string[]>> = {
  filter: ['INPUT', 'FORWARD', 'OUTPUT'],
  mangle: ['PREROUTING', 'INPUT', 'FORWARD', 'OUTPUT', 'POSTROUTING'],
  nat: ['PREROUTING', 'INPUT', 'OUTPUT', 'POSTROUTING'],
};
