/** Random changes to the rules of a node, of the kinds that hands, other programs and broken syncs make. */
import { createHash } from 'node:crypto';
import type { Match, Rule, Ruleset } from '../../../src/netfilter/index.ts';
import type { Random } from './random.ts';

/** Table → chain → rules; copied where it is changed. */
type Tables = Map<string, Map<string, readonly Rule[]>>;

export interface Mutation {
  readonly kind: string;
  /** For people: which rule became what. */
  readonly what: string;
  readonly ruleset: Ruleset;
  /** Whose rules were touched; `undefined` stands for the node. At least one of them has to be named. */
  readonly owners: ReadonlySet<string | undefined>;
  /** Others that the touched rules lead to, or led to; a finding may name them as well. */
  readonly involved: ReadonlySet<string | undefined>;
  /** What the issue settles whatever packets see; undefined: the packets decide. */
  readonly settled?: 'difference' | 'none';
}

/** One place to change: a rule of a chain. */
interface Place {
  readonly table: string;
  readonly chain: string;
  readonly index: number;
  readonly rule: Rule;
}

const BUILT_IN = ['PREROUTING', 'INPUT', 'FORWARD', 'OUTPUT', 'POSTROUTING'];
const OF_SERVICE = /^KUBE-(?:SVC|SVL|EXT|FW)-(.{16})$/;

export class Mutator {
  readonly #original: Ruleset;
  readonly #random: Random;
  readonly #tables: Tables;
  /** Suffix of chains → `shop/web:http tcp` */
  readonly #ports = new Map<string, string>();
  readonly #endpointOwners = new Map<string, string>();

  constructor(original: Ruleset, random: Random) {
    this.#original = original;
    this.#random = random;
    this.#tables = new Map(
      original.tables.map(({ name, chains }) => [
        name,
        new Map(chains.map((each) => [each.name, each.rules])),
      ]),
    );
    for (const { rule } of this.#places(() => true)) {
      const name = nameIn(rule);
      const protocol = rule.protocol?.protocol;
      if (name !== undefined && protocol !== undefined)
        this.#ports.set(suffixOf(name, protocol), `${name} ${protocol}`);
    }
    for (const [chain, rules] of this.#tables.get('nat') ?? []) {
      const suffix = OF_SERVICE.exec(chain)?.[1];
      for (const { target } of suffix === undefined ? [] : rules) {
        if (target?.kind === 'jump' && target.chain.startsWith('KUBE-SEP-') && suffix !== undefined)
          this.#endpointOwners.set(target.chain, suffix);
      }
    }
  }

  /** What findings call a service port: its name, with the protocol where two share it. */
  label(suffix: string): string {
    const [name = suffix, protocol = ''] = (this.#ports.get(suffix) ?? '').split(' ');
    const shared = [...this.#ports.values()].filter((each) => each.startsWith(`${name} `)).length > 1;
    return shared ? `${name}/${protocol}` : name;
  }

  next(): Mutation | undefined {
    const mutate = this.#random.pick(this.#mutations);
    return mutate?.call(this);
  }

  readonly #mutations: readonly ((this: Mutator) => Mutation | undefined)[] = [
    () => this.#onRule('delete a rule', (rules, { index }) => rules.toSpliced(index, 1)),
    () => this.#onRule('duplicate a rule', (rules, { index, rule }) => rules.toSpliced(index, 0, rule)),
    () =>
      this.#onRule('duplicate a rule elsewhere', (rules, { rule }) =>
        rules.toSpliced(this.#random.below(rules.length + 1), 0, rule),
      ),
    () =>
      this.#onRule('swap two rules', (rules, { index, rule }) => {
        const other = this.#random.below(rules.length);
        const there = rules[other];
        return there === undefined || other === index
          ? undefined
          : rules.with(index, there).with(other, rule);
      }),
    () =>
      this.#onRule('shuffle a chain', (rules) =>
        rules.length < 2 ? undefined : this.#random.shuffle(rules),
      ),
    () => this.#rewrite('retarget a jump', (rule, { table }) => this.#retarget(rule, table)),
    () =>
      this.#rewriteMatch('re-weigh', (match) =>
        match.kind === 'statistic' && match.mode === 'random'
          ? { ...match, probability: (this.#random.below(1000) + 0.5) / 1000 }
          : undefined,
      ),
    () =>
      this.#rewrite('send elsewhere', (rule) => {
        if (rule.target?.kind !== 'DNAT') return undefined;
        const [destination = ''] = rule.target.destinations;
        const changed =
          this.#random.below(2) === 0
            ? destination.replace(/\d$/, (d) => `${(Number(d) + 1) % 10}`)
            : destination.replace(/[0-9a-f](?=\]?:\d+$)/, (d) => `${(Number.parseInt(d, 16) + 1) % 10}`);
        return { ...rule, target: { ...rule.target, destinations: [changed] } };
      }),
    () =>
      this.#rewriteMatch('change affinity', (match) =>
        match.kind === 'recent' && match.seconds !== undefined
          ? { ...match, seconds: match.seconds + 1 + this.#random.below(100) }
          : undefined,
      ),
    () => this.#rewrite('drop a match', (rule) => this.#dropMatch(rule)),
    () => this.#rewrite('negate a match', (rule) => this.#negate(rule)),
    () =>
      this.#rewriteMatch('change a mark', (match) =>
        match.kind === 'mark' ? { ...match, value: 0x8000, mask: 0x8000 } : undefined,
      ),
    () =>
      this.#rewrite('change what is marked', (rule) => {
        if (rule.target?.kind !== 'MARK') return undefined;
        const value = this.#random.pick([0x8000, 0xc000, 0]) ?? 0;
        return { ...rule, target: { ...rule.target, value, mask: this.#random.pick([value, 0]) ?? 0 } };
      }),
    () =>
      this.#rewrite('change a source', (rule) => {
        if (rule.source === undefined) return undefined;
        const v4 = this.#original.family === 'ipv4';
        const source = this.#random.pick(
          v4
            ? [
                { negated: rule.source.negated, address: '203.0.113.128', prefix: '25' },
                { negated: rule.source.negated, address: '10.0.0.0', prefix: '8' },
                { ...rule.source, negated: rule.source.negated, prefix: '31' },
              ]
            : [
                { negated: rule.source.negated, address: '2001:db8:77::', prefix: '48' },
                { ...rule.source, prefix: '127' },
              ],
        );
        return source && { ...rule, source };
      }),
    () =>
      this.#rewriteMatch('change a port', (match) =>
        (match.kind === 'tcp' || match.kind === 'udp') && match.destinationPort !== undefined
          ? {
              ...match,
              destinationPort: {
                ...match.destinationPort,
                to: match.destinationPort.to + this.#random.below(2),
                from: match.destinationPort.from + this.#random.below(2) - 1,
              },
            }
          : undefined,
      ),
    () =>
      this.#rewrite('change a verdict', (rule) => {
        const kinds = ['ACCEPT', 'DROP', 'RETURN'] as const;
        if (rule.target === undefined || !['ACCEPT', 'DROP', 'RETURN', 'REJECT'].includes(rule.target.kind))
          return undefined;
        return { ...rule, target: { kind: this.#random.pick(kinds) ?? 'DROP' } };
      }),
    () =>
      this.#rewriteMatch('change a comment', (match) =>
        match.kind === 'comment' ? { ...match, text: 'hello' } : undefined,
      ),
    () =>
      this.#rewrite('go instead of jump', (rule) =>
        rule.target?.kind === 'jump' ? { ...rule, target: { ...rule.target, goto: true } } : undefined,
      ),
    () => this.#move(),
    () => this.#deleteChain(),
    () => this.#foreignRule(),
    () => this.#foreignChain(),
    () => this.#unreferenced(),
    () => this.#jumps('delete a jump', 'difference', (rules, index) => rules.toSpliced(index, 1)),
    () =>
      this.#jumps('duplicate a jump', 'none', (rules, index) => {
        const rule = rules[index];
        return rule && rules.toSpliced(this.#random.below(rules.length + 1), 0, rule);
      }),
    () => this.#jumps('reorder jumps', 'none', (rules) => this.#random.shuffle(rules)),
  ];

  *#places(inChain: (chain: string) => boolean): Generator<Place> {
    for (const [table, chains] of this.#tables) {
      for (const [chain, rules] of chains) {
        if (inChain(chain)) for (const [index, rule] of rules.entries()) yield { table, chain, index, rule };
      }
    }
  }

  #somePlace(suits: (place: Place) => boolean = () => true): Place | undefined {
    const places = [...this.#places((chain) => chain.startsWith('KUBE-'))].filter(suits);
    return this.#random.pick(places);
  }

  #onRule(
    kind: string,
    change: (rules: readonly Rule[], place: Place) => readonly Rule[] | undefined,
  ): Mutation | undefined {
    const place = this.#somePlace();
    const { table, chain } = place ?? { table: '', chain: '' };
    const rules = this.#tables.get(table)?.get(chain);
    const changed = place && rules && change(rules, place);
    if (place === undefined || changed === undefined) return undefined;
    // Of rules that changed places either may be the one that suffers.
    const touched = kind.startsWith('s') ? (rules ?? []) : [place.rule];
    return this.#mutation(kind, place, touched, [[table, chain, changed]]);
  }

  #rewrite(kind: string, change: (rule: Rule, place: Place) => Rule | undefined): Mutation | undefined {
    const place = this.#somePlace((each) => change(each.rule, each) !== undefined);
    const rules = this.#tables.get(place?.table ?? '')?.get(place?.chain ?? '');
    const changed = place && change(place.rule, place);
    if (place === undefined || rules === undefined || changed === undefined) return undefined;
    const { table, chain, index } = place;
    const what = `${JSON.stringify(place.rule)} → ${JSON.stringify(changed)}`;
    const mutation = this.#mutation(
      kind,
      place,
      [place.rule, changed],
      [[table, chain, rules.with(index, changed)]],
    );
    return mutation && { ...mutation, what: `${table}/${chain} ${what}` };
  }

  #rewriteMatch(kind: string, change: (match: Match) => Match | undefined): Mutation | undefined {
    return this.#rewrite(kind, (rule) => {
      const index = rule.matches.findIndex((match) => change(match) !== undefined);
      const match = rule.matches[index];
      const changed = match && change(match);
      return changed && { ...rule, matches: rule.matches.with(index, changed) };
    });
  }

  #retarget(rule: Rule, table: string): Rule | undefined {
    if (rule.target?.kind !== 'jump') return undefined;
    const chains = [...(this.#tables.get(table)?.keys() ?? [])].filter((chain) => chain.startsWith('KUBE-'));
    const chain = this.#random.pick(chains);
    if (chain === undefined || chain === rule.target.chain) return undefined;
    return { ...rule, target: { ...rule.target, chain } };
  }

  #dropMatch(rule: Rule): Rule | undefined {
    const { source, destination, inInterface, protocol, ...rest } = rule;
    const fields = { source, destination, inInterface } as const;
    const field = this.#random.pick(
      (['source', 'destination', 'inInterface'] as const).filter((each) => rule[each] !== undefined),
    );
    const droppable = rule.matches.filter(({ kind }) => kind !== 'comment' && kind !== 'nfacct');
    const match = this.#random.pick(droppable);
    if (match !== undefined && (field === undefined || this.#random.below(2) === 0))
      return { ...rule, matches: rule.matches.filter((each) => each !== match) };
    if (field === undefined) return undefined;
    const { [field]: _, ...kept } = fields;
    return { ...withoutUndefined({ ...kept, protocol }), ...rest } as Rule;
  }

  #negate(rule: Rule): Rule | undefined {
    const options: Rule[] = [];
    for (const field of ['source', 'destination', 'inInterface'] as const) {
      const match = rule[field];
      if (match !== undefined) options.push({ ...rule, [field]: { ...match, negated: !match.negated } });
    }
    for (const [index, match] of rule.matches.entries()) {
      if (match.kind === 'mark' || match.kind === 'conntrack' || match.kind === 'statistic')
        options.push({ ...rule, matches: rule.matches.with(index, { ...match, negated: !match.negated }) });
      else if (match.kind === 'addrtype' && match.destination !== undefined) {
        const destination = { ...match.destination, negated: !match.destination.negated };
        options.push({ ...rule, matches: rule.matches.with(index, { ...match, destination }) });
      } else if ((match.kind === 'tcp' || match.kind === 'udp') && match.destinationPort !== undefined) {
        const destinationPort = { ...match.destinationPort, negated: true };
        options.push({ ...rule, matches: rule.matches.with(index, { ...match, destinationPort }) });
      }
    }
    return this.#random.pick(options);
  }

  #move(): Mutation | undefined {
    const place = this.#somePlace();
    if (place === undefined) return undefined;
    const { table, index, rule } = place;
    const chains = this.#tables.get(table);
    const to = this.#random.pick([...(chains?.keys() ?? [])].filter((chain) => chain.startsWith('KUBE-')));
    const [from, into] = [chains?.get(place.chain), chains?.get(to ?? '')];
    if (to === undefined || to === place.chain || from === undefined || into === undefined) return undefined;
    const mutation = this.#mutation(
      'move a rule',
      place,
      [rule],
      [
        [table, place.chain, from.toSpliced(index, 1)],
        [table, to, into.toSpliced(this.#random.below(into.length + 1), 0, rule)],
      ],
    );
    if (mutation === undefined) return undefined;
    // Where the rule is missed, and where it is too many: either may be what packets see.
    const owners = new Set([...mutation.owners, this.#ownerOfChain(to)]);
    return { ...mutation, what: `${mutation.what} to ${to}`, owners };
  }

  #deleteChain(): Mutation | undefined {
    const table = this.#random.pick(['nat', 'filter']) ?? 'nat';
    const chains = this.#tables.get(table);
    const name = this.#random.pick(
      [...(chains?.keys() ?? [])].filter((chain) => /^KUBE-(?!PROXY-CANARY|MARK)/.test(chain)),
    );
    if (chains === undefined || name === undefined) return undefined;
    const changes: [string, string, readonly Rule[] | undefined][] = [[table, name, undefined]];
    const touched: Rule[] = [...(chains.get(name) ?? [])];
    const owners = new Set([this.#ownerOfChain(name)]);
    for (const [chain, rules] of chains) {
      const kept = rules.filter(({ target }) => target?.kind !== 'jump' || target.chain !== name);
      if (kept.length === rules.length || chain === name) continue;
      changes.push([table, chain, kept]);
      touched.push(...rules.filter((rule) => !kept.includes(rule)));
    }
    const mutation = this.#mutation('delete a chain', undefined, touched, changes);
    if (mutation === undefined) return undefined;
    const isFixed = this.#ownerOfChain(name) === undefined;
    const settled = isFixed && (table === 'nat' ? true : undefined);
    return {
      ...mutation,
      what: `${table}/${name}`,
      owners: isFixed ? new Set([...owners, ...mutation.owners]) : owners,
      // A fixed chain that is gone with all that lead to it is what another version's node looks like.
      ...(settled ? { settled: 'difference' } : isFixed ? { settled: 'none' } : {}),
    };
  }

  #foreignRule(): Mutation | undefined {
    const place = this.#somePlace();
    if (place === undefined) return undefined;
    const { table, chain } = place;
    const rules = this.#tables.get(table)?.get(chain) ?? [];
    const address = this.#original.family === 'ipv4' ? '192.0.2.77' : '2001:db8::77';
    const targets: readonly Rule['target'][] = [
      { kind: 'ACCEPT' },
      { kind: 'RETURN' },
      undefined,
      { kind: 'MARK', value: 0x10, mask: 0x10 },
    ];
    const target = this.#random.pick(targets);
    const rule: Rule = {
      ...(this.#random.below(2) === 0 ? { source: { negated: false, address } } : {}),
      matches: [],
      ...(target === undefined ? {} : { target }),
    };
    const changed = rules.toSpliced(this.#random.below(rules.length + 1), 0, rule);
    const mutation = this.#mutation(
      'a rule of others in a chain',
      { ...place, rule },
      [rule],
      [[table, chain, changed]],
    );
    if (mutation === undefined) return undefined;
    // In a chain that all share, the rule is nobody's: it may be told to the node or to whom it keeps away.
    const shared = this.#ownerOfChain(chain) === undefined;
    return shared ? { ...mutation, involved: new Set([undefined, ...this.#ports.keys()]) } : mutation;
  }

  #foreignChain(): Mutation | undefined {
    const table = this.#random.pick(['nat', 'filter']) ?? 'nat';
    const from = this.#random.pick(['PREROUTING', 'INPUT', 'FORWARD', 'OUTPUT', 'POSTROUTING']) ?? '';
    const rules = this.#tables.get(table)?.get(from);
    if (rules === undefined) return undefined;
    const jump: Rule = { matches: [], target: { kind: 'jump', chain: 'DOCKER', goto: false } };
    const inside: Rule = {
      inInterface: { negated: false, name: 'docker0' },
      matches: [],
      target: { kind: 'RETURN' },
    };
    const mutation = this.#mutation(
      'a chain of others',
      undefined,
      [],
      [
        [table, 'DOCKER', [inside]],
        [table, from, rules.toSpliced(this.#random.below(rules.length + 1), 0, jump)],
      ],
    );
    return mutation && { ...mutation, settled: 'none', what: `${table}/${from}` };
  }

  #unreferenced(): Mutation | undefined {
    const rule: Rule = { matches: [], target: { kind: 'jump', chain: 'KUBE-MARK-MASQ', goto: false } };
    const mutation = this.#mutation(
      'a chain that nothing leads to',
      undefined,
      [],
      [['nat', 'KUBE-SVC-ABCDEFGHIJKLMNOP', [rule]]],
    );
    return mutation && { ...mutation, settled: 'none' };
  }

  #jumps(
    kind: string,
    settled: 'difference' | 'none',
    change: (rules: readonly Rule[], index: number) => readonly Rule[] | undefined,
  ): Mutation | undefined {
    const place = this.#random.pick([...this.#places((chain) => BUILT_IN.includes(chain))]);
    if (place === undefined) return undefined;
    const { table, chain, index } = place;
    const changed = change(this.#tables.get(table)?.get(chain) ?? [], index);
    const mutation = changed && this.#mutation(kind, place, [], [[table, chain, changed]]);
    return mutation && { ...mutation, owners: new Set([undefined]), settled };
  }

  #mutation(
    kind: string,
    place: Place | undefined,
    touched: readonly Rule[],
    changes: readonly (readonly [table: string, chain: string, rules: readonly Rule[] | undefined])[],
  ): Mutation | undefined {
    const tables: Tables = new Map(this.#tables);
    for (const [table, chain, rules] of changes) {
      const chains = new Map(tables.get(table));
      tables.set(table, chains);
      if (rules === undefined) chains.delete(chain);
      else chains.set(chain, rules);
    }
    if (!loads(tables)) return undefined;
    const owners = new Set<string | undefined>();
    const involved = new Set<string | undefined>();
    const ofChain = place && this.#ownerOfChain(place.chain);
    if (ofChain !== undefined) owners.add(ofChain);
    for (const rule of touched) {
      const ofRule = this.#ownerOfRule(rule);
      if (ofChain === undefined) owners.add(ofRule);
      involved.add(ofRule);
      if (rule.target?.kind === 'jump') involved.add(this.#ownerOfChain(rule.target.chain));
    }
    return {
      kind,
      what:
        place === undefined
          ? ''
          : `${place.table}/${place.chain} ${place.index}: ${JSON.stringify(place.rule)}`,
      ruleset: rulesetOf(this.#original, tables),
      owners,
      involved,
    };
  }

  #ownerOfChain(chain: string): string | undefined {
    return OF_SERVICE.exec(chain)?.[1] ?? this.#endpointOwners.get(chain);
  }

  #ownerOfRule(rule: Rule): string | undefined {
    const name = nameIn(rule);
    if (name === undefined) return undefined;
    const target = rule.target?.kind === 'jump' ? OF_SERVICE.exec(rule.target.chain)?.[1] : undefined;
    if (target !== undefined && this.#ports.get(target)?.startsWith(`${name} `)) return target;
    const protocol = rule.protocol?.protocol ?? 'tcp';
    const own = suffixOf(name, protocol);
    // A health check port is TCP whatever the service port is.
    return this.#ports.has(own) ? own : [...this.#ports].find(([, each]) => each.startsWith(`${name} `))?.[0];
  }
}

function nameIn({ matches }: Rule): string | undefined {
  for (const match of matches) {
    const name =
      match.kind === 'comment'
        ? /\b[a-z0-9.-]+\/[a-z0-9.-]+(?::[a-z0-9-]+)?/.exec(match.text)?.[0]
        : undefined;
    if (name !== undefined) return name;
  }
  return undefined;
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** The first 16 letters of the SHA-256 in base 32, as kube-proxy names its chains. */
function suffixOf(name: string, protocol: string): string {
  const hash = createHash('sha256')
    .update(name + protocol)
    .digest();
  let text = '';
  for (let i = 0; i < 16; i++) {
    const bit = i * 5;
    const window = ((hash[bit >> 3] ?? 0) << 8) | (hash[(bit >> 3) + 1] ?? 0);
    text += ALPHABET[(window >> (11 - (bit & 7))) & 31];
  }
  return text;
}

function withoutUndefined(rule: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(rule).filter(([, value]) => value !== undefined));
}

/** Whether a kernel would take the rules: no circles, every target in a chain that its hook allows. */
function loads(tables: Tables): boolean {
  for (const [table, chains] of tables) {
    for (const [chain, rules] of chains) {
      for (const rule of rules) {
        if (rule.target?.kind === 'jump' && !chains.has(rule.target.chain)) return false;
        if (
          rule.matches.some(
            (match) =>
              (match.kind === 'tcp' || match.kind === 'udp' || match.kind === 'sctp') &&
              rule.protocol?.protocol !== match.kind,
          )
        )
          return false;
      }
      if (BUILT_IN.includes(chain) && !allowed(table, chain, chain, chains, [])) return false;
      if (!allowed(table, '', chain, chains, [])) return false;
    }
  }
  return true;
}

function allowed(
  table: string,
  hook: string,
  chain: string,
  chains: ReadonlyMap<string, readonly Rule[]>,
  path: readonly string[],
): boolean {
  if (path.includes(chain)) return false;
  return (chains.get(chain) ?? []).every(({ target, inInterface, outInterface }) => {
    if (target?.kind === 'DNAT' && (table !== 'nat' || hook === 'POSTROUTING')) return false;
    if (target?.kind === 'MASQUERADE' && (table !== 'nat' || (hook !== '' && hook !== 'POSTROUTING')))
      return false;
    if (inInterface !== undefined && (hook === 'OUTPUT' || hook === 'POSTROUTING') && path.length === 0)
      return false;
    if (outInterface !== undefined && (hook === 'PREROUTING' || hook === 'INPUT') && path.length === 0)
      return false;
    return target?.kind !== 'jump' || allowed(table, hook, target.chain, chains, [...path, chain]);
  });
}

function rulesetOf(original: Ruleset, tables: Tables): Ruleset {
  return {
    family: original.family,
    tables: original.tables.map((table) => ({
      ...table,
      chains: [...(tables.get(table.name) ?? [])].map(([name, rules]) => ({
        name,
        policy: table.chains.find((chain) => chain.name === name)?.policy,
        rules,
      })),
    })),
  };
}
