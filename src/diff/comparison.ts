import type { Family } from '../netfilter/index.ts';

/**
 * What a comparison found, in words of Services and endpoints. Plain data: every report is a function of it.
 */
export interface Comparison {
  /** In the order of families, then node-wide findings, then by service port. */
  readonly findings: readonly Finding[];
  /** What is worth saying and is no drift: unreferenced chains, partial dumps, legacy tables. */
  readonly notes: readonly Finding[];
  /** What no input said and was taken from the dump, or assumed. */
  readonly assumptions: readonly string[];
  readonly families: readonly ComparedFamily[];
  /** Why nothing can be said at all (a dump that hides matches); then there are no findings. */
  readonly incomparable?: string;
}

export interface ComparedFamily {
  readonly family: Family;
  /** Empty: this family was not compared. */
  readonly tables: readonly string[];
  /** Service ports that were compared: what either side programs. */
  readonly servicePorts: number;
  /** Of these, those of which a dump that is cut off lacks rules; undefined where none is cut off. */
  readonly uncompared?: number;
  /** Why tables, or the whole family, were left out: `the dump holds no IPv6 rules`. */
  readonly left: readonly string[];
}

/** One per service port and family, or one per whole cause on the node. */
export interface Finding {
  readonly family: Family;
  /** `shop/web:http`; undefined for what concerns the node. */
  readonly servicePort?: string;
  /** At least one; the first is the headline. */
  readonly problems: readonly Problem[];
}

export type ProblemCode =
  | 'address-missing'
  | 'address-surplus'
  | 'another-mode'
  | 'both-backends'
  | 'chain-missing'
  | 'cluster-ip-missing'
  | 'cluster-ip-wrong'
  | 'dispatch-missing'
  | 'dispatch-surplus'
  | 'dispatch-wrong'
  | 'draining'
  | 'endpoint-missing'
  | 'endpoint-share'
  | 'endpoint-surplus'
  | 'endpoint-wrong'
  | 'external-policy'
  | 'firewall'
  | 'health-check-port'
  | 'jump-missing'
  | 'jump-surplus'
  | 'masquerade'
  | 'mode-leftover'
  | 'node-flushed'
  | 'node-port-missing'
  | 'node-port-surplus'
  | 'node-port-wrong'
  | 'partial-dump'
  | 'refusal'
  | 'rule-order'
  | 'rules-differ'
  | 'scheduler'
  | 'service-stale'
  | 'service-missing'
  | 'session-affinity'
  | 'set-definition'
  | 'set-member'
  | 'set-missing'
  | 'table-missing'
  | 'unreferenced-chains'
  | 'legacy-tables'
  | 'not-judged'
  | 'virtual-server-surplus';

export interface Problem {
  /** Part of the interface: stable, documented, tested. */
  readonly code: ProblemCode;
  /** Without the name of the service port: `endpoint 10.244.3.12:8080 is not programmed`. */
  readonly message: string;
  /** Rules that should be there, each with its table: what -v shows with `+`. */
  readonly expected: readonly RuleLine[];
  /** Rules that are there instead or too many: what -v shows with `-`. */
  readonly actual: readonly RuleLine[];
}

export interface RuleLine {
  readonly table: string;
  /** `-A KUBE-SERVICES …` as iptables-save prints it. */
  readonly line: string;
}
