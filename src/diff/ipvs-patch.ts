import {
  addLine,
  createLine,
  delLine,
  type IpSet,
  type RealServer,
  realServerWords,
  serviceWords,
  type VirtualServer,
  virtualServerWords,
} from '../netfilter/index.ts';
import type { CompareOptions, NodeState } from './compare.ts';
import {
  compareIpvs,
  type IpvsDifference,
  type IpvsState,
  keyOf,
  realServerText,
} from './ipvs-difference.ts';
import { PatchError, UnwritablePatchError } from './patch.ts';

/** What mends the IPVS side of a node, as texts for the stock tools; empty where nothing is to be done. */
export interface IpvsPatch {
  /** For `ipset restore`. */
  readonly ipset: string;
  /** Commands for sh: `ipvsadm -R` can only add. */
  readonly ipvsadm: string;
  /** For `ip -batch`. */
  readonly addresses: string;
}

/**
 * The smallest change of sets, virtual servers and addresses. What is added comes before what is taken away.
 *
 * A set of another type or range is made under another name and swapped in, since rules may hold it; the kernel swaps
 * sets of the same type and family alone, so others are destroyed first, which it refuses while rules hold them.
 */
function ipvsPatch(differences: readonly IpvsDifference[]): IpvsPatch {
  const sets = differences.flatMap((difference) => difference.sets);
  const ipset = [
    ...sets.flatMap(({ expected, actual, redefined, missing }) => {
      if (expected === undefined) return [];
      if (expected.type === '' && (actual === undefined || redefined)) {
        throw new UnwritablePatchError(
          `no patch for sets: no line of what is expected creates ${expected.name}, so its type is not known`,
        );
      }
      if (actual !== undefined && redefined) return remade(expected, actual);
      const members = missing.map((entry) => addLine(expected.name, { entry, options: [] }));
      return actual === undefined ? [createLine(expected), ...members] : members;
    }),
    ...sets.flatMap(({ name, surplus, redefined }) =>
      redefined ? [] : surplus.map((entry) => delLine(name, entry)),
    ),
  ];
  const added: string[] = [];
  const removed: string[] = [];
  for (const { expected, actual, missing, surplus, changed, edited } of differences.flatMap(
    (difference) => difference.servers,
  )) {
    if (expected === undefined) {
      if (actual !== undefined) removed.push(`-D ${serviceWords(actual.service)}`);
      continue;
    }
    const { service } = expected;
    if (actual === undefined) added.push(`-A ${virtualServerWords(expected)}`);
    else if (edited) added.push(`-E ${virtualServerWords(expected)}`);
    for (const server of missing) added.push(`-a ${realServerWords(service, server)}`);
    for (const pair of changed) added.push(`-e ${realServerWords(service, pair.expected)}`);
    for (const server of surplus) {
      if (server.weight === 0) continue;
      removed.push(
        drains(expected, server)
          ? `-e ${realServerWords(service, { ...server, weight: 0 })}`
          : `-d ${serviceWords(service)} -r ${realServerText(server)}`,
      );
    }
  }
  const addresses = differences.flatMap((difference) => [
    ...difference.addresses.missing.map((address) => `addr replace ${withLength(address)} dev kube-ipvs0`),
    ...difference.addresses.surplus.map((address) => `addr del ${withLength(address)} dev kube-ipvs0`),
  ]);
  const text = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');
  return {
    ipset: text(ipset),
    ipvsadm: text([...added, ...removed].map((words) => `ipvsadm ${words}`)),
    addresses: text(addresses),
  };
}

/**
 * A TCP destination that leaves gets no new connections and keeps those that it has, as kube-proxy does it, unless the
 * listing says that it has none; kube-proxy takes it away once they are over. UDP and SCTP ones are gone at once.
 */
function drains({ service }: VirtualServer, server: RealServer): boolean {
  const { activeConnections, inactiveConnections } = server;
  return (
    service.by === 'address' &&
    service.protocol === 'tcp' &&
    (activeConnections === undefined || activeConnections + (inactiveConnections ?? 0) > 0)
  );
}

/** Longer than any name of kube-proxy's, and shorter than what the kernel takes (31). */
const TEMPORARY = 'kp-diff-swapped-in';

function remade(expected: IpSet, actual: IpSet): string[] {
  const familyOf = ({ options }: IpSet) => options.find(({ name }) => name === 'family')?.value;
  const swaps = expected.type === actual.type && familyOf(expected) === familyOf(actual);
  const name = swaps ? TEMPORARY : expected.name;
  return [
    ...(swaps ? [] : [`destroy ${expected.name}`]),
    createLine({ ...expected, name }),
    ...expected.members.map((member) => addLine(name, member)),
    ...(swaps ? [`swap ${TEMPORARY} ${expected.name}`, `destroy ${TEMPORARY}`] : []),
  ];
}

function withLength(address: string): string {
  return `${address}/${address.includes(':') ? 128 : 32}`;
}

/**
 * The patch that turns the IPVS side of the actual state into the expected one. It is carried out in memory and
 * compared before it is given out; a PatchError says that it does not lead there, an UnwritablePatchError that no
 * tool would take it.
 */
export function ipvsPatchOf(
  expected: NodeState,
  actual: NodeState,
  options: Pick<CompareOptions, 'family'> = {},
): IpvsPatch {
  const families = (['ipv4', 'ipv6'] as const).filter((family) => (options.family ?? family) === family);
  const compare = (state: IpvsState | undefined) =>
    families.flatMap((family) => compareIpvs(family, expected.ipvs, state) ?? []);
  const differences = compare(actual.ipvs);
  const left = compare(applyIpvsPatch(actual.ipvs ?? {}, differences)).flatMap((difference) => [
    ...difference.servers.filter(
      ({ missing, changed, edited, surplus, actual: found }) =>
        found === undefined ||
        edited ||
        missing.length + changed.length > 0 ||
        surplus.some(({ weight }) => weight > 0),
    ),
    ...difference.sets,
    ...difference.addresses.missing,
    ...difference.addresses.surplus,
  ]);
  if (left.length > 0) throw new PatchError(`the IPVS patch leaves ${left.length} differences`);
  return ipvsPatch(differences);
}

/** What the kernel holds once the patch was applied; for the proof that it leads where it should. */
function applyIpvsPatch(actual: IpvsState, differences: readonly IpvsDifference[]): IpvsState {
  const servers = new Map((actual.virtualServers ?? []).map((server) => [keyOf(server) ?? '', server]));
  const sets = new Map((actual.sets ?? []).map((set) => [set.name, set]));
  const addresses = new Set(actual.addresses ?? []);
  for (const difference of differences) {
    for (const { key, expected, actual: before } of difference.servers) {
      if (expected === undefined) servers.delete(key);
      else {
        const draining = (before?.realServers ?? []).filter(
          (server) =>
            server.weight === 0 &&
            !expected.realServers.some((other) => realServerText(other) === realServerText(server)),
        );
        servers.set(key, { ...expected, realServers: [...expected.realServers, ...draining] });
      }
    }
    for (const { name, expected, actual: before, missing, surplus, redefined } of difference.sets) {
      if (expected === undefined) continue;
      const gone = new Set(surplus);
      const kept =
        redefined || before === undefined ? [] : before.members.filter(({ entry }) => !gone.has(entry));
      const fresh = redefined ? expected.members.map(({ entry }) => entry) : missing;
      const members = [...kept, ...fresh.map((entry) => ({ entry, options: [] }))];
      sets.set(name, { ...(redefined || before === undefined ? expected : before), members });
    }
    for (const address of difference.addresses.missing) addresses.add(address);
    for (const address of difference.addresses.surplus) addresses.delete(address);
  }
  return {
    ...actual,
    ...(actual.virtualServers === undefined ? {} : { virtualServers: [...servers.values()] }),
    ...(actual.sets === undefined ? {} : { sets: [...sets.values()] }),
    ...(actual.addresses === undefined ? {} : { addresses: [...addresses] }),
  };
}
