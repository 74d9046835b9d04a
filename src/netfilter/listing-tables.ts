/*
 * Listings (`iptables -S`, `iptables -L`) do not say which table they are of. It is told from what stands in
 * them: first the built-in chains, which all come in a listing of a whole table, then names and targets that
 * occur in one table only.
 */

/** What is known of a listing whose table is wanted. */
export interface TableClues {
  /** Names of its chains. */
  readonly chains: Iterable<string>;
  /** Names behind `-j`. */
  readonly targets: Iterable<string>;
}

export interface AssumedTable {
  readonly name: string;
  /** Why: `its chain POSTROUTING`. */
  readonly reason: string;
}

/** kube-proxy's chains in any version that are in one table only; KUBE-SERVICES and KUBE-NODEPORTS are in two. */
const NAT_CHAIN =
  /^(?:KUBE-(?:POSTROUTING|MARK-MASQ|MARK-DROP|PORTALS-(?:CONTAINER|HOST)|NODEPORT-(?:CONTAINER|HOST|NON-LOCAL)|LOAD-BALANCER|NODE-PORT|(?:SVC|SVL|SEP|FW|EXT|XLB)-[A-Z2-7]{16})|CNI-HOSTPORT-.*|FLANNEL-POSTRTG|DOCKER_(?:OUTPUT|POSTROUTING))$/;
const FILTER_CHAIN =
  /^(?:KUBE-(?:FORWARD|FIREWALL|EXTERNAL-SERVICES|PROXY-FIREWALL|IPVS-FILTER|IPVS-OUT-FILTER|SOURCE-RANGES-FIREWALL|NWPLCY-.*|POD-FW-.*)|FLANNEL-FWD|DOCKER-USER|DOCKER-ISOLATION.*)$/;
const NAT_TARGET = /^(?:DNAT|SNAT|MASQUERADE|REDIRECT|NETMAP)$/;

/** The table, or undefined where nothing tells it. */
export function assumeTable(clues: TableClues): AssumedTable | undefined {
  const chains = new Set(clues.chains);
  const builtIn = (...names: readonly string[]) => names.every((name) => chains.has(name));
  const its = (name: string) => `its chain ${name}`;
  if (builtIn('FORWARD', 'PREROUTING'))
    return { name: 'mangle', reason: `${its('PREROUTING')} beside FORWARD` };
  if (builtIn('FORWARD', 'POSTROUTING')) {
    return { name: 'mangle', reason: `${its('POSTROUTING')} beside FORWARD` };
  }
  if (builtIn('FORWARD')) return { name: 'filter', reason: its('FORWARD') };
  if (builtIn('POSTROUTING')) return { name: 'nat', reason: its('POSTROUTING') };
  for (const name of chains) {
    if (NAT_CHAIN.test(name)) return { name: 'nat', reason: its(name) };
    if (FILTER_CHAIN.test(name)) return { name: 'filter', reason: its(name) };
  }
  for (const name of clues.targets) {
    if (NAT_TARGET.test(name)) return { name: 'nat', reason: `its target ${name}` };
    if (name === 'REJECT') return { name: 'filter', reason: `its target ${name}` };
  }
  if (builtIn('PREROUTING', 'OUTPUT') && !builtIn('INPUT')) {
    return { name: 'raw', reason: 'its chains PREROUTING and OUTPUT alone' };
  }
  return undefined;
}

/** The chains in which packets begin; a listing of another table starts over with them. */
const BUILT_IN = new Set(['PREROUTING', 'INPUT', 'FORWARD', 'OUTPUT', 'POSTROUTING']);

/**
 * Tells, chain after chain of a text with several listings, where another listing begins: with a chain that was
 * there, with PREROUTING, which is the first of its table, and with a built-in chain behind others.
 */
export function listingBoundaries(): (chain: string) => boolean {
  let seen = new Set<string>();
  let sawOthers = false;
  return (chain) => {
    const isBuiltIn = BUILT_IN.has(chain);
    const begins = seen.size > 0 && (seen.has(chain) || chain === 'PREROUTING' || (isBuiltIn && sawOthers));
    if (begins) {
      seen = new Set();
      sawOthers = false;
    }
    seen.add(chain);
    sawOthers ||= !isBuiltIn;
    return begins;
  };
}
