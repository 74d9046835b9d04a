/*
 * What kube-proxy left behind when its mode was changed. It takes nothing of another mode away by itself (only
 * `kube-proxy --cleanup` does), so chains, sets, virtual servers and addresses of the old mode stay on the node, and
 * some of them go on working.
 */
import { parseIP } from '../kube/index.ts';
import { type Family, type IpSet, type VirtualServer, virtualServerWords } from '../netfilter/index.ts';
import type { Problem, RuleLine } from './comparison.ts';
import { problem } from './findings.ts';
import type { IpvsState } from './ipvs-difference.ts';
import { runningMode, setOf } from './proxy-mode.ts';
import { jumpOf } from './rule-key.ts';
import { isServiceChain, modeOfChain } from './scope.ts';
import { trafficOf } from './shared-chain.ts';
import { ruleLine, rulesOf, type View } from './view.ts';

/** Fixed chains that iptables mode alone has, beside those of service ports. KUBE-FIREWALL is kubelet's as well. */
const OF_IPTABLES_MODE = new Set(['KUBE-NODEPORTS', 'KUBE-EXTERNAL-SERVICES']);
const OF_IPVS_MODE = new Set(['KUBE-IPVS-OUT-FILTER', 'KUBE-SOURCE-RANGES-FIREWALL']);

const CLEANUP = 'kube-proxy takes nothing of another mode away; kube-proxy --cleanup does';

/** Leftovers of the mode that the node does not run in, as problems of the node. */
export function leftoversOf(
  family: Family,
  left: View | undefined,
  right: View | undefined,
  actual: IpvsState | undefined,
  mode: 'iptables' | 'ipvs',
): Problem[] {
  if (mode === 'ipvs') return right === undefined ? [] : chainsOfIptables(left, right);
  return [
    ...(right === undefined ? [] : chainsOfIpvs(left, right)),
    ...serversLeft(family, left, actual),
    ...setsLeft(family, right, actual),
    ...addressesLeft(family, actual),
  ];
}

/** Whether a chain of an ipvs node is left over from iptables mode. */
export function isOfIptablesMode(chain: string): boolean {
  return isServiceChain(chain) || OF_IPTABLES_MODE.has(chain);
}

function chainsOfIptables(left: View | undefined, right: View): Problem[] {
  return chainsLeft(left, right, 'iptables', isOfIptablesMode);
}

function chainsOfIpvs(left: View | undefined, right: View): Problem[] {
  return chainsLeft(left, right, 'ipvs', (chain) => modeOfChain(chain) === 'ipvs' || OF_IPVS_MODE.has(chain));
}

/**
 * Of each table the chains of a mode, and the rules elsewhere that lead to them. What the expected side, another
 * dump of the kind, has as well is no difference.
 */
function chainsLeft(
  expected: View | undefined,
  view: View,
  mode: string,
  isOfMode: (chain: string) => boolean,
): Problem[] {
  const problems: Problem[] = [];
  for (const { name: table, chains } of view.tables.values()) {
    const known = expected?.tables.get(table)?.chains;
    const left = [...chains.keys()].filter((chain) => isOfMode(chain) && known?.has(chain) !== true);
    if (left.length === 0) continue;
    const holders: RuleLine[] = [];
    const from = new Set<string>();
    for (const { name, rules } of chains.values()) {
      if (isOfMode(name)) continue;
      for (const rule of rules) {
        if (!isOfMode(jumpOf(rule) ?? '')) continue;
        holders.push(ruleLine(rule, table, name, view.family));
        from.add(name);
      }
    }
    const held =
      from.size === 0
        ? 'nothing leads to them'
        : `${listOf([...from])} still lead${from.size === 1 ? 's' : ''} there`;
    problems.push(
      problem(
        'mode-leftover',
        `left over from ${mode} mode: ${countOf(left, 'chain')} in the ${table} table; ${held} (${CLEANUP})`,
        [],
        holders,
      ),
    );
  }
  return problems;
}

function serversLeft(family: Family, left: View | undefined, actual: IpvsState | undefined): Problem[] {
  const known = knownAddresses(left, actual);
  const isLeft = ({ service }: VirtualServer) =>
    service.by === 'address' &&
    service.address.includes(':') === (family === 'ipv6') &&
    (known.addresses.has(service.address) || known.nodePorts.has(`${service.protocol} ${service.port}`));
  const servers = (actual?.virtualServers ?? []).filter(isLeft);
  const texts = servers.flatMap(({ service }) =>
    service.by === 'address'
      ? [
          service.address.includes(':')
            ? `[${service.address}]:${service.port}`
            : `${service.address}:${service.port}`,
        ]
      : [],
  );
  if (texts.length === 0) return [];
  return [
    problem(
      'mode-leftover',
      `left over from ipvs mode: ${countOf(texts, 'virtual server')}, which go on serving what reaches the node at their addresses (${CLEANUP})`,
      [],
      servers.map((server) => ({ table: 'ipvs', line: `-A ${virtualServerWords(server)}` })),
    ),
  ];
}

/** Addresses and node ports of Services, as the rules and the other leftovers tell them: other servers are foreign. */
function knownAddresses(
  left: View | undefined,
  { addresses = [], sets = [] }: IpvsState = {},
): { readonly addresses: ReadonlySet<string>; readonly nodePorts: ReadonlySet<string> } {
  const own = new Set(addresses);
  const nodePorts = new Set<string>();
  for (const { name, type, members } of sets) {
    if (!name.startsWith('KUBE-')) continue;
    for (const { entry } of members) {
      const address = parseIP(entry.replace(/,.*/, ''))?.text;
      if (address !== undefined && !name.endsWith('LOOP-BACK')) own.add(address);
      if (type === 'bitmap:port') nodePorts.add(`${name.endsWith('UDP') ? 'udp' : 'tcp'} ${entry}`);
    }
  }
  for (const chain of ['KUBE-SERVICES', 'KUBE-NODEPORTS']) {
    for (const rule of left === undefined ? [] : rulesOf(left, 'nat', chain)) {
      const traffic = trafficOf(rule);
      if (traffic === undefined) continue;
      if (chain === 'KUBE-NODEPORTS') nodePorts.add(`${traffic.protocol} ${traffic.port}`);
      else own.add(traffic.address);
    }
  }
  return { addresses: own, nodePorts };
}

function setsLeft(family: Family, right: View | undefined, actual: IpvsState | undefined): Problem[] {
  const isOf = ({ name }: IpSet) =>
    name.startsWith('KUBE-') && name.startsWith('KUBE-6-') === (family === 'ipv6');
  const sets = (actual?.sets ?? []).filter(isOf);
  if (sets.length === 0) return [];
  const holders = new Map<string, RuleLine[]>();
  for (const { name: table, chains } of right?.tables.values() ?? []) {
    for (const { name, rules } of chains.values()) {
      for (const rule of rules) {
        if (setOf(rule)?.startsWith('KUBE-') !== true || right === undefined) continue;
        const place = `${table}/${name}`;
        holders.set(place, [...(holders.get(place) ?? []), ruleLine(rule, table, name, family)]);
      }
    }
  }
  const references = sets.reduce((sum, set) => sum + (set.references ?? 0), 0);
  const held =
    holders.size > 0
      ? `rules in ${listOf([...holders.keys()])} hold them: ipset destroy works once those are gone`
      : references > 0
        ? `${references} references hold them`
        : right === undefined
          ? 'what holds them is not known without the rules'
          : 'no rule holds them';
  return [
    problem(
      'mode-leftover',
      `left over from ipvs mode: ${countOf(
        sets.map(({ name }) => name),
        'IP set',
      )}; ${held}`,
      [],
      [...holders.values()].flat(),
    ),
  ];
}

function addressesLeft(family: Family, actual: IpvsState | undefined): Problem[] {
  const own = (actual?.addresses ?? []).filter((address) => address.includes(':') === (family === 'ipv6'));
  if (own.length === 0) return [];
  return [
    problem(
      'mode-leftover',
      `left over from ipvs mode: ${countOf(own, 'address')} on kube-ipvs0, which make traffic to them local (ip link del kube-ipvs0 takes them away)`,
      [],
      own.map((address) => ({ table: 'kube-ipvs0', line: `${address}/${address.includes(':') ? 128 : 32}` })),
    ),
  ];
}

const MAX_LISTED = 3;

function listOf(names: readonly string[]): string {
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : '';
  return names.slice(0, MAX_LISTED).join(', ') + more;
}

/** `2 chains (KUBE-SVC-…, KUBE-SEP-…)`. */
function countOf(names: readonly string[], noun: string): string {
  const plural = noun.endsWith('s') ? `${noun}es` : `${noun}s`;
  return `${names.length} ${names.length === 1 ? noun : plural} (${listOf(names)})`;
}

/** The mode that the expected side is of, as far as it tells. */
export function expectedMode(left: View | undefined, ipvs: IpvsState | undefined): 'iptables' | 'ipvs' {
  if (ipvs !== undefined) return 'ipvs';
  return (left && runningMode(left)) ?? 'iptables';
}
