/** Which chains belong to kube-proxy, in any version's and any mode's naming. */

const FIXED = new Set([
  'KUBE-SERVICES',
  'KUBE-EXTERNAL-SERVICES',
  'KUBE-NODEPORTS',
  'KUBE-POSTROUTING',
  'KUBE-MARK-MASQ',
  'KUBE-FORWARD',
  'KUBE-PROXY-FIREWALL',
  'KUBE-FIREWALL',
  // ipvs mode
  'KUBE-LOAD-BALANCER',
  'KUBE-NODE-PORT',
  'KUBE-IPVS-FILTER',
  'KUBE-IPVS-OUT-FILTER',
  'KUBE-SOURCE-RANGES-FIREWALL',
]);

/** KUBE-XLB-: load-balancer chains up to 1.23. */
const OF_SERVICES = /^KUBE-(?:SVC|SVL|EXT|FW|XLB|SEP)-[A-Z2-7]{16}$/;
const WITH_OWNER = /^KUBE-(SVC|SVL|EXT|FW|XLB)-([A-Z2-7]{16})$/;

/** The chains that a mode other than iptables leaves in an iptables dump. */
const OF_OTHER_MODES: ReadonlyMap<string, string> = new Map([
  ['KUBE-LOAD-BALANCER', 'ipvs'],
  ['KUBE-NODE-PORT', 'ipvs'],
  ['KUBE-IPVS-FILTER', 'ipvs'],
  ['KUBE-PORTALS-CONTAINER', 'userspace'],
  ['KUBE-PORTALS-HOST', 'userspace'],
  ['KUBE-NODEPORT-CONTAINER', 'userspace'],
]);

const BUILT_IN = new Set(['PREROUTING', 'INPUT', 'FORWARD', 'OUTPUT', 'POSTROUTING']);

/**
 * Chains whose rules are kube-proxy's to write. Not among them: kubelet's (KUBE-KUBELET-CANARY,
 * KUBE-IPTABLES-HINT, KUBE-MARK-DROP), host ports (KUBE-HOSTPORTS, KUBE-HP-…), kube-router's network policies
 * (KUBE-ROUTER-…, KUBE-POD-FW-…, KUBE-NWPLCY-…), and the canary.
 */
export function isProxyChain(name: string): boolean {
  return FIXED.has(name) || OF_SERVICES.test(name);
}

/** Chains of one service port or of one endpoint: kube-proxy makes and deletes them as Services come and go. */
export function isServiceChain(name: string): boolean {
  return OF_SERVICES.test(name);
}

/** Chains that every sync writes, whatever the Services are. */
export function isFixedChain(name: string): boolean {
  return FIXED.has(name);
}

export function isEndpointChain(name: string): boolean {
  return name.startsWith('KUBE-SEP-');
}

/** `KUBE-SVC-XXXXXXXXXXXXXXXX` → its kind and the suffix that all chains of a service port share. */
export function serviceChainParts(
  name: string,
): { readonly kind: 'SVC' | 'SVL' | 'EXT' | 'FW' | 'XLB'; readonly suffix: string } | undefined {
  const match = WITH_OWNER.exec(name);
  if (match?.[1] === undefined || match[2] === undefined) return undefined;
  return { kind: match[1] as 'SVC' | 'SVL' | 'EXT' | 'FW' | 'XLB', suffix: match[2] };
}

export function isBuiltIn(name: string): boolean {
  return BUILT_IN.has(name);
}

/** The proxy mode that a chain gives away, if it is not iptables. */
export function modeOfChain(name: string): string | undefined {
  return OF_OTHER_MODES.get(name);
}
