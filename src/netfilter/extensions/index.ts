/*
 * The registry of extensions. A new one is a file beside this, and a line in one of the two lists.
 */
import { addrtype } from './addrtype.ts';
import { comment } from './comment.ts';
import { conntrack } from './conntrack.ts';
import { dnat } from './dnat.ts';
import type { MatchExtension, TargetExtension } from './extension.ts';
import { ipvs } from './ipvs.ts';
import { mark } from './mark.ts';
import { markTarget } from './mark-target.ts';
import { masquerade } from './masquerade.ts';
import { multiport } from './multiport.ts';
import { nfacct } from './nfacct.ts';
import { physdev } from './physdev.ts';
import { recent } from './recent.ts';
import { reject } from './reject.ts';
import { sctp } from './sctp.ts';
import { set } from './set.ts';
import { statistic } from './statistic.ts';
import { tcp } from './tcp.ts';
import { udp } from './udp.ts';

const matches = [
  addrtype,
  comment,
  conntrack,
  ipvs,
  mark,
  multiport,
  nfacct,
  physdev,
  recent,
  sctp,
  set,
  statistic,
  tcp,
  udp,
] as const;

const targets = [dnat, markTarget, masquerade, reject] as const;

/** A match whose extension is known here, with its options understood. */
export type KnownMatch = NonNullable<ReturnType<(typeof matches)[number]['parse']>>;

/** A target extension that is known here, with its options understood. */
export type KnownTarget = NonNullable<ReturnType<(typeof targets)[number]['parse']>>;

/**
 * A match extension that is not known here, or whose options were not: its words, exactly as read. Words keep
 * their quotes where these mean something; see wordText in words.ts.
 */
export interface UnknownMatch {
  readonly kind: 'unknown';
  readonly name: string;
  readonly words: readonly string[];
}

export type Match = KnownMatch | UnknownMatch;

/** `-j CHAIN`, or with `goto` `-g CHAIN`. Whether the chain exists is not known here. */
export interface JumpTarget {
  readonly kind: 'jump';
  readonly chain: string;
  readonly goto: boolean;
}

export interface VerdictTarget {
  readonly kind: 'ACCEPT' | 'DROP' | 'RETURN' | 'QUEUE';
}

/** A target extension that is not known here, or whose options were not: its words, as in UnknownMatch. */
export interface UnknownTarget {
  readonly kind: 'unknown';
  readonly name: string;
  readonly words: readonly string[];
}

export type Target = KnownTarget | JumpTarget | UnknownTarget | VerdictTarget;

/** By the name behind `-m`. */
export const matchExtensions: ReadonlyMap<string, MatchExtension<KnownMatch>> = new Map(
  matches.map((extension): [string, MatchExtension<KnownMatch>] => [extension.name, extension]),
);

/** By the name behind `-j`. */
export const targetExtensions: ReadonlyMap<string, TargetExtension<KnownTarget>> = new Map(
  targets.map((extension): [string, TargetExtension<KnownTarget>] => [extension.name, extension]),
);

/**
 * Target extensions of iptables that are not known here. Behind `-j` they are no chains: iptables takes no chain
 * that has the name of a target.
 */
export const foreignTargets: ReadonlySet<string> = new Set([
  'AUDIT',
  'CHECKSUM',
  'CLASSIFY',
  'CLUSTERIP',
  'CONNMARK',
  'CONNSECMARK',
  'CT',
  'DNPT',
  'DSCP',
  'ECN',
  'HL',
  'HMARK',
  'IDLETIMER',
  'LED',
  'LOG',
  'NETMAP',
  'NFLOG',
  'NFQUEUE',
  'NOTRACK',
  'RATEEST',
  'REDIRECT',
  'SECMARK',
  'SET',
  'SNAT',
  'SNPT',
  'SYNPROXY',
  'TCPMSS',
  'TCPOPTSTRIP',
  'TEE',
  'TOS',
  'TPROXY',
  'TRACE',
  'TTL',
  'ULOG',
]);
