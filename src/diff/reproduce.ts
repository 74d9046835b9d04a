import { compile } from '../compile/index.ts';
import type { KubeProxyVersion } from '../kube/index.ts';
import type { Chain, Family, Ruleset } from '../netfilter/index.ts';
import { inferSettings } from './infer.ts';
import { type ProgrammedServicePort, readInventory } from './inventory.ts';
import { clusterOf, NODE_OF_DUMP } from './inventory-cluster.ts';
import { type RecognisedVersion, recogniseVersion } from './recognise-version.ts';
import { isFixedChain, isProxyChain } from './scope.ts';
import { ruleLines, type View, viewOf } from './view.ts';

/** What a node's rules program, and whether that, compiled again, gives the same rules. */
export interface Inventory {
  readonly recognised: RecognisedVersion;
  /** Whose layout the rules were compiled in again. */
  readonly version: KubeProxyVersion;
  readonly servicePorts: readonly ProgrammedServicePort[];
  /** kube-proxy's chains that came out the same, rule by rule. */
  readonly equalChains: number;
  readonly otherChains: readonly OtherChain[];
}

/** A chain of kube-proxy's that is not the same when compiled again, and why. */
export interface OtherChain {
  readonly family: Family;
  readonly table: string;
  readonly chain: string;
  readonly reason: string;
}

type Rulesets = Readonly<Partial<Record<Family, Ruleset>>>;

/** Reads service ports out of a node's rules of iptables mode and compiles them again. */
export function takeInventory(rulesets: Rulesets, version?: KubeProxyVersion): Inventory {
  const views = Object.values(rulesets).map((ruleset) => viewOf(ruleset));
  const recognised = recogniseVersion(views);
  const servicePorts = readInventory(views);
  const cluster = clusterOf(servicePorts);
  const found = inferSettings(rulesets, cluster);
  const chosen = version ?? found.version;
  const compilation = compile(
    cluster,
    {
      version: chosen,
      node: NODE_OF_DUMP,
      ...(found.nfacct === undefined ? {} : { nfacct: found.nfacct }),
      ...(found.interfaces === undefined ? {} : { interfaces: found.interfaces }),
      configuration: {
        configuration: found.configuration,
        origin: { file: 'the dump', format: 'yaml', start: 0, end: 0, path: [] },
      },
    },
    () => {},
  );
  let equalChains = 0;
  const otherChains: OtherChain[] = [];
  // In ipvs mode rules name no Services: there is nothing to compile again.
  for (const view of recognised.mode === 'ipvs' ? [] : views) {
    const compiled =
      compilation && viewOf(compilation.rules[view.family === 'ipv4' ? 'IPv4' : 'IPv6'].kernel);
    for (const { table, chain } of proxyChains(view)) {
      const reason = whyOther(view, compiled, table, chain);
      if (reason === undefined) equalChains++;
      else otherChains.push({ family: view.family, table, chain: chain.name, reason });
    }
  }
  return { recognised, version: chosen, servicePorts, equalChains, otherChains };
}

function proxyChains(view: View): { readonly table: string; readonly chain: Chain }[] {
  return [...view.tables].flatMap(([table, { chains }]) =>
    [...chains.values()].filter(({ name }) => isProxyChain(name)).map((chain) => ({ table, chain })),
  );
}

function whyOther(view: View, compiled: View | undefined, table: string, chain: Chain): string | undefined {
  const { name } = chain;
  const made = compiled?.tables.get(table)?.chains.get(name);
  if (made === undefined) {
    if (name === 'KUBE-FIREWALL') return 'kubelet’s';
    if (!isFixedChain(name) && view.tables.get(table)?.reachable.has(name) !== true)
      return 'no rule leads to it';
    return 'not among the chains of this version';
  }
  const shared = isFixedChain(name);
  const lines = (of: Chain) => {
    const texts = ruleLines(of.rules, table, name, view.family).map(({ line }) => line);
    // Service ports stand in any order in chains that all of them share.
    return shared ? texts.toSorted() : texts;
  };
  const [before, after] = [lines(chain), lines(made)];
  const index = before.findIndex((line, at) => line !== after[at]);
  if (index < 0 && before.length === after.length) return undefined;
  if (name === 'KUBE-FIREWALL') return 'kubelet’s rules';
  const only = before.filter((line) => !after.includes(line));
  const gone = after.filter((line) => !before.includes(line));
  if (only.length > 0) return `has ${only[0]}${gone[0] === undefined ? '' : `, not ${gone[0]}`}`;
  return gone.length > 0 ? `lacks ${gone[0]}` : 'has its rules in another order';
}
