/* Which mode of kube-proxy the rules of a node are of. */
import type { Rule } from '../netfilter/index.ts';
import { jumpOf } from './rule-key.ts';
import { isServiceChain } from './scope.ts';
import { rulesOf, type View } from './view.ts';

/**
 * The mode that writes KUBE-SERVICES of the nat table: every sync of either mode empties that chain and fills it
 * again, so it tells which one runs, whatever else was left behind. undefined where it tells nothing.
 */
export function runningMode(view: View): 'iptables' | 'ipvs' | undefined {
  const rules = rulesOf(view, 'nat', 'KUBE-SERVICES');
  const leadsTo = (test: (chain: string) => boolean) => rules.some((rule) => test(jumpOf(rule) ?? ''));
  if (leadsTo((chain) => chain === 'KUBE-NODEPORTS' || isServiceChain(chain))) return 'iptables';
  if (leadsTo((chain) => chain === 'KUBE-NODE-PORT') || rules.some((rule) => setOf(rule) !== undefined))
    return 'ipvs';
  return undefined;
}

/** The set that a rule matches, by its name in IPv4: `KUBE-6-CLUSTER-IP` is `KUBE-CLUSTER-IP`. */
export function setOf({ matches }: Rule): string | undefined {
  for (const match of matches) {
    if (match.kind === 'set') return match.name.replace(/^KUBE-6-/, 'KUBE-');
  }
  return undefined;
}
