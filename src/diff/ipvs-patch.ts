import type { IpSet, RealServer, VirtualServer } from '../netfilter/index.ts';
import type { CompareOptions, NodeState } from './compare.ts';
import {
  compareIpvs,
  type IpvsDifference,
  type IpvsState,
  keyOf,
  realServerText,
} from './ipvs-difference.ts';
import { PatchError } from './patch.ts';

/** What mends the IPVS side of a node, as texts for the stock tools; empty where nothing is to be done. */
export interface IpvsPatch {
  /** For `ipset restore`. */
  readonly ipset: string;
  /** Commands for sh: `ipvsadm -R` can only add. */
  readonly ipvsadm: string;
  /** For `ip -batch`. */
  readonly addresses: string;
}

const OPTIONS = { tcp: '-t', udp: '-u', sctp: '--sctp-service' } as const;
const METHODS = { masquerade: '-m', gatewaying: '-g', tunneling: '-i' } as const;

/**
 * The smallest change of sets, virtual servers and addresses. What is added comes before what is taken away.
 * A set of another type cannot be mended in place; `undefined` members of the answer never occur.
 */
function ipvsPatch(differences: readonly IpvsDifference[]): IpvsPatch {
  const sets = differences.flatMap((difference) => difference.sets);
  const servers = differences.flatMap((difference) => difference.servers);
  const ipset = [
    ...sets.flatMap(({ expected, actual, redefined }) =>
      expected !== undefined && (actual === undefined || redefined) ? remake(expected, redefined) : [],
    ),
    ...sets.flatMap(({ name, expected, missing, redefined }) =>
      (redefined ? (expected?.members ?? []).map(({ entry }) => entry) : missing).map(
        (entry) => `add ${name} ${entry} -exist`,
      ),
    ),
    ...sets.flatMap(({ name, surplus, redefined }) =>
      redefined ? [] : surplus.map((entry) => `del ${name} ${entry} -exist`),
    ),
  ];
  const added: string[] = [];
  const removed: string[] = [];
  for (const { expected, actual, missing, surplus, changed, edited } of servers) {
    if (expected === undefined) {
      if (actual !== undefined) removed.push(`ipvsadm -D ${serviceOf(actual)}`);
      continue;
    }
    const service = serviceOf(expected);
    if (actual === undefined) added.push(`ipvsadm -A ${service}${settingsOf(expected)}`);
    else if (edited) added.push(`ipvsadm -E ${service}${settingsOf(expected)}`);
    for (const server of missing) added.push(`ipvsadm -a ${service} ${realServerOf(server)}`);
    for (const { expected: server } of changed) added.push(`ipvsadm -e ${service} ${realServerOf(server)}`);
    // What has weight 0 and left is being drained; kube-proxy takes it away itself.
    for (const server of surplus)
      if (server.weight > 0) removed.push(`ipvsadm -d ${service} -r ${realServerText(server)}`);
  }
  const addresses = differences.flatMap((difference) => [
    ...difference.addresses.missing.map((address) => `addr add ${withLength(address)} dev kube-ipvs0`),
    ...difference.addresses.surplus.map((address) => `addr del ${withLength(address)} dev kube-ipvs0`),
  ]);
  const text = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');
  return { ipset: text(ipset), ipvsadm: text([...added, ...removed]), addresses: text(addresses) };
}

function remake(set: IpSet, redefined: boolean): string[] {
  const options = set.options
    .map(({ name, value }) => (value === undefined ? name : `${name} ${value}`))
    .join(' ');
  const create = `create ${set.name} ${set.type}${options === '' ? '' : ` ${options}`}`;
  return redefined ? [`destroy ${set.name}`, create] : [`${create} -exist`];
}

function serviceOf({ service }: VirtualServer): string {
  if (service.by === 'mark') return `-f ${service.mark}${service.ipv6 ? ' -6' : ''}`;
  const { address, port, protocol } = service;
  return `${OPTIONS[protocol]} ${address.includes(':') ? `[${address}]` : address}:${port}`;
}

function settingsOf({ scheduler, persistentSeconds, persistentMask, flags }: VirtualServer): string {
  const persistent = persistentSeconds === undefined ? '' : ` -p ${persistentSeconds}`;
  const mask = persistentMask === undefined ? '' : ` -M ${persistentMask}`;
  return ` -s ${scheduler}${persistent}${mask}${flags.length === 0 ? '' : ` -b ${flags.join(',')}`}`;
}

function realServerOf(server: RealServer): string {
  return `-r ${realServerText(server)} ${METHODS[server.method]} -w ${server.weight}`;
}

function withLength(address: string): string {
  return `${address}/${address.includes(':') ? 128 : 32}`;
}

/**
 * The patch that turns the IPVS side of the actual state into the expected one. It is carried out in memory and
 * compared before it is given out; a PatchError says that it does not lead there.
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
