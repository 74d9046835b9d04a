/** Pods that workloads would have: as many, by names that do not change, at addresses that follow from those. */
import type { Report } from '../diagnostics.ts';
import type { Cluster } from './cluster.ts';
import { report as reportAt } from './fields.ts';
import type { CIDR } from './ip.ts';
import type { Pod, PodTemplate, Workload } from './pod.ts';
import { addressPool } from './pool.ts';

type Maker = Omit<Workload, 'kind'> & { readonly kind: Workload['kind'] | 'Pod' };

/** More Pods than any workload that is known of has, and than a cluster has (5,000 nodes of 110). */
const MAX_REPLICAS = 10_000;
const MAX_PODS = 550_000;

/**
 * A function that gives the Pods of a workload. A DaemonSet has one on each Node of the input (or one, where there
 * are no Nodes), at home there; the others are on no node that anybody knows. With hostNetwork they have the
 * addresses of Nodes, in the order of their names, as far as those reach.
 */
export function standInPods(
  cluster: Cluster,
  podCIDRs: readonly CIDR[],
  report: Report,
): (maker: Maker) => readonly Pod[] {
  const pools = podCIDRs.map((cidr) => addressPool(cidr, 'pods'));
  for (const { addresses } of cluster.pods) {
    for (const { ip } of addresses) for (const pool of pools) pool.reserve(ip);
  }
  const deployments = new Set(
    cluster.workloads
      .filter(({ kind }) => kind === 'Deployment')
      .map(({ namespace, name }) => `${namespace}/${name}`),
  );
  const known = new Map<Maker, readonly Pod[]>();
  let count = 0;

  const make = (maker: Maker): readonly Pod[] => {
    const { kind, namespace, name, template, origin } = maker;
    // The Pods of a ReplicaSet are those of its Deployment.
    if (maker.owner !== undefined && deployments.has(`${namespace}/${maker.owner}`)) return [];
    const context = { object: `${kind} ${namespace}/${name}`, origin, report };
    const homes = kind === 'DaemonSet' ? cluster.nodes.map((node) => node.name) : [];
    const replicas = kind === 'DaemonSet' ? Math.max(homes.length, 1) : maker.replicas;
    count += replicas;
    if (replicas > MAX_REPLICAS || count > MAX_PODS) {
      const most = replicas > MAX_REPLICAS ? `${MAX_REPLICAS} of one` : `${MAX_PODS} in all`;
      const message = `${replicas} Pods; at most ${most} are invented`;
      reportAt(context, 'error', 'no-address-left', ['spec', 'replicas'], message);
      return [];
    }
    const pods: Pod[] = [];
    for (let index = 0; index < replicas; index++) {
      // A Pod on a node is known by it, so that its address stays when other Nodes come and go.
      const own = homes[index] ?? String(index);
      const addresses = addressesOf(`${namespace}/${kind}/${name}/${own}`, index, template);
      if (addresses.length === 0) {
        reportAt(context, 'error', 'no-address-left', [], 'no address is left in the network of Pods');
        return pods;
      }
      pods.push({
        namespace,
        name: `${name}-${own}`,
        template,
        nodeName: template.hostNetwork ? cluster.nodes[index]?.name : homes[index],
        addresses,
        ready: true,
        terminating: false,
        terminal: false,
        origin,
      });
    }
    return pods;
  };

  const addressesOf = (key: string, index: number, { hostNetwork }: PodTemplate): Pod['addresses'] => {
    const ofNode = hostNetwork ? (cluster.nodes[index]?.internalIPs ?? []) : [];
    const ips = ofNode.length > 0 ? ofNode : pools.flatMap((pool) => pool.allocate(key) ?? []);
    return ips.map((ip) => ({ given: ip.text, ip }));
  };

  return (maker) => {
    const pods = known.get(maker) ?? make(maker);
    known.set(maker, pods);
    return pods;
  };
}
