/*
 * Restore input that changes part of what a node has, for `iptables-restore --noflush`: what a patch is made of.
 * The spelling is that of iptables-save. Dumps hold what such input cannot (a comment with a line feed), and a
 * line that means something else to iptables-restore must never be the answer to it: so such rules are refused.
 */
import { inChunks } from './chunks.ts';
import type { Match } from './extensions/index.ts';
import { parseRule } from './parse-rule.ts';
import { canonicalRule } from './print-save.ts';
import type { Family, Rule } from './ruleset.ts';
import { newWords, readWords, saveWord } from './words.ts';

export interface TableCommands {
  readonly name: string;
  /** Chains that are made, or emptied where they are there already. */
  readonly declare: readonly string[];
  /** In the order in which they are to be carried out. */
  readonly statements: readonly RestoreStatement[];
}

export type RestoreStatement =
  | { readonly kind: 'append'; readonly chain: string; readonly rule: Rule }
  /** `at` is the number that the rule will have, counted from 1. */
  | { readonly kind: 'insert'; readonly chain: string; readonly at: number; readonly rule: Rule }
  /** The first rule of the chain that is equal to this one. */
  | { readonly kind: 'delete'; readonly chain: string; readonly rule: Rule }
  | { readonly kind: 'delete-chain'; readonly chain: string };

/** In bytes: iptables-restore reads lines into a buffer of 10240, and the comment match has room for 255. */
const LONGEST_LINE = 10_000;
const LONGEST_COMMENT = 255;

/**
 * The text of some tables' commands; nothing for a table without any. Throws where a rule or a name cannot be
 * written; ask isWritable for each rule first if the rules come from a dump.
 */
export function printCommands(
  tables: readonly TableCommands[],
  family: Family,
): Generator<string, void, undefined> {
  return inChunks(commandLines(tables, family));
}

function* commandLines(tables: readonly TableCommands[], family: Family): Generator<string, void, undefined> {
  for (const { name, declare, statements } of tables) {
    if (declare.length === 0 && statements.length === 0) continue;
    if (!/^[a-z]+$/.test(name)) throw new Error(`no table for iptables-restore: ${JSON.stringify(name)}`);
    yield `*${name}\n`;
    for (const chain of declare) yield `:${chainWord(chain)} - [0:0]\n`;
    for (const statement of statements) yield `${statementLine(statement, family)}\n`;
    yield 'COMMIT\n';
  }
}

function statementLine(statement: RestoreStatement, family: Family): string {
  const chain = chainWord(statement.chain);
  switch (statement.kind) {
    case 'append':
      return `-A ${chain}${ruleText(statement.rule, family)}`;
    case 'insert':
      return `-I ${chain} ${statement.at}${ruleText(statement.rule, family)}`;
    case 'delete':
      return `-D ${chain}${ruleText(statement.rule, family)}`;
    case 'delete-chain':
      return `-X ${chain}`;
  }
}

/** Whether iptables-restore would read a rule back as the same from the line that is printed for it. */
export function isWritable(rule: Rule, family: Family): boolean {
  return reasonAgainst(rule, canonicalRule(rule, family), family) === undefined;
}

function ruleText(rule: Rule, family: Family): string {
  const text = canonicalRule(rule, family);
  const reason = reasonAgainst(rule, text, family);
  if (reason !== undefined) throw new Error(`the rule ${JSON.stringify(text)} cannot be written: ${reason}`);
  return text === '' ? '' : ` ${text}`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const LINE_BREAKERS = /[\u0000\n\r]/;
const encoder = new TextEncoder();

function bytes(text: string): number {
  return encoder.encode(text).length;
}

function reasonAgainst(rule: Rule, text: string, family: Family): string | undefined {
  if (rule.unparsed !== undefined) return 'iptables would refuse it';
  if (LINE_BREAKERS.test(text)) return 'it holds a line end or a NUL';
  if (rule.target?.kind === 'DNAT' && rule.target.destinations.length > 1)
    return '--to-destination can only be used once';
  if (rule.target?.kind === 'jump' && !isChainWord(rule.target.chain))
    return 'the name of its target is no chain';
  const isLong = (match: Match) => match.kind === 'comment' && bytes(match.text) > LONGEST_COMMENT;
  if (rule.matches.some(isLong)) return 'its comment is too long';
  if (bytes(text) > LONGEST_LINE) return 'it is too long';
  if (isReadInAnotherWay(rule, text, family))
    return 'its options would mean something else where they are printed';
  return undefined;
}

/** Options that nobody knows are kept as words, and may be taken for those of what is printed before them. */
function isReadInAnotherWay(rule: Rule, text: string, family: Family): boolean {
  const isUnknown = ({ kind }: { readonly kind: string }) => kind === 'unknown';
  if (!rule.matches.some(isUnknown) && rule.target?.kind !== 'unknown') return false;
  const words = newWords();
  readWords(text, 0, text.length, words);
  return canonicalRule(parseRule(words, 0).rule, family) !== text;
}

/** iptables knows no quotes in a chain line, and no names of more than 28 bytes (XT_EXTENSION_MAXNAMELEN). */
function isChainWord(name: string): boolean {
  return name !== '' && saveWord(name) === name && bytes(name) <= 28;
}

function chainWord(name: string): string {
  if (!isChainWord(name)) throw new Error(`no name for a chain: ${JSON.stringify(name)}`);
  return name;
}
