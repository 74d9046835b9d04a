import type { Ruleset } from '../netfilter/index.ts';
import { gatherNames, type ServicePortOwner } from './names.ts';
import { rulesOf, type View, viewOf } from './view.ts';

/** Where rules stand that lead to service ports. */
export const SHARED_CHAINS: readonly (readonly [string, string])[] = [
  ['nat', 'KUBE-SERVICES'],
  ['nat', 'KUBE-NODEPORTS'],
  ['filter', 'KUBE-SERVICES'],
  ['filter', 'KUBE-EXTERNAL-SERVICES'],
];

/**
 * The service ports, by the suffix of their chains, that have rules in chains of which the other side says nothing:
 * that they are the same there is not known.
 */
export function servicePortsIn(
  ruleset: Ruleset,
  known: readonly ServicePortOwner[],
  isUnknown: (table: string, chain: string) => boolean,
): ReadonlySet<string> {
  const view: View = viewOf(ruleset);
  const names = gatherNames([view], known);
  const found = new Set<string>();
  const add = (suffix: string | undefined) => suffix !== undefined && found.add(suffix);
  for (const [table, chain] of SHARED_CHAINS) {
    if (!isUnknown(table, chain)) continue;
    for (const rule of rulesOf(view, table, chain)) add(names.ownerOfRule(rule));
  }
  for (const chain of view.tables.get('nat')?.chains.keys() ?? []) {
    if (isUnknown('nat', chain)) add(names.ownerOfChain(chain));
  }
  return found;
}
