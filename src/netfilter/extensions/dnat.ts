import { canonicalAddress, plainIPv4End } from '../addresses.ts';
import { parsePort } from '../services.ts';
import { saveWord } from '../words.ts';
import type { TargetExtension } from './extension.ts';

export interface DnatTarget {
  readonly kind: 'DNAT';
  /** As written: `10.0.0.1:80`, `[fd00::1]:80`. More than one only in garbled dumps of old nft back ends. */
  readonly destinations: readonly string[];
  readonly random: boolean;
  readonly persistent: boolean;
}

export const dnat: TargetExtension<DnatTarget> = {
  name: 'DNAT',
  options: {
    '--to-destination': { values: 1, repeatable: true },
    '--to': { values: 1, repeatable: true, as: '--to-destination' },
    '--random': { values: 0, repeatable: true },
    '--persistent': { values: 0, repeatable: true },
  },
  parse(given) {
    const destinations: string[] = [];
    let random = false;
    let persistent = false;
    for (const option of given) {
      if (option.name === '--random') random = true;
      else if (option.name === '--persistent') persistent = true;
      else destinations.push(option.values[0] ?? '');
    }
    return destinations.length === 0 ? undefined : { kind: 'DNAT', destinations, random, persistent };
  },
  save: (target) => print(target, canonicalDestination),
  restore: (target) => print(target, (destination) => destination),
};

function print(target: DnatTarget, destinationText: (text: string) => string): string {
  let text = '';
  for (const destination of target.destinations) {
    const word = isPlain(destination) ? destination : saveWord(destinationText(destination));
    text += ` --to-destination ${word}`;
  }
  return text + (target.random ? ' --random' : '') + (target.persistent ? ' --persistent' : '');
}

const COLON = 0x3a;

/** `10.244.1.38:8080`, which is what nearly every destination looks like; ports of at most four digits. */
function isPlain(text: string): boolean {
  const colon = plainIPv4End(text);
  const digits = text.length - colon - 1;
  if (colon < 0 || digits < 1 || digits > 4 || text.charCodeAt(colon) !== COLON) return false;
  for (let i = colon + 1; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 0x30;
    if (digit < 0 || digit > 9 || (digit === 0 && i === colon + 1)) return false;
  }
  return true;
}

/**
 * Addresses and ports as iptables-save prints them: `[FD00:0::1]` → `fd00::1`, `10.0.0.1:80-80` →
 * `10.0.0.1:80`. What is none comes back as it was.
 */
function canonicalDestination(text: string): string {
  const bracket = text.lastIndexOf(']');
  const isIPv6 = text.startsWith('[') ? bracket > 0 : text.indexOf(':') !== text.lastIndexOf(':');
  const colon = isIPv6 ? (bracket > 0 ? text.indexOf(':', bracket) : -1) : text.indexOf(':');
  const host = colon < 0 ? text : text.slice(0, colon);
  const addresses = host === '' ? '' : canonicalRange(host.replace(/^\[(.*)\]$/, '$1'));
  const ports = colon < 0 ? '' : canonicalPorts(text.slice(colon + 1));
  if (addresses === undefined || ports === undefined) return text;
  if (ports === '') return addresses;
  return isIPv6 && addresses !== '' ? `[${addresses}]:${ports}` : `${addresses}:${ports}`;
}

function canonicalRange(text: string): string | undefined {
  const [first, last, ...more] = text.split('-').map(canonicalAddress);
  if (first === undefined || more.length > 0) return undefined;
  if (!text.includes('-') || last === first) return first;
  return last === undefined ? undefined : `${first}-${last}`;
}

/** `80`, `http`, `80-90`, and since 1.8 `80-90/100`: the port that the first of the range stands for. */
export function canonicalPorts(text: string): string | undefined {
  const [range = '', base, ...more] = text.split('/');
  const [first, last, ...others] = range.split('-').map(parsePort);
  if (first === undefined || others.length > 0 || more.length > 0) return undefined;
  if (range.includes('-') && last === undefined) return undefined;
  const ports = last === undefined || last === first ? String(first) : `${first}-${last}`;
  if (base === undefined) return ports;
  const port = parsePort(base);
  return port === undefined ? undefined : `${ports}/${port}`;
}
