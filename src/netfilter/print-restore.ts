/*
 * The spelling in which kube-proxy itself feeds rules to `iptables-restore --noflush --counters` (writeToBuffer
 * and its callers in pkg/proxy/iptables and pkg/proxy/ipvs): the comment first, `-m tcp -p tcp -d IP --dport N`,
 * addresses as written, marks with eight digits, probabilities with ten.
 */

import { inChunks } from './chunks.ts';
import type { Match, Target } from './extensions/index.ts';
import { matchExtensions, targetExtensions } from './extensions/index.ts';
import { canonicalProtocol } from './protocols.ts';
import type { AddressMatch, Family, InterfaceMatch, Rule, Ruleset, Table } from './ruleset.ts';
import { printKeptWords } from './words.ts';

/**
 * One `-A CHAIN …` line without its line end. Throws where a text could not be written without escapes (a quote,
 * a backslash, a control character): no name or comment that kube-proxy makes holds any, so that is a bug of the
 * caller, and a line that means something else to iptables-restore must never be the answer to it.
 */
export function restoreLine(rule: Rule, chain: string, family: Family = 'ipv4'): string {
  return checked(`-A ${bareWord(chain)}${ruleText(rule, family)}`, chain);
}

/**
 * The input of iptables-restore: of each table the lines of the chains that are not built in, then the rules, in
 * the order of `table.statements` or else chain after chain, then COMMIT. Built-in chains get no line, since
 * that would set their policy and, without `--noflush`, empty them. Throws as restoreLine does.
 */
export function* printRestore(ruleset: Ruleset): Generator<string, void, undefined> {
  for (const table of ruleset.tables) yield* inChunks(tablePieces(table, ruleset.family));
}

/** Text of whole lines, of a chain at a time. */
function* tablePieces(table: Table, family: Family): Generator<string, void, undefined> {
  if (!/^[a-z]+$/.test(table.name))
    throw new Error(`no table for iptables-restore: ${JSON.stringify(table.name)}`);
  yield `*${table.name}\n`;
  for (const chain of table.chains) {
    if (chain.policy === undefined && chain.declared !== false) {
      yield `${checked(`:${bareWord(chain.name)} - [0:0]`, chain.name)}\n`;
    }
  }
  if (table.statements !== undefined) {
    for (const statement of table.statements) {
      if (statement.kind === 'append') yield `${restoreLine(statement.rule, statement.chain, family)}\n`;
      else yield `${commandLine(statement.words)}\n`;
    }
  } else {
    for (const chain of table.chains) {
      let lines = '';
      for (const rule of chain.rules) lines += `${restoreLine(rule, chain.name, family)}\n`;
      yield lines;
    }
    for (const command of table.commands ?? []) yield `${commandLine(command.words)}\n`;
  }
  yield 'COMMIT\n';
}

function commandLine(words: readonly string[]): string {
  return checked(printKeptWords(words).slice(1), words[1] ?? '');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNSAFE = /[\u0000-\u001f\u007f\\]/;

/** Whatever holds a quote inside was given a backslash by its printer: the lack of any proves the line sound. */
function checked(line: string, chain: string): string {
  if (UNSAFE.test(line)) {
    throw new Error(`rule cannot be written for iptables-restore in chain ${chain}: ${JSON.stringify(line)}`);
  }
  return line;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const NO_BARE_WORD = /^$|^[-!#]|[\u0000- "\u007f]/;

/** A name or an address: nothing that would have to be quoted, or could be taken for an option. */
function bareWord(text: string): string {
  if (NO_BARE_WORD.test(text)) throw new Error(`no word for iptables-restore: ${JSON.stringify(text)}`);
  return text;
}

/**
 * kube-proxy writes its arguments in a few fixed orders. With a match of the protocol (tcp, udp, sctp), that
 * match, `-p`, `-d`, ports, then `-s` and `-i`. Without one, `-p`, the comment, `-d`, `-s` and `-i`; but sets
 * before a source. A negated destination comes last, behind the other matches.
 */
function ruleText(rule: Rule, family: Family): string {
  const { matches, protocol, destination } = rule;
  const ports =
    protocol === undefined || protocol.negated
      ? -1
      : matches.findIndex(
          (match) => isPortMatch(match) && match.kind === canonicalProtocol(protocol.protocol),
        );
  const positiveDestination = destination?.negated === false ? addressText('-d', destination) : '';
  let text = '';
  let i = 0;
  if (ports >= 0 && protocol !== undefined) {
    for (; i < ports; i++) text += matchText(matches[i], family);
    const match = matches[i++];
    text += ` -m ${match?.kind} -p ${bareWord(protocol.protocol)}${positiveDestination}`;
    text += match === undefined ? '' : matchOptions(match, family);
  } else {
    if (protocol !== undefined) text += `${protocol.negated ? ' !' : ''} -p ${bareWord(protocol.protocol)}`;
    for (; matches[i]?.kind === 'comment'; i++) text += matchText(matches[i], family);
    text += positiveDestination;
    for (; matches[i]?.kind === 'set'; i++) text += matchText(matches[i], family);
  }
  text += addressText('-s', rule.source);
  text += interfaceText('-i', rule.inInterface);
  text += interfaceText('-o', rule.outInterface);
  if (rule.fragment !== undefined) text += rule.fragment.negated ? ' ! -f' : ' -f';
  if (rule.unparsed !== undefined) text += printKeptWords(rule.unparsed);
  for (; i < matches.length; i++) text += matchText(matches[i], family);
  if (destination?.negated) text += addressText('-d', destination);
  return rule.target === undefined ? text : text + targetText(rule.target, family);
}

function isPortMatch(match: Match): boolean {
  return match.kind === 'tcp' || match.kind === 'udp' || match.kind === 'sctp';
}

function addressText(option: string, match: AddressMatch | undefined): string {
  if (match === undefined) return '';
  const text = match.prefix === undefined ? match.address : `${match.address}/${match.prefix}`;
  return `${match.negated ? ' !' : ''} ${option} ${bareWord(text)}`;
}

function interfaceText(option: string, match: InterfaceMatch | undefined): string {
  return match === undefined ? '' : `${match.negated ? ' !' : ''} ${option} ${bareWord(match.name)}`;
}

function matchText(match: Match | undefined, family: Family): string {
  if (match === undefined) return '';
  const name = match.kind === 'unknown' ? bareWord(match.name) : match.kind;
  return ` -m ${name}${matchOptions(match, family)}`;
}

function matchOptions(match: Match, family: Family): string {
  if (match.kind === 'unknown') return printKeptWords(match.words);
  const extension = matchExtensions.get(match.kind);
  return extension?.restore?.(match, family) ?? extension?.save(match, family) ?? '';
}

function targetText(target: Target, family: Family): string {
  switch (target.kind) {
    case 'jump':
      return ` ${target.goto ? '-g' : '-j'} ${bareWord(target.chain)}`;
    case 'unknown':
      return ` -j ${bareWord(target.name)}${printKeptWords(target.words)}`;
    case 'ACCEPT':
    case 'DROP':
    case 'RETURN':
    case 'QUEUE':
      return ` -j ${target.kind}`;
    default: {
      const extension = targetExtensions.get(target.kind);
      return ` -j ${target.kind}${extension?.restore?.(target, family) ?? extension?.save(target, family) ?? ''}`;
    }
  }
}
