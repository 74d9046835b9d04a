/*
 * The spelling of iptables-save 1.8.9 (legacy back end): what the kernel's rules look like when they are dumped,
 * whatever spelling they were loaded in.
 */
import { canonicalNetwork, isPlainIPv4 } from './addresses.ts';
import { inChunks } from './chunks.ts';
import type { Match, Target } from './extensions/index.ts';
import { matchExtensions, targetExtensions } from './extensions/index.ts';
import { canonicalProtocol } from './protocols.ts';
import type {
  AddressMatch,
  Chain,
  Counters,
  Family,
  InterfaceMatch,
  ProtocolMatch,
  Rule,
  Ruleset,
  Table,
} from './ruleset.ts';
import { printKeptWords, saveWord } from './words.ts';

/**
 * A rule in its one canonical form, by which rules are compared: its save line without `-A CHAIN` and counters.
 * Two rules mean the same to the kernel exactly if these are equal, as far as their options are known here.
 */
export function canonicalRule(rule: Rule, family: Family): string {
  return ruleText(rule, family).slice(1);
}

/** `[packets:bytes] -A CHAIN …` as iptables-save prints it, without line end; counters only if the rule has them. */
export function saveLine(rule: Rule, chain: string, family: Family): string {
  const counters = rule.counters === undefined ? '' : `${countersText(rule.counters)} `;
  return `${counters}-A ${saveWord(chain)}${ruleText(rule, family)}`;
}

/**
 * The whole ruleset as iptables-save prints it, without the header comments that hold the date. The tables and
 * chains come in the order of the model. Rules of a table without a name get no `*table` and `COMMIT` lines.
 */
export function* printSave(ruleset: Ruleset): Generator<string, void, undefined> {
  for (const table of ruleset.tables) yield* inChunks(tablePieces(table, ruleset.family));
}

/** Text of whole lines. One piece for a chain: most have few rules, and a generator's step costs more than a line. */
function* tablePieces(table: Table, family: Family): Generator<string, void, undefined> {
  if (table.name !== '') yield `*${table.name}\n`;
  for (const chain of table.chains) if (chain.declared !== false) yield chainLine(chain);
  // Rules of undeclared chains last: read again, those chains come behind the declared ones.
  for (const chain of table.chains) if (chain.declared !== false) yield chainText(chain, family);
  for (const chain of table.chains) if (chain.declared === false) yield chainText(chain, family);
  for (const command of table.commands ?? []) yield `${printKeptWords(command.words).slice(1)}\n`;
  if (table.name !== '') yield 'COMMIT\n';
}

/** The lines of a chain's rules. */
function chainText(chain: Chain, family: Family): string {
  const start = `-A ${saveWord(chain.name)}`;
  let lines = '';
  for (const rule of chain.rules) {
    if (rule.counters !== undefined) lines += `${countersText(rule.counters)} `;
    lines += `${start}${ruleText(rule, family)}\n`;
  }
  return lines;
}

/** `:INPUT ACCEPT [0:0]`, `:KUBE-SERVICES - [0:0]`, with the line's end. */
function chainLine(chain: Chain): string {
  return `:${saveWord(chain.name)} ${chain.policy ?? '-'} ${chain.counters ? countersText(chain.counters) : '[0:0]'}\n`;
}

function countersText(counters: Counters): string {
  return `[${counters.packets}:${counters.bytes}]`;
}

/** The rule's options, each with a blank before it. */
function ruleText(rule: Rule, family: Family): string {
  let text =
    addressText('-s', rule.source, family) +
    addressText('-d', rule.destination, family) +
    interfaceText('-i', rule.inInterface) +
    interfaceText('-o', rule.outInterface) +
    protocolText(rule.protocol);
  if (rule.fragment !== undefined) text += rule.fragment.negated ? ' ! -f' : ' -f';
  if (rule.unparsed !== undefined) text += printKeptWords(rule.unparsed);
  for (const match of rule.matches) text += saveMatch(match, family);
  if (rule.target !== undefined) text += saveTarget(rule.target, family);
  return text;
}

function addressText(option: string, match: AddressMatch | undefined, family: Family): string {
  if (match === undefined) return '';
  // A host as everybody writes it is nearly all of a large dump, and is printed as it came.
  if ((match.prefix === undefined || match.prefix === '32') && isPlainIPv4(match.address)) {
    return `${match.negated ? ' ! ' : ' '}${option} ${match.address}/32`;
  }
  const network = canonicalNetwork(match.address, match.prefix);
  if (network !== undefined) return `${match.negated ? ' !' : ''} ${option} ${saveWord(network)}`;
  return match.negated ? ` ! ${option} ${family === 'ipv4' ? '0.0.0.0/0' : '::/0'}` : '';
}

/** `-i +` is any interface: the kernel keeps nothing of it. `! -i +` would be kept by the nft back end. */
function interfaceText(option: string, match: InterfaceMatch | undefined): string {
  if (match === undefined || (match.name === '+' && !match.negated)) return '';
  return `${match.negated ? ' !' : ''} ${option} ${saveWord(match.name)}`;
}

function protocolText(match: ProtocolMatch | undefined): string {
  if (match === undefined) return '';
  const protocol = canonicalProtocol(match.protocol);
  if (protocol === 'all' && !match.negated) return '';
  return `${match.negated ? ' !' : ''} -p ${saveWord(protocol)}`;
}

/** ` -m NAME` and its options. */
function saveMatch(match: Match, family: Family): string {
  if (match.kind === 'unknown') return ` -m ${saveWord(match.name)}${printKeptWords(match.words)}`;
  return ` -m ${match.kind}${matchExtensions.get(match.kind)?.save(match, family) ?? ''}`;
}

/** ` -j NAME` and its options. */
function saveTarget(target: Target, family: Family): string {
  switch (target.kind) {
    case 'jump':
      return ` ${target.goto ? '-g' : '-j'} ${saveWord(target.chain)}`;
    case 'unknown':
      return ` -j ${saveWord(target.name)}${printKeptWords(target.words)}`;
    case 'ACCEPT':
    case 'DROP':
    case 'RETURN':
    case 'QUEUE':
      return ` -j ${target.kind}`;
    default:
      return ` -j ${target.kind}${targetExtensions.get(target.kind)?.save(target, family) ?? ''}`;
  }
}
