export { type AdoptedCluster, adoptFromDump } from './adopt.ts';
export { type ChangedChain, changedChains } from './changed-chains.ts';
export { type CompareOptions, compareStates, type NodeState } from './compare.ts';
export type { ComparedFamily, Comparison, Finding, Problem, ProblemCode, RuleLine } from './comparison.ts';
export { type InferredSettings, inferSettings } from './infer.ts';
export type { IpvsState } from './ipvs-difference.ts';
export { type IpvsPatch, ipvsPatchOf } from './ipvs-patch.ts';
export type { ServicePortOwner } from './names.ts';
export { PatchError, patchOf, UnwritablePatchError } from './patch.ts';
