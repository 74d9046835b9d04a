/**
 * The library: Kubernetes objects in, a node's rules out. Reads no files and writes none.
 *
 *     const problems = [];
 *     const collector = clusterCollector((problem) => problems.push(problem), parseYaml);
 *     for (const object of objects) collector.add(object);
 *     const compilation = compile(collector.cluster(), { node: 'node-a' }, (problem) => problems.push(problem));
 *     for (const text of printSave(compilation.rules.IPv4.kernel)) process.stdout.write(text);
 */
export { type Compilation, type CompileOptions, compile, type IptablesRules, NFACCT_OBJECTS } from './compile/index.ts';
export { type Diagnostic, type FieldPath, formatFieldPath, type Origin, type Report, type Severity } from './diagnostics.ts';
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
export { canonicalRule, type Family, parseIptablesSave, printRestore, printSave, type Rule, type Ruleset } from './netfilter/index.ts';
