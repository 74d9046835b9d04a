/*
 * One table while an input is applied to it. A chain keeps the rules that it had until something touches it, and
 * jumps to a chain are counted only once somebody wants to delete one: most inputs touch little of a large table.
 */
import type { RuleList } from './rule-list.ts';
import { listedRules, newRuleList } from './rule-list.ts';
import type { Chain, Family, Rule, Table } from './ruleset.ts';

export interface DraftChain {
  readonly name: string;
  readonly isBuiltIn: boolean;
  policy: string | undefined;
  /** As it was, as long as that is what it is; undefined for a new chain. */
  readonly before: Chain | undefined;
  /** The rules as they are now; undefined: those of `before`. */
  list: RuleList | undefined;
  /** A chain line of the input emptied it: see numberMisleads. */
  wasDeclared: boolean;
}

export interface DraftTable {
  readonly family: Family;
  readonly name: string;
  readonly before: Table | undefined;
  readonly chains: Map<string, DraftChain>;
  /** How many rules jump to a chain; undefined: not counted yet. */
  references: Map<string, number> | undefined;
  /** Rules that the input put in. */
  readonly added: Set<Rule>;
  /** A jump was put in, so that chains may now go round in a circle. */
  hasNewJumps: boolean;
}

/** The chains of the kernel's own that each table has. */
const BUILT_IN: ReadonlyMap<string, readonly string[]> = new Map([
  ['filter', ['INPUT', 'FORWARD', 'OUTPUT']],
  ['nat', ['PREROUTING', 'INPUT', 'OUTPUT', 'POSTROUTING']],
  ['mangle', ['PREROUTING', 'INPUT', 'FORWARD', 'OUTPUT', 'POSTROUTING']],
  ['raw', ['PREROUTING', 'OUTPUT']],
  ['security', ['INPUT', 'FORWARD', 'OUTPUT']],
]);

export function isTableName(name: string): boolean {
  return BUILT_IN.has(name);
}

/** True for a chain of the kernel's own, as far as its table is one that iptables has. */
function isBuiltInChain(table: string, chain: string): boolean {
  return BUILT_IN.get(table)?.includes(chain) ?? false;
}

export function draftOf(table: Table | undefined, name: string, family: Family): DraftTable {
  const chains = new Map<string, DraftChain>();
  for (const chain of table?.chains ?? []) {
    chains.set(chain.name, {
      name: chain.name,
      isBuiltIn: isBuiltInChain(name, chain.name),
      policy: chain.policy,
      before: chain,
      list: undefined,
      wasDeclared: false,
    });
  }
  const draft: DraftTable = {
    family,
    name,
    before: table,
    chains,
    references: undefined,
    added: new Set(),
    hasNewJumps: false,
  };
  // A table that the dump lacks, and a chain that an excerpt lacks, are in the kernel all the same.
  for (const builtIn of BUILT_IN.get(name) ?? []) {
    if (!chains.has(builtIn)) addChain(draft, builtIn, 'ACCEPT');
  }
  return draft;
}

export function addChain(table: DraftTable, name: string, policy: string | undefined): void {
  table.chains.set(name, {
    name,
    isBuiltIn: isBuiltInChain(table.name, name),
    policy,
    before: undefined,
    list: newRuleList([], table.family),
    wasDeclared: false,
  });
}

export function finishDraft(draft: DraftTable): Table {
  const chains: Chain[] = [];
  for (const chain of draft.chains.values()) chains.push(finishChain(chain));
  const { before } = draft;
  const isSame =
    before !== undefined &&
    before.commands === undefined &&
    before.chains.length === chains.length &&
    chains.every((chain, i) => chain === before.chains[i]);
  return isSame ? before : { name: draft.name, chains };
}

function finishChain(chain: DraftChain): Chain {
  const { before, list, name, policy } = chain;
  if (before !== undefined && list === undefined && policy === before.policy) return before;
  const counters = before?.counters === undefined ? {} : { counters: before.counters };
  return { name, policy, ...counters, rules: list === undefined ? (before?.rules ?? []) : listedRules(list) };
}

/** The rules of a chain, to be changed. */
export function rulesOf(table: DraftTable, chain: DraftChain): RuleList {
  chain.list ??= newRuleList(chain.before?.rules ?? [], table.family);
  return chain.list;
}

export function emptyChain(table: DraftTable, chain: DraftChain): void {
  if (table.references !== undefined) for (const rule of readRules(chain)) countJump(table, rule, -1);
  const isEmpty = chain.list === undefined ? chain.before?.rules.length === 0 : chain.list.size === 0;
  if (!isEmpty) chain.list = newRuleList([], table.family);
}

/** What iptables-restore does to each table without --noflush. Policies stay (the nft back end: become ACCEPT). */
export function emptyTable(table: DraftTable): void {
  table.references = undefined;
  for (const chain of [...table.chains.values()]) {
    if (chain.isBuiltIn) emptyChain(table, chain);
    else table.chains.delete(chain.name);
  }
}

/** `:CHAIN POLICY [0:0]`: makes or empties a chain, or sets the policy of a built-in one, whose rules stay. */
export function declareChain(
  table: DraftTable,
  name: string,
  policy: string | undefined,
): string | undefined {
  const chain = table.chains.get(name);
  if (chain?.isBuiltIn) return policy === undefined ? undefined : setPolicy(table, name, policy);
  if (policy !== undefined) return `Can't set policy '${policy}' on '${name}': Bad built-in chain name`;
  if (chain === undefined) addChain(table, name, undefined);
  else {
    emptyChain(table, chain);
    chain.wasDeclared = true;
  }
  return undefined;
}

export function setPolicy(table: DraftTable, name: string, policy: string): string | undefined {
  const chain = table.chains.get(name);
  if (chain === undefined || !chain.isBuiltIn)
    return `Can't set policy '${policy}' on '${name}': Bad built-in chain name`;
  if (policy !== 'ACCEPT' && policy !== 'DROP') return `Bad policy name '${policy}'`;
  chain.policy = policy;
  return undefined;
}

/** `-X CHAIN`: the chain has to be empty, and no rule may jump to it. */
export function deleteChain(table: DraftTable, name: string): string | undefined {
  const chain = table.chains.get(name);
  if (chain === undefined) return `No chain/target/match by that name: ${name}`;
  if (chain.isBuiltIn) return `Can't delete built-in chain: ${name}`;
  const size = chain.list === undefined ? (chain.before?.rules.length ?? 0) : chain.list.size;
  if (size > 0) return `Directory not empty: chain ${name} holds rules`;
  table.references ??= countJumps(table);
  if ((table.references.get(name) ?? 0) > 0) return `Too many links: a rule jumps to chain ${name}`;
  table.chains.delete(name);
  return undefined;
}

/** A rule was put in or taken out. */
export function noteRule(table: DraftTable, rule: Rule, change: 1 | -1): void {
  if (change === 1) table.added.add(rule);
  if (rule.target?.kind !== 'jump') return;
  if (change === 1) table.hasNewJumps = true;
  if (table.references !== undefined) countJump(table, rule, change);
}

function countJumps(table: DraftTable): Map<string, number> {
  table.references = new Map();
  for (const chain of table.chains.values()) {
    for (const rule of readRules(chain)) countJump(table, rule, 1);
  }
  return table.references;
}

function countJump(table: DraftTable, rule: Rule, change: 1 | -1): void {
  if (rule.target?.kind !== 'jump') return;
  const { chain } = rule.target;
  table.references?.set(chain, (table.references.get(chain) ?? 0) + change);
}

function readRules(chain: DraftChain): readonly Rule[] {
  return chain.list === undefined ? (chain.before?.rules ?? []) : listedRules(chain.list);
}

/**
 * The name of a chain that comes back to itself, reached from a built-in chain; the kernel takes circles that no
 * packet can enter.
 */
export function circleIn(table: DraftTable): string | undefined {
  if (!table.hasNewJumps) return undefined;
  const open = new Set<string>();
  const done = new Set<string>();
  const path: { readonly name: string; readonly jumps: Iterator<string> }[] = [];
  const enter = (name: string) => {
    open.add(name);
    path.push({ name, jumps: jumpsOf(table.chains.get(name)) });
  };
  for (const chain of table.chains.values()) {
    if (chain.isBuiltIn) enter(chain.name);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const next = top.jumps.next();
      if (next.done === true) {
        path.pop();
        open.delete(top.name);
        done.add(top.name);
      } else if (open.has(next.value)) return next.value;
      else if (!done.has(next.value)) enter(next.value);
    }
  }
  return undefined;
}

function* jumpsOf(chain: DraftChain | undefined): Generator<string, void, undefined> {
  if (chain === undefined) return;
  for (const { target } of readRules(chain)) if (target?.kind === 'jump') yield target.chain;
}
