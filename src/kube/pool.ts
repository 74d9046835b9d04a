/**
 * Numbers that are handed out by name, the same ones on every run, and few others when names come and go. Where a
 * name ends up is frozen: golden files depend on it.
 */
import { type CIDR, type IPAddress, ipBytes, textOfBytes } from './ip.ts';

export interface Pool<T> {
  /** Takes a number that somebody has; false where it is taken already or lies outside. */
  readonly reserve: (item: T) => boolean;
  /** The place of this name, or the next of its places that is free; undefined where all are taken. */
  readonly allocate: (key: string) => T | undefined;
}

/** Places that a name has of its own; then the next free one counts. */
const PLACES = 16;

/**
 * Numbers from `first` to `last`. The lowest `band` of them, which people choose by hand, are handed out only when
 * the others are taken, as the API server does it.
 */
function numberPool(first: number, last: number, band: number): Pool<number> {
  const taken = new Set<number>();
  const reserve = (item: number) => {
    if (item < first || item > last || taken.has(item)) return false;
    taken.add(item);
    return true;
  };
  const upper = first + band;
  const count = last - upper + 1;
  return {
    reserve,
    allocate: (key) => {
      for (let place = 0; place < PLACES && count > 0; place++) {
        const item = upper + (hash(`${key}#${place}`) % count);
        if (reserve(item)) return item;
      }
      const start = count > 0 ? hash(key) % count : 0;
      for (let step = 0; step < count; step++) {
        const item = upper + ((start + step) % count);
        if (reserve(item)) return item;
      }
      for (let item = first; item < Math.min(upper, last + 1); item++) if (reserve(item)) return item;
      return undefined;
    },
  };
}

/** Of larger networks the first 2^32 addresses are used. */
const MAX_HOST_BITS = 32;

/**
 * Addresses of a network, without its first one, of IPv4 also without its last. With a band for addresses that
 * people choose (KEP-3070: a sixteenth, 16 to 256) where it is the network of Services.
 */
export function addressPool(cidr: CIDR, kind: 'services' | 'pods'): Pool<IPAddress> {
  const bits = Math.min(cidr.bytes.length * 8 - cidr.prefixLength, MAX_HOST_BITS);
  const last = 2 ** bits - (cidr.family === 'IPv4' ? 2 : 1);
  // The first address of the Services is that of the API server: Service default/kubernetes.
  const first = kind === 'services' ? 2 : 1;
  const numbers = numberPool(first, last, kind === 'services' ? band(last, 16, 256, 16) : 0);
  const toAddress = (offset: number): IPAddress => {
    const bytes = [...cidr.bytes];
    let rest = offset;
    for (let at = bytes.length - 1; rest > 0; at--) {
      const sum = (bytes[at] ?? 0) + (rest % 256);
      bytes[at] = sum % 256;
      rest = Math.floor(rest / 256);
    }
    return { family: cidr.family, text: textOfBytes(bytes) };
  };
  const toOffset = (address: IPAddress): number => {
    if (address.family !== cidr.family) return -1;
    // Host bits of the network are 0, so that its bytes can be taken away one by one.
    let offset = 0;
    for (const [at, byte] of ipBytes(address).entries()) offset = offset * 256 + byte - (cidr.bytes[at] ?? 0);
    return offset;
  };
  return {
    reserve: (address) => numbers.reserve(toOffset(address)),
    allocate: (key) => {
      const offset = numbers.allocate(key);
      return offset === undefined ? undefined : toAddress(offset);
    },
  };
}

/** Node ports from `first` to `last`; KEP-3668: a thirty-second of them, 16 to 128, for ports that people choose. */
export function nodePortPool(first: number, last: number): Pool<number> {
  return numberPool(first, last, band(last - first + 1, 16, 128, 32));
}

/** calculateRangeOffset of the API server's allocators. */
function band(size: number, least: number, most: number, part: number): number {
  if (size < least) return 0;
  return Math.min(Math.max(Math.floor(size / part), least), most);
}

/** FNV-1a over UTF-16 code units, its bits mixed once more (the finalizer of MurmurHash3). */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  }
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
