/**
 * The library: Kubernetes objects in, a node's rules out, and what differs between two nodes' rules. Only
 * loadObjects reads files; nothing writes any.
 *
 *     const problems = [];
 *     const collector = clusterCollector((problem) => problems.push(problem), parseYaml);
 *     for (const object of objects) collector.add(object);
 *     const compilation = compile(collector.cluster(), { node: 'node-a' }, (problem) => problems.push(problem));
 *     for (const text of printSave(compilation.rules.IPv4.kernel)) process.stdout.write(text);
 *
 * and with what the node has:
 *
 *     const state = (kind, ruleset) => ({ kind, rulesets: { ipv4: ruleset }, owners: [], assumptions: [] });
 *     const expected = state('manifests', compilation.rules.IPv4.kernel);
 *     const actual = state('rules', parseIptablesSave(dump, { family: 'ipv4' }).ruleset);
 *     const comparison = compareStates(expected, actual, { scope: 'kube-proxy' });
 *     for (const text of textReport(comparison, { verbose: false })) process.stdout.write(text);
 *     const { ipv4 } = patchOf(expected, actual);
 */
import { DEFAULT_LIMITS, parseYaml as parseDocuments } from './load/index.ts';

export {
  type Compilation,
  type CompileOptions,
  compile,
  type IptablesRules,
  type IpvsArtefacts,
  NFACCT_OBJECTS,
} from './compile/index.ts';
export {
  type Diagnostic,
  type FieldPath,
  formatFieldPath,
  type Origin,
  type Report,
  type Severity,
} from './diagnostics.ts';
export {
  type CompareOptions,
  type Comparison,
  changedChains,
  compareStates,
  type Finding,
  type IpvsPatch,
  type IpvsState,
  ipvsPatchOf,
  type NodeState,
  PatchError,
  type Problem,
  type ProblemCode,
  patchOf,
  UnwritablePatchError,
} from './diff/index.ts';
export {
  type Cluster,
  clusterCollector,
  type InputObject,
  type IPFamily,
  isReadKind,
  type KubeProxyConfiguration,
  type KubeProxyVersion,
  kubeProxyVersion,
  type NetworkInterface,
} from './kube/index.ts';
export { type LoadedObject, loadObjects, locate, renderDiagnostic } from './load/index.ts';
export {
  canonicalRule,
  type Family,
  type IpSet,
  parseIpAddr,
  parseIpset,
  parseIptablesSave,
  parseIpvsadm,
  printAddrBatch,
  printIpsetRestore,
  printIpvsadmRestore,
  printRestore,
  printSave,
  type Rule,
  type Ruleset,
  type VirtualServer,
} from './netfilter/index.ts';
export {
  githubReport,
  jsonReport,
  statReport,
  summaryLine,
  textReport,
  unifiedReport,
} from './report/index.ts';

/** The first document of a text, as kubectl reads it. Throws where it is none, or one that nobody needs (alias bombs). */
export function parseYaml(text: string): unknown {
  return parseDocuments(text, DEFAULT_LIMITS)[0];
}
