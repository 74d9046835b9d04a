/**
 * Pods, and what makes Pods, that were read twice with different contents. Dumps that are taken object by object
 * (must-gather) have them: some seconds lie between the list of a namespace and the file of each Pod. That matters
 * only where endpoints come from Pods at all.
 */
import type { Pod, Workload } from './pod.ts';
import { indexByLabels } from './selectors.ts';
import type { Service } from './service.ts';

export interface Copies {
  readonly kind: string;
  /** `namespace/name` */
  readonly key: string;
  readonly first: Pod | Workload;
  readonly second: Pod | Workload;
}

/** Those of which one of the services, which take their endpoints from Pods, may get others by the one than by the other. */
export function copiesThatMatter(
  copies: readonly Copies[],
  services: readonly Service[],
  pods: readonly Pod[],
): ReadonlySet<Copies> {
  const matter = new Set<Copies>();
  const findCopies = indexByLabels(
    copies.flatMap((pair) => [pair.first, pair.second].map((item) => ({ ...item, pair }))),
  );
  const findPods = indexByLabels(pods);
  for (const { namespace, template } of services) {
    const found = findCopies(namespace, template.selector);
    if (found.length === 0) continue;
    // A workload stands in for Pods that the input does not have.
    const hasPods = findPods(namespace, template.selector).some(({ addresses }) => addresses.length > 0);
    for (const { pair } of found) {
      if (pair.kind === 'Pod' ? !isGone(pair) : !hasPods) matter.add(pair);
    }
  }
  return matter;
}

/** Neither copy is an endpoint of anything. */
function isGone({ first, second }: Copies): boolean {
  return [first, second].every((item) => 'terminal' in item && item.terminal);
}
