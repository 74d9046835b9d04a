/*
 * Addresses as the tools read and print them: iptables 1.8.9 for reading (xtables_numeric_to_ipaddr: parts are C
 * integers, so `010` is eight and `0x0a` ten; a network may leave out trailing parts), glibc's inet_ntop for
 * printing IPv6. Checked against the real tools in test/netfilter/kernel.test.ts.
 */

const ALL_ONES = 0xffffffff;

/**
 * `address[/prefix]` in the one text that iptables-save prints: host bits cleared, the prefix always there, as a
 * length where the mask has one. Returns undefined for the network of everything (`0.0.0.0/0`, `::/0`), which
 * iptables-save leaves out. What is no address (a host name, a list) comes back as it was.
 */
export function canonicalNetwork(address: string, prefix: string | undefined): string | undefined {
  if (address === lastNetwork.address && prefix === lastNetwork.prefix) return lastNetwork.text;
  const text = address.includes(':') ? network6(address, prefix) : network4(address, prefix);
  lastNetwork = { address, prefix, text };
  return text;
}

/** Remembered, since the rules of a large dump name the network of all pods again and again. */
let lastNetwork: Readonly<Record<'address' | 'prefix' | 'text', string | undefined>> = {
  address: undefined,
  prefix: undefined,
  text: undefined,
};

/** Four decimal parts without leading zeros: its own canonical text. */
export function isPlainIPv4(text: string): boolean {
  return plainIPv4End(text) === text.length;
}

const DOT = 0x2e;
const ZERO = 0x30;

/**
 * Index behind the plain IPv4 address that the text starts with; -1 where it starts with none. By hand, since
 * every rule of a large dump comes through here. Never asks for a character behind the end, which is slow.
 */
export function plainIPv4End(text: string): number {
  const { length } = text;
  let at = 0;
  for (let part = 0; part < 4; part++) {
    if (part > 0 && (at >= length || text.charCodeAt(at++) !== DOT)) return -1;
    const start = at;
    let value = 0;
    while (at < length) {
      const digit = text.charCodeAt(at) - ZERO;
      if (digit < 0 || digit > 9) break;
      value = value * 10 + digit;
      at++;
      if (value > 255) return -1;
    }
    if (at === start || (at > start + 1 && text.charCodeAt(start) === ZERO)) return -1;
  }
  return at;
}

/** Same, for the places where a single host is printed without `/32` or `/128` (`--vaddr`). */
export function canonicalNetworkOrHost(address: string, prefix: string | undefined): string {
  const network = canonicalNetwork(address, prefix);
  if (network === undefined) return address.includes(':') ? '::/0' : '0.0.0.0/0';
  if (network.endsWith('/32') && !network.includes(':')) return network.slice(0, -3);
  return network.endsWith('/128') ? network.slice(0, -4) : network;
}

/** One address in its canonical text; undefined if it is none. */
export function canonicalAddress(text: string): string | undefined {
  if (text.includes(':')) {
    const groups = parseIPv6(text);
    return groups === undefined ? undefined : formatIPv6(groups);
  }
  if (isPlainIPv4(text)) return text;
  const address = parseIPv4(text);
  return address === undefined ? undefined : formatIPv4(address);
}

function network4(address: string, prefix: string | undefined): string | undefined {
  const value = parseIPv4(address);
  const mask = prefix === undefined ? ALL_ONES : parseMask4(prefix);
  if (value === undefined || mask === undefined) return asWritten(address, prefix);
  const base = (value & mask) >>> 0;
  if (mask === 0) return undefined;
  const length = maskLength(mask);
  return `${formatIPv4(base)}/${length ?? formatIPv4(mask)}`;
}

function network6(address: string, prefix: string | undefined): string | undefined {
  const groups = parseIPv6(address);
  const mask = prefix === undefined ? mask6(128) : parseMask6(prefix);
  if (groups === undefined || mask === undefined) return asWritten(address, prefix);
  const base = groups.map((group, i) => group & (mask[i] ?? 0));
  if (mask.every((group) => group === 0)) return undefined;
  const length = maskLength6(mask);
  return `${formatIPv6(base)}/${length ?? formatIPv6(mask)}`;
}

function asWritten(address: string, prefix: string | undefined): string {
  return prefix === undefined ? address : `${address}/${prefix}`;
}

/** A number as C's strtoul with base 0 takes it: decimal, `0x` hexadecimal, a leading `0` octal. */
export function parseCNumber(text: string, max: number): number | undefined {
  let value: number;
  if (/^(?:0|[1-9][0-9]{0,9})$/.test(text)) value = Number(text);
  else if (/^0[xX][0-9a-fA-F]{1,16}$/.test(text)) value = Number.parseInt(text.slice(2), 16);
  else if (/^0[0-7]{1,22}$/.test(text)) value = Number.parseInt(text, 8);
  else return undefined;
  return value <= max ? value : undefined;
}

/** Dotted parts; `10.1` is read as 10.1.0.0, as iptables does with or without a prefix. */
function parseIPv4(text: string): number | undefined {
  const parts = text.split('.');
  if (parts.length > 4) return undefined;
  let value = 0;
  for (let i = 0; i < 4; i++) {
    const byte = parseCNumber(parts[i] ?? '0', 255);
    if (byte === undefined) return undefined;
    value = value * 256 + byte;
  }
  return value;
}

function formatIPv4(value: number): string {
  return `${value >>> 24}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`;
}

function parseMask4(prefix: string): number | undefined {
  if (prefix.includes('.')) return prefix.split('.').length === 4 ? parseIPv4(prefix) : undefined;
  const length = parseCNumber(prefix, 32);
  return length === undefined ? undefined : length === 0 ? 0 : (ALL_ONES << (32 - length)) >>> 0;
}

/** The number of leading ones, if nothing but zeros follows. */
function maskLength(mask: number): number | undefined {
  const length = Math.clz32(~mask);
  const contiguous = length === 32 || (mask << length) >>> 0 === 0;
  return contiguous ? length : undefined;
}

function mask6(length: number): number[] {
  return Array.from({ length: 8 }, (_, i) => {
    const bits = Math.min(16, Math.max(0, length - 16 * i));
    return (0xffff << (16 - bits)) & 0xffff;
  });
}

function parseMask6(prefix: string): number[] | undefined {
  if (prefix.includes(':')) return parseIPv6(prefix);
  const length = parseCNumber(prefix, 128);
  return length === undefined ? undefined : mask6(length);
}

function maskLength6(mask: readonly number[]): number | undefined {
  let length = 0;
  for (const group of mask) length += countOnes(group);
  return mask6(length).every((group, i) => group === mask[i]) ? length : undefined;
}

function countOnes(group: number): number {
  let ones = 0;
  for (let rest = group; rest !== 0; rest &= rest - 1) ones++;
  return ones;
}

/** inet_pton: eight groups, `::` once, the last two groups may be a dotted IPv4 address. */
function parseIPv6(text: string): number[] | undefined {
  const halves = text.split('::');
  if (halves.length > 2 || text.length > 45) return undefined;
  const head = parseGroups(halves[0] ?? '', halves.length === 1);
  if (head === undefined || halves.length === 1) return head?.length === 8 ? head : undefined;
  const tail = parseGroups(halves[1] ?? '', true);
  if (tail === undefined || head.length + tail.length > 7) return undefined;
  return [...head, ...new Array<number>(8 - head.length - tail.length).fill(0), ...tail];
}

function parseGroups(text: string, mayEndDotted: boolean): number[] | undefined {
  if (text === '') return [];
  const groups: number[] = [];
  const parts = text.split(':');
  for (const [i, part] of parts.entries()) {
    if (part.includes('.')) {
      const dotted =
        /^(?:(?:0|[1-9]\d{0,2})(?:\.|$)){4}$/.test(part) && !part.endsWith('.') ? parseIPv4(part) : undefined;
      if (!mayEndDotted || i !== parts.length - 1 || dotted === undefined) return undefined;
      groups.push(dotted >>> 16, dotted & 0xffff);
    } else if (/^[0-9a-fA-F]{1,4}$/.test(part)) groups.push(Number.parseInt(part, 16));
    else return undefined;
  }
  return groups;
}

/** glibc's inet_ntop: the first longest run of two or more zero groups becomes `::`; `::1.2.3.4`, `::ffff:1.2.3.4`. */
function formatIPv6(groups: readonly number[]): string {
  let bestStart = -1;
  let bestLength = 1;
  for (let i = 0; i < 8; i++) {
    let length = 0;
    while (i + length < 8 && groups[i + length] === 0) length++;
    if (length > bestLength) {
      bestStart = i;
      bestLength = length;
    }
    if (length > 0) i += length - 1;
  }
  const low = ((groups[6] ?? 0) * 65536 + (groups[7] ?? 0)) >>> 0;
  if (bestStart === 0 && bestLength === 6) return `::${formatIPv4(low)}`;
  if (bestStart === 0 && bestLength === 5 && groups[5] === 0xffff) return `::ffff:${formatIPv4(low)}`;
  const hex = groups.map((group) => group.toString(16));
  if (bestStart < 0) return hex.join(':');
  return `${hex.slice(0, bestStart).join(':')}::${hex.slice(bestStart + bestLength).join(':')}`;
}
