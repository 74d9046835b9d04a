/** Pods that workloads would have: as many, by names that do not change, at addresses that follow from those. */
import type { Report } from '../diagnostics.ts';
import type { Cluster } from './cluster.ts';
import { report as reportAt } from './fields.ts';
import type { CIDR } from './ip.ts';
import type { Pod, Workload } from './pod.ts';
import { addressPool } from './pool.ts';

export type Maker = Omit<Workload, 'kind'> & { readonly kind: Workload['kind'] | 'Pod' };

/** More Pods than any workload that is known of has, and than a cluster has (5,000 nodes of 110). */
const MAX_REPLICAS = 10_000;
const MAX_PODS = 550_000;

/** What is taken for ready is invented. */
export interface AssumedReady {
  readonly podCIDRs: readonly CIDR[];
  /** The node whose rules are asked for, where somebody names it. */
  readonly nodeName?: string | undefined;
}

/**
 * A function that gives the Pods that a workload lacks: those of the input count instead of as many. A DaemonSet has
 * one on each Node of the input that its template selects, at home there; without Nodes it has one, on the node whose
 * rules are asked for. The others are where their template puts them, or on no node that anybody knows. With
 * hostNetwork they have the addresses of Nodes, in the order of their names, as far as those reach.
 */
export function standInPods(
  cluster: Cluster,
  { podCIDRs, nodeName: asked }: AssumedReady,
  report: Report,
): (maker: Maker) => readonly Pod[] {
  const pools = podCIDRs.map((cidr) => addressPool(cidr, 'pods'));
  for (const { addresses } of cluster.pods) {
    for (const { ip } of addresses) for (const pool of pools) pool.reserve(ip);
  }
  for (const { endpoints } of [...cluster.endpointSlices, ...cluster.mirroredSlices]) {
    for (const { canonicalAddress: text, family } of endpoints)
      for (const pool of pools) pool.reserve({ family, text });
  }
  const workloads = new Set(
    cluster.workloads.map(({ kind, namespace, name }) => keyOf(namespace, kind, name)),
  );
  const podsThere = podsByWorkload(cluster, workloads);
  const nodes = new Map(cluster.nodes.map((node) => [node.name, node]));
  const known = new Map<Maker, readonly Pod[]>();
  let count = 0;

  const make = (maker: Maker): readonly Pod[] => {
    const { kind, namespace, name, template, origin, owner } = maker;
    // The Pods of a ReplicaSet are those of its Deployment.
    if (
      kind === 'ReplicaSet' &&
      owner !== undefined &&
      workloads.has(keyOf(namespace, owner.kind, owner.name))
    ) {
      return [];
    }
    const context = { object: `${kind} ${namespace}/${name}`, origin, report };
    const there = podsThere.get(keyOf(namespace, kind, name)) ?? [];
    const homes = kind === 'DaemonSet' ? homesOf(maker, there) : [];
    const onNodes = kind === 'DaemonSet' && cluster.nodes.length > 0;
    const replicas = onNodes
      ? homes.length
      : Math.max((kind === 'DaemonSet' ? 1 : maker.replicas) - there.length, 0);
    count += replicas;
    if (replicas > MAX_REPLICAS || count > MAX_PODS) {
      const most = replicas > MAX_REPLICAS ? `${MAX_REPLICAS} of one` : `${MAX_PODS} in all`;
      const message = `${replicas} Pods; at most ${most} are invented`;
      reportAt(context, 'error', 'no-address-left', ['spec', 'replicas'], message);
      return [];
    }
    const pods: Pod[] = [];
    const ordinals = kind === 'StatefulSet' ? ordinalsOf(maker, there) : undefined;
    for (let index = 0; index < replicas; index++) {
      // A Pod on a node is known by it, so that its address stays when other Nodes come and go.
      const own = homes[index] ?? String(ordinals?.[index] ?? index);
      const alone = kind === 'DaemonSet' && cluster.nodes.length === 0 ? asked : undefined;
      const nodeName =
        maker.nodeName ??
        homes[index] ??
        alone ??
        (template.hostNetwork ? cluster.nodes[index]?.name : undefined);
      const addresses = addressesOf(
        `${namespace}/${kind}/${name}/${own}`,
        template.hostNetwork ? nodeName : undefined,
      );
      if (addresses.length === 0) {
        reportAt(context, 'error', 'no-address-left', [], 'no address is left in the network of Pods');
        return pods;
      }
      pods.push({
        namespace,
        name: `${name}-${own}`,
        template,
        nodeName,
        meantFor: undefined,
        addresses,
        ready: true,
        terminating: false,
        terminal: false,
        owner: undefined,
        origin,
      });
    }
    return pods;
  };

  /** The Nodes that lack a Pod of a DaemonSet: NodeShouldRunDaemonPod, without taints and affinity. */
  const homesOf = (maker: Maker, there: readonly Pod[]): readonly string[] => {
    const { nodeName, nodeSelector } = maker;
    const homes = cluster.nodes.filter(
      ({ name, hasLabels }) =>
        (nodeName === undefined || nodeName === name) && (hasLabels?.(nodeSelector) ?? true),
    );
    if (homes.length === 0 && cluster.nodes.length > 0) {
      reportAt(
        { object: `DaemonSet ${maker.namespace}/${maker.name}`, origin: maker.origin, report },
        'warning',
        'no-endpoints',
        ['spec', 'template', 'spec', nodeName === undefined ? 'nodeSelector' : 'nodeName'],
        'selects none of the Nodes of the input: it has no Pods',
      );
    }
    const targets = there.map((pod) => pod.nodeName ?? pod.meantFor);
    const taken = new Set(targets);
    const free = homes.filter(({ name }) => !taken.has(name)).map(({ name }) => name);
    const anywhere = targets.filter((target) => target === undefined).length;
    return free.slice(0, Math.max(free.length - anywhere, 0));
  };

  const addressesOf = (key: string, host: string | undefined): Pod['addresses'] => {
    const ofNode = (host !== undefined && nodes.get(host)?.internalIPs) || [];
    const ips = ofNode.length > 0 ? ofNode : pools.flatMap((pool) => pool.allocate(key) ?? []);
    return ips.map((ip) => ({ given: ip.text, ip }));
  };

  return (maker) => {
    const pods = known.get(maker) ?? make(maker);
    known.set(maker, pods);
    return pods;
  };
}

function keyOf(namespace: string, kind: Maker['kind'], name: string): string {
  return `${namespace}/${kind}/${name}`;
}

/** The Pods that the controllers count (FilterActivePods), by the workload that says how many there are. */
function podsByWorkload(
  { pods, workloads }: Cluster,
  known: ReadonlySet<string>,
): ReadonlyMap<string, readonly Pod[]> {
  const replicaSets = new Map(
    workloads
      .filter(({ kind }) => kind === 'ReplicaSet')
      .map(({ namespace, name, owner }) => [`${namespace}/${name}`, owner]),
  );
  const groups = new Map<string, Pod[]>();
  for (const pod of pods) {
    const { namespace, owner, template, terminal, terminating } = pod;
    if (owner === undefined || terminal || terminating) continue;
    let top = owner;
    if (owner.kind === 'ReplicaSet') {
      const key = `${namespace}/${owner.name}`;
      // A Deployment names its ReplicaSets after itself and the hash that is a label of their Pods.
      const suffix = `-${template.labels.get('pod-template-hash') ?? ''}`;
      const byName = owner.name.endsWith(suffix) ? owner.name.slice(0, -suffix.length) : '';
      const above = replicaSets.has(key)
        ? replicaSets.get(key)
        : { kind: 'Deployment' as const, name: byName };
      if (above !== undefined && known.has(keyOf(namespace, above.kind, above.name))) top = above;
    }
    const key = keyOf(namespace, top.kind, top.name);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [pod]);
    else group.push(pod);
  }
  return groups;
}

/** The ordinals of a StatefulSet that no Pod has yet. */
function ordinalsOf({ name, replicas, firstOrdinal }: Maker, there: readonly Pod[]): readonly number[] {
  const taken = new Set(there.map((pod) => pod.name));
  const ordinals: number[] = [];
  for (let ordinal = firstOrdinal; ordinal < firstOrdinal + replicas; ordinal++) {
    if (!taken.has(`${name}-${ordinal}`)) ordinals.push(ordinal);
  }
  return ordinals;
}

const POD_NAME = 'statefulset.kubernetes.io/pod-name';
const POD_INDEX = 'apps.kubernetes.io/pod-index';

/** Whether a selector asks for labels that only the controller of StatefulSets sets: initIdentity, updateIdentity. */
export function asksForOrdinal(selector: ReadonlyMap<string, string>): boolean {
  return selector.has(POD_NAME) || selector.has(POD_INDEX);
}

/** The name of the Pod of a StatefulSet that such a selector finds. */
export function podByOrdinal(set: Maker, selector: ReadonlyMap<string, string>): string | undefined {
  const { name, replicas, firstOrdinal, template } = set;
  const ordinal = selector.get(POD_INDEX) ?? selector.get(POD_NAME)?.slice(name.length + 1) ?? '';
  const index = Number(ordinal) - firstOrdinal;
  if (!/^(0|[1-9]\d*)$/.test(ordinal) || index < 0 || index >= replicas) return undefined;
  const pod = `${name}-${ordinal}`;
  const found = [...selector].every(
    ([label, value]) =>
      label === POD_INDEX || (label === POD_NAME ? value === pod : template.labels.get(label) === value),
  );
  return found ? pod : undefined;
}
