/*
 * Options of `create` and `add`: pairs of name and value, and flags. Old spellings (`--hashsize 1024`,
 * `hashsize: 1024` in listings of ipset 4) are read as the new ones.
 */

import type { IpSetOption } from './ipset-types.ts';
import { isIpsetValue, isIpsetWord } from './ipset-words.ts';

const CREATE_FLAGS = new Set(['counters', 'comment', 'forceadd', 'skbinfo', 'nomatch', 'wildcard']);
const ADD_FLAGS = new Set(['nomatch', 'wildcard']);

/** What the kernel chooses and prints; `bucketsize` can be given, and only shapes the memory of the set. */
const KERNEL_ONLY = new Set(['bucketsize', 'initval']);

/** Names of set types before ipset 5, which `create` still takes. */
const OLD_TYPES = new Map([
  ['iphash', 'hash:ip'],
  ['iptree', 'hash:ip'],
  ['iptreemap', 'hash:ip'],
  ['nethash', 'hash:net'],
  ['ipporthash', 'hash:ip,port'],
  ['ipportiphash', 'hash:ip,port,ip'],
  ['ipportnethash', 'hash:ip,port,net'],
  ['ipmap', 'bitmap:ip'],
  ['macipmap', 'bitmap:ip,mac'],
  ['portmap', 'bitmap:port'],
  ['setlist', 'list:set'],
]);

export function setType(word: string): string {
  return OLD_TYPES.get(word) ?? word;
}

/** The words behind a set's type → options; undefined where one cannot be written back. */
export function createOptions(words: readonly string[]): readonly IpSetOption[] | undefined {
  return options(words.map(newSpelling), CREATE_FLAGS);
}

/** The words behind a member → options; undefined where one cannot be written back. */
export function memberOptions(words: readonly string[]): readonly IpSetOption[] | undefined {
  return options(words, ADD_FLAGS);
}

function options(words: readonly string[], flags: ReadonlySet<string>): readonly IpSetOption[] | undefined {
  const found: IpSetOption[] = [];
  for (let i = 0; i < words.length; i++) {
    const name = words[i] ?? '';
    const value = words[i + 1];
    if (!isIpsetWord(name)) return undefined;
    if (flags.has(name) || value === undefined) {
      found.push({ name });
      continue;
    }
    if (!isIpsetValue(value)) return undefined;
    found.push({ name, value });
    i++;
  }
  return found;
}

function newSpelling(word: string): string {
  const bare = /^--([a-z]+)$/.exec(word)?.[1] ?? word;
  return bare === 'network' ? 'range' : bare.replace(/^([a-z]+):$/, '$1');
}

/** Parts what was asked for from what only the kernel knows. */
export function withoutKernelOptions(all: readonly IpSetOption[]): {
  readonly options: readonly IpSetOption[];
  readonly kernel?: readonly IpSetOption[];
} {
  const kernel = all.filter(({ name }) => KERNEL_ONLY.has(name));
  if (kernel.length === 0) return { options: all };
  return { options: all.filter(({ name }) => !KERNEL_ONLY.has(name)), kernel };
}
