/** What is fuzzed: each reader and parser, with the laws that hold for it whatever comes in. */
import { gzipSync } from 'node:zlib';
import { compile } from '../../src/compile/index.ts';
import type { Diagnostic } from '../../src/diagnostics.ts';
import {
  clusterCollector,
  isReadKind,
  parseCIDR,
  withPodEndpoints,
  withServiceAddresses,
} from '../../src/kube/index.ts';
import { DEFAULT_LIMITS, parseYaml } from '../../src/load/index.ts';
import {
  applyRestore,
  isAddrBatch,
  parseAddrBatch,
  parseIpAddr,
  parseIpset,
  parseIptablesSave,
  parseIpvsadm,
  printIpsetRestore,
  printIpvsadmRestore,
  printRestore,
  type Ruleset,
  splitDumps,
} from '../../src/netfilter/index.ts';
import { tar } from '../load/tar-support.ts';
import { COMMANDS } from './commands.ts';
import type { FuzzTarget, Round } from './engine.ts';
import {
  check,
  filesIn,
  hasOnlyKnownOptions,
  readAll,
  saved,
  stableObjects,
  stableSave,
  text,
} from './laws.ts';
import {
  ADDRESS_PIECES,
  IPSET_PIECES,
  IPVSADM_PIECES,
  JSON_PIECES,
  RULE_PIECES,
  YAML_PIECES,
} from './pieces.ts';

const IPSET = `create A hash:ip,port family inet hashsize 1024 maxelem 65536
add A 10.96.0.1,tcp:443
add A 10.96.0.10,udp:53 comment "x y"
create B hash:net,iface family inet6 timeout 30
add B fd00::/64,eth0 timeout 3
create C bitmap:port range 0-65535
add C 30080
create D list:set size 8
add D A
`;
const IPSET_LIST = `Name: A
Type: hash:ip,port
Revision: 6
Header: family inet hashsize 1024 maxelem 65536 bucketsize 12 initval 0xd0575982
Size in memory: 360
References: 3
Number of entries: 2
Members:
10.96.0.1,tcp:443
10.96.0.10,udp:53
`;
const IPVSADM = `-A -t 10.96.0.1:443 -s rr
-a -t 10.96.0.1:443 -r 192.168.0.2:6443 -m -w 1
-A -u 10.96.0.10:53 -s wrr -p 10800 -M 255.255.255.0
-a -u 10.96.0.10:53 -r 10.244.1.10:53 -g -w 0 -x 5 -y 1
-A -t [fd00::1]:80 -s sh -b sh-port
-a -t [fd00::1]:80 -r [fd00::2]:8080 -m -w 1
-A -f 7 -s lc -6 -o
`;
const IPVSADM_LIST = `IP Virtual Server version 1.2.1 (size=4096)
Prot LocalAddress:Port Scheduler Flags
  -> RemoteAddress:Port           Forward Weight ActiveConn InActConn
TCP  10.96.0.1:443 rr
  -> 192.168.0.2:6443             Masq    1      0          0
UDP  10.96.0.10:53 wrr persistent 10800
  -> 10.244.1.10:53               Route   1      0          3
`;
const IP_ADDR = `1: lo: <LOOPBACK,UP> mtu 65536 qdisc noqueue state UNKNOWN group default qlen 1000
    inet 127.0.0.1/8 scope host lo
2: eth0@if3: <BROADCAST,MULTICAST,UP> mtu 1500
    inet 192.168.0.2/24 brd 192.168.0.255 scope global eth0
    inet6 fe80::1/64 scope link
`;
const LISTING = `Chain PREROUTING (policy ACCEPT 3 packets, 180 bytes)
 pkts bytes target     prot opt in     out     source               destination
   10   600 KUBE-SERVICES  all  --  *      *       0.0.0.0/0            0.0.0.0/0            /* kubernetes service portals */

Chain KUBE-SERVICES (2 references)
 pkts bytes target     prot opt in     out     source               destination
    0     0 KUBE-SVC-NPX46M4PTMTKRN6Y  tcp  --  *      *       0.0.0.0/0            10.96.0.1            /* default/kubernetes:https cluster IP */ tcp dpt:443
`;
const DASH_S = `-P PREROUTING ACCEPT
-N KUBE-SERVICES
-A PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-A KUBE-SERVICES -d 10.96.0.1/32 -p tcp -m comment --comment "default/kubernetes:https cluster IP" -m tcp --dport 443 -j KUBE-SVC-NPX46M4PTMTKRN6Y
`;

const manifests = filesIn('fixtures', '.yaml');
const saves = filesIn('snapshots', '.save').concat(filesIn('snapshots', '.v4'), filesIn('snapshots', '.v6'));
const asSeeds = (...texts: string[]): Buffer[] => texts.map((each) => Buffer.from(each));

/** All of kp-compile behind the reading: whatever the objects say, the rules are rules. */
async function compileAll(input: Buffer): Promise<boolean> {
  let problems = 0;
  const count = ({ severity }: Diagnostic): void => {
    if (severity === 'error') problems++;
  };
  const collector = clusterCollector(count, (each) => parseYaml(each, DEFAULT_LIMITS)[0], {
    lastWins: true,
  });
  const { objects, failed } = await readAll('fuzz.yaml', input);
  for (const object of objects) if (isReadKind(object.apiVersion, object.kind)) collector.add(object);
  const cidrs = (...texts: string[]) => texts.flatMap((each) => parseCIDR(each) ?? []);
  const podCIDRs = cidrs('10.244.0.0/16', 'fd00::/64');
  const ranges = {
    serviceCIDRs: cidrs('10.96.0.0/12', 'fd00:1::/108'),
    nodePorts: { first: 30000, last: 32767 },
  };
  const ignore = (): void => {};
  const cluster = withServiceAddresses(
    withPodEndpoints(collector.cluster(), { assumeReady: { podCIDRs } }, ignore),
    ranges,
    ignore,
  );
  const node = cluster.nodes[0]?.name ?? 'node-a';
  let rules = 0;
  for (const mode of ['iptables', 'ipvs'] as const) {
    const compiled = compile(cluster, { node, flags: { mode } }, ignore);
    if (compiled === undefined) continue;
    for (const family of ['IPv4', 'IPv6'] as const) {
      const { kernel, payload } = compiled.rules[family];
      for (const [ruleset, printed] of [
        [kernel, saved(kernel)],
        [payload, [...printRestore(payload)].join('')],
      ] as const) {
        checkRules(ruleset, printed);
        rules++;
      }
    }
    if (compiled.ipvs !== undefined) checkIpvs(compiled.ipvs.sets, compiled.ipvs.virtualServers);
  }
  return !failed && problems === 0 && rules > 0;
}

const RULE =
  /^(?:$|\*[a-z]+$|:[A-Z0-9-]+ (?:ACCEPT|-) \[0:0\]$|COMMIT$|-X [A-Z0-9-]+$|-A [A-Z0-9-]+ [\x20-\x7e]+$)/;

function checkRules(ruleset: Ruleset, printed: string): void {
  for (const line of printed.split('\n')) check(RULE.test(line), `no rule: ${JSON.stringify(line)}`);
  const { problems } = parseIptablesSave(printed, { family: ruleset.family });
  check(
    !problems.some(({ severity }) => severity === 'error'),
    `rules that cannot be read: ${JSON.stringify(problems[0])}`,
  );
  stableSave({ ruleset, problems: [] });
}

type ByFamily<T> = Readonly<Record<'IPv4' | 'IPv6', T>>;

function checkIpvs(
  sets: ByFamily<Parameters<typeof printIpsetRestore>[0]>,
  servers: ByFamily<Parameters<typeof printIpvsadmRestore>[0]>,
): void {
  const printedSets = printIpsetRestore([...sets.IPv4, ...sets.IPv6]);
  const readSets = parseIpset(printedSets);
  check(readSets.problems.length === 0, `sets that cannot be read: ${JSON.stringify(readSets.problems[0])}`);
  check(printIpsetRestore(readSets.sets) === printedSets, 'sets change');
  const all = [...servers.IPv4, ...servers.IPv6];
  if (all.length === 0) return;
  const printedServers = printIpvsadmRestore(all);
  const readServers = parseIpvsadm(printedServers);
  check(
    readServers.problems.length === 0,
    `virtual servers that cannot be read: ${JSON.stringify(readServers.problems[0])}`,
  );
  check(printIpvsadmRestore(readServers.virtualServers) === printedServers, 'virtual servers change');
}

const ARCHIVED = tar([
  { name: 'a/services.yaml', text: 'apiVersion: v1\nkind: A\n' },
  { name: 'b.json', text: '{"apiVersion":"v1","kind":"B"}' },
  { name: `${'long/'.repeat(25)}c.yaml`, text: 'apiVersion: v1\nkind: C\n' },
]);

/** Half of the archives with sums that fit, and half of these packed: what is behind the sums is reached too. */
async function readArchive(input: Buffer, { below }: Round): Promise<boolean> {
  const whole = below(2) === 0 ? withChecksums(input) : input;
  const bytes = below(2) === 0 ? whole : gzipSync(whole, { level: 1 });
  const { objects, failed } = await readAll('fuzz.tar', bytes);
  return objects.length > 0 && !failed;
}

function withChecksums(input: Buffer): Buffer {
  const bytes = Buffer.from(input);
  for (let at = 0; at + 512 <= bytes.length; at += 512) {
    if (bytes.toString('latin1', at + 257, at + 262) !== 'ustar') continue;
    bytes.write(' '.repeat(8), at + 148);
    const sum = bytes.subarray(at, at + 512).reduce((total, byte) => total + byte, 0);
    bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, at + 148);
  }
  return bytes;
}

/** Restored whole over anything else, a save is what the kernel then holds. */
function restoresWhole(input: Buffer, { seed }: Round): boolean {
  const parsed = parseIptablesSave(text(input), { keepOrder: true });
  const read = stableSave(parsed);
  const all = parseIptablesSave(text(seed), { family: parsed.ruleset.family }).ruleset;
  // Tables that the input does not name stay as they are, without the chains that restoring one makes.
  const named = new Set(parsed.ruleset.tables.map(({ name }) => name));
  const before = { ...all, tables: all.tables.filter(({ name }) => named.has(name)) };
  for (const noflush of [true, false]) {
    const applied = applyRestore(before, parsed, { noflush });
    if ('error' in applied) {
      check(/^[^\n]+$/.test(applied.error), `an error of several lines: ${JSON.stringify(applied.error)}`);
      continue;
    }
    stableSave({ ruleset: applied.ruleset, problems: [] });
    if (noflush || !hasOnlyKnownOptions(applied.ruleset)) continue;
    const again = applyRestore(
      applied.ruleset,
      parseIptablesSave(saved(applied.ruleset), { family: before.family, keepOrder: true }),
      { noflush },
    );
    check(!('error' in again), `what was restored is refused: ${'error' in again ? again.error : ''}`);
    if ('ruleset' in again)
      check(saved(again.ruleset) === saved(applied.ruleset), 'restored twice is another');
  }
  return read;
}

/** Commands of restore input over rules; what they lead to is the same from what is printed. */
function appliesCommands(input: Buffer): boolean {
  const state = parseIptablesSave(STATE).ruleset;
  const parsed = parseIptablesSave(text(input), { family: 'ipv4', keepOrder: true });
  const applied = applyRestore(state, parsed);
  const { tables } = state;
  check(saved(parseIptablesSave(STATE).ruleset) === saved({ ...state, tables }), 'the state was changed');
  if ('error' in applied) return false;
  stableSave({ ruleset: applied.ruleset, problems: [] });
  return true;
}

const STATE = `*filter
:INPUT ACCEPT [0:0]
:FORWARD ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:AA - [0:0]
:BB - [0:0]
-A INPUT -j AA
-A AA -s 10.0.0.1/32 -j ACCEPT
-A AA -s 10.0.0.2/32 -j ACCEPT
-A AA -s 10.0.0.1/32 -j ACCEPT
-A AA -j BB
COMMIT
`;
const RESTORE_COMMANDS = [
  '*filter\n:AA - [0:0]\n:CC - [0:0]\n-A AA -s 10.0.0.3/32 -j CC\n-A CC -p tcp -m tcp --dport 80 -j DROP\nCOMMIT\n',
  '*filter\n-I AA -s 10.0.0.3/32 -j ACCEPT\n-I AA 3 -j DROP\n-D AA 1\n-R AA 2 -d 10.0.0.9/32 -j DROP\nCOMMIT\n',
  '*filter\n-N CC\n-A CC -j AA\n-D INPUT -j AA\n-F BB\n-F AA\n-P INPUT DROP\n-Z\n-X BB\nCOMMIT\n*nat\n:DD - [0:0]\n-A DD -j MASQUERADE\nCOMMIT\n',
  'iptables -t filter -A INPUT -p tcp -m tcp --dport 22 -j ACCEPT\niptables -N CC\niptables -I AA 1 -j CC\n',
];
const COMMAND_PIECES = [
  ...[
    '-A AA ',
    '-I AA ',
    '-D AA ',
    '-R AA 1 ',
    '-F ',
    '-X ',
    '-N ',
    '-P INPUT ',
    '-Z\n',
    ':AA - [0:0]\n',
    'AA',
    'BB',
  ],
  ...[
    '-j AA',
    '-j BB',
    '-g CC',
    '-t nat ',
    'iptables ',
    'COMMIT\n',
    '*nat\n',
    '*filter\n',
    ' 2 ',
    '-c 1 2 ',
    '--append',
  ],
];

/** Addresses as they are put on interfaces: what is read, put there and read again is the same. */
function readAddresses(input: Buffer): boolean {
  const given = text(input);
  const isBatch = isAddrBatch(given);
  const { interfaces, problems } = isBatch ? parseAddrBatch(given) : parseIpAddr(given);
  for (const { message } of problems)
    check(/^[^\n]+$/.test(message), `a message of several lines: ${message}`);
  if (isBatch) {
    const lines = interfaces.flatMap(({ name, addresses }) => [
      `link add ${name} type dummy`,
      ...addresses.map((address) => `addr replace ${address} dev ${name}`),
    ]);
    const again = parseAddrBatch(lines.join('\n'));
    check(JSON.stringify(again.interfaces) === JSON.stringify(interfaces), 'addresses change');
  }
  return problems.length === 0 && interfaces.length > 0;
}

export const TARGETS: readonly FuzzTarget[] = [
  {
    name: 'yaml',
    seeds: manifests,
    pieces: YAML_PIECES,
    run: (input) => stableObjects('fuzz.yaml', input),
  },
  {
    name: 'json',
    seeds: filesIn('fixtures', '.json').concat(
      asSeeds(
        '{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"A","c":[1,2.5e3,null]}]}\n{"kind":"B","apiVersion":"v1"}',
      ),
    ),
    pieces: JSON_PIECES,
    run: (input) => stableObjects('fuzz.json', input),
  },
  {
    name: 'archive',
    seeds: [ARCHIVED, ARCHIVED, ARCHIVED, gzipSync(ARCHIVED)],
    pieces: [
      'ustar\0',
      '../',
      '/',
      '\0',
      '0000000',
      '77777777777',
      'x',
      'L',
      '15 path=../x\n',
      '.yaml',
      '\x80\0\0',
    ],
    run: readArchive,
  },
  { name: 'objects to rules', seeds: manifests, pieces: YAML_PIECES, run: compileAll },
  { name: 'iptables-save', seeds: saves, pieces: RULE_PIECES, run: restoresWhole },
  {
    name: 'iptables-restore',
    seeds: [...asSeeds(...RESTORE_COMMANDS), ...filesIn('snapshots', 'restore.v4').slice(0, 4)],
    pieces: [...RULE_PIECES, ...COMMAND_PIECES],
    run: appliesCommands,
  },
  {
    name: 'listings and several dumps',
    seeds: asSeeds(LISTING, DASH_S, `$ iptables -t nat -S\n${DASH_S}$ iptables -L -nv\n${LISTING}`).concat(
      saves.slice(0, 3),
    ),
    pieces: RULE_PIECES,
    run: (input) =>
      splitDumps(text(input))
        .map((dump) => stableSave(dump))
        .includes(true),
  },
  {
    name: 'ipset',
    seeds: asSeeds(IPSET, IPSET_LIST).concat(filesIn('snapshots', 'ipset.restore').slice(0, 1)),
    pieces: IPSET_PIECES,
    run: (input) => {
      const { sets, problems } = parseIpset(text(input));
      // Where no type is one that ipset has, nothing shows that the text is ipset's.
      if (!sets.some(({ type }) => /^(?:hash|bitmap|list):./.test(type))) return false;
      const first = printIpsetRestore(sets);
      const second = printIpsetRestore(parseIpset(first).sets);
      check(first === second, `prints another text: ${JSON.stringify(first)} → ${JSON.stringify(second)}`);
      return problems.length === 0;
    },
  },
  {
    name: 'ipvsadm',
    seeds: asSeeds(IPVSADM, IPVSADM_LIST).concat(filesIn('snapshots', 'ipvsadm.restore').slice(0, 1)),
    pieces: IPVSADM_PIECES,
    run: (input) => {
      const { virtualServers, problems } = parseIpvsadm(text(input));
      const first = printIpvsadmRestore(virtualServers);
      const second = printIpvsadmRestore(parseIpvsadm(first).virtualServers);
      check(first === second, `prints another text: ${JSON.stringify(first)} → ${JSON.stringify(second)}`);
      return problems.length === 0 && virtualServers.length > 0;
    },
  },
  {
    name: 'ip addr',
    seeds: asSeeds(
      IP_ADDR,
      '[{"ifname":"eth0","addr_info":[{"family":"inet","local":"192.168.0.2","prefixlen":24}]}]',
      'link add kube-ipvs0 type dummy\naddr replace 10.96.0.1/32 dev kube-ipvs0\naddr del 10.96.0.2/32 dev kube-ipvs0\n',
    ),
    pieces: [...JSON_PIECES, ...ADDRESS_PIECES],
    run: readAddresses,
  },
  ...COMMANDS,
];
