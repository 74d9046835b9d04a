import {
  KNOWN_VERSIONS,
  type KubeProxyVersion,
  kubeProxyVersion,
  NEWEST_VERSION,
  OLDEST_VERSION,
} from '../kube/index.ts';
import type { Rule } from '../netfilter/index.ts';
import { readComment } from './names.ts';
import { commentOf, jumpOf } from './rule-key.ts';
import { serviceChainParts } from './scope.ts';
import { rulesOf, type View } from './view.ts';

/** Which versions of kube-proxy may have written a node's rules, in which mode, and what shows it. */
export interface RecognisedVersion {
  readonly mode: 'iptables' | 'ipvs';
  /** Minor versions, the first and the last. */
  readonly oldest: number;
  readonly newest: number;
  /** What settled the two ends: `KUBE-EXT and KUBE-SVL chains: 1.24 or later`. */
  readonly reasons: readonly string[];
  /** The one to compile for: the newest that is not unlikely. */
  readonly version: KubeProxyVersion;
}

/**
 * What rules show of the version that wrote them. Source: the layout changes of compile/iptables/history and
 * compile/ipvs/history.ts; patch releases that got a change early are said there. A sign asks for rules that
 * are in use, since chains of an older version may be left behind by an upgrade.
 */
interface Sign {
  /** The first version with what is newer. */
  readonly since: number;
  readonly newer: string;
  readonly older: string;
  readonly test: (view: View) => 'newer' | 'older' | undefined;
  /** Only likely: it moves the version to compile for, not the range. */
  readonly likely?: boolean;
}

const IPTABLES_SIGNS: readonly Sign[] = [
  {
    since: 31,
    newer: 'nfacct counters',
    older: 'no nfacct counters',
    likely: true,
    test: (view) => {
      const rules = [...rulesOf(view, 'filter', 'KUBE-FORWARD'), ...rulesOf(view, 'nat', 'KUBE-NODEPORTS')];
      if (rules.some(({ matches }) => matches.some(({ kind }) => kind === 'nfacct'))) return 'newer';
      const wanted = rulesOf(view, 'filter', 'KUBE-FORWARD').some(({ matches }) =>
        matches.some((match) => match.kind === 'conntrack' && match.states.includes('INVALID')),
      );
      return wanted ? 'older' : undefined;
    },
  },
  {
    since: 27,
    newer: 'KUBE-FIREWALL',
    older: 'no chain KUBE-FIREWALL',
    test: (view) =>
      view.tables.get('filter')?.chains.has('KUBE-FORWARD') && !hasChain(view, 'filter', 'KUBE-FIREWALL')
        ? 'older'
        : undefined,
  },
  {
    since: 27,
    newer: 'no kubelet that marks packets to be dropped',
    older: 'kubelet’s rule for marked packets in KUBE-FIREWALL',
    likely: true,
    test: (view) =>
      rulesOf(view, 'filter', 'KUBE-FIREWALL').some(
        (rule) => commentOf(rule) === 'kubernetes firewall for dropping marked packets',
      )
        ? 'older'
        : undefined,
  },
  {
    since: 27,
    newer: 'a last rule without a target in KUBE-FW chains',
    older: 'no last rule without a target in KUBE-FW chains',
    test: (view) => {
      const last = rulesOfKind(view, 'FW').map((rules) => rules.at(-1));
      if (last.length === 0) return undefined;
      return last.some((rule) => rule?.target === undefined) ? 'newer' : 'older';
    },
  },
  {
    since: 26,
    newer: 'node ports closed on the loopback network',
    older: 'node ports not closed on ::1',
    test: (view) => {
      const tail = rulesOf(view, 'nat', 'KUBE-SERVICES').find((rule) => jumpOf(rule) === 'KUBE-NODEPORTS');
      if (tail === undefined) return undefined;
      if (tail.destination?.negated) return 'newer';
      return view.family === 'ipv6' && tail.destination === undefined ? 'older' : undefined;
    },
  },
  {
    since: 25,
    newer: 'KUBE-PROXY-FIREWALL',
    older: 'no chain KUBE-PROXY-FIREWALL',
    test: (view) => presence(view, 'KUBE-PROXY-FIREWALL'),
  },
  {
    since: 25,
    newer: 'no KUBE-MARK-DROP in use',
    older: 'KUBE-MARK-DROP in use',
    test: (view) =>
      (['FW', 'SVL', 'XLB'] as const).some((kind) =>
        rulesOfKind(view, kind).some((rules) => rules.some((rule) => jumpOf(rule) === 'KUBE-MARK-DROP')),
      )
        ? 'older'
        : undefined,
  },
  {
    since: 24,
    newer: 'KUBE-EXT or KUBE-SVL chains',
    older: 'KUBE-XLB chains',
    test: (view) => {
      if (rulesOfKind(view, 'EXT').length + rulesOfKind(view, 'SVL').length > 0) return 'newer';
      return rulesOfKind(view, 'XLB').length > 0 ? 'older' : undefined;
    },
  },
  {
    since: 24,
    newer: 'node ports that lead to KUBE-EXT',
    older: 'node ports that lead straight to KUBE-SVC',
    test: (view) => targetOf(rulesOf(view, 'nat', 'KUBE-NODEPORTS'), 'EXT', 'SVC'),
  },
  {
    since: 24,
    newer: 'comments that name the endpoint',
    older: 'comments that do not name the endpoint',
    test: (view) => {
      const comments = ['SVC', 'SVL'].flatMap((kind) =>
        rulesOfKind(view, kind)
          .flat()
          .filter((rule) => jumpOf(rule)?.startsWith('KUBE-SEP-'))
          .map(commentOf),
      );
      if (comments.some((text) => text.includes(' -> '))) return 'newer';
      return comments.some((text) => text !== '') ? 'older' : undefined;
    },
  },
  {
    since: 23,
    newer: 'one rule for established connections',
    older: 'rules for pods as source and destination',
    test: forwardRule,
  },
  {
    since: 23,
    newer: 'KUBE-XLB chains without numbers in their comments',
    older: 'numbered balancing rules in KUBE-XLB',
    test: (view) => {
      const comments = rulesOfKind(view, 'XLB')
        .flat()
        .filter((rule) => jumpOf(rule)?.startsWith('KUBE-SEP-'))
        .map(commentOf);
      if (comments.length === 0) return undefined;
      return comments.some((text) => text.startsWith('Balancing rule ')) ? 'older' : 'newer';
    },
  },
  {
    since: 22,
    newer: 'masquerading in KUBE-SVC chains',
    older: 'masquerading in KUBE-SERVICES or KUBE-NODEPORTS',
    test: (view) => {
      const masquerades = (rule: Rule) => jumpOf(rule) === 'KUBE-MARK-MASQ' && rule.destination !== undefined;
      if (rulesOf(view, 'nat', 'KUBE-SERVICES').some(masquerades)) return 'older';
      return rulesOfKind(view, 'SVC').flat().some(masquerades) ? 'newer' : undefined;
    },
  },
  {
    since: 21,
    newer: 'KUBE-NODEPORTS in the filter table',
    older: 'no KUBE-NODEPORTS in the filter table',
    test: (view) => presence(view, 'KUBE-NODEPORTS'),
  },
  {
    since: 20,
    newer: 'no jump from INPUT to KUBE-SERVICES',
    older: 'a jump from INPUT to KUBE-SERVICES',
    likely: true,
    test: (view) =>
      rulesOf(view, 'filter', 'INPUT').some((rule) => jumpOf(rule) === 'KUBE-SERVICES') ? 'older' : undefined,
  },
  { since: 19, newer: 'unnamed ports', older: 'unnamed ports with a colon', test: unnamedPorts },
  {
    since: 19,
    newer: 'a mark that is taken off before masquerading',
    older: 'a mark that is left on when masquerading',
    test: (view) => (rulesOf(view, 'nat', 'KUBE-POSTROUTING').length === 1 ? 'older' : undefined),
  },
];

const IPVS_SIGNS: readonly Sign[] = [
  {
    since: 30,
    newer: 'KUBE-IPVS-FILTER knows external IPs under policy Local',
    older: 'KUBE-IPVS-FILTER does not know external IPs under policy Local',
    test: (view) => filterKnows(view, /^KUBE-(6-)?EXTERNAL-IP-LOCAL/),
  },
  {
    since: 29,
    newer: 'KUBE-IPVS-OUT-FILTER',
    older: 'no chain KUBE-IPVS-OUT-FILTER',
    test: (view) => presence(view, 'KUBE-IPVS-OUT-FILTER'),
  },
  {
    since: 28,
    newer: 'KUBE-IPVS-FILTER knows health check ports',
    older: 'KUBE-IPVS-FILTER does not know health check ports',
    test: (view) => filterKnows(view, /^KUBE-(6-)?HEALTH-CHECK/),
  },
  {
    since: 26,
    newer: 'KUBE-IPVS-FILTER',
    older: 'no chain KUBE-IPVS-FILTER',
    test: (view) => presence(view, 'KUBE-IPVS-FILTER'),
  },
  {
    since: 25,
    newer: 'KUBE-SOURCE-RANGES-FIREWALL',
    older: 'no chain KUBE-SOURCE-RANGES-FIREWALL',
    test: (view) => presence(view, 'KUBE-SOURCE-RANGES-FIREWALL'),
  },
  {
    since: 25,
    newer: 'no KUBE-FIREWALL in the nat table',
    older: 'KUBE-FIREWALL in the nat table',
    test: (view) => (rulesOf(view, 'nat', 'KUBE-FIREWALL').length > 0 ? 'older' : undefined),
  },
  {
    since: 23,
    newer: 'one rule for established connections',
    older: 'rules for pods as source and destination',
    test: forwardRule,
  },
  {
    since: 21,
    newer: 'KUBE-NODE-PORT in the filter table',
    older: 'no KUBE-NODE-PORT in the filter table',
    test: (view) => presence(view, 'KUBE-NODE-PORT'),
  },
  {
    since: 19,
    newer: 'a mark that is taken off before masquerading',
    older: 'a mark that is left on when masquerading',
    test: (view) => {
      const rules = rulesOf(view, 'nat', 'KUBE-POSTROUTING').filter(
        ({ matches }) => !matches.some(({ kind }) => kind === 'set'),
      );
      return rules.length === 1 ? 'older' : undefined;
    },
  },
];

/** Recognises the version range of a node's rules, of all families together. */
export function recogniseVersion(views: readonly View[]): RecognisedVersion {
  const mode = views.some((view) => hasChain(view, 'nat', 'KUBE-NODE-PORT')) ? 'ipvs' : 'iptables';
  const signs = mode === 'ipvs' ? IPVS_SIGNS : IPTABLES_SIGNS;
  let oldest = OLDEST_VERSION.minor;
  let newest = NEWEST_VERSION.minor;
  let because: { oldest?: string; newest?: string } = {};
  const seen = signs.flatMap((sign) =>
    views.flatMap((view) => {
      const found = sign.test(view);
      return found === undefined ? [] : [{ sign, found }];
    }),
  );
  for (const { sign, found } of seen) {
    if (found !== 'newer' || sign.since <= oldest) continue;
    oldest = sign.since;
    because = { ...because, oldest: `${sign.newer}: 1.${sign.since} or later` };
  }
  let likeliest = newest;
  const likely: string[] = [];
  for (const { sign, found } of seen) {
    const last = sign.since - 1;
    // Where signs contradict each other, what is newer counts: older things may be left over.
    if (found !== 'older' || last < oldest) continue;
    if (sign.likely === true) {
      if (last >= likeliest) continue;
      likeliest = last;
      likely.push(sign.older);
    } else if (last < newest) {
      newest = last;
      because = { ...because, newest: `${sign.older}: 1.${last} or earlier` };
    }
  }
  const minor = Math.min(newest, likeliest);
  const told = [because.oldest, because.newest].filter((text) => text !== undefined);
  if (likeliest < newest) told.push(`${likely.at(-1)}: most likely 1.${likeliest} or earlier`);
  return {
    mode,
    oldest,
    newest,
    reasons: told.length > 0 ? told : [`nothing in it differs between the versions ${KNOWN_VERSIONS}`],
    version: kubeProxyVersion(minor),
  };
}

/** `1.22 … 1.23`, `1.36` */
export function describeRange({ oldest, newest }: RecognisedVersion): string {
  return oldest === newest ? `1.${oldest}` : `1.${oldest} … 1.${newest}`;
}

function hasChain(view: View, table: string, chain: string): boolean {
  return view.tables.get(table)?.chains.has(chain) === true;
}

/** A chain of the filter table that newer versions always write; nothing where the table was not dumped. */
function presence(view: View, chain: string): 'newer' | 'older' | undefined {
  if (hasChain(view, 'filter', chain)) return 'newer';
  return hasChain(view, 'filter', 'KUBE-FORWARD') ? 'older' : undefined;
}

/** The rules of each chain of a kind that other rules lead to. */
function rulesOfKind(view: View, kind: string): readonly (readonly Rule[])[] {
  const nat = view.tables.get('nat');
  const found: (readonly Rule[])[] = [];
  for (const { name, rules } of nat?.chains.values() ?? []) {
    if (!name.startsWith(`KUBE-${kind}-`)) continue;
    if (serviceChainParts(name)?.kind === kind && nat?.reachable.has(name)) found.push(rules);
  }
  return found;
}

function targetOf(rules: readonly Rule[], newer: string, older: string): 'newer' | 'older' | undefined {
  const kinds = rules.map((rule) => serviceChainParts(jumpOf(rule) ?? '')?.kind);
  return kinds.some((kind) => kind === newer)
    ? 'newer'
    : kinds.some((kind) => kind === older)
      ? 'older'
      : undefined;
}

function forwardRule(view: View): 'newer' | 'older' | undefined {
  const comments = rulesOf(view, 'filter', 'KUBE-FORWARD').map(commentOf);
  if (comments.includes('kubernetes forwarding conntrack rule')) return 'newer';
  return comments.includes('kubernetes forwarding conntrack pod source rule') ? 'older' : undefined;
}

function unnamedPorts(view: View): 'newer' | 'older' | undefined {
  const names = rulesOf(view, 'nat', 'KUBE-SERVICES').flatMap((rule) => {
    const words = readComment(rule);
    return words === undefined ? [] : [words.servicePortName];
  });
  if (names.some((name) => name.endsWith(':'))) return 'older';
  return names.some((name) => !name.includes(':')) ? 'newer' : undefined;
}

function filterKnows(view: View, set: RegExp): 'newer' | 'older' | undefined {
  const rules = rulesOf(view, 'filter', 'KUBE-IPVS-FILTER');
  if (rules.length === 0) return undefined;
  return rules.some(({ matches }) => matches.some((match) => match.kind === 'set' && set.test(match.name)))
    ? 'newer'
    : 'older';
}
