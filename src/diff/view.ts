import {
  type Chain,
  type Family,
  type Rule,
  type Ruleset,
  saveLine,
  withPlainSpelling,
} from '../netfilter/index.ts';
import type { RuleLine } from './comparison.ts';
import { jumpOf } from './rule-key.ts';
import { isBuiltIn, isFixedChain } from './scope.ts';

/** A ruleset with its chains found by table and name; rules of lazy chains are made once. */
export interface View {
  readonly family: Family;
  readonly tables: ReadonlyMap<string, TableView>;
}

export interface TableView {
  readonly name: string;
  readonly chains: ReadonlyMap<string, Chain>;
  /** Chains that rules lead to, starting from the built-in ones and from those that kube-proxy always has. */
  readonly reachable: ReadonlySet<string>;
}

const views = new WeakMap<Ruleset, View>();

/**
 * Tables that were read in pieces come together; of a chain that is there twice the rules follow each other. Chains
 * whose rules are those of `other` are taken from it. Made once for a ruleset, which many ask for.
 */
export function viewOf(ruleset: Ruleset, other?: View): View {
  const known = views.get(ruleset);
  if (known !== undefined) return known;
  const view = makeView(ruleset, other);
  views.set(ruleset, view);
  return view;
}

function makeView(ruleset: Ruleset, other: View | undefined): View {
  const tables = new Map<string, Map<string, Chain>>();
  for (const table of ruleset.tables) {
    const chains = tables.get(table.name) ?? new Map<string, Chain>();
    tables.set(table.name, chains);
    const others = other?.tables.get(table.name)?.chains;
    for (const chain of table.chains) {
      const { name, policy } = chain;
      const before = chains.get(name);
      const twin = others?.get(name);
      const given = chain.rules;
      if (before === undefined && twin?.rules === given && twin.policy === policy) {
        chains.set(name, twin);
        continue;
      }
      const rules = withPlainSpellings(given);
      chains.set(
        name,
        before === undefined
          ? { name, policy, rules }
          : { name, policy: before.policy ?? policy, rules: [...before.rules, ...rules] },
      );
    }
  }
  return {
    family: ruleset.family,
    tables: new Map([...tables].map(([name, chains]) => [name, tableView(name, chains)])),
  };
}

/** Which chains can be reached is found out when it is asked: on a node that is as it should be, nobody does. */
function tableView(name: string, chains: ReadonlyMap<string, Chain>): TableView {
  let reachable: ReadonlySet<string> | undefined;
  return {
    name,
    chains,
    get reachable() {
      reachable ??= reachableChains(chains);
      return reachable;
    },
  };
}

/** The same list where no rule needs another spelling, as in all of a large dump. */
function withPlainSpellings(rules: readonly Rule[]): readonly Rule[] {
  return rules.every((rule) => withPlainSpelling(rule) === rule) ? rules : rules.map(withPlainSpelling);
}

function reachableChains(chains: ReadonlyMap<string, Chain>): Set<string> {
  const reached = new Set<string>();
  const queue = [...chains.keys()].filter((chain) => isBuiltIn(chain) || isFixedChain(chain));
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (reached.has(next)) continue;
    reached.add(next);
    for (const rule of chains.get(next)?.rules ?? []) {
      const target = jumpOf(rule);
      if (target !== undefined && !reached.has(target) && chains.has(target)) queue.push(target);
    }
  }
  return reached;
}

export function rulesOf(view: View, table: string, chain: string): readonly Rule[] {
  return view.tables.get(table)?.chains.get(chain)?.rules ?? [];
}

export function ruleLine(rule: Rule, table: string, chain: string, family: Family): RuleLine {
  const { counters: _, ...rest } = rule;
  return { table, line: saveLine(rest, chain, family) };
}

export function ruleLines(rules: readonly Rule[], table: string, chain: string, family: Family): RuleLine[] {
  return rules.map((rule) => ruleLine(rule, table, chain, family));
}
