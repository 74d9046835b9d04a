/**
 * An oracle for the comparison: runs every packet that two rulesets can tell apart through both, and says whether
 * one of them fares differently. It shares no code with src/diff, and knows no chain by name.
 *
 * Packets are not listed but split on demand: one stands for all until a rule asks something that divides them.
 * Each hook is entered with any packet, also with some that other hooks would not let come so far.
 */
import ipaddr from 'ipaddr.js';
import type { AddressMatch, Match, Rule, Ruleset, Target } from '../../../src/netfilter/index.ts';

/** What is open about a packet: for each question the answers that are still possible, as bits of a number. */
type Packet = ReadonlyMap<string, bigint>;

type Value = string | number | bigint | boolean;

/** Thrown where a rule divides the packets that one packet stands for. */
class Split {
  readonly variable: string;
  readonly yes: bigint;
  readonly no: bigint;
  constructor(variable: string, yes: bigint, no: bigint) {
    this.variable = variable;
    this.yes = yes;
    this.no = no;
  }
}

interface Hook {
  readonly table: string;
  readonly chain: string;
  /** What is settled there: the first packet of a connection alone comes to nat. */
  readonly fixed: Readonly<Record<string, Value>>;
}

const HOOKS: readonly Hook[] = [
  { table: 'nat', chain: 'PREROUTING', fixed: { state: 'NEW', dnat: false, out: '' } },
  { table: 'nat', chain: 'OUTPUT', fixed: { state: 'NEW', dnat: false, in: '' } },
  { table: 'nat', chain: 'POSTROUTING', fixed: { state: 'NEW', in: '' } },
  { table: 'filter', chain: 'INPUT', fixed: { out: '' } },
  { table: 'filter', chain: 'FORWARD', fixed: {} },
  { table: 'filter', chain: 'OUTPUT', fixed: { in: '' } },
];

/**
 * Chains that kube-proxy keeps whatever the Services are: what they do counts, and that packets come to them, even
 * while nothing is in them or nothing leads there. The next Service changes that.
 */
const LASTING =
  /^KUBE-(?:SERVICES|NODEPORTS|EXTERNAL-SERVICES|FORWARD|FIREWALL|PROXY-FIREWALL|POSTROUTING|MARK-MASQ)$/;

type Chains = ReadonlyMap<string, readonly Rule[]>;

/** How the first packet found fares differently; undefined where all fare the same. Chances count beyond 1e-6. */
export function differentBehaviour(a: Ruleset, b: Ruleset): string | undefined {
  const universe = universeOf([a, b]);
  const lasting: Hook[] = a.tables.flatMap(({ name, chains }) =>
    chains
      .filter((chain) => LASTING.test(chain.name))
      .map((chain) => ({ table: name, chain: chain.name, fixed: {} })),
  );
  for (const hook of [...HOOKS, ...lasting]) {
    const [left, right] = [chainsOf(a, hook.table), chainsOf(b, hook.table)];
    const open = new Map<string, bigint>();
    for (const [variable, values] of universe.values) {
      const fixed = hook.fixed[variable];
      const bits =
        fixed === undefined ? (1n << BigInt(values.length)) - 1n : 1n << BigInt(values.indexOf(fixed));
      open.set(variable, bits);
    }
    const found = explore(open, (packet) => {
      const [mine, other] = [
        new Run(left, packet, universe).outcomes(hook.chain),
        new Run(right, packet, universe).outcomes(hook.chain),
      ];
      for (const key of new Set([...mine.keys(), ...other.keys()])) {
        const chances = [mine.get(key) ?? 0, other.get(key) ?? 0] as const;
        if (Math.abs(chances[0] - chances[1]) > 1e-6)
          return `${hook.table}/${hook.chain} ${describe(packet, universe)}: ${key} ${chances.join(' and ')}`;
      }
      return undefined;
    });
    if (found !== undefined) return found;
  }
  return undefined;
}

function explore(first: Packet, look: (packet: Packet) => string | undefined): string | undefined {
  const queue = [first];
  for (let packet = queue.pop(); packet !== undefined; packet = queue.pop()) {
    try {
      const found = look(packet);
      if (found !== undefined) return found;
    } catch (split) {
      if (!(split instanceof Split)) throw split;
      queue.push(
        new Map(packet).set(split.variable, split.no),
        new Map(packet).set(split.variable, split.yes),
      );
    }
  }
  return undefined;
}

interface State {
  /** The mark is what it was without the bits of `cleared`, then flipped by `flipped`. */
  readonly cleared: number;
  readonly flipped: number;
  /** Lists that the packet's source was put on, on this way. */
  readonly remembered: readonly string[];
  /** Lasting chains that it came through. */
  readonly visited: readonly string[];
}

type Pool = Map<string, { readonly state: State; weight: number }>;

class Run {
  readonly #chains: Chains;
  readonly #packet: Packet;
  readonly #universe: Universe;
  readonly #outcomes = new Map<string, number>();

  constructor(chains: Chains, packet: Packet, universe: Universe) {
    this.#chains = chains;
    this.#packet = packet;
    this.#universe = universe;
  }

  /** What becomes of the packet, with its chances. */
  outcomes(chain: string): ReadonlyMap<string, number> {
    const start: Pool = new Map();
    put(start, { cleared: 0, flipped: 0, remembered: [], visited: [] }, 1);
    this.#end('goes on', this.#walk(chain, start, 0));
    return this.#outcomes;
  }

  #end(what: string, pool: Pool): void {
    for (const { state, weight } of pool.values()) {
      const marks = this.#universe.marks
        .filter((_, i) => ((this.#packet.get('mark') ?? 0n) >> BigInt(i)) & 1n)
        .map((mark) => ((mark & ~state.cleared) ^ state.flipped) >>> 0);
      const key = `${what}, mark ${marks.join('|')}, remembered ${state.remembered.join()}, visited ${state.visited.join()}`;
      this.#outcomes.set(key, (this.#outcomes.get(key) ?? 0) + weight);
    }
  }

  /** Those that come back out of the chain. */
  #walk(chain: string, entering: Pool, depth: number): Pool {
    if (depth > 20) throw new Error('rules go round in a circle');
    const back: Pool = new Map();
    let pool = entering;
    for (const rule of this.#chains.get(chain) ?? []) {
      if (pool.size === 0) break;
      const { matching, rest } = this.#match(rule, pool);
      pool = rest;
      if (matching.size === 0) continue;
      const { target } = rule;
      if (target === undefined) merge(pool, matching);
      else if (target.kind === 'MARK') {
        for (const { state, weight } of matching.values()) put(pool, marked(state, target), weight);
      } else if (target.kind === 'RETURN') merge(back, matching);
      else if (target.kind === 'jump') {
        const there = LASTING.test(target.chain) ? visiting(matching, target.chain) : matching;
        merge(target.goto ? back : pool, this.#walk(target.chain, there, depth + 1));
      } else this.#end(nameOf(target), matching);
    }
    merge(back, pool);
    return back;
  }

  #match(rule: Rule, entering: Pool): { readonly matching: Pool; readonly rest: Pool } {
    const matching: Pool = new Map();
    const rest: Pool = new Map();
    for (const { state, weight } of entering.values()) {
      if (!this.#matchesHead(rule)) {
        put(rest, state, weight);
        continue;
      }
      let [chance, now] = [weight, state];
      for (const match of rule.matches) {
        if (chance === 0) break;
        if (match.kind === 'statistic') {
          const taken = chance * chanceOf(match);
          put(rest, now, chance - taken);
          chance = taken;
        } else if (match.kind === 'recent' && match.action === 'set') {
          now = { ...now, remembered: [...new Set([...now.remembered, match.name])].sort() };
        } else if (!this.#matches(match, now)) {
          put(rest, now, chance);
          chance = 0;
        }
      }
      put(matching, now, chance);
    }
    return { matching, rest };
  }

  #matchesHead({ source, destination, inInterface, outInterface, protocol, unparsed }: Rule): boolean {
    if (unparsed !== undefined) return this.#ask(`unknown ${unparsed.join(' ')}`, 'yes', Boolean);
    return (
      (source === undefined || this.#inNetwork('source', source)) &&
      (destination === undefined || this.#inNetwork('destination', destination)) &&
      (inInterface === undefined || this.#is('in', inInterface.name) !== inInterface.negated) &&
      (outInterface === undefined || this.#is('out', outInterface.name) !== outInterface.negated) &&
      (protocol === undefined || this.#is('protocol', protocol.protocol) !== protocol.negated)
    );
  }

  #matches(match: Match, state: State): boolean {
    switch (match.kind) {
      case 'comment':
      case 'nfacct':
        return true;
      case 'tcp':
      case 'udp':
      case 'sctp': {
        const port = match.destinationPort;
        if (!this.#is('protocol', match.kind)) return false;
        if (port === undefined) return true;
        const inside = (value: Value) => Number(value) >= port.from && Number(value) <= port.to;
        return this.#ask('port', `${port.from}:${port.to}`, inside) !== port.negated;
      }
      case 'conntrack': {
        const { states, negated } = match;
        const inState = this.#ask('state', states.join(), (value) => states.includes(String(value)));
        const inStatus = states.includes('DNAT') && !inState && this.#ask('dnat', 'yes', Boolean);
        return (inState || inStatus) !== negated;
      }
      case 'mark': {
        const { value, mask, negated } = match;
        const { cleared, flipped } = state;
        const marked = (mark: Value) => (((Number(mark) & ~cleared) ^ flipped) & mask) >>> 0 === value;
        return this.#ask('mark', `${cleared} ${flipped} ${value} ${mask}`, marked) !== negated;
      }
      case 'addrtype': {
        const { source, destination } = match;
        return (
          (source === undefined || this.#ofType('source', source.types) !== source.negated) &&
          (destination === undefined ||
            this.#ofType('destination', destination.types) !== destination.negated)
        );
      }
      case 'recent': {
        const { name, seconds = Number.POSITIVE_INFINITY, negated } = match;
        const young = (age: Value) => Number(age) <= seconds;
        const known = state.remembered.includes(name) || this.#ask(`recent ${name}`, String(seconds), young);
        return known !== negated;
      }
      default:
        return this.#ask(`unknown ${JSON.stringify(match)}`, 'yes', Boolean);
    }
  }

  #ofType(side: string, types: readonly string[]): boolean {
    if (types.join() !== 'LOCAL') throw new Error(`this test does not know the type ${types.join()}`);
    return this.#ask(`${side} is local`, 'yes', Boolean);
  }

  #is(variable: string, value: string): boolean {
    return this.#ask(variable, value, (other) => other === value);
  }

  #inNetwork(side: string, { address, prefix, negated }: AddressMatch): boolean {
    const network = networkOf(address, prefix);
    return this.#ask(side, `${address}/${prefix}`, (value) => contains(network, value as bigint)) !== negated;
  }

  #ask(variable: string, question: string, answer: (value: Value) => boolean): boolean {
    const key = `${variable}\n${question}`;
    let yes = this.#universe.answers.get(key);
    if (yes === undefined) {
      yes = 0n;
      const values = this.#universe.values.get(variable) ?? [];
      for (const [i, value] of values.entries()) if (answer(value)) yes |= 1n << BigInt(i);
      this.#universe.answers.set(key, yes);
    }
    const open = this.#packet.get(variable);
    if (open === undefined) throw new Error(`this test does not know ${variable}`);
    const agreeing = open & yes;
    if (agreeing === 0n) return false;
    if (agreeing === open) return true;
    throw new Split(variable, agreeing, open & ~yes);
  }
}

function put(pool: Pool, state: State, weight: number): void {
  if (weight === 0) return;
  const key = `${state.cleared} ${state.flipped} ${state.remembered.join()} ${state.visited.join()}`;
  const before = pool.get(key);
  if (before === undefined) pool.set(key, { state, weight });
  else before.weight += weight;
}

/** What KUBE-MARK-MASQ does is seen by the mark. */
function visiting(pool: Pool, chain: string): Pool {
  if (chain === 'KUBE-MARK-MASQ') return pool;
  const visitors: Pool = new Map();
  for (const { state, weight } of pool.values())
    put(visitors, { ...state, visited: [...new Set([...state.visited, chain])].sort() }, weight);
  return visitors;
}

function merge(into: Pool, from: Pool): void {
  for (const { state, weight } of from.values()) put(into, state, weight);
}

function marked(state: State, { value, mask }: Extract<Target, { kind: 'MARK' }>): State {
  return {
    ...state,
    cleared: (state.cleared | mask) >>> 0,
    flipped: ((state.flipped & ~mask) ^ value) >>> 0,
  };
}

function chanceOf(match: Extract<Match, { kind: 'statistic' }>): number {
  if (match.mode !== 'random') return match.packet / match.every;
  const chance = Math.round(match.probability * 2 ** 31) / 2 ** 31;
  return match.negated ? 1 - chance : chance;
}

function nameOf(target: Target): string {
  return target.kind === 'DNAT' ? `DNAT ${target.destinations.join()}` : JSON.stringify(target);
}

interface Universe {
  readonly values: ReadonlyMap<string, readonly Value[]>;
  readonly marks: readonly number[];
  readonly answers: Map<string, bigint>;
}

type Network = readonly [base: bigint, length: number, bits: number];

/** For each question as many answers as the rules can tell apart, and one that no rule names. */
function universeOf(rulesets: readonly Ruleset[]): Universe {
  const networks = { source: new Map<string, Network>(), destination: new Map<string, Network>() };
  const interfaces = { in: new Set(['', 'other0']), out: new Set(['', 'other0']) };
  const protocols = new Set(['tcp', 'udp', 'sctp', 'icmp']);
  const ports = new Set([1]);
  const lists = new Map<string, Set<number>>();
  const unknown = new Set<string>();
  let bits = 0;
  for (const rule of rulesets.flatMap(({ tables }) =>
    tables.flatMap(({ chains }) => chains.flatMap((c) => c.rules)),
  )) {
    for (const side of ['source', 'destination'] as const) {
      const address = rule[side];
      if (address !== undefined)
        networks[side].set(
          `${address.address}/${address.prefix}`,
          networkOf(address.address, address.prefix),
        );
    }
    if (rule.inInterface !== undefined) interfaces.in.add(rule.inInterface.name);
    if (rule.outInterface !== undefined) interfaces.out.add(rule.outInterface.name);
    if (rule.protocol !== undefined) protocols.add(rule.protocol.protocol);
    if (rule.unparsed !== undefined) unknown.add(rule.unparsed.join(' '));
    if (rule.target?.kind === 'MARK') bits |= rule.target.value;
    for (const match of rule.matches) {
      if (match.kind === 'mark') bits |= match.value & match.mask;
      else if (match.kind === 'recent') {
        const ages = lists.get(match.name) ?? new Set();
        lists.set(match.name, ages);
        if (match.seconds !== undefined) ages.add(match.seconds);
      } else if (match.kind === 'tcp' || match.kind === 'udp' || match.kind === 'sctp') {
        const port = match.destinationPort;
        if (port !== undefined)
          for (const each of [port.from - 1, port.from, port.to, port.to + 1]) ports.add(each);
      } else if (!['comment', 'nfacct', 'statistic', 'conntrack', 'addrtype'].includes(match.kind)) {
        unknown.add(JSON.stringify(match));
      }
    }
  }
  let marks = [0];
  for (let bit = 0; bit < 32; bit++) {
    if (((bits >>> bit) & 1) === 1) marks = marks.flatMap((mark) => [mark, (mark | (2 ** bit)) >>> 0]);
  }
  if (marks.length > 64) throw new Error('the rules use too many bits of the mark for this test');
  const yesNo = [false, true];
  const values = new Map<string, readonly Value[]>([
    ['source', addressesOf([...networks.source.values()])],
    ['destination', addressesOf([...networks.destination.values()])],
    ['in', [...interfaces.in]],
    ['out', [...interfaces.out]],
    ['protocol', [...protocols]],
    ['port', [...ports]],
    ['state', ['NEW', 'ESTABLISHED', 'RELATED', 'INVALID']],
    ['dnat', yesNo],
    ['mark', marks],
    ['source is local', yesNo],
    ['destination is local', yesNo],
    ...[...lists].map(([name, ages]): [string, Value[]] => [`recent ${name}`, agesOf(ages)]),
    ...[...unknown].map((text): [string, Value[]] => [`unknown ${text}`, yesNo]),
  ]);
  return { values, marks, answers: new Map() };
}

/** Seconds since the source was put on a list: never, and some between those that rules ask for. */
function agesOf(asked: ReadonlySet<number>): number[] {
  const sorted = [...asked].sort((a, b) => a - b);
  return [Number.NaN, ...sorted.map((age) => age - 0.5), (sorted.at(-1) ?? 0) + 0.5];
}

function networkOf(address: string, prefix: string | undefined): Network {
  const bytes = ipaddr.parse(address).toByteArray();
  const bits = bytes.length * 8;
  const length = prefix === undefined ? bits : Number(prefix);
  const value = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  const host = BigInt(bits - length);
  return [(value >> host) << host, length, bits];
}

function contains([base, length, bits]: Network, address: bigint): boolean {
  return address >> BigInt(bits - length) === base >> BigInt(bits - length);
}

/** One address of each network that is in none of the smaller ones, and one that is in no network at all. */
function addressesOf(networks: readonly Network[]): bigint[] {
  const found: bigint[] = [];
  const all: readonly Network[] = [...networks, [0n, 0, networks[0]?.[2] ?? 32]];
  for (const network of all) {
    const inner = networks.filter((other) => other[1] > network[1] && contains(network, other[0]));
    const end = 1n << BigInt(network[2] - network[1]);
    for (let i = 0n; i <= BigInt(inner.length) && i < end; i++) {
      // Spread over the network, so that a half of it that is a network of its own does not hide the rest.
      const address = network[0] + ((i * (end / BigInt(inner.length + 1) || 1n)) % end);
      if (inner.some((other) => contains(other, address))) continue;
      found.push(address);
      break;
    }
    const last = network[0] + end - 1n;
    if (!inner.some((other) => contains(other, last))) found.push(last);
  }
  return [...new Set(found)];
}

function chainsOf(ruleset: Ruleset, table: string): Chains {
  const chains = ruleset.tables.find(({ name }) => name === table)?.chains ?? [];
  return new Map(chains.map(({ name, rules }) => [name, rules]));
}

function describe(packet: Packet, universe: Universe): string {
  const said: string[] = [];
  for (const [variable, bits] of packet) {
    const values = universe.values.get(variable) ?? [];
    const open = values.filter((_, i) => (bits >> BigInt(i)) & 1n);
    if (open.length < values.length) {
      const text = (value: Value) => (typeof value === 'bigint' ? value.toString(16) : String(value));
      said.push(`${variable} ${open.length > 3 ? `any of ${open.length}` : open.map(text).join('|')}`);
    }
  }
  return said.join(', ');
}
