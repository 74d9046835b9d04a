/**
 * States of IPVS mode: those that the real kube-proxy left, and a form in which equal ones are equal, without the
 * order and the values that the kernel chooses.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  canonicalMember,
  canonicalRule,
  canonicalVirtualServer,
  type Family,
  type ParsedIpvsadm,
  parseIpAddr,
  parseIpset,
  serviceKey,
  type VirtualServer,
} from '../../src/netfilter/index.ts';
import { parseSave } from './parse-save.ts';
import { comparator } from './shared.ts';

/** Name of a set → its `create` options and its sorted members. Problems are thrown. */
export function canonicalSets(text: string): Readonly<Record<string, unknown>> {
  const { sets, problems } = parseIpset(text);
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  return Object.fromEntries(
    sets.map(({ name, type, options, members }) => [
      name,
      { type, options, members: members.map(({ entry }) => canonicalMember(type, entry)).sort() },
    ]),
  );
}

/** `10.96.0.1:443/tcp` → the virtual server, with its real servers by address. Problems are thrown. */
export function canonicalVirtualServers({
  virtualServers,
  problems,
}: ParsedIpvsadm): Readonly<Record<string, VirtualServer>> {
  const serious = problems.filter(({ code }) => code !== 'empty-dump');
  if (serious.length > 0) throw new Error(JSON.stringify(serious));
  return Object.fromEntries(
    virtualServers.map(canonicalVirtualServer).map((server) => {
      const key = ({ address, port }: { readonly address: string; readonly port: number }) =>
        `${address} ${port}`;
      const realServers = [...server.realServers].sort((a, b) => (key(a) < key(b) ? -1 : 1));
      return [serviceKey(server.service), { ...server, realServers }];
    }),
  );
}

/** The addresses of all interfaces, sorted. */
export function canonicalAddresses(text: string): readonly string[] {
  return parseIpAddr(text)
    .interfaces.flatMap(({ addresses }) => addresses)
    .sort();
}

/** `nat KUBE-SERVICES` → its policy and its rules; built-in chains without rules are left out. */
export function canonicalTables(text: string, family: Family): Readonly<Record<string, readonly string[]>> {
  const ruleset = parseSave(text, family);
  return Object.fromEntries(
    ruleset.tables.flatMap((table) =>
      table.chains
        .filter(({ policy, rules }) => policy === undefined || policy !== 'ACCEPT' || rules.length > 0)
        .map(({ name, policy, rules }) => [
          `${table.name} ${name}`,
          [`policy ${policy ?? '-'}`, ...rules.map((rule) => canonicalRule(rule, family))],
        ]),
    ),
  );
}

export interface IpvsState {
  /** `1.30/dualstack-lb` */
  readonly name: string;
  /** `ipset.save`, `ipvsadm.save`, `kube-ipvs0.addr`, `save.v4` …, as the real kube-proxy left them. */
  readonly files: Readonly<Record<string, string>>;
}

/** What the real kube-proxy left in ipvs mode, of every version; none where ../shared is not there. */
export function ipvsStates(): readonly IpvsState[] {
  const folder = join(dirname(comparator), 'expected');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .sort()
    .filter((version) => existsSync(join(folder, version, 'ipvs')))
    .flatMap((version) =>
      readdirSync(join(folder, version, 'ipvs'))
        .sort()
        .map((name) => ({
          name: `${version}/${name}`,
          files: readFolder(join(folder, version, 'ipvs', name)),
        })),
    );
}

function readFolder(folder: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')]),
  );
}
