import { chainSuffix } from '../compile/index.ts';
import type { Rule } from '../netfilter/index.ts';
import { commentOf, jumpOf } from './rule-key.ts';
import { serviceChainParts } from './scope.ts';
import type { View } from './view.ts';

/**
 * Which service port a rule or a chain belongs to. A service port is known by the suffix of its chains, which
 * is a hash of its name and protocol; names for suffixes come from comments on either side and from manifests.
 */

/** A service port that somebody named: manifests, or the other side. */
export interface ServicePortOwner {
  readonly servicePortName: string;
  /** `tcp`, `udp`, `sctp` */
  readonly protocol: string;
}

/** What a comment says a rule is for. */
export interface CommentWords {
  readonly servicePortName: string;
  readonly kind:
    | 'cluster IP'
    | 'external IP'
    | 'load-balancer IP'
    | 'no endpoints'
    | 'no local endpoints'
    | 'health check'
    | 'firewall'
    | 'other';
}

const COMMENTS: readonly (readonly [RegExp, CommentWords['kind']])[] = [
  [/^(\S+) cluster IP$/, 'cluster IP'],
  [/^(\S+) external IP$/, 'external IP'],
  [/^(\S+) loadbalancer IP$/, 'load-balancer IP'],
  [/^(\S+) has no endpoints$/, 'no endpoints'],
  [/^(\S+) has no local endpoints$/, 'no local endpoints'],
  [/^(\S+) health check node port$/, 'health check'],
  [/^(\S+) traffic not accepted by \S+$/, 'firewall'],
  [/^(\S+) -> \S+$/, 'other'],
  [
    /^(?:masquerade traffic|pod traffic|masquerade LOCAL traffic|route LOCAL traffic) for (\S+) external destinations$/,
    'other',
  ],
  [/^other traffic to (\S+) will be dropped by \S+$/, 'other'],
  [/^([a-z0-9][-a-z0-9.]*\/[a-z0-9][-a-z0-9.:]*)$/, 'other'],
];

export function readComment(rule: Rule): CommentWords | undefined {
  const text = commentOf(rule);
  if (!text.includes('/')) return undefined;
  for (const [pattern, kind] of COMMENTS) {
    const match = pattern.exec(text);
    if (match?.[1] !== undefined) return { servicePortName: match[1], kind };
  }
  return undefined;
}

export interface Names {
  /** The suffix that a rule of a shared chain belongs to; undefined where nothing tells. */
  ownerOfRule(rule: Rule): string | undefined;
  /** The suffix that a chain belongs to: for KUBE-SEP chains, of the service port that uses it. */
  ownerOfChain(chain: string): string | undefined;
  /** `shop/web:http`, with the protocol where it takes that to tell two apart. */
  label(suffix: string): string;
  /** The endpoint that a KUBE-SEP chain sends to: `10.244.1.38:8080`. */
  endpoint(chain: string): string;
}

const SHARED: readonly (readonly [string, string])[] = [
  ['nat', 'KUBE-SERVICES'],
  ['nat', 'KUBE-NODEPORTS'],
  ['filter', 'KUBE-SERVICES'],
  ['filter', 'KUBE-EXTERNAL-SERVICES'],
  ['filter', 'KUBE-NODEPORTS'],
  ['filter', 'KUBE-PROXY-FIREWALL'],
];

/** Gathers names from both sides, the expected one first, and from what else is known. */
export function gatherNames(views: readonly View[], known: readonly ServicePortOwner[]): Names {
  const suffixes = new Map<string, string>();
  const suffixOf = (name: string, protocol: string) => {
    const key = `${name} ${protocol}`;
    let suffix = suffixes.get(key);
    if (suffix === undefined) {
      suffix = chainSuffix(name + protocol);
      suffixes.set(key, suffix);
    }
    return suffix;
  };
  const labels = new Map<string, { name: string; protocol: string }>();
  const learn = (suffix: string, name: string, protocol: string) => {
    if (!labels.has(suffix)) labels.set(suffix, { name, protocol });
  };
  for (const { servicePortName, protocol } of known) {
    learn(suffixOf(servicePortName, protocol), servicePortName, protocol);
  }

  const ownerOfRule = (rule: Rule): string | undefined => {
    const target = serviceChainParts(jumpOf(rule) ?? '');
    if (target !== undefined) return target.suffix;
    const words = readComment(rule);
    const protocol = rule.protocol?.protocol;
    if (words === undefined) return undefined;
    // The rule for a health check port is TCP whatever the service port is.
    if (words.kind === 'health check') {
      const own = ['tcp', 'udp', 'sctp'].map((each) => suffixOf(words.servicePortName, each));
      return own.find((suffix) => labels.has(suffix)) ?? own[0];
    }
    return protocol === undefined ? undefined : suffixOf(words.servicePortName, protocol);
  };

  for (const view of views) {
    for (const [table, chain] of SHARED) {
      for (const rule of view.tables.get(table)?.chains.get(chain)?.rules ?? []) {
        const words = readComment(rule);
        const suffix = words && words.kind !== 'health check' ? ownerOfRule(rule) : undefined;
        if (words !== undefined && suffix !== undefined) {
          learn(suffix, words.servicePortName, rule.protocol?.protocol ?? '');
        }
      }
    }
  }

  // Most chains are those of endpoints, and few of them are ever asked for.
  let ofEndpointChain: ReadonlyMap<string, string> | undefined;
  const ownerOfEndpointChain = (chain: string): string | undefined => {
    ofEndpointChain ??= ownersOfEndpointChains(views);
    return ofEndpointChain.get(chain);
  };

  const ambiguous = new Map<string, number>();
  for (const { name } of labels.values()) ambiguous.set(name, (ambiguous.get(name) ?? 0) + 1);
  return {
    ownerOfRule,
    ownerOfChain: (chain) => serviceChainParts(chain)?.suffix ?? ownerOfEndpointChain(chain),
    label: (suffix) => {
      const known = labels.get(suffix);
      if (known === undefined) return `unknown service (KUBE-SVC-${suffix})`;
      return (ambiguous.get(known.name) ?? 0) > 1 ? `${known.name}/${known.protocol}` : known.name;
    },
    endpoint: (chain) => endpointOf(chain, views) ?? chain,
  };
}

/** Suffixes of service ports, by the endpoint chains that theirs jump to. */
function ownersOfEndpointChains(views: readonly View[]): Map<string, string> {
  const owners = new Map<string, string>();
  for (const view of views) {
    for (const [name, { rules }] of view.tables.get('nat')?.chains ?? []) {
      const parts = serviceChainParts(name);
      if (parts?.kind !== 'SVC' && parts?.kind !== 'SVL' && parts?.kind !== 'XLB') continue;
      for (const rule of rules) {
        const target = jumpOf(rule);
        if (target?.startsWith(ENDPOINT_CHAIN) && !owners.has(target)) owners.set(target, parts.suffix);
      }
    }
  }
  return owners;
}

const ENDPOINT_CHAIN = 'KUBE-SEP-';

function endpointOf(chain: string, views: readonly View[]): string | undefined {
  if (!chain.startsWith(ENDPOINT_CHAIN)) return undefined;
  for (const view of views) {
    const rules = view.tables.get('nat')?.chains.get(chain)?.rules ?? [];
    const dnat = rules.find(({ target }) => target?.kind === 'DNAT')?.target;
    if (dnat?.kind === 'DNAT') return dnat.destinations.at(-1) ?? '';
  }
  return undefined;
}
