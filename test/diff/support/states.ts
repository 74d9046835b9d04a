import { type CompileOptions, compile } from '../../../src/compile/index.ts';
import type { Diagnostic } from '../../../src/diagnostics.ts';
import type { NodeState } from '../../../src/diff/index.ts';
import { clusterCollector, isReadKind, kubeProxyVersion, parseIP } from '../../../src/kube/index.ts';
import { DEFAULT_LIMITS, loadObjects, parseYaml } from '../../../src/load/index.ts';
import { type Family, parseIptablesSave, type Ruleset } from '../../../src/netfilter/index.ts';
import type { Fixture } from '../../support/fixtures.ts';
import type { ConformanceCase } from '../../support/shared.ts';

/** A case's manifests, compiled as kp-compile would for its node. */
export function compileCase(each: ConformanceCase, version: string): Promise<NodeState> {
  const interfaces = each.interfaces.map(({ name, addresses }) => ({
    name,
    addresses: addresses.flatMap((text) => parseIP(text.replace(/\/.*/, '')) ?? []),
  }));
  return compileFiles([each.cluster, each.config], {
    node: each.node,
    version: kubeProxyVersion(Number(version.slice(2))),
    ...(interfaces.length > 0 ? { interfaces } : {}),
  });
}

/** A fixture, as `kp-compile FOLDER` would; its kube-proxy.yaml is among the files of the folder. */
export function compileFixture({ folder }: Fixture, version: string): Promise<NodeState> {
  return compileFiles([folder], { node: 'node-a', version: kubeProxyVersion(Number(version.slice(2))) });
}

export async function compileFiles(files: readonly string[], options: CompileOptions): Promise<NodeState> {
  const problems: Diagnostic[] = [];
  const report = (problem: Diagnostic) => void problems.push(problem);
  const collector = clusterCollector(report, (text) => parseYaml(text, DEFAULT_LIMITS)[0]);
  await loadObjects(files, (object) => collector.add(object), report, { wants: isReadKind });
  const compilation = compile(collector.cluster(), options, report);
  if (compilation === undefined) throw new Error(JSON.stringify(problems));
  return {
    kind: 'manifests',
    rulesets: { ipv4: compilation.rules.IPv4.kernel, ipv6: compilation.rules.IPv6.kernel },
    owners: [],
    assumptions: compilation.assumptions,
  };
}

/** A node's dump, family by family, as `iptables-save` and `ip6tables-save` print it. */
export function dumped(texts: Partial<Readonly<Record<Family, string>>>): NodeState {
  const rulesets: Partial<Record<Family, Ruleset>> = {};
  for (const family of ['ipv4', 'ipv6'] as const) {
    const text = texts[family];
    if (text !== undefined) rulesets[family] = parseIptablesSave(text, { family }).ruleset;
  }
  return { kind: 'rules', rulesets, owners: [], assumptions: [] };
}

/** A state of one family that was made by hand or by a test. */
export function stateOf(ruleset: Ruleset): NodeState {
  return { kind: 'rules', rulesets: { [ruleset.family]: ruleset }, owners: [], assumptions: [] };
}

/** The same with all rules made: chains of a compilation make them each time they are asked. */
export function withRulesMade(ruleset: Ruleset): Ruleset {
  return {
    ...ruleset,
    tables: ruleset.tables.map((table) => ({
      ...table,
      chains: table.chains.map(({ name, policy, rules }) => ({ name, policy, rules })),
    })),
  };
}
