/*
 * The one text of a member: what the kernel keeps of an entry and `ipset save` prints of it (ipset 7.17, kernel 6.1;
 * checked against both in test/ipvs-kernel.test.ts). An entry of hash:ip,port,net is written `ip,port,net`, so the
 * type tells what each part means.
 */
import { canonicalAddress, canonicalNetworkOrHost, parseCNumber } from './addresses.ts';
import { canonicalProtocol } from './protocols.ts';
import { parsePort } from './services.ts';

/**
 * `010.0.0.1,443` in hash:ip,port → `8.0.0.1,tcp:443`; `FD00::0:1` → `fd00::1`; `10.1.2.3/8` in hash:net →
 * `10.0.0.0/8`, `/32` and `/128` dropped; `http` in bitmap:port → `80`. A range is kept a range (`80-80` is `80`),
 * though the kernel keeps its members. What cannot be understood, and entries of unknown types, stay as they are.
 */
export function canonicalMember(type: string, entry: string): string {
  const parts = partsOf(type);
  const words = entry.split(',');
  if (parts === undefined || words.length > parts.length) return entry;
  return words.map((word, i) => canonicalPart(parts[i] ?? '', word, type)).join(',');
}

/** `hash:ip,port` → `ip`, `port`. */
function partsOf(type: string): readonly string[] | undefined {
  return /^(?:hash|bitmap):([a-z]+(?:,[a-z]+)*)$/.exec(type)?.[1]?.split(',');
}

function canonicalPart(part: string, word: string, type: string): string {
  switch (part) {
    case 'ip':
      return canonicalHost(word, false);
    case 'net':
      return canonicalHost(word, true);
    case 'port':
      return type === 'bitmap:port' ? bitmapPort(word) : protocolAndPort(word);
    case 'mac':
      return word.toUpperCase();
    case 'mark': {
      const mark = parseCNumber(word, 0xffffffff);
      return mark === undefined ? word : `0x${mark.toString(16).padStart(8, '0')}`;
    }
    default:
      return word;
  }
}

/** An address, a network, or a range of addresses. An IPv6 address may stand in brackets. */
function canonicalHost(word: string, mayBeNetwork: boolean): string {
  const text = word.replace(/^\[([^\]]*)\]/, '$1');
  const range = /^([^-]+)-([^-]+)$/.exec(text);
  if (range?.[1] !== undefined && range[2] !== undefined) {
    const [from, to] = [canonicalAddress(range[1]), canonicalAddress(range[2])];
    if (from === undefined || to === undefined) return word;
    return from === to ? from : `${from}-${to}`;
  }
  const [address = '', prefix, ...more] = text.split('/');
  const canonical = canonicalAddress(address);
  if (canonical === undefined || more.length > 0) return word;
  if (prefix === undefined) return canonical;
  if (!mayBeNetwork && prefix !== (canonical.includes(':') ? '128' : '32')) return `${canonical}/${prefix}`;
  return canonicalNetworkOrHost(canonical, prefix);
}

/** bitmap:port takes a protocol, to look up a name in, and keeps the number. */
function bitmapPort(word: string): string {
  const port = /^(?:tcp|udp|sctp|udplite):(.+)$/.exec(word)?.[1] ?? word;
  return portOrRange(port) ?? word;
}

const HAS_PORTS = new Set(['tcp', 'udp', 'sctp', 'udplite']);

/** `443` is `tcp:443`; of protocols without ports the text behind the colon is kept (`icmp:echo-request`). */
function protocolAndPort(word: string): string {
  const colon = word.indexOf(':');
  const protocol = colon < 0 ? 'tcp' : canonicalProtocol(word.slice(0, colon));
  const port = word.slice(colon + 1);
  if (!HAS_PORTS.has(protocol)) return `${protocol}:${port}`;
  const canonical = portOrRange(port);
  return canonical === undefined ? word : `${protocol}:${canonical}`;
}

function portOrRange(text: string): string | undefined {
  const whole = parsePort(text);
  if (whole !== undefined) return String(whole);
  // Names hold dashes too: `http-alt-https` can be parted in two ways, of which one has two ports.
  for (let dash = text.indexOf('-'); dash >= 0; dash = text.indexOf('-', dash + 1)) {
    const from = parsePort(text.slice(0, dash));
    const to = parsePort(text.slice(dash + 1));
    if (from === undefined || to === undefined) continue;
    return from === to ? String(from) : `${Math.min(from, to)}-${Math.max(from, to)}`;
  }
  return undefined;
}
