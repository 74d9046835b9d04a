/** Random rules in the form in which the parser gives them back, so that equality can be asked for. */
import fc from 'fast-check';
import type { Family, Match, Rule, Ruleset, Target } from '../../../src/netfilter/index.ts';
import { keptWord } from '../../../src/netfilter/words.ts';

type Spelling = 'save' | 'restore';

/** What must survive: quotes, backslashes, blanks, options, line feeds; restore input takes no escapes. */
const saveTexts = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('"', '\\', "'", ' ', '-', 'j', '#', '!', 'A', '\t') }),
  fc.constantFrom('-j DROP', 'a\nb', 'x\n-A INPUT -j ACCEPT\n', '*nat', 'COMMIT', ':A - [0:0]'),
);
const restoreTexts = fc
  .oneof(fc.string(), fc.constantFrom('-j DROP', 'shop/web:http', 'a b', '!', '#'))
  .filter((text) => !/["'\\]/.test(text));

const NAME = /^[^-!#\s"\\][^\s"\\]*$/;
const names = fc.oneof(
  fc.constantFrom('KUBE-SERVICES', 'KUBE-SEP-BSJG54EXAHTH4INO', 'DOS~Pro-t_ect', 'eth0', 'veth+'),
  fc.string({ minLength: 1, maxLength: 15 }).filter((name) => NAME.test(name)),
);
const chains = names.filter((name) => name !== '+');
const negated = fc.boolean();
const port = fc.integer({ min: 0, max: 65535 });
const word32 = fc.integer({ min: 0, max: 0xffffffff });

const portMatch = fc
  .record({ negated, ports: fc.tuple(port, port) })
  .map(({ negated: isNegated, ports: [a, b] }) => ({
    negated: isNegated,
    from: Math.min(a, b),
    to: Math.max(a, b),
  }))
  .filter(({ from, to }) => from !== 0 || to !== 65535);

function subset(values: readonly string[]) {
  return fc.subarray([...values], { minLength: 1 });
}

function optional<T>(record: { [K in keyof T]: fc.Arbitrary<T[K]> }) {
  return fc.record(record, { requiredKeys: [] });
}

/** Given the bytes of an address, its canonical text; host bits are kept clear. */
function networks(family: Family) {
  return family === 'ipv4'
    ? fc.constantFrom(
        { address: '10.0.0.1', prefix: '32' },
        { address: '10.244.0.0', prefix: '16' },
        { address: '10.0.2.0', prefix: '255.0.255.0' },
        { address: '255.255.255.255', prefix: '32' },
      )
    : fc.constantFrom(
        { address: 'fd00::1', prefix: '128' },
        { address: 'fd00:10:244::', prefix: '56' },
        { address: '::ffff:1.2.3.4', prefix: '128' },
        { address: 'fd00:0:2::', prefix: 'ffff:0:ffff::' },
      );
}

function addressMatches(family: Family) {
  return fc
    .record({ negated, network: networks(family) })
    .map(({ negated: isNegated, network }) => ({ negated: isNegated, ...network }));
}

const STATES = ['INVALID', 'NEW', 'RELATED', 'ESTABLISHED', 'UNTRACKED', 'SNAT', 'DNAT'];
const TYPES = ['UNSPEC', 'UNICAST', 'LOCAL', 'BROADCAST', 'ANYCAST', 'MULTICAST', 'BLACKHOLE'];

function unknownWords(texts: fc.Arbitrary<string>) {
  const value = fc.oneof(
    texts.map((text) => keptWord(text, true)),
    fc.constantFrom('5/sec', '10.0.0.1-10.0.0.9', '0x1/0x2'),
  );
  const option = fc.constantFrom('--limit', '--log-prefix', '--state', '-x');
  return fc
    .array(fc.tuple(fc.boolean(), option, fc.array(value, { maxLength: 2 })), { maxLength: 3 })
    .map((options) =>
      options.flatMap(([isNegated, name, values]) => [...(isNegated ? ['!'] : []), name, ...values]),
    );
}

function matches(spelling: Spelling): fc.Arbitrary<Match> {
  const texts = spelling === 'save' ? saveTexts : restoreTexts;
  const strings = spelling === 'save' ? texts : names;
  const types = fc.record({ negated, types: subset(TYPES) });
  const ports = { sourcePort: portMatch, destinationPort: portMatch };
  const withKind = <K extends string>(kind: K) => ({ kind: fc.constant(kind) });
  const probability =
    spelling === 'save'
      ? fc.integer({ min: 0, max: 2 ** 31 }).map((n) => Number((n / 2 ** 31).toFixed(11)))
      : fc.integer({ min: 0, max: 10 ** 10 }).map((n) => n / 10 ** 10);
  return fc.oneof(
    fc.record({ ...withKind('comment'), text: texts }),
    fc.record({ ...withKind('mark'), negated, value: word32, mask: word32 }),
    fc.record({ ...withKind('conntrack'), negated, states: subset(STATES) }),
    fc
      .tuple(optional({ source: types, destination: types }), optional({ limitIfaceIn: fc.constant(true) }))
      .map(([sides, limit]) => ({ kind: 'addrtype' as const, ...sides, ...limit })),
    optional(ports).map((given) => ({ kind: 'tcp' as const, ...given })),
    optional(ports).map((given) => ({ kind: 'udp' as const, ...given })),
    optional(ports).map((given) => ({ kind: 'sctp' as const, ...given })),
    fc.record({ ...withKind('nfacct'), name: strings }),
    fc.record({
      ...withKind('set'),
      negated,
      name: strings,
      directions: fc.array(fc.constantFrom('src', 'dst'), { minLength: 1, maxLength: 3 }),
    }),
    fc.record({ ...withKind('statistic'), mode: fc.constant('random' as const), negated, probability }),
    fc.record({
      ...withKind('statistic'),
      mode: fc.constant('nth' as const),
      negated,
      every: word32,
      packet: word32,
    }),
    fc
      .tuple(
        optional({ seconds: word32, reap: fc.constant(true), hitCount: word32, ttl: fc.constant(true) }),
        fc.record({
          negated,
          action: fc.constantFrom('set' as const, 'rcheck' as const, 'update' as const, 'remove' as const),
          name: strings,
          side: fc.constantFrom('source' as const, 'destination' as const),
        }),
      )
      .map(([limits, rest]) => ({ kind: 'recent' as const, ...rest, ...limits })),
    fc.record({
      ...withKind('multiport'),
      side: fc.constantFrom('source' as const, 'destination' as const, 'either' as const),
      negated,
      ports: fc.array(fc.oneof(port.map(String), fc.constant('1:5')), { minLength: 1, maxLength: 4 }),
    }),
    optional({
      isIn: fc.record({ negated }),
      isBridged: fc.record({ negated }),
      in: fc.record({ negated, name: names }),
      out: fc.record({ negated, name: names }),
    }).map((given) => ({ kind: 'physdev' as const, ...given })),
    optional({
      protocol: fc.record({
        negated,
        protocol: fc.constantFrom(...(spelling === 'save' ? ['6', '17'] : ['tcp', 'udp'])),
      }),
      address: fc.record({ negated, address: fc.constantFrom('10.0.0.1', 'fd00::1') }),
      port: fc.record({ negated, port }),
    }).map((given) => ({ kind: 'ipvs' as const, ...given })),
    fc.record({
      ...withKind('unknown'),
      name: fc.constantFrom('limit', 'state', 'foo'),
      words: unknownWords(texts),
    }),
  );
}

function targets(spelling: Spelling): fc.Arbitrary<Target> {
  const texts = spelling === 'save' ? saveTexts : restoreTexts;
  return fc.oneof(
    fc.record({
      kind: fc.constant('jump' as const),
      chain: chains.filter((name) => !/^[A-Z]+$/.test(name)),
      goto: fc.boolean(),
    }),
    fc.constantFrom({ kind: 'ACCEPT' as const }, { kind: 'DROP' as const }, { kind: 'RETURN' as const }),
    fc.record({ kind: fc.constant('MARK' as const), value: word32, mask: word32 }),
    fc.constantFrom({ kind: 'REJECT' as const }, { kind: 'REJECT' as const, with: 'tcp-reset' }),
    fc.record({
      kind: fc.constant('DNAT' as const),
      destinations: fc.constantFrom(['10.0.0.1:80'], ['[fd00::1]:80'], ['fd00::1'], [':80', '0.0.0.0:0']),
      random: fc.boolean(),
      persistent: fc.boolean(),
    }),
    fc.record({ kind: fc.constant('MASQUERADE' as const), random: fc.boolean(), randomFully: fc.boolean() }),
    fc.record({
      kind: fc.constant('unknown' as const),
      name: fc.constantFrom('LOG', 'SNAT'),
      words: unknownWords(texts),
    }),
  );
}

function rules(spelling: Spelling, family: Family): fc.Arbitrary<Rule> {
  const interfaceMatch = fc.record({ negated, name: names.filter((name) => name !== '+') });
  const protocol = fc.record({
    negated,
    protocol: fc.constantFrom('tcp', 'udp', 'sctp', 'ipv6-icmp', '200'),
  });
  const counters = fc.record({
    packets: fc.bigInt(0n, 2n ** 64n - 1n),
    bytes: fc.bigInt(0n, 2n ** 64n - 1n),
  });
  return fc
    .tuple(
      optional({
        source: addressMatches(family),
        destination: addressMatches(family),
        inInterface: interfaceMatch,
        outInterface: interfaceMatch,
        protocol,
        fragment: fc.record({ negated }),
        target: targets(spelling),
        ...(spelling === 'save' && { counters }),
      }),
      fc.array(matches(spelling), { maxLength: 4 }),
    )
    .map(([given, list]) => ({ ...given, matches: list }) as Rule);
}

/** Rulesets of one table with several chains; the first is built in. */
export function rulesets(spelling: Spelling): fc.Arbitrary<Ruleset> {
  return fc.constantFrom<Family>('ipv4', 'ipv6').chain((family) =>
    fc
      .uniqueArray(fc.tuple(chains, fc.array(rules(spelling, family), { maxLength: 4 })), {
        minLength: 1,
        maxLength: 4,
        selector: ([name]) => name,
      })
      .map((list) => ({
        family,
        tables: [
          {
            name: 'nat',
            chains: list.map(([name, own], i) => ({
              name,
              policy: spelling === 'save' && i === 0 ? 'ACCEPT' : undefined,
              rules: own,
            })),
          },
        ],
      })),
  );
}
