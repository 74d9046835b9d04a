import type { Finding, Problem, ProblemCode } from './comparison.ts';
import { runningMode } from './proxy-mode.ts';
import { commentOf, jumpOf } from './rule-key.ts';
import { isBuiltIn, isProxyChain, isServiceChain, modeOfChain } from './scope.ts';
import { rulesOf, type View } from './view.ts';

/** Causes that explain all differences at once, so that they are told once. */

/**
 * An iptables older than the one that wrote the rules prints them without some matches: then service ports
 * look alike. The text says what was seen; undefined where nothing of the kind was.
 */
export function hiddenMatches(actual: View): string | undefined {
  const dispatch = rulesOf(actual, 'nat', 'KUBE-SERVICES').filter(
    (rule) =>
      rule.destination !== undefined && rule.protocol !== undefined && isServiceChain(jumpOf(rule) ?? ''),
  );
  const ofPorts = new Set(['tcp', 'udp', 'sctp', 'multiport', 'unknown']);
  const without = dispatch.filter(({ matches }) => !matches.some(({ kind }) => ofPorts.has(kind)));
  const accepting = rulesOf(actual, 'filter', 'KUBE-FORWARD').filter(
    (rule) => commentOf(rule) === 'kubernetes forwarding rules' && rule.target?.kind === 'ACCEPT',
  );
  const hidden = accepting.some(
    ({ matches }) => !matches.some(({ kind }) => kind === 'mark' || kind === 'unknown'),
  );
  // One such rule may have been written by hand. That several are like this and none is otherwise, or that marks
  // are missing as well, is the printer's doing.
  const printed = accepting.length > 0 ? hidden : without.length > 1 && without.length === dispatch.length;
  if (without.length === 0 || !printed) return undefined;
  const byTraffic = new Map<string, number>();
  for (const { destination, protocol } of without) {
    const key = `${destination?.address ?? ''}/${protocol?.protocol ?? ''}`;
    byTraffic.set(key, (byTraffic.get(key) ?? 0) + 1);
  }
  const listed = [...byTraffic].slice(0, 3).map(([traffic, count]) => `${count} for ${traffic}`);
  const more = byTraffic.size > 3 ? ` and ${byTraffic.size - 3} more` : '';
  return (
    `the dump looks printed by an iptables older than the one that wrote the rules: port and mark matches are not shown ` +
    `(KUBE-SERVICES has rules without --dport: ${listed.join(', ')}${more})`
  );
}

function finding(view: View, code: ProblemCode, message: string): Finding {
  const problem: Problem = { code, message, expected: [], actual: [] };
  return { family: view.family, problems: [problem] };
}

/** The node runs kube-proxy in another mode than the one that was compiled. */
export function otherMode(expected: View, actual: View): Finding | undefined {
  const modeOf = (view: View) => {
    for (const { chains } of view.tables.values()) {
      for (const chain of chains.keys()) {
        const mode = modeOfChain(chain);
        if (mode !== undefined) return { mode, chain };
      }
    }
    return undefined;
  };
  const [wanted, running] = [runningMode(expected), runningMode(actual)];
  // What the other mode left behind is told apart.
  if (
    wanted !== undefined &&
    wanted === running &&
    jumpsToServices(actual) * 2 >= jumpsToServices(expected)
  ) {
    return undefined;
  }
  const found =
    wanted === 'ipvs' && running === 'iptables' ? { mode: running, chain: 'KUBE-SERVICES' } : modeOf(actual);
  if (found === undefined || modeOf(expected)?.mode === found.mode) return undefined;
  return finding(
    actual,
    'another-mode',
    `this node runs kube-proxy in ${found.mode} mode (chain ${found.chain}), or has leftovers of it`,
  );
}

function jumpsToServices(view: View): number {
  return rulesOf(view, 'nat', 'KUBE-SERVICES').filter((rule) => isServiceChain(jumpOf(rule) ?? '')).length;
}

/**
 * Nothing of kube-proxy's is left in the nat table, or where that was not dumped, in any of the tables that have
 * some of it on the expected side: no rule in its chains (`iptables -F` leaves them there, empty), and no jump.
 */
export function flushedNode(expected: View, actual: View, servicePorts: number): Finding | undefined {
  const hasAny = (view: View, table: string) => {
    for (const { name, rules } of view.tables.get(table)?.chains.values() ?? []) {
      if (rules.length === 0) continue;
      if (isProxyChain(name)) return true;
      if (isBuiltIn(name) && rules.some((rule) => isProxyChain(jumpOf(rule) ?? ''))) return true;
    }
    return false;
  };
  const names = actual.tables.has('nat') ? ['nat'] : [...actual.tables.keys()];
  const wanted = names.filter((table) => hasAny(expected, table));
  if (wanted.length === 0 || wanted.some((table) => hasAny(actual, table))) return undefined;
  const tables = `${wanted.join(' and ')} table${wanted.length === 1 ? '' : 's'}`;
  const hooks = wanted.includes('nat') ? ' (KUBE-SERVICES is missing from PREROUTING and OUTPUT)' : '';
  const ports = servicePorts === 1 ? '1 service port has none' : `${servicePorts} service ports have none`;
  const family = actual.family === 'ipv4' ? 'IPv4' : 'IPv6';
  return finding(
    actual,
    'node-flushed',
    `no kube-proxy rules in the ${family} ${tables}${hooks}; ${ports}: the node was flushed, kube-proxy does not run, or it runs in nftables mode`,
  );
}
