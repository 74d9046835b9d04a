/** Whether the comparison says of a mutation what it should. */
import { compareStates, type Finding, type NodeState, patchOf } from '../../../src/diff/index.ts';
import { applyRestore, parseIptablesSave, type Ruleset } from '../../../src/netfilter/index.ts';
import { foreignLines } from './foreign.ts';
import type { Mutation, Mutator } from './mutations.ts';
import { differentBehaviour } from './packets.ts';
import { stateOf } from './states.ts';

/** What is wrong with what is said, in a few lines each; nothing where all is right. */
export function judge(original: Ruleset, mutation: Mutation, mutator: Mutator): string[] {
  const [expected, actual] = [stateOf(original), stateOf(mutation.ruleset)];
  const { findings, incomparable } = compareStates(expected, actual, { scope: 'kube-proxy' });
  const witness = mutation.settled === undefined ? differentBehaviour(original, mutation.ruleset) : undefined;
  const differs = mutation.settled === undefined ? witness !== undefined : mutation.settled === 'difference';
  const told = findings
    .map((finding) => `${finding.servicePort ?? 'node'}: ${messages(finding)}`)
    .join('\n    ');
  if (incomparable !== undefined) return [`cannot be compared: ${incomparable}`];
  const wrong: string[] = [];
  if (differs && findings.length === 0) wrong.push(`NOT TOLD ${witness ?? ''}`);
  else if (!differs && findings.length > 0) wrong.push(`FALSE ALARM\n    ${told}`);
  else if (findings.length > 0) {
    const label = (owner: string | undefined) => (owner === undefined ? undefined : mutator.label(owner));
    const owners = new Set([...mutation.owners].map(label));
    const involved = new Set([...mutation.involved].map(label));
    if (!findings.some(({ servicePort }) => owners.has(servicePort)))
      wrong.push(`TOLD TO OTHERS than ${[...owners].join()}\n    ${told}`);
    for (const { servicePort } of findings) {
      if (!owners.has(servicePort) && !involved.has(servicePort))
        wrong.push(`BLAMES ${servicePort}, not ${[...owners].join()}\n    ${told}`);
    }
  }
  return [...wrong, ...mend(expected, actual, findings)];
}

function messages({ problems }: Finding): string {
  return problems.map(({ message }) => message).join('; ');
}

/** The patch makes the two the same (patchOf looks itself) and leaves alone what is not kube-proxy's. */
function mend(expected: NodeState, actual: NodeState, findings: readonly Finding[]): string[] {
  try {
    const patches = patchOf(expected, actual);
    const wrong: string[] = [];
    for (const family of ['ipv4', 'ipv6'] as const) {
      const [before, patch] = [actual.rulesets[family], patches[family]];
      if (before === undefined) continue;
      if ((patch !== undefined) !== findings.length > 0) wrong.push('PATCH where nothing differs, or none');
      if (patch === undefined) continue;
      const applied = applyRestore(before, parseIptablesSave(patch, { family, keepOrder: true }));
      if (!('ruleset' in applied)) wrong.push(`PATCH does not load: ${applied.error}`);
      else if (foreignLines(before).join('\n') !== foreignLines(applied.ruleset).join('\n'))
        wrong.push('PATCH changes what is foreign');
    }
    return wrong;
  } catch (error) {
    return [`PATCH ${error}`];
  }
}
