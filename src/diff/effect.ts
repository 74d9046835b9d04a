import ipaddr from 'ipaddr.js';
import type { AddressMatch, Chain, Match, Rule } from '../netfilter/index.ts';

/**
 * The last layer of the comparison: whether rules that differ do anything else to any packet. What may differ about
 * packets is split on demand: one stands for all until a rule asks something that divides them.
 *
 * Where that takes too long, or rules look at what is not followed here (marks), the answer is that they differ.
 */

/** Rules that packets come to, and the chains that these lead to. */
export interface Entry {
  readonly rules: readonly Rule[];
  readonly chains: ReadonlyMap<string, Chain>;
}

/** In rules looked at: some tenths of a second. */
const MOST_STEPS = 300_000;

export function differsForPackets(
  expected: Entry,
  actual: Entry,
  isFollowed: (chain: string) => boolean,
): boolean {
  const questions = new Questions();
  const queue: Packet[] = [new Map()];
  let steps = 0;
  for (let packet = queue.pop(); packet !== undefined; packet = queue.pop()) {
    const left = new Walk(expected, packet, questions, isFollowed);
    const right = new Walk(actual, packet, questions, isFollowed);
    try {
      if (!sameChances(left.outcomes(), right.outcomes())) return true;
    } catch (thrown) {
      if (thrown === CANNOT_TELL) return true;
      if (!(thrown instanceof Split)) throw thrown;
      queue.push(...thrown.packets(packet));
    }
    steps += left.steps + right.steps;
    if (steps > MOST_STEPS) return true;
  }
  return false;
}

function sameChances(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): boolean {
  for (const key of new Set([...a.keys(), ...b.keys()])) {
    if (Math.abs((a.get(key) ?? 0) - (b.get(key) ?? 0)) > 1e-7) return false;
  }
  return true;
}

/** By what is asked: the values that are still possible, as ranges, or the answer to a question of yes or no. */
type Packet = ReadonlyMap<string, readonly bigint[]>;

const CANNOT_TELL = new Error('the rules look at what is not followed here');

class Split {
  readonly #subject: string;
  readonly #parts: readonly (readonly bigint[])[];
  constructor(subject: string, parts: readonly (readonly bigint[])[]) {
    this.#subject = subject;
    this.#parts = parts;
  }
  packets(packet: Packet): Packet[] {
    return this.#parts.map((part) => new Map(packet).set(this.#subject, part));
  }
}

/** Numbers that stand for words: protocols. */
class Questions {
  readonly #numbers = new Map<string, bigint>();
  numberOf(word: string): bigint {
    const known = this.#numbers.get(word);
    if (known !== undefined) return known;
    const next = BigInt(this.#numbers.size + 1);
    this.#numbers.set(word, next);
    return next;
  }
}

interface State {
  readonly masquerade: boolean;
  /** Lists that the source was put on, and chains that were visited. */
  readonly traces: readonly string[];
}

/** Where a packet goes on when it comes back out of a chain. */
interface Return {
  readonly rules: readonly Rule[];
  readonly index: number;
  readonly after: Return | undefined;
}

/** The way of the packets that a match by chance does not take. */
interface Branch {
  readonly from: Return;
  readonly state: State;
  readonly chance: number;
}

class Walk {
  steps = 0;
  readonly #entry: Entry;
  readonly #packet: Packet;
  readonly #questions: Questions;
  readonly #isFollowed: (chain: string) => boolean;
  readonly #outcomes = new Map<string, number>();
  /** No calls within calls: in a dump, jumps may go round in a circle, or a Service have thousands of endpoints. */
  readonly #branches: Branch[] = [];

  constructor(entry: Entry, packet: Packet, questions: Questions, isFollowed: (chain: string) => boolean) {
    this.#entry = entry;
    this.#packet = packet;
    this.#questions = questions;
    this.#isFollowed = isFollowed;
  }

  /** What becomes of the packet, with its chances. */
  outcomes(): ReadonlyMap<string, number> {
    const start: Return = { rules: this.#entry.rules, index: 0, after: undefined };
    this.#branches.push({ from: start, state: { masquerade: false, traces: [] }, chance: 1 });
    for (let next = this.#branches.pop(); next !== undefined; next = this.#branches.pop())
      this.#follow(next.from, next.state, next.chance);
    return this.#outcomes;
  }

  #end(what: string, { masquerade, traces }: State, chance: number): void {
    const key = `${what} ${masquerade} ${traces.join(' ')}`;
    this.#outcomes.set(key, (this.#outcomes.get(key) ?? 0) + chance);
  }

  #follow(from: Return, entering: State, whole: number): void {
    let [place, state, chance]: [Return | undefined, State, number] = [from, entering, whole];
    while (place !== undefined && chance > 0) {
      const rule: Rule | undefined = place.rules[place.index];
      if (rule === undefined) {
        place = place.after;
        continue;
      }
      if (++this.steps > MOST_STEPS) throw CANNOT_TELL;
      const next: Return = { ...place, index: place.index + 1 };
      const { target } = rule;
      if (!this.#matchesHead(rule)) {
        place = next;
        continue;
      }
      let matches = true;
      for (const match of rule.matches) {
        if (match.kind === 'statistic') {
          const taken = chance * chanceOf(match);
          this.#branches.push({ from: next, state, chance: chance - taken });
          chance = taken;
        } else if (match.kind === 'recent' && match.action === 'set' && !match.negated) {
          state = traced(state, `set:${match.name}`);
        } else if (!this.#matches(match, state)) {
          matches = false;
          break;
        }
      }
      place = next;
      if (!matches || target === undefined) continue;
      if (target.kind === 'MARK') throw CANNOT_TELL;
      if (target.kind === 'RETURN') place = next.after;
      else if (target.kind !== 'jump') {
        this.#end(JSON.stringify(target.kind === 'DNAT' ? target.destinations : target), state, chance);
        return;
      } else {
        const back: Return | undefined = target.goto ? next.after : next;
        place = back;
        if (target.chain === 'KUBE-MARK-MASQ') state = { ...state, masquerade: true };
        else if (!this.#isFollowed(target.chain)) state = traced(state, target.chain);
        else {
          const rules = this.#entry.chains.get(target.chain)?.rules;
          if (rules === undefined) throw CANNOT_TELL;
          place = { rules, index: 0, after: back };
        }
      }
    }
    if (chance > 0) this.#end('goes on', state, chance);
  }

  #matchesHead(rule: Rule): boolean {
    const { source, destination, inInterface, outInterface, protocol, fragment, unparsed } = rule;
    if (unparsed !== undefined) throw CANNOT_TELL;
    return (
      (source === undefined || this.#inNetwork('source', source)) &&
      (destination === undefined || this.#inNetwork('destination', destination)) &&
      (protocol === undefined || this.#isProtocol(protocol.protocol) !== protocol.negated) &&
      (inInterface === undefined || this.#yes(`in ${inInterface.name}`) !== inInterface.negated) &&
      (outInterface === undefined || this.#yes(`out ${outInterface.name}`) !== outInterface.negated) &&
      (fragment === undefined || this.#yes('fragment') !== fragment.negated)
    );
  }

  #matches(match: Match, { traces }: State): boolean {
    switch (match.kind) {
      case 'comment':
      case 'nfacct':
        return true;
      case 'tcp':
      case 'udp':
      case 'sctp': {
        const { kind, destinationPort: port, ...others } = match;
        if (!this.#isProtocol(kind)) return false;
        if (port !== undefined && this.#within('port', BigInt(port.from), BigInt(port.to)) === port.negated)
          return false;
        return Object.keys(others).length === 0 || this.#yes(JSON.stringify({ kind, ...others }));
      }
      case 'addrtype': {
        const { source, destination, ...others } = match;
        return (
          (source === undefined || this.#yes(`source is ${source.types}`) !== source.negated) &&
          (destination === undefined ||
            this.#yes(`destination is ${destination.types}`) !== destination.negated) &&
          (Object.keys(others).length === 1 || this.#yes(JSON.stringify(others)))
        );
      }
      case 'mark':
        throw CANNOT_TELL;
      case 'recent': {
        const { negated, name, action, seconds = 0xffffffff, hitCount } = match;
        if (action !== 'rcheck' || hitCount !== undefined) throw CANNOT_TELL;
        const known =
          traces.includes(`set:${name}`) || this.#within(`seconds on ${name}`, 0n, BigInt(seconds));
        return known !== negated;
      }
      default:
        return this.#yes(JSON.stringify(match));
    }
  }

  #isProtocol(name: string): boolean {
    if (name === 'all') return true;
    const number = this.#questions.numberOf(name);
    return this.#within('protocol', number, number);
  }

  #inNetwork(side: string, match: AddressMatch): boolean {
    const range = rangeOf(match);
    if (range === undefined) return this.#yes(`${side} ${match.address}/${match.prefix}`) !== match.negated;
    return this.#within(side, ...range) !== match.negated;
  }

  #yes(question: string): boolean {
    return this.#within(question, 1n, 1n);
  }

  /** Whether what is asked lies in a range; all values of 64 bits and more are possible at first. */
  #within(subject: string, from: bigint, to: bigint): boolean {
    const open = this.#packet.get(subject) ?? EVERYTHING;
    const inside: bigint[] = [];
    const outside: bigint[] = [];
    for (let i = 0; i + 1 < open.length; i += 2) {
      const [low = 0n, high = 0n] = [open[i], open[i + 1]];
      const [first, last] = [low > from ? low : from, high < to ? high : to];
      if (first > last) outside.push(low, high);
      else {
        inside.push(first, last);
        if (low < first) outside.push(low, first - 1n);
        if (last < high) outside.push(last + 1n, high);
      }
    }
    if (outside.length === 0) return true;
    if (inside.length === 0) return false;
    throw new Split(subject, [inside, outside]);
  }
}

const EVERYTHING: readonly bigint[] = [0n, (1n << 128n) - 1n];

function traced(state: State, trace: string): State {
  return state.traces.includes(trace) ? state : { ...state, traces: [...state.traces, trace].sort() };
}

function chanceOf(match: Extract<Match, { kind: 'statistic' }>): number {
  if (match.mode !== 'random') throw CANNOT_TELL;
  const chance = Math.round(match.probability * 2 ** 31) / 2 ** 31;
  return match.negated ? 1 - chance : chance;
}

function rangeOf({ address, prefix }: AddressMatch): [bigint, bigint] | undefined {
  if (!ipaddr.isValid(address) || (prefix !== undefined && !/^\d{1,3}$/.test(prefix))) return undefined;
  const bytes = ipaddr.parse(address).toByteArray();
  const host = BigInt(bytes.length * 8 - Number(prefix ?? bytes.length * 8));
  const value = BigInt(`0x${bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')}`);
  const first = (value >> host) << host;
  return [first, first + (1n << host) - 1n];
}
