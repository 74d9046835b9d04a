import type { AddrtypeMatch } from './addrtype.ts';
import type { CommentMatch } from './comment.ts';
import type { ConntrackMatch } from './conntrack.ts';
import type { DnatTarget } from './dnat.ts';
import type { IpvsMatch } from './ipvs.ts';
import type { MarkMatch } from './mark.ts';
import type { MarkTarget } from './mark-target.ts';
import type { MasqueradeTarget } from './masquerade.ts';
import type { MultiportMatch } from './multiport.ts';
import type { NfacctMatch } from './nfacct.ts';
import type { PhysdevMatch } from './physdev.ts';
import type { RecentMatch } from './recent.ts';
import type { RejectTarget } from './reject.ts';
import type { SctpMatch } from './sctp.ts';
import type { SetMatch } from './set.ts';
import type { StatisticMatch } from './statistic.ts';
import type { TcpMatch } from './tcp.ts';
import type { UdpMatch } from './udp.ts';

/** A match extension that is not known here, or whose options were not: its words, exactly as read. */
export interface UnknownMatch {
  readonly kind: 'unknown';
  readonly name: string;
  readonly words: readonly string[];
}

export type Match =
  | AddrtypeMatch
  | CommentMatch
  | ConntrackMatch
  | IpvsMatch
  | MarkMatch
  | MultiportMatch
  | NfacctMatch
  | PhysdevMatch
  | RecentMatch
  | SctpMatch
  | SetMatch
  | StatisticMatch
  | TcpMatch
  | UdpMatch
  | UnknownMatch;

/** `-j CHAIN`, or with `goto` `-g CHAIN`. Whether the chain exists is not known here. */
export interface JumpTarget {
  readonly kind: 'jump';
  readonly chain: string;
  readonly goto: boolean;
}

export interface VerdictTarget {
  readonly kind: 'ACCEPT' | 'DROP' | 'RETURN' | 'QUEUE';
}

/** A target extension that is not known here, or whose options were not: its words, exactly as read. */
export interface UnknownTarget {
  readonly kind: 'unknown';
  readonly name: string;
  readonly words: readonly string[];
}

export type Target =
  | DnatTarget
  | JumpTarget
  | MarkTarget
  | MasqueradeTarget
  | RejectTarget
  | UnknownTarget
  | VerdictTarget;
