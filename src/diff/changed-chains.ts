import {
  canonicalRule,
  type Family,
  type IpSet,
  type Rule,
  realServerWords,
  serviceWords,
  type VirtualServer,
  virtualServerWords,
} from '../netfilter/index.ts';
import { type CompareOptions, familyDifferences, type NodeState } from './compare.ts';
import { compareIpvs, type IpvsDifference } from './ipvs-difference.ts';
import type { TableDifference } from './table-difference.ts';
import { rulesOf } from './view.ts';

/** A chain that does not do the same on both sides, as canonical rules. */
export interface ChangedChain {
  readonly family: Family;
  readonly table: string;
  readonly chain: string;
  readonly expected: readonly string[];
  readonly actual: readonly string[];
  /** Set where the chain is empty, and there on one side alone. */
  readonly emptyOn?: 'expected' | 'actual';
  /** The lines stand for themselves: they are no rules of a chain. */
  readonly whole?: true;
}

/** The chains behind the findings of compareStates, for a diff in the words of iptables. */
export function changedChains(
  expected: NodeState,
  actual: NodeState,
  options: CompareOptions,
): ChangedChain[] {
  const changed: ChangedChain[] = [];
  for (const family of ['ipv4', 'ipv6'] as const) {
    if (options.family !== undefined && options.family !== family) continue;
    const ipvs = compareIpvs(family, expected.ipvs, actual.ipvs);
    const differences = familyDifferences(family, expected, actual, options);
    const ofIpvs = ipvs === undefined ? [] : changedListings(ipvs);
    if (typeof differences === 'string') {
      for (const listing of ofIpvs) changed.push(listing);
      continue;
    }
    const text = (rules: readonly Rule[]) => rules.map((rule) => canonicalRule(rule, family));
    for (const difference of differences.tables) {
      for (const chain of [...chainsOf(difference)].sort()) {
        const { table, missing, surplus } = difference;
        const sides = {
          expected: text(rulesOf(differences.left, table, chain)),
          actual: text(rulesOf(differences.right, table, chain)),
        };
        const empty = sides.expected.length + sides.actual.length === 0;
        const only = missing.has(chain) ? 'expected' : surplus.has(chain) ? 'actual' : undefined;
        changed.push({
          family,
          table,
          chain,
          ...sides,
          ...(empty && only !== undefined ? { emptyOn: only } : {}),
        });
      }
    }
    for (const listing of ofIpvs) changed.push(listing);
  }
  return changed;
}

/** Virtual servers, sets and addresses that differ, as lines for their tools. */
function changedListings({ family, servers, sets, addresses }: IpvsDifference): ChangedChain[] {
  const changed: ChangedChain[] = [];
  const add = (table: string, chain: string, expected: readonly string[], actual: readonly string[]) =>
    changed.push({ family, table, chain, expected, actual, whole: true });
  const lines = (server: VirtualServer | undefined) =>
    server === undefined
      ? []
      : [
          `-A ${virtualServerWords(server)}`,
          ...server.realServers.map((real) => `-a ${realServerWords(server.service, real)}`).sort(),
        ];
  for (const { expected, actual } of servers) {
    const service = (expected ?? actual)?.service;
    if (service !== undefined) add('ipvsadm', serviceWords(service), lines(expected), lines(actual));
  }
  const members = (set: IpSet | undefined) =>
    set === undefined
      ? []
      : [
          `create ${set.name} ${set.type}`,
          ...set.members.map(({ entry }) => `add ${set.name} ${entry}`).sort(),
        ];
  for (const { name, expected, actual } of sets) add('ipset', name, members(expected), members(actual));
  if (addresses.missing.length + addresses.surplus.length > 0) {
    add('ip addr', 'kube-ipvs0', addresses.missing, addresses.surplus);
  }
  return changed;
}

function chainsOf(difference: TableDifference): Set<string> {
  const { jumps, shared, balancing, ordinary, missing, surplus } = difference;
  const ofJumps = [...jumps.missing, ...jumps.surplus].map(({ from }) => from);
  return new Set([...ofJumps, ...shared.keys(), ...balancing.keys(), ...ordinary, ...missing, ...surplus]);
}
