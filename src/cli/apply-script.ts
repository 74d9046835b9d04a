/** What kp-compile --emit script prints: one file for sh that makes of a node what kube-proxy would. */
import { type Compilation, type IpvsArtefacts, NFACCT_OBJECTS } from '../compile/index.ts';
import type { IPFamily } from '../kube/index.ts';
import {
  printAddrBatch,
  printIpsetRestore,
  printRestore,
  type RealServer,
  type Ruleset,
  realServerWords,
  restoreLine,
  type VirtualServer,
  virtualServerWords,
} from '../netfilter/index.ts';
import { commentHead } from './artefacts.ts';
import { DUMMY_INTERFACE, timeoutsCommand } from './ipvs-artefacts.ts';

const TOOL: Readonly<Record<IPFamily, string>> = { IPv4: 'iptables', IPv6: 'ip6tables' };

/** No line of any text is this one. */
const END = 'END_OF_INPUT';

const FUNCTIONS = `
# An iptables rule at the head of its chain, unless it is there.
jump() {
  tool=$1 table=$2
  shift 2
  "$tool" -w 5 -t "$table" -C "$@" 2>/dev/null || "$tool" -w 5 -t "$table" -I "$@"
}

# A chain that nothing needs to fill.
chain() {
  "$1" -w 5 -t "$2" -N "$3" 2>/dev/null || "$1" -w 5 -t "$2" -S "$3" >/dev/null
}
`;

/**
 * ipvsadm -R goes on after a line that fails, and ends with what its last line came to: what it says is what counts.
 */
const IPVS_FUNCTIONS = `
# Adds and then edits each virtual server, so that it does not matter whether it was there.
virtual_servers() {
  complaints=$(ipvsadm -R 2>&1) || :
  failed=0
  while IFS= read -r complaint; do
    case $complaint in
    '' | 'Service already exists' | 'Destination already exists') ;;
    *)
      printf 'ipvsadm: %s\\n' "$complaint" >&2
      failed=1
      ;;
    esac
  done <<${END}
$complaints
${END}
  return "$failed"
}
`;

/**
 * The script, step by step. It uses the tools of a node alone, stops where a step fails and may be run again: nothing
 * that was there before is flushed but the chains that the rules fill. Sets come before the rules that match them,
 * and addresses last: what arrives at one finds its virtual server.
 */
export function* applyScript(compilation: Compilation, families: readonly IPFamily[]): Generator<string> {
  const { ipvs } = compilation;
  yield '#!/bin/sh\n';
  yield commentHead(
    compilation,
    'for sh, as root on the node; may be run again. Rules, sets and addresses of others are left alone.',
  );
  yield `set -eu\n${FUNCTIONS}`;
  if (ipvs !== undefined) yield* ipvsStart(ipvs, families);
  const counters = NFACCT_OBJECTS.filter((name) =>
    families.some((family) => usesCounter(compilation.rules[family].payload, name)),
  );
  if (counters.length > 0) yield '\n';
  for (const name of counters) yield `nfacct get ${name} >/dev/null 2>&1 || nfacct add ${name}\n`;
  for (const family of families) yield* rulesStep(compilation, family);
  if (ipvs !== undefined) yield* ipvsEnd(ipvs, families);
}

function* ipvsStart(ipvs: IpvsArtefacts, families: readonly IPFamily[]): Generator<string> {
  yield IPVS_FUNCTIONS;
  yield '\n# Loads ip_vs, without which its sysctls are not there.\nipvsadm -Ln >/dev/null\n';
  for (const { name, value } of ipvs.sysctls) yield `sysctl -q -w ${name}=${value}\n`;
  const timeouts = timeoutsCommand(ipvs);
  if (timeouts !== undefined) yield `${timeouts}\n`;
  yield `\nipset restore <<'${END}'\n`;
  for (const family of families) yield printIpsetRestore(ipvs.sets[family]);
  yield `${END}\n`;
}

function* ipvsEnd(ipvs: IpvsArtefacts, families: readonly IPFamily[]): Generator<string> {
  const servers = families.flatMap((family) => ipvs.virtualServers[family]);
  if (servers.length > 0) {
    yield `\nvirtual_servers <<'${END}'\n`;
    for (const server of servers) yield serverLines(server);
    yield `${END}\n`;
  }
  yield `\nip link show dev ${DUMMY_INTERFACE} >/dev/null 2>&1 || ip link add ${DUMMY_INTERFACE} type dummy\n`;
  const addresses = families.flatMap((family) => ipvs.addresses[family]);
  if (addresses.length === 0) return;
  yield `ip -batch - <<'${END}'\n${printAddrBatch(DUMMY_INTERFACE, addresses, { create: false })}${END}\n`;
}

function serverLines(server: VirtualServer): string {
  const words = virtualServerWords(server);
  const real = (one: RealServer) => realServerWords(server.service, one);
  const lines = server.realServers.flatMap((one) => [`-a ${real(one)}`, `-e ${real(one)}`]);
  return [`-A ${words}`, `-E ${words}`, ...lines].map((line) => `${line}\n`).join('');
}

function* rulesStep(compilation: Compilation, family: IPFamily): Generator<string> {
  const { kernel, payload } = compilation.rules[family];
  const tool = TOOL[family];
  yield `\n${tool}-restore -w 5 --noflush <<'${END}'\n`;
  yield* printRestore(payload);
  yield `${END}\n`;
  const filled = new Set(
    payload.tables.flatMap(({ name, chains }) => chains.map((chain) => `${name} ${chain.name}`)),
  );
  for (const { name: table, chains } of kernel.tables) {
    for (const { name, policy, rules } of chains) {
      if (policy === undefined) {
        if (!filled.has(`${table} ${name}`)) yield `chain ${tool} ${table} ${name}\n`;
        continue;
      }
      // Each one goes to the head, so the first comes last.
      for (const rule of rules.toReversed()) {
        yield `jump ${tool} ${table} ${restoreLine(rule, name, kernel.family).replace(/^-A /, '')}\n`;
      }
    }
  }
}

function usesCounter({ tables }: Ruleset, name: string): boolean {
  return tables.some(({ chains }) =>
    chains.some(({ rules }) =>
      rules.some(({ matches }) => matches.some((match) => match.kind === 'nfacct' && match.name === name)),
    ),
  );
}
