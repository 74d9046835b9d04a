import { type VirtualServerOwner, virtualServerKey } from '../compile/index.ts';
import { cidrContains, parseCIDR, parseIP } from '../kube/index.ts';
import {
  type Family,
  type IpSet,
  printAddressAndPort,
  type RealServer,
  type VirtualServer,
} from '../netfilter/index.ts';

/** What one side says of IPVS; a part that is undefined was not dumped, and is not compared. */
export interface IpvsState {
  readonly sets?: readonly IpSet[];
  readonly virtualServers?: readonly VirtualServer[];
  /** Addresses on kube-ipvs0, without lengths. */
  readonly addresses?: readonly string[];
  /** Whose each virtual server is, by virtualServerKey; only manifests tell. */
  readonly owners?: ReadonlyMap<string, VirtualServerOwner>;
  readonly excludeCIDRs?: readonly string[];
}

/** Everything of IPVS in one family that is not the same on both sides. Findings and patches are made from it. */
export interface IpvsDifference {
  readonly family: Family;
  /** Which parts both sides have: `ipvs`, `ipset`, `kube-ipvs0`. */
  readonly compared: readonly string[];
  readonly servers: readonly ServerDifference[];
  readonly sets: readonly SetDifference[];
  readonly addresses: { readonly missing: readonly string[]; readonly surplus: readonly string[] };
}

/** A virtual server that is missing, surplus, or served in another way. */
export interface ServerDifference {
  readonly key: string;
  readonly expected?: VirtualServer;
  readonly actual?: VirtualServer;
  readonly missing: readonly RealServer[];
  /** Too many; those of weight 0 are being drained by kube-proxy. */
  readonly surplus: readonly RealServer[];
  readonly changed: readonly { readonly expected: RealServer; readonly actual: RealServer }[];
  /** Scheduler, persistence or flags differ. */
  readonly edited: boolean;
}

export interface SetDifference {
  readonly name: string;
  readonly expected?: IpSet;
  readonly actual?: IpSet;
  /** The type, the family or the range differs: the set has to be made anew. */
  readonly redefined: boolean;
  readonly missing: readonly string[];
  readonly surplus: readonly string[];
}

export function compareIpvs(
  family: Family,
  expected: IpvsState | undefined,
  actual: IpvsState | undefined,
): IpvsDifference | undefined {
  if (expected === undefined || actual === undefined) return undefined;
  const compared: string[] = [];
  let servers: ServerDifference[] = [];
  let sets: SetDifference[] = [];
  let addresses: IpvsDifference['addresses'] = { missing: [], surplus: [] };
  if (expected.virtualServers !== undefined && actual.virtualServers !== undefined) {
    compared.push('ipvs');
    servers = compareServers(
      ofFamily(expected.virtualServers, family),
      ofFamily(actual.virtualServers, family),
      expected.excludeCIDRs ?? [],
      actual.excludeCIDRs ?? [],
    );
  }
  if (expected.sets !== undefined && actual.sets !== undefined) {
    compared.push('ipset');
    sets = compareSets(setsOf(expected.sets, family), setsOf(actual.sets, family));
  }
  if (expected.addresses !== undefined && actual.addresses !== undefined) {
    compared.push('kube-ipvs0');
    const isOf = (address: string) =>
      address.includes(':') === (family === 'ipv6') && !/^fe[89ab]/i.test(address);
    const left = new Set(expected.addresses.filter(isOf));
    const right = new Set(actual.addresses.filter(isOf));
    addresses = {
      missing: [...left].filter((address) => !right.has(address)),
      surplus: [...right].filter((address) => !left.has(address)),
    };
  }
  return { family, compared, servers, sets, addresses };
}

/** The key of a virtual server; undefined for one by firewall mark, which kube-proxy neither makes nor deletes. */
export function keyOf({ service }: VirtualServer): string | undefined {
  return service.by === 'address'
    ? virtualServerKey(service.protocol, service.address, service.port)
    : undefined;
}

function ofFamily(servers: readonly VirtualServer[], family: Family): Map<string, VirtualServer> {
  const found = new Map<string, VirtualServer>();
  for (const server of servers) {
    const key = keyOf(server);
    if (key === undefined || server.service.by !== 'address') continue;
    if (server.service.address.includes(':') === (family === 'ipv6')) found.set(key, server);
  }
  return found;
}

function compareServers(
  expected: ReadonlyMap<string, VirtualServer>,
  actual: ReadonlyMap<string, VirtualServer>,
  surplusExcluded: readonly string[],
  missingExcluded: readonly string[],
): ServerDifference[] {
  const isIn = (texts: readonly string[]) => {
    const excluded = texts.map(parseCIDR).filter((cidr) => cidr !== undefined);
    return ({ service }: VirtualServer) => {
      const ip = service.by === 'address' ? parseIP(service.address) : undefined;
      return ip !== undefined && excluded.some((cidr) => cidrContains(cidr, ip));
    };
  };
  const isExcluded = isIn(surplusExcluded);
  // On the way back, what was left alone on the way there is on both sides.
  const isKept = isIn(missingExcluded);
  const differences: ServerDifference[] = [];
  for (const [key, server] of expected) {
    const other = actual.get(key);
    if (other === undefined) {
      if (isKept(server)) continue;
      differences.push({
        key,
        expected: server,
        missing: server.realServers,
        surplus: [],
        changed: [],
        edited: false,
      });
      continue;
    }
    const difference = compareServer(key, server, other);
    if (difference !== undefined) differences.push(difference);
  }
  for (const [key, server] of actual) {
    if (expected.has(key) || isExcluded(server)) continue;
    differences.push({
      key,
      actual: server,
      missing: [],
      surplus: server.realServers,
      changed: [],
      edited: false,
    });
  }
  return differences;
}

function compareServer(
  key: string,
  expected: VirtualServer,
  actual: VirtualServer,
): ServerDifference | undefined {
  const left = new Map(expected.realServers.map((server) => [realServerText(server), server]));
  const right = new Map(actual.realServers.map((server) => [realServerText(server), server]));
  const changed: { expected: RealServer; actual: RealServer }[] = [];
  for (const [text, server] of left) {
    const other = right.get(text);
    if (other !== undefined && (other.weight !== server.weight || other.method !== server.method)) {
      changed.push({ expected: server, actual: other });
    }
  }
  const missing = [...left].filter(([text]) => !right.has(text)).map(([, server]) => server);
  const surplus = [...right].filter(([text]) => !left.has(text)).map(([, server]) => server);
  const edited =
    expected.scheduler !== actual.scheduler ||
    expected.persistentSeconds !== actual.persistentSeconds ||
    maskOf(expected) !== maskOf(actual) ||
    [...expected.flags].sort().join() !== [...actual.flags].sort().join();
  if (!edited && missing.length + surplus.length + changed.length === 0) return undefined;
  return { key, expected, actual, missing, surplus, changed, edited };
}

/** A mask of a single address is the default, and not always printed. */
function maskOf({ persistentMask }: VirtualServer): string | undefined {
  return persistentMask === '255.255.255.255' || persistentMask === '128' ? undefined : persistentMask;
}

/** `10.244.1.10:8080`, `[fd00::1]:8080` */
export function realServerText({ address, port }: RealServer): string {
  return printAddressAndPort(address, port);
}

/** Sets of kube-proxy alone, of one family: IPv6 sets are named KUBE-6-…. */
function setsOf(sets: readonly IpSet[], family: Family): Map<string, IpSet> {
  const found = new Map<string, IpSet>();
  for (const set of sets) {
    if (!set.name.startsWith('KUBE-')) continue;
    if (set.name.startsWith('KUBE-6-') === (family === 'ipv6')) found.set(set.name, set);
  }
  return found;
}

/** The kernel lets hashes grow by itself: sizes say nothing of who made the set. */
const DEFINING = ['family', 'range'];

function compareSets(
  expected: ReadonlyMap<string, IpSet>,
  actual: ReadonlyMap<string, IpSet>,
): SetDifference[] {
  const differences: SetDifference[] = [];
  for (const [name, set] of expected) {
    const other = actual.get(name);
    const members = new Set(set.members.map(({ entry }) => entry));
    if (other === undefined) {
      differences.push({ name, expected: set, redefined: false, missing: [...members], surplus: [] });
      continue;
    }
    const others = new Set(other.members.map(({ entry }) => entry));
    const redefined = definition(set) !== definition(other);
    const missing = [...members].filter((entry) => !others.has(entry));
    const surplus = [...others].filter((entry) => !members.has(entry));
    if (redefined || missing.length > 0 || surplus.length > 0) {
      differences.push({ name, expected: set, actual: other, redefined, missing, surplus });
    }
  }
  return differences;
}

function definition({ type, options }: IpSet): string {
  const values = DEFINING.map((name) => options.find((option) => option.name === name)?.value ?? '');
  return [type, ...values].join(' ');
}
