import { chainSuffix, type VirtualServerOwner } from '../compile/index.ts';
import {
  printAddressAndPort,
  type RealServer,
  realServerWords,
  type VirtualServer,
  virtualServerWords,
} from '../netfilter/index.ts';
import type { ProblemCode, RuleLine } from './comparison.ts';
import { type FindingCollector, problem } from './findings.ts';
import {
  type IpvsDifference,
  type IpvsState,
  realServerText,
  type ServerDifference,
  type SetDifference,
} from './ipvs-difference.ts';

/** Words for what differs in IPVS: virtual servers, sets, addresses. Notes are what is no drift. */
export function explainIpvs(
  difference: IpvsDifference,
  expected: IpvsState,
  found: FindingCollector,
  note: (message: string) => void,
): void {
  const owners = expected.owners ?? new Map<string, VirtualServerOwner>();
  const live = liveEndpoints(expected, owners);
  for (const server of difference.servers) explainServer(server, owners, live, found, note);
  explainMissingSets(difference.sets, found);
  for (const set of difference.sets) explainSet(set, owners, found);
  explainAddresses(difference, owners, found);
}

/** By service port: the destinations that some virtual server of it should have. */
function liveEndpoints(
  { virtualServers }: IpvsState,
  owners: ReadonlyMap<string, VirtualServerOwner>,
): ReadonlyMap<string, ReadonlySet<string>> {
  const live = new Map<string, Set<string>>();
  for (const { service, realServers } of virtualServers ?? []) {
    if (service.by !== 'address') continue;
    const owner = owners.get(`${service.protocol} ${service.address} ${service.port}`);
    const name = ownerSuffix(owner, service.protocol) ?? '';
    const known = live.get(name) ?? new Set<string>();
    live.set(name, known);
    for (const server of realServers) known.add(realServerText(server));
  }
  return live;
}

function ownerSuffix(owner: VirtualServerOwner | undefined, protocol: string): string | undefined {
  return owner === undefined ? undefined : chainSuffix(owner.servicePortName + protocol);
}

function partsOf(key: string): { protocol: string; address: string; port: number } {
  const [protocol = '', address = '', port = ''] = key.split(' ');
  return { protocol, address, port: Number(port) };
}

/** `cluster IP 10.96.0.50:80`, `node port 30080 on 192.168.0.2`. */
function subject(key: string, owner: VirtualServerOwner | undefined): string {
  const { protocol, address, port } = partsOf(key);
  const suffix = protocol === 'tcp' ? '' : `/${protocol}`;
  if (owner === undefined) return `virtual server ${printAddressAndPort(address, port)}${suffix}`;
  if (owner.kind === 'node port') return `node port ${port}${suffix} on ${address}`;
  return `${owner.kind} ${printAddressAndPort(address, port)}${suffix}`;
}

function explainServer(
  difference: ServerDifference,
  owners: ReadonlyMap<string, VirtualServerOwner>,
  live: ReadonlyMap<string, ReadonlySet<string>>,
  found: FindingCollector,
  note: (message: string) => void,
): void {
  const { key, expected, actual, missing, surplus, changed, edited } = difference;
  const owner = owners.get(key);
  const suffix = ownerSuffix(owner, partsOf(key).protocol);
  const what = subject(key, owner);
  const add = (code: ProblemCode, message: string, left: RuleLine[], right: RuleLine[]) =>
    found.add(suffix, problem(code, message, left, right));
  if (actual === undefined && expected !== undefined) {
    const code =
      owner?.kind === 'cluster IP'
        ? 'cluster-ip-missing'
        : owner?.kind === 'node port'
          ? 'node-port-missing'
          : 'dispatch-missing';
    add(
      code,
      owner?.kind === 'node port' ? `${what} missing` : `${what} goes nowhere`,
      serverLines(expected),
      [],
    );
    return;
  }
  if (expected === undefined && actual !== undefined) {
    add(
      'virtual-server-surplus',
      `${what} is not of any Service in the cluster: kube-proxy will delete it at its next sync`,
      [],
      serverLines(actual),
    );
    return;
  }
  if (expected === undefined || actual === undefined) return;
  if (edited) explainEdited(what, expected, actual, add);
  for (const server of missing) {
    add(
      'endpoint-missing',
      `endpoint ${realServerText(server)} is not programmed`,
      [realServerLine(expected, server)],
      [],
    );
  }
  for (const server of surplus) {
    const text = realServerText(server);
    if (server.weight === 0) {
      note(
        `endpoint ${text} of ${what} is draining: it left, and its last connections are waited for (weight 0)`,
      );
      continue;
    }
    const isLive = live.get(suffix ?? '')?.has(text) === true;
    const message = isLive
      ? `endpoint ${text} gets traffic to ${what} that it should not get`
      : `endpoint ${text} is still programmed, gone from the cluster`;
    add('endpoint-surplus', message, [], [realServerLine(actual, server)]);
  }
  for (const pair of changed) {
    const lines = [[realServerLine(expected, pair.expected)], [realServerLine(actual, pair.actual)]] as const;
    const text = realServerText(pair.expected);
    if (pair.actual.weight === 0 && pair.expected.weight > 0) {
      add(
        'endpoint-share',
        `endpoint ${text} has weight 0 at ${what}, though it is ready`,
        [...lines[0]],
        [...lines[1]],
      );
    } else if (pair.actual.weight !== pair.expected.weight) {
      add(
        'endpoint-share',
        `endpoint ${text} has weight ${pair.actual.weight} instead of ${pair.expected.weight} at ${what}`,
        [...lines[0]],
        [...lines[1]],
      );
    }
    if (pair.actual.method !== pair.expected.method) {
      add(
        'masquerade',
        `endpoint ${text} is reached by ${pair.actual.method} instead of ${pair.expected.method} at ${what}`,
        [...lines[0]],
        [...lines[1]],
      );
    }
  }
  const servable = (server: VirtualServer) => server.realServers.some(({ weight }) => weight > 0);
  if (servable(expected) && !servable(actual)) {
    add('cluster-ip-wrong', `${what} has no destination available: no new connection is served`, [], []);
  }
}

function explainEdited(
  what: string,
  expected: VirtualServer,
  actual: VirtualServer,
  add: (code: ProblemCode, message: string, left: RuleLine[], right: RuleLine[]) => void,
): void {
  const lines = [[serverLine(expected)], [serverLine(actual)]] as const;
  const tell = (code: ProblemCode, message: string) => add(code, message, [...lines[0]], [...lines[1]]);
  if (expected.scheduler !== actual.scheduler) {
    tell('scheduler', `${what} is scheduled by ${actual.scheduler} instead of ${expected.scheduler}`);
  }
  const [wanted, have] = [expected.persistentSeconds, actual.persistentSeconds];
  if (wanted !== have) {
    tell(
      'session-affinity',
      have === undefined
        ? `session affinity missing at ${what}`
        : wanted === undefined
          ? `session affinity is set at ${what}, and should not be`
          : `session affinity lasts ${have} s instead of ${wanted} s at ${what}`,
    );
  } else if (expected.persistentMask !== actual.persistentMask) {
    tell('session-affinity', `session affinity at ${what} is by another mask`);
  }
  if ([...expected.flags].sort().join() !== [...actual.flags].sort().join()) {
    tell(
      'scheduler',
      `${what} has the flags ${actual.flags.join(',') || 'none'} instead of ${expected.flags.join(',') || 'none'}`,
    );
  }
}

const MAX_NAMED = 3;

/** kube-proxy makes all its sets, empty ones too: where one is missing most are. */
function explainMissingSets(differences: readonly SetDifference[], found: FindingCollector): void {
  const sets = differences.flatMap(({ expected, actual }) =>
    expected !== undefined && actual === undefined ? [expected] : [],
  );
  if (sets.length === 0) return;
  const names = sets.map(({ name }) => name);
  const named =
    names.slice(0, MAX_NAMED).join(', ') +
    (names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '');
  const entries = sets.reduce((sum, { members }) => sum + members.length, 0);
  const message =
    names.length === 1
      ? `set ${named} is missing, which should have ${entries} member${entries === 1 ? '' : 's'}`
      : `${names.length} sets are missing (${named}), which should have ${entries} member${entries === 1 ? '' : 's'}`;
  const lines = sets.map(({ name, type }) => ({ table: 'ipset', line: `create ${name} ${type}` }));
  found.add(undefined, problem('set-missing', message, lines));
}

function explainSet(
  { name, expected, actual, redefined, missing, surplus }: SetDifference,
  owners: ReadonlyMap<string, VirtualServerOwner>,
  found: FindingCollector,
): void {
  if (expected === undefined || actual === undefined) return;
  if (redefined) {
    found.add(
      undefined,
      problem(
        'set-definition',
        `set ${name} is ${definitionWords(actual)} instead of ${definitionWords(expected)}`,
      ),
    );
  }
  for (const [entries, verb] of [
    [missing, 'lacks'],
    [surplus, 'still has'],
  ] as const) {
    for (const [suffix, own] of byOwner(name, entries, owners)) {
      const lines = own.map((entry) => ({ table: 'ipset', line: `add ${name} ${entry}` }));
      const named =
        own.slice(0, MAX_NAMED).join(' and ') +
        (own.length > MAX_NAMED ? ` and ${own.length - MAX_NAMED} more` : '');
      const sides = verb === 'lacks' ? [lines, []] : [[], lines];
      found.add(suffix, problem('set-member', `set ${name} ${verb} ${named}`, sides[0], sides[1]));
    }
  }
}

function definitionWords({
  type,
  options,
}: {
  type: string;
  options: readonly { name: string; value?: string }[];
}): string {
  const family = options.find(({ name }) => name === 'family')?.value;
  return family === undefined ? type : `${type} of family ${family}`;
}

/** Members by the service port that they are for, as far as address and port tell. */
function byOwner(
  set: string,
  entries: readonly string[],
  owners: ReadonlyMap<string, VirtualServerOwner>,
): Map<string | undefined, string[]> {
  const grouped = new Map<string | undefined, string[]>();
  for (const entry of entries) {
    const owner = ownerOfMember(set, entry, owners);
    const list = grouped.get(owner);
    if (list === undefined) grouped.set(owner, [entry]);
    else list.push(entry);
  }
  return grouped;
}

function ownerOfMember(
  set: string,
  entry: string,
  owners: ReadonlyMap<string, VirtualServerOwner>,
): string | undefined {
  const match = /^([^,]+),(tcp|udp|sctp):(\d+)/.exec(entry);
  if (match !== null) {
    const [, address = '', protocol = '', port = ''] = match;
    return ownerSuffix(owners.get(`${protocol} ${address} ${port}`), protocol);
  }
  if (!/^\d+$/.test(entry)) return undefined;
  const protocol = /-UDP$/.test(set) ? 'udp' : 'tcp';
  for (const [key, owner] of owners) {
    const parts = partsOf(key);
    if (owner.kind === 'node port' && parts.protocol === protocol && String(parts.port) === entry) {
      return ownerSuffix(owner, protocol);
    }
  }
  return undefined;
}

function explainAddresses(
  { addresses }: IpvsDifference,
  owners: ReadonlyMap<string, VirtualServerOwner>,
  found: FindingCollector,
): void {
  for (const address of addresses.missing) {
    const entry = [...owners].find(([key]) => partsOf(key).address === address);
    const suffix = entry && ownerSuffix(entry[1], partsOf(entry[0]).protocol);
    const kind = entry?.[1].kind ?? 'address';
    found.add(
      suffix,
      problem('address-missing', `${kind} ${address} is not on kube-ipvs0`, [addressLine(address)]),
    );
  }
  for (const address of addresses.surplus) {
    found.add(
      undefined,
      problem('address-surplus', `address ${address} on kube-ipvs0 is stale`, [], [addressLine(address)]),
    );
  }
}

function addressLine(address: string): RuleLine {
  return { table: 'kube-ipvs0', line: `${address}/${address.includes(':') ? 128 : 32}` };
}

function serverLine(server: VirtualServer): RuleLine {
  return { table: 'ipvs', line: `-A ${virtualServerWords(server)}` };
}

function realServerLine(server: VirtualServer, real: RealServer): RuleLine {
  return { table: 'ipvs', line: `-a ${realServerWords(server.service, real)}` };
}

function serverLines(server: VirtualServer): RuleLine[] {
  return [serverLine(server), ...server.realServers.map((real) => realServerLine(server, real))];
}
