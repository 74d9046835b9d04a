/* One line of restore input, applied to a table. Each function returns what iptables would have to complain of. */
import type { DraftChain, DraftTable } from './apply-draft.ts';
import {
  addChain,
  declareChain,
  deleteChain,
  emptyChain,
  noteRule,
  rulesOf,
  setPolicy,
} from './apply-draft.ts';
import { parseRule } from './parse-rule.ts';
import { canonicalRule } from './print-save.ts';
import type { RuleList } from './rule-list.ts';
import { appendRule, insertRule, removeEqualRule, removeRule, replaceRule, ruleAt } from './rule-list.ts';
import type { Rule, Statement } from './ruleset.ts';
import { newWords, printKeptWords, readWords, wordText } from './words.ts';

const SHORT = new Map([
  ['--append', '-A'],
  ['--insert', '-I'],
  ['--delete', '-D'],
  ['--replace', '-R'],
  ['--delete-chain', '-X'],
  ['--new-chain', '-N'],
  ['--policy', '-P'],
  ['--flush', '-F'],
  ['--zero', '-Z'],
]);

export function applyCommand(table: DraftTable, statement: Statement): string | undefined {
  if (statement.kind === 'append') {
    const chain = table.chains.get(statement.chain);
    return append(table, chain, statement.chain, statement.rule);
  }
  const [first = '', ...rest] = statement.words;
  if (first.startsWith(':') || first.startsWith('":')) {
    const policy = rest[0] === '-' ? undefined : rest[0];
    return declareChain(table, wordText(first).slice(1), policy);
  }
  const command = SHORT.get(first) ?? first;
  const name = rest[0] === undefined ? undefined : wordText(rest[0]);
  if (name === undefined) return withoutChain(table, command);
  const chain = table.chains.get(name);
  switch (command) {
    case '-N':
      if (chain !== undefined) return `Chain already exists: ${name}`;
      addChain(table, name, undefined);
      return undefined;
    case '-X':
      return deleteChain(table, name);
    case '-P':
      return setPolicy(table, name, rest[1] ?? '');
    default:
      if (chain === undefined) return `No chain/target/match by that name: ${name}`;
      return onChain(table, chain, command, rest.slice(1));
  }
}

/** `-F`, `-X`, `-Z` of all chains. */
function withoutChain(table: DraftTable, command: string): string | undefined {
  const chains = [...table.chains.values()];
  switch (command) {
    case '-F':
      for (const chain of chains) emptyChain(table, chain);
      return undefined;
    case '-X':
      for (const { isBuiltIn, name } of chains) {
        const error = isBuiltIn ? undefined : deleteChain(table, name);
        if (error !== undefined) return error;
      }
      return undefined;
    case '-Z':
      return undefined;
    default:
      return `${command} requires an argument`;
  }
}

function onChain(
  table: DraftTable,
  chain: DraftChain,
  command: string,
  words: readonly string[],
): string | undefined {
  switch (command) {
    case '-F':
      emptyChain(table, chain);
      return undefined;
    case '-Z':
      return undefined;
    case '-I':
      return insert(table, chain, words);
    case '-D':
      return remove(table, chain, words);
    case '-R':
      return replace(table, chain, words);
    default:
      return `the command ${command} is not known here`;
  }
}

function append(
  table: DraftTable,
  chain: DraftChain | undefined,
  name: string,
  rule: Rule,
): string | undefined {
  if (chain === undefined) return `No chain/target/match by that name: ${name}`;
  const error = refusal(table, rule);
  if (error !== undefined) return error;
  appendRule(rulesOf(table, chain), rule);
  noteRule(table, rule, 1);
  return undefined;
}

function insert(table: DraftTable, chain: DraftChain, words: readonly string[]): string | undefined {
  const { number, rest } = ruleNumber(words);
  if (number === 0) return invalidNumber(words[0]);
  const rule = readRule(rest);
  const error = refusal(table, rule);
  if (error !== undefined) return error;
  const list = rulesOf(table, chain);
  const misleads = number !== undefined && number > 1 ? numberMisleads(table, chain, number) : undefined;
  if (number !== undefined && number <= list.size + 1 && misleads !== undefined) return misleads;
  if (!insertRule(list, number ?? 1, rule)) return 'Index of insertion too big';
  noteRule(table, rule, 1);
  return undefined;
}

function remove(table: DraftTable, chain: DraftChain, words: readonly string[]): string | undefined {
  const { number, rest } = ruleNumber(words);
  const list: RuleList = rulesOf(table, chain);
  if (number !== undefined) {
    if (number === 0) return invalidNumber(words[0]);
    if (rest.length > 0) return `Illegal option '${rest[0]}' with this command`;
    const misleads = numberMisleads(table, chain, number);
    if (number <= list.size && misleads !== undefined) return misleads;
    const removed = removeRule(list, number);
    if (removed === undefined) return 'Index of deletion too big';
    noteRule(table, removed, -1);
    return undefined;
  }
  const rule = readRule(rest);
  const error = refusal(table, rule);
  if (error !== undefined) return error;
  const removed = removeEqualRule(list, canonicalRule(rule, table.family));
  if (removed === undefined) return `Bad rule (does a matching rule exist in that chain?): ${chain.name}`;
  noteRule(table, removed, -1);
  return undefined;
}

function replace(table: DraftTable, chain: DraftChain, words: readonly string[]): string | undefined {
  const { number, rest } = ruleNumber(words);
  if (number === undefined || number === 0) return invalidNumber(words[0]);
  const rule = readRule(rest);
  const error = refusal(table, rule);
  if (error !== undefined) return error;
  const misleads = numberMisleads(table, chain, number);
  if (number <= rulesOf(table, chain).size && misleads !== undefined) return misleads;
  const before = replaceRule(rulesOf(table, chain), number, rule);
  if (before === undefined) return 'Index of replacement too big';
  noteRule(table, before, -1);
  noteRule(table, rule, 1);
  return undefined;
}

/** The number behind the chain; 0 where what stands there is none that iptables takes. */
function ruleNumber(words: readonly string[]): {
  readonly number: number | undefined;
  readonly rest: readonly string[];
} {
  const [first] = words;
  if (first === undefined || /^["!-]/.test(first)) return { number: undefined, rest: words };
  const number = /^\d{1,10}$/.test(first) ? Number(first) : 0;
  return { number, rest: words.slice(1) };
}

/**
 * What iptables-nft 1.8.9 makes of a number is wrong where the rule of that number came with the same input (it may
 * put the new one elsewhere, fail, or crash), and in a chain that a chain line of the input has emptied. A patch has
 * to do without: several rules are put before an old one in their order, with growing numbers.
 */
function numberMisleads(table: DraftTable, chain: DraftChain, number: number): string | undefined {
  const rule = ruleAt(rulesOf(table, chain), number);
  const isCertain = !chain.wasDeclared && (rule === undefined || !table.added.has(rule));
  return isCertain
    ? undefined
    : `iptables-nft would miscount: rule ${number} of ${chain.name} came with the same input`;
}

function invalidNumber(word: string | undefined): string {
  return `Invalid rule number '${word ?? ''}'`;
}

function readRule(kept: readonly string[]): Rule {
  const words = newWords();
  const text = printKeptWords(kept);
  readWords(text, 0, text.length, words);
  return parseRule(words, 0).rule;
}

/** Why iptables would not take a rule, as far as that can be told from the table. */
function refusal(table: DraftTable, rule: Rule): string | undefined {
  if (rule.unparsed !== undefined) return `Bad argument: ${rule.unparsed.join(' ')}`;
  if (rule.target?.kind !== 'jump') return undefined;
  const target = table.chains.get(rule.target.chain);
  if (target === undefined) return `Chain '${rule.target.chain}' does not exist`;
  if (target.isBuiltIn) return `Operation not supported: a jump to the built-in chain ${target.name}`;
  return undefined;
}
