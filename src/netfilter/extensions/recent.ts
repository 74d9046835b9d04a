import { canonicalAddress, parseCNumber } from '../addresses.ts';
import type { Family } from '../family.ts';
import { saveWord } from '../words.ts';
import type { MatchExtension } from './extension.ts';

export interface RecentMatch {
  readonly kind: 'recent';
  readonly negated: boolean;
  readonly action: 'set' | 'rcheck' | 'update' | 'remove';
  readonly name: string;
  readonly seconds?: number;
  readonly reap?: boolean;
  readonly hitCount?: number;
  readonly ttl?: boolean;
  /** undefined: all bits. */
  readonly mask?: string;
  /** Which address is looked up; `source` where nothing is said. */
  readonly side: 'source' | 'destination';
}

const ALL_BITS: Readonly<Record<Family, string>> = {
  ipv4: '255.255.255.255',
  ipv6: 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
};

export const recent: MatchExtension<RecentMatch> = {
  name: 'recent',
  options: {
    '--set': { values: 0, negatable: true },
    '--rcheck': { values: 0, negatable: true },
    '--update': { values: 0, negatable: true },
    '--remove': { values: 0, negatable: true },
    '--seconds': { values: 1 },
    '--reap': { values: 0 },
    '--hitcount': { values: 1 },
    '--rttl': { values: 0 },
    '--name': { values: 1 },
    '--mask': { values: 1 },
    '--rsource': { values: 0 },
    '--rdest': { values: 0 },
  },
  parse(given) {
    const match: Partial<{ -readonly [K in keyof RecentMatch]: RecentMatch[K] }> = {};
    for (const option of given) {
      const value = option.values[0] ?? '';
      const number = parseCNumber(value, 0xffffffff);
      switch (option.name) {
        case '--seconds':
        case '--hitcount':
          if (number === undefined) return undefined;
          if (option.name === '--seconds') match.seconds = number;
          else match.hitCount = number;
          break;
        case '--reap':
          match.reap = true;
          break;
        case '--rttl':
          match.ttl = true;
          break;
        case '--name':
          match.name = value;
          break;
        case '--mask':
          if (!isAllBits(value)) match.mask = value;
          break;
        case '--rsource':
        case '--rdest':
          if (match.side !== undefined) return undefined;
          match.side = option.name === '--rdest' ? 'destination' : 'source';
          break;
        default:
          if (match.action !== undefined) return undefined;
          match.action = option.name.slice(2) as RecentMatch['action'];
          match.negated = option.negated;
      }
    }
    const { action, negated = false, name = 'DEFAULT', side = 'source' } = match;
    return action && { ...match, kind: 'recent', action, negated, name, side };
  },
  save: (match, family) =>
    (match.negated ? ' !' : '') +
    ` --${match.action}${limits(match)} --name ${saveWord(match.name)}` +
    ` --mask ${match.mask === undefined ? ALL_BITS[family] : (canonicalAddress(match.mask) ?? saveWord(match.mask))}` +
    (match.side === 'source' ? ' --rsource' : ' --rdest'),
  restore: (match) =>
    ` --name ${saveWord(match.name)}${match.negated ? ' !' : ''} --${match.action}${limits(match)}` +
    (match.mask === undefined ? '' : ` --mask ${saveWord(match.mask)}`) +
    (match.side === 'source' ? '' : ' --rdest'),
};

function isAllBits(mask: string): boolean {
  const canonical = canonicalAddress(mask);
  return canonical === ALL_BITS.ipv4 || canonical === ALL_BITS.ipv6;
}

function limits(match: RecentMatch): string {
  return (
    (match.seconds === undefined ? '' : ` --seconds ${match.seconds}`) +
    (match.reap ? ' --reap' : '') +
    (match.hitCount === undefined ? '' : ` --hitcount ${match.hitCount}`) +
    (match.ttl ? ' --rttl' : '')
  );
}
