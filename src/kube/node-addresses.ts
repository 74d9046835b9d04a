import { type CIDR, cidrContains, type IPAddress, type IPFamily, isLoopback, parseCIDR } from './ip.ts';
import { type KubeProxyConfiguration, PRIMARY } from './kube-proxy-configuration.ts';
import type { KubeProxyVersion } from './kube-proxy-version.ts';
import type { Node } from './node.ts';

/** Addresses of the node's network interfaces, lo among them. */
export interface NetworkInterface {
  readonly name: string;
  readonly addresses: readonly IPAddress[];
}

/** The node's own address of each family, and which of the families comes first. */
export interface NodeIPs {
  readonly IPv4: IPAddress;
  readonly IPv6: IPAddress;
  readonly primary: IPFamily;
}

const LOOPBACK: Readonly<Record<IPFamily, IPAddress>> = {
  IPv4: { family: 'IPv4', text: '127.0.0.1' },
  IPv6: { family: 'IPv6', text: '::1' },
};
const UNSPECIFIED = new Set(['0.0.0.0', '::']);
/** The spelling of a /0 that every version knows. */
const ZERO_CIDRS = new Set(['0.0.0.0/0', '::/0']);

export const LOOPBACK_INTERFACE: NetworkInterface = {
  name: 'lo',
  addresses: [LOOPBACK.IPv4, LOOPBACK.IPv6],
};

/**
 * The node IPs that kube-proxy 1.28 and later works with: the Node's first address of each family (internal
 * ones before external ones), overridden by bindAddress where that names one; loopback where nothing is known.
 */
export function nodeIPs(node: Node | undefined, configuration: KubeProxyConfiguration): NodeIPs {
  const addresses = [...(node?.internalIPs ?? []), ...(node?.externalIPs ?? [])];
  const first = addresses[0];
  const second = addresses.find((address) => address.family !== first?.family);
  const ips = { ...LOOPBACK };
  let primary: IPFamily = 'IPv4';
  if (first !== undefined) {
    ips[first.family] = first;
    primary = first.family;
  }
  if (second !== undefined) ips[second.family] = second;
  const bind = configuration.bindAddress;
  if (bind !== undefined) {
    // kubeadm writes :: into the configuration of IPv6 clusters; it says nothing where the Node says more.
    if (!UNSPECIFIED.has(bind.text)) {
      ips[bind.family] = bind;
      primary = bind.family;
    } else if (first === undefined) primary = bind.family;
  }
  return { ...ips, primary };
}

/** The node IP of a family up to 1.27 on a dual-stack node: bindAddress, or no address at all (nodeIPTuple). */
export function boundIP({ bindAddress }: KubeProxyConfiguration, family: IPFamily): IPAddress {
  return bindAddress?.family === family
    ? bindAddress
    : { family, text: family === 'IPv4' ? '0.0.0.0' : '::' };
}

/** Where node ports are open: kube-proxy's NodePortAddresses of one family. */
export type NodePortAddresses =
  | { readonly match: 'all'; readonly containsIPv4Loopback: boolean }
  | {
      readonly match: 'addresses';
      readonly containsIPv4Loopback: boolean;
      readonly addresses: readonly IPAddress[];
    };

/**
 * Evaluates nodePortAddresses for one family: CIDRs of the other family do not count, none left means all,
 * a /0 ends the list. The addresses of the interfaces that lie inside are given in the order of the
 * interfaces, each once (kube-proxy takes them in random order).
 */
export function nodePortAddresses(
  configuration: KubeProxyConfiguration,
  family: IPFamily,
  ips: NodeIPs,
  interfaces: readonly NetworkInterface[],
  version: KubeProxyVersion,
): NodePortAddresses {
  const byLength = version.behaviour.zeroNodePortAddresses === 'by length';
  let zero = -1;
  const cidrs: CIDR[] = [];
  for (const text of expandPrimary(configuration.nodePortAddresses ?? [], ips)) {
    const cidr = parseCIDR(text);
    if (cidr?.family !== family) continue;
    if (zero < 0 && cidr.prefixLength === 0 && (byLength || ZERO_CIDRS.has(text))) zero = cidrs.length;
    cidrs.push(cidr);
  }
  if (cidrs.length === 0) return { match: 'all', containsIPv4Loopback: family === 'IPv4' };
  const counted = zero < 0 ? cidrs : cidrs.slice(0, zero + 1);
  const loopbackNetwork: IPAddress = { family: 'IPv4', text: '127.0.0.0' };
  const containsIPv4Loopback = counted.some(
    (cidr) => cidr.family === 'IPv4' && (cidr.bytes[0] === 127 || cidrContains(cidr, loopbackNetwork)),
  );
  if (zero >= 0) return { match: 'all', containsIPv4Loopback };
  const addresses = new Map<string, IPAddress>();
  for (const { addresses: candidates } of interfaces) {
    for (const address of candidates) {
      if (counted.some((cidr) => cidrContains(cidr, address))) addresses.set(address.text, address);
    }
  }
  return { match: 'addresses', containsIPv4Loopback, addresses: [...addresses.values()] };
}

/** `primary` stands for the node IPs; a family whose address is not known is left out, and then all match. */
function expandPrimary(texts: readonly string[], ips: NodeIPs): readonly string[] {
  if (texts.length !== 1 || texts[0] !== PRIMARY) return texts;
  return [ips.IPv4, ips.IPv6]
    .filter((ip) => !isLoopback(ip))
    .map((ip) => `${ip.text}/${ip.family === 'IPv4' ? 32 : 128}`);
}
