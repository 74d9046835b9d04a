import { type Compilation, type CompileOptions, compile, versionChanges } from '../compile/index.ts';
import type { Report } from '../diagnostics.ts';
import { type Cluster, type KubeProxyVersion, kubeProxyVersion, type VersionChange } from '../kube/index.ts';
import type { VirtualServer } from '../netfilter/index.ts';
import { ruleLines, viewOf } from './view.ts';

/** What a node's rules change from one version of kube-proxy to a later one. */
export interface Upgrade {
  readonly from: KubeProxyVersion;
  readonly to: KubeProxyVersion;
  readonly mode: string;
  /** One for each change that makes a difference to these Services, in the order of versions. */
  readonly groups: readonly UpgradeGroup[];
  /** Changes that make none. */
  readonly withoutEffect: readonly VersionChange[];
}

export interface UpgradeGroup {
  readonly change: VersionChange;
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

/**
 * Compiles a cluster for each step from one version to another, change by change: what a step changes in the
 * rules is that change's doing. Undefined, after an error, where one of the two versions cannot be compiled.
 */
export function previewUpgrade(
  cluster: Cluster,
  options: CompileOptions,
  versions: { readonly from: KubeProxyVersion; readonly to: KubeProxyVersion },
  report: Report,
): Upgrade | undefined {
  const { from, to } = versions;
  const at = (version: KubeProxyVersion, tell: Report) => compile(cluster, { ...options, version }, tell);
  const first = at(from, report);
  const last = at(to, report);
  if (first === undefined || last === undefined) return undefined;
  const groups: UpgradeGroup[] = [];
  const withoutEffect: VersionChange[] = [];
  let before = linesOf(first);
  for (let minor = from.minor + 1; minor <= to.minor; minor++) {
    // The newest comes first in the list, and each is laid over those above it: so the last is taken off first.
    const changes = versionChanges(first.mode).filter(({ since }) => since === minor);
    for (let left = changes.length - 1; left >= 0; left--) {
      const change = changes[left];
      const without = new Set(changes.slice(0, left).map(({ what }) => what));
      const step = at(kubeProxyVersion(minor, without), () => {});
      if (change === undefined || step === undefined) continue;
      const after = linesOf(step);
      const removed = [...before].filter((line) => !after.has(line));
      const added = [...after].filter((line) => !before.has(line));
      if (removed.length + added.length > 0) groups.push({ change, removed, added });
      else withoutEffect.push(change);
      before = after;
    }
  }
  return { from, to, mode: first.mode, groups, withoutEffect };
}

/** All that a node has, line by line. */
function linesOf({ rules, ipvs }: Compilation): Set<string> {
  const lines = new Set<string>();
  for (const family of ['IPv4', 'IPv6'] as const) {
    const view = viewOf(rules[family].kernel);
    for (const [table, { chains }] of view.tables) {
      for (const [name, chain] of chains) {
        if (chain.policy === undefined) lines.add(`${family} ${table} :${name}`);
        for (const { line } of ruleLines(chain.rules, table, name, view.family))
          lines.add(`${family} ${table} ${line}`);
      }
    }
    for (const { name, members } of ipvs?.sets[family] ?? []) {
      lines.add(`${family} ipset ${name}`);
      for (const { entry } of members) lines.add(`${family} ipset ${name} ${entry}`);
    }
    for (const server of ipvs?.virtualServers[family] ?? []) {
      for (const line of serverLines(server)) lines.add(`${family} ipvs ${line}`);
    }
    for (const address of ipvs?.addresses[family] ?? []) lines.add(`${family} kube-ipvs0 ${address}`);
  }
  return lines;
}

function serverLines({ service, scheduler, flags, realServers }: VirtualServer): string[] {
  const name =
    service.by === 'address'
      ? `${service.protocol} ${service.address} port ${service.port}`
      : JSON.stringify(service);
  return [
    `${name} ${scheduler} ${flags.join(',')}`.trimEnd(),
    ...realServers.map(({ address, port }) => `${name} to ${address} port ${port}`),
  ];
}
