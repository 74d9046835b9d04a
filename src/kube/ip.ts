import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

export type IPFamily = 'IPv4' | 'IPv6';

/** An IP address as kube-proxy sees it after Go's `ParseIPSloppy`. */
export interface IPAddress {
  readonly family: IPFamily;
  /** Canonical text, as Go's `net.IP.String` prints it. */
  readonly text: string;
}

/** A network as kube-proxy sees it after Go's `ParseCIDRSloppy`: host bits are cleared. */
export interface CIDR {
  readonly family: IPFamily;
  /** Canonical text, as Go's `net.IPNet.String` prints it. */
  readonly text: string;
  readonly prefixLength: number;
  readonly bytes: readonly number[];
}

const CANONICAL_IPV4 = /^(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/;

/** Go's sloppy parser reads leading zeros as decimal, and any number of them; node's does not take them at all. */
function withoutLeadingZeros(text: string): string {
  const groups = text.includes(':') ? text.replace(/(^|:)0+(?=[0-9a-fA-F]{4}(?::|$))/g, '$1') : text;
  return groups.includes('.') ? groups.replace(/(^|[.:])0+(?=\d+(?:\.|$))/g, '$1') : groups;
}

/** `::1.2.3.4` → `::102:304`: ipaddr.js takes every dotted tail for an IPv4-mapped address. */
function withoutDottedTail(text: string): string {
  const match = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(text);
  if (match === null) return text;
  const [, head, a, b, c, d] = match;
  const group = (high: string | undefined, low: string | undefined) =>
    (Number(high) * 256 + Number(low)).toString(16);
  return `${head}${group(a, b)}:${group(c, d)}`;
}

/**
 * Reads an address as kube-proxy does (k8s.io/utils/net ParseIPSloppy): IPv4 with leading zeros is decimal,
 * zones are refused, an IPv4-mapped IPv6 address is the IPv4 address. Returns undefined for anything else.
 */
export function parseIP(text: string): IPAddress | undefined {
  if (CANONICAL_IPV4.test(text)) return { family: 'IPv4', text };
  if (text.length > 64 || text.includes('%')) return undefined;
  const plain = withoutLeadingZeros(text);
  if (isIPv4(plain)) return { family: 'IPv4', text: plain };
  if (!isIPv6(plain)) return undefined;
  const address = ipaddr.IPv6.parse(withoutDottedTail(plain));
  if (address.isIPv4MappedAddress()) return { family: 'IPv4', text: address.toIPv4Address().toString() };
  return { family: 'IPv6', text: address.toRFC5952String() };
}

/** The bytes of an address, 4 or 16; for arithmetic on what parseIP accepted. */
export function ipBytes(address: IPAddress): number[] {
  return ipaddr.parse(address.text).toByteArray();
}

/**
 * Reads `ADDRESS/LENGTH` as kube-proxy does (ParseCIDRSloppy). Surrounding blanks are the caller's affair.
 * Returns undefined for anything else.
 */
export function parseCIDR(text: string): CIDR | undefined {
  const slash = text.indexOf('/');
  if (slash < 0) return undefined;
  const length = text.slice(slash + 1);
  if (!/^\d{1,3}$/.test(length)) return undefined;
  const address = parseIP(text.slice(0, slash));
  if (address === undefined) return undefined;
  // Go counts the length of an IPv4-mapped network in 128 bits; no such network reaches kube-proxy.
  if (address.family === 'IPv4' && text.includes(':')) return undefined;
  const prefixLength = Number(length);
  const bytes = ipBytes(address);
  if (prefixLength > bytes.length * 8) return undefined;
  const network = bytes.map((byte, i) => {
    const bits = Math.min(8, Math.max(0, prefixLength - i * 8));
    return byte & (0xff << (8 - bits)) & 0xff;
  });
  return {
    family: address.family,
    text: `${textOfBytes(network)}/${prefixLength}`,
    prefixLength,
    bytes: network,
  };
}

/** The canonical text of 4 or 16 bytes. */
export function textOfBytes(bytes: number[]): string {
  const address = ipaddr.fromByteArray(bytes);
  return address.kind() === 'ipv4' ? address.toString() : (address as ipaddr.IPv6).toRFC5952String();
}

/** Whether the network holds the address; networks of the other family never do. */
export function cidrContains(cidr: CIDR, address: IPAddress): boolean {
  if (cidr.family !== address.family) return false;
  const bytes = ipBytes(address);
  return cidr.bytes.every((byte, i) => {
    const bits = Math.min(8, Math.max(0, cidr.prefixLength - i * 8));
    return ((byte ^ (bytes[i] ?? 0)) & (0xff << (8 - bits)) & 0xff) === 0;
  });
}

/** 127.0.0.0/8 and ::1, as Go's `IsLoopback`. */
export function isLoopback(address: IPAddress): boolean {
  return address.family === 'IPv4' ? address.text.startsWith('127.') : address.text === '::1';
}

/** `address:port`, with brackets around an IPv6 address, as Go's `net.JoinHostPort`. */
export function joinHostPort(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
