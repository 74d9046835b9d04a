import { compile } from '../../../src/compile/index.ts';
import type { Diagnostic } from '../../../src/diagnostics.ts';
import type { NodeState } from '../../../src/diff/index.ts';
import { clusterCollector, isReadKind, kubeProxyVersion, parseIP } from '../../../src/kube/index.ts';
import { DEFAULT_LIMITS, loadObjects, parseYaml } from '../../../src/load/index.ts';
import type { ConformanceCase } from '../../support/shared.ts';

/** A case's manifests, compiled as kp-compile would for its node. */
export async function compileCase(each: ConformanceCase, version: string): Promise<NodeState> {
  const problems: Diagnostic[] = [];
  const report = (problem: Diagnostic) => void problems.push(problem);
  const collector = clusterCollector(report, (text) => parseYaml(text, DEFAULT_LIMITS)[0]);
  await loadObjects([each.cluster, each.config], (object) => collector.add(object), report, {
    wants: isReadKind,
  });
  const interfaces = each.interfaces.map(({ name, addresses }) => ({
    name,
    addresses: addresses.flatMap((text) => parseIP(text.replace(/\/.*/, '')) ?? []),
  }));
  const compilation = compile(
    collector.cluster(),
    {
      node: each.node,
      version: kubeProxyVersion(Number(version.slice(2))),
      ...(interfaces.length > 0 ? { interfaces } : {}),
    },
    report,
  );
  if (compilation === undefined) throw new Error(JSON.stringify(problems));
  return {
    kind: 'manifests',
    rulesets: { ipv4: compilation.rules.IPv4.kernel, ipv6: compilation.rules.IPv6.kernel },
    owners: [],
    assumptions: compilation.assumptions,
  };
}
