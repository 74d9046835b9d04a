/*
 * Words of one rule → Rule. The grouping is that of iptables' getopt loop: options may come in any order; one
 * that is not basic belongs to the match opened last that has it, else to the target, else to the match of the
 * protocol, which it opens (`-p tcp --dport 80`). An extension that is not known here takes all words up to the
 * next basic option. Nothing is dropped: a match or target with a word that is not understood is kept as
 * unknown with all its words. A rule that iptables would refuse for a word without any owner, an option without
 * its value, or a second `-s` or `-j`, is kept as nothing but its words, in `unparsed`.
 */
import type { GivenOption, MatchExtension, OptionShape } from './extensions/extension.ts';
import type {
  JumpTarget,
  KnownMatch,
  KnownTarget,
  Match,
  Target,
  VerdictTarget,
} from './extensions/index.ts';
import { foreignTargets, matchExtensions, targetExtensions } from './extensions/index.ts';
import { canonicalProtocol } from './protocols.ts';
import type { AddressMatch, Counters, InterfaceMatch, ProtocolMatch, Rule } from './ruleset.ts';
import type { Words } from './words.ts';
import { keptWord } from './words.ts';

export interface ParsedRule {
  readonly rule: Rule;
  /** Text of a `# comment` behind the rule, as people write into dumps; iptables knows no such thing. */
  readonly trailingComment: string | undefined;
}

/** A class for its layout: what is set later finds room in the object itself, and a dump has a million of them. */
class Draft {
  matches: readonly Match[] = NO_MATCHES;
  declare source?: AddressMatch;
  declare destination?: AddressMatch;
  declare inInterface?: InterfaceMatch;
  declare outInterface?: InterfaceMatch;
  declare protocol?: ProtocolMatch;
  declare fragment?: NonNullable<Rule['fragment']>;
  declare target?: Target;
  declare counters?: Counters;
}
type AnyExtension = MatchExtension<KnownMatch> | MatchExtension<KnownTarget>;

/** A match or target whose options are being collected. */
interface Owner<E extends AnyExtension> {
  readonly name: string;
  readonly extension: E | undefined;
  readonly given: GivenOption[];
  /** Where its words are: from, to, from, to … */
  readonly spans: number[];
  /** Something among its words was not understood. */
  broken: boolean;
}

type MatchOwner = Owner<MatchExtension<KnownMatch>>;
type TargetOwner = Owner<MatchExtension<KnownTarget>>;

interface State {
  readonly words: Words;
  /** The number of the first word behind `-A CHAIN`. */
  readonly from: number;
  readonly draft: Draft;
  readonly owners: MatchOwner[];
  target: TargetOwner | undefined;
  goto: boolean;
  /** Opened last: takes what nobody else has. */
  current: MatchOwner | TargetOwner | undefined;
  /** iptables would refuse the rule. */
  failed: boolean;
  /** The protocol, wherever it stands; null: not looked for yet. */
  protocol: string | undefined | null;
}

/** Every option in use, under every spelling, by extension. */
const shapes = new Map<AnyExtension, ReadonlyMap<string, OptionShape>>();
for (const extension of [...matchExtensions.values(), ...targetExtensions.values()]) {
  shapes.set(extension, new Map(Object.entries(extension.options)));
}

/** Matches that are unknown here, and that a protocol opens by itself as tcp and udp do. */
const implicitForeign = new Map([
  ['--icmp-type', 'icmp'],
  ['--icmpv6-type', 'icmp6'],
]);

const LONG_BASIC = new Map([
  ['--source', 's'],
  ['--src', 's'],
  ['--destination', 'd'],
  ['--dst', 'd'],
  ['--in-interface', 'i'],
  ['--out-interface', 'o'],
  ['--protocol', 'p'],
  ['--proto', 'p'],
  ['--fragments', 'f'],
  ['--fragment', 'f'],
  ['--match', 'm'],
  ['--jump', 'j'],
  ['--goto', 'g'],
  ['--set-counters', 'c'],
]);
const SHORT_BASIC = 'sdiopfmjgc';

/** Reads the words behind `-A CHAIN`, from the word number `from` on. */
export function parseRule(words: Words, from: number): ParsedRule {
  const state = newState(words, from, null);
  const end = readWords(state);
  const trailingComment = end < words.count ? words.texts.slice(end, words.count).join(' ') : undefined;
  if (state.failed)
    return { rule: { matches: [], unparsed: keepWords(words, from, end, []) }, trailingComment };
  return { rule: finish(state), trailingComment };
}

function newState(words: Words, from: number, protocol: string | undefined | null): State {
  return {
    words,
    from,
    draft: new Draft(),
    owners: [],
    target: undefined,
    goto: false,
    current: undefined,
    failed: false,
    protocol,
  };
}

/** Reads all words up to a comment; returns the number of the first that is not read. */
function readWords(state: State): number {
  const { texts, quoted, count } = state.words;
  for (let i = state.from; i < count; ) {
    const word = texts[i] ?? '';
    if (quoted[i] === 1) i = stray(state, i, i + 1);
    else if (word.charCodeAt(0) === HASH) return i;
    else if (word === '!') i = negated(state, i);
    else i = option(state, i, i, word, false);
  }
  return count;
}

const HASH = 35;
const DASH = 45;

/** The letter of a basic option, or ''. */
function basicLetter(word: string): string {
  if (word.charCodeAt(0) !== DASH) return '';
  if (word.length === 2) return SHORT_BASIC.includes(word.charAt(1)) ? word.charAt(1) : '';
  return LONG_BASIC.get(word) ?? '';
}

function negated(state: State, at: number): number {
  const next = at + 1;
  const { words } = state;
  const word = next < words.count && words.quoted[next] === 0 ? words.texts[next] : undefined;
  if (word === undefined || word.charCodeAt(0) !== DASH) return stray(state, at, next);
  return option(state, at, next, word, true);
}

/** One option: its first word (perhaps `!`) is number `from`, its name number `at`. Returns the next word's number. */
function option(state: State, from: number, at: number, word: string, isNegated: boolean): number {
  const letter = basicLetter(word);
  if (letter === '') return extensionOption(state, from, at, word, isNegated);
  if (letter === 'm' || letter === 'j' || letter === 'g' || letter === 'c') {
    const value = state.words.texts[at + 1];
    if (isNegated || at + 1 >= state.words.count || value === undefined) return refused(state, at + 1);
    if (letter === 'm') openMatch(state, at, value);
    else if (letter === 'c') return setCounters(state, at);
    else openTarget(state, at, value, letter === 'g');
    return at + 2;
  }
  return addressOption(state, at, letter, isNegated);
}

function addressOption(state: State, at: number, letter: string, isNegated: boolean): number {
  const { words, draft } = state;
  if (letter === 'f') {
    if (draft.fragment !== undefined) return refused(state, at + 1);
    draft.fragment = { negated: isNegated };
    return at + 1;
  }
  let place = at + 1;
  let inverted = isNegated;
  // The spelling of iptables 1.3: `-s ! 10.0.0.1`.
  if (!inverted && words.texts[place] === '!' && words.quoted[place] === 0 && place + 1 < words.count) {
    inverted = true;
    place++;
  }
  const value = place < words.count ? words.texts[place] : undefined;
  // `-s -j CHAIN`: a script had an empty variable there. getopt would take `-j` for the address; nobody means that.
  const isMissing = value === undefined || (value.charCodeAt(0) === DASH && words.quoted[place] === 0);
  if (isMissing) return refused(state, at + 1);
  const next = place + 1;
  switch (letter) {
    case 's':
      if (draft.source !== undefined) return refused(state, next);
      draft.source = parseAddress(value, inverted);
      return next;
    case 'd':
      if (draft.destination !== undefined) return refused(state, next);
      draft.destination = parseAddress(value, inverted);
      return next;
    case 'i':
      if (draft.inInterface !== undefined) return refused(state, next);
      draft.inInterface = { negated: inverted, name: value };
      return next;
    case 'o':
      if (draft.outInterface !== undefined) return refused(state, next);
      draft.outInterface = { negated: inverted, name: value };
      return next;
    default:
      if (draft.protocol !== undefined) return refused(state, next);
      draft.protocol = protocolMatch(value, inverted);
      return next;
  }
}

const PORT_PROTOCOLS: ReadonlyMap<string, ProtocolMatch> = new Map(
  ['tcp', 'udp', 'sctp'].map((protocol) => [protocol, { negated: false, protocol }]),
);

/** One object for all rules, where nearly all have the same. */
function protocolMatch(protocol: string, negated: boolean): ProtocolMatch {
  return (negated ? undefined : PORT_PROTOCOLS.get(protocol)) ?? { negated, protocol };
}

function parseAddress(text: string, isNegated: boolean): AddressMatch {
  const slash = text.indexOf('/');
  if (slash < 0) return { negated: isNegated, address: text };
  return { negated: isNegated, address: text.slice(0, slash), prefix: text.slice(slash + 1) };
}

function setCounters(state: State, at: number): number {
  const { words, draft } = state;
  const packets = words.texts[at + 1] ?? '';
  const bytes = at + 2 < words.count ? (words.texts[at + 2] ?? '') : '';
  const counters = parseCounters(packets, bytes);
  if (counters === undefined || draft.counters !== undefined) return refused(state, at + 1);
  draft.counters = counters;
  return at + 3;
}

/** Packets and bytes of `[12:3400]` or `-c 12 3400`. */
export function parseCounters(packets: string, bytes: string): Counters | undefined {
  if (!/^\d{1,20}$/.test(packets) || !/^\d{1,20}$/.test(bytes)) return undefined;
  return { packets: BigInt(packets), bytes: BigInt(bytes) };
}

function openMatch(state: State, at: number, name: string): void {
  const extension = state.words.quoted[at + 1] === 0 ? matchExtensions.get(name) : undefined;
  const owner = { name, extension, given: [], spans: [], broken: false };
  state.owners.push(owner);
  state.current = owner;
}

function openTarget(state: State, at: number, name: string, isGoto: boolean): void {
  if (state.target !== undefined) state.failed = true;
  const extension = isGoto || state.words.quoted[at + 1] === 1 ? undefined : targetExtensions.get(name);
  state.target = { name, extension, given: [], spans: [], broken: false };
  state.goto = isGoto;
  // Verdicts have no options, so that nothing behind one can be its own.
  state.current = isVerdict(name) && !isGoto ? undefined : state.target;
}

function isVerdict(name: string): name is VerdictTarget['kind'] {
  return name === 'ACCEPT' || name === 'DROP' || name === 'RETURN' || name === 'QUEUE';
}

function extensionOption(state: State, from: number, at: number, word: string, isNegated: boolean): number {
  const equals = word.startsWith('--') ? word.indexOf('=') : -1;
  const name = equals < 0 ? word : word.slice(0, equals);
  const owner = ownerOf(state, name);
  const shape = owner?.extension && shapes.get(owner.extension)?.get(name);
  if (owner === undefined || shape === undefined) {
    // A port without a protocol behind what may be a chain: iptables refuses that.
    return isPortBehindChain(state, name) ? refused(state, at + 1) : stray(state, from, at + 1);
  }
  const { texts, quoted, count } = state.words;
  const values: string[] = [];
  let next = at + 1;
  let inverted = isNegated;
  if (equals >= 0) values.push(word.slice(equals + 1));
  else if (!inverted && shape.negatable && shape.values > 0 && texts[next] === '!' && quoted[next] === 0) {
    inverted = true;
    next++;
  }
  while (values.length < shape.values && next < count) values.push(texts[next++] ?? '');
  const canonicalName = shape.as ?? name;
  if (values.length !== shape.values || (inverted && !shape.negatable)) owner.broken = true;
  if (!owner.broken) {
    if (!shape.repeatable && owner.given.some((given) => given.name === canonicalName)) owner.broken = true;
    owner.given.push({ name: canonicalName, negated: inverted, values });
  }
  owner.spans.push(from, next);
  return next;
}

function isPortBehindChain({ current, target }: State, name: string): boolean {
  if (current === undefined || current !== target || target.extension !== undefined) return false;
  if (foreignTargets.has(target.name)) return false;
  const tcp = matchExtensions.get('tcp');
  return tcp !== undefined && shapes.get(tcp)?.has(name) === true;
}

/** An option is looked for in so many matches before it, which keeps lines of a million matches linear. */
const MOST_OWNERS = 64;

/** Whose option this is; opens the protocol's match if it is that one's. */
function ownerOf(state: State, name: string): MatchOwner | TargetOwner | undefined {
  const { current, owners, target } = state;
  if (current?.extension !== undefined && shapes.get(current.extension)?.has(name)) return current;
  const isForeign = current !== undefined && current.extension === undefined;
  if (isForeign && current === target && foreignTargets.has(current.name)) return undefined;
  const oldest = Math.max(0, owners.length - MOST_OWNERS);
  for (let i = owners.length - 1; i >= oldest; i--) {
    const owner = owners[i];
    if (owner?.extension === undefined || !shapes.get(owner.extension)?.has(name)) continue;
    // An unknown extension keeps its words, but ports are the protocol's in any case.
    return isForeign && !isProtocolMatch(owner.name) ? undefined : owner;
  }
  if (!isForeign && target?.extension !== undefined && shapes.get(target.extension)?.has(name)) return target;
  const protocol = protocolOf(state);
  if (protocol === undefined) return undefined;
  const extension = isProtocolMatch(protocol) ? matchExtensions.get(protocol) : undefined;
  const opened = extension && shapes.get(extension)?.has(name) ? protocol : implicitForeign.get(name);
  if (opened === undefined || (isForeign && opened !== protocol)) return undefined;
  if (owners.slice(oldest).some((owner) => owner.name === opened)) return undefined;
  const owner: MatchOwner = {
    name: opened,
    extension: matchExtensions.get(opened),
    given: [],
    spans: [],
    broken: false,
  };
  owners.push(owner);
  // A target stays the one that takes what follows: `-j DNAT --dport 80 --to 10.0.0.1`.
  if (owner.extension === undefined || current !== target) state.current = owner;
  return owner;
}

/** iptables wants `-p` before the options of its match; here it may come later, as it is printed before them. */
function protocolOf(state: State): string | undefined {
  if (state.protocol !== null) return state.protocol;
  let { protocol: match } = state.draft;
  if (match === undefined) {
    // Which word is an option, and which one its value or what negates it, is told by reading all of them.
    const ahead = newState(state.words, state.from, undefined);
    readWords(ahead);
    match = ahead.draft.protocol;
  }
  const protocol = match === undefined || match.negated ? undefined : canonicalProtocol(match.protocol);
  state.protocol = protocol;
  return protocol;
}

function isProtocolMatch(name: string): boolean {
  return name === 'tcp' || name === 'udp' || name === 'sctp';
}

/** Words that nobody declares: they are the current extension's, which is unknown then. */
function stray(state: State, from: number, to: number): number {
  const { current } = state;
  if (current === undefined || (current === state.target && state.goto)) return refused(state, to);
  current.broken = true;
  current.spans.push(from, to);
  return to;
}

function refused(state: State, next: number): number {
  state.failed = true;
  return next;
}

function wordsOf(state: State, owner: Owner<AnyExtension>): string[] {
  const kept: string[] = [];
  for (let i = 0; i < owner.spans.length; i += 2) {
    keepWords(state.words, owner.spans[i] ?? 0, owner.spans[i + 1] ?? 0, kept);
  }
  return kept;
}

/** Appends the words from number `from` up to `to` in the spelling in which the model keeps them. */
export function keepWords(words: Words, from: number, to: number, kept: string[]): string[] {
  for (let i = from; i < to; i++) kept.push(keptWord(words.texts[i] ?? '', words.quoted[i] === 1));
  return kept;
}

function finish(state: State): Rule {
  const { draft, owners, target } = state;
  if (owners.length > 0) draft.matches = matchesOf(state, owners);
  if (target !== undefined) draft.target = finishTarget(state, target);
  return draft;
}

const NO_MATCHES: readonly Match[] = [];

/** Of each extension what it makes of no options at all, in a list: `-m tcp` stands in every second rule. */
const WITHOUT_OPTIONS = new Map<MatchExtension<KnownMatch>, readonly Match[]>();

function matchesOf(state: State, owners: readonly MatchOwner[]): readonly Match[] {
  const [first] = owners;
  if (owners.length === 1 && first?.extension !== undefined && !first.broken && first.given.length === 0) {
    let matches = WITHOUT_OPTIONS.get(first.extension);
    if (matches === undefined) {
      matches = [matchOf(state, first)];
      WITHOUT_OPTIONS.set(first.extension, matches);
    }
    return matches;
  }
  return owners.map((owner) => matchOf(state, owner));
}

function matchOf(state: State, owner: MatchOwner): Match {
  const known = owner.broken ? undefined : owner.extension?.parse(owner.given);
  return known ?? { kind: 'unknown', name: owner.name, words: wordsOf(state, owner) };
}

function finishTarget(state: State, owner: TargetOwner): Target {
  const { name, extension } = owner;
  if (extension !== undefined && !owner.broken) {
    const known = extension.parse(owner.given);
    if (known !== undefined) return known;
  }
  if (owner.broken || extension !== undefined) return { kind: 'unknown', name, words: wordsOf(state, owner) };
  if (state.goto) return { kind: 'jump', chain: name, goto: true };
  if (isVerdict(name)) return { kind: name };
  if (name === lastJump.chain) return lastJump;
  if (foreignTargets.has(name)) return { kind: 'unknown', name, words: [] };
  lastJump = { kind: 'jump', chain: name, goto: false };
  return lastJump;
}

/** The chains of all endpoints jump to the same one. */
let lastJump: JumpTarget = { kind: 'jump', chain: '', goto: false };
