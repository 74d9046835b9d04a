import type { Match, Target } from './extensions/index.ts';
import type { Family } from './family.ts';

export type { Family } from './family.ts';

/** What one `iptables-save` or `ip6tables-save` holds: the tables of one family. */
export interface Ruleset {
  readonly family: Family;
  readonly tables: readonly Table[];
}

export interface Table {
  /** `nat`, `filter` …; empty for rules that were read before or without any `*table` line (excerpts). */
  readonly name: string;
  readonly chains: readonly Chain[];
  /** Restore input only: lines that are neither chain lines nor `-A` (`-X CHAIN`, `-D …`), in order. */
  readonly commands?: readonly Command[];
  /**
   * Restore input only: the order in which rules and commands were written, where it is not chain after chain.
   * printRestore keeps to it, printSave never does. Rules are the same objects as those in `chains`.
   */
  readonly statements?: readonly Statement[];
}

/** A line of restore input as its words, for example `['-X', 'KUBE-SEP-AAA']`; quoted words keep their quotes. */
export interface Command {
  readonly kind: 'command';
  readonly words: readonly string[];
}

export type Statement = { readonly kind: 'append'; readonly chain: string; readonly rule: Rule } | Command;

export interface Chain {
  readonly name: string;
  /** `ACCEPT`, `DROP` … of a built-in chain; undefined where a save prints `-`, for chains that users made. */
  readonly policy: string | undefined;
  /** Absent where they are zero. */
  readonly counters?: Counters;
  /** `false`: rules name the chain, but no `:CHAIN` line declared it (excerpts); no such line is printed then. */
  readonly declared?: false;
  readonly rules: readonly Rule[];
}

/** Packets and bytes; 64 bits wide in the kernel. */
export interface Counters {
  readonly packets: bigint;
  readonly bytes: bigint;
}

/**
 * One rule: the part every rule has (addresses, interfaces, protocol), then the matches of its extensions
 * in the order in which they were given, then the target.
 *
 * Addresses and protocols are kept as they were written; the save printer turns them into the kernel's own
 * text. So two rules mean the same exactly if their save lines are equal.
 */
export interface Rule {
  readonly source?: AddressMatch;
  readonly destination?: AddressMatch;
  readonly inInterface?: InterfaceMatch;
  readonly outInterface?: InterfaceMatch;
  readonly protocol?: ProtocolMatch;
  /** `-f`, IPv4 only: second and further fragments (negated: heads and unfragmented packets). */
  readonly fragment?: { readonly negated: boolean };
  readonly matches: readonly Match[];
  readonly target?: Target;
  /** Present, even if zero, where the rule was printed with them (`iptables-save -c`). */
  readonly counters?: Counters;
  /**
   * All words of a rule that iptables would refuse (a word of no option, an option without its value, two
   * targets); nothing else is set then but the counters. Quoted words keep their quotes.
   */
  readonly unparsed?: readonly string[];
}

export interface AddressMatch {
  readonly negated: boolean;
  /** Address without prefix, as written: `10.0.0.1`, `2001:DB8::0AA`, a host name in hand-written files. */
  readonly address: string;
  /** What was written after the slash: `24`, `255.255.255.0`; undefined where nothing was (a single host). */
  readonly prefix?: string;
}

export interface InterfaceMatch {
  readonly negated: boolean;
  /** Interface name; a trailing `+` matches any continuation. */
  readonly name: string;
}

export interface ProtocolMatch {
  readonly negated: boolean;
  /** Name or number as written: `tcp`, `6`, `ipv6-icmp`. */
  readonly protocol: string;
}
