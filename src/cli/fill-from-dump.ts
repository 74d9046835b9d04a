import { hostname } from 'node:os';
import type { CompileOptions } from '../compile/index.ts';
import { adoptFromDump, inferSettings } from '../diff/index.ts';
import type { Cluster } from '../kube/index.ts';
import type { Family, Ruleset } from '../netfilter/index.ts';

export interface Filled {
  readonly cluster: Cluster;
  readonly request: CompileOptions;
  readonly assumptions: readonly string[];
  /** Services whose endpoints are not in the input: `shop/web: 10.244.1.10:8080`. */
  readonly unjudged: readonly string[];
  /** Services that the dump gave an address, as `namespace/name`. */
  readonly addressed: ReadonlySet<string>;
}

/** Stands for the node in a dump whose name nobody knows. */
const UNNAMED_NODE = 'this-node';

/**
 * Takes from a node's dump what manifests and options leave open, so that the two can be compared without a
 * word of configuration. Whatever was said stays as it is.
 */
export function fillFromDump(
  cluster: Cluster,
  request: CompileOptions,
  rulesets: Readonly<Partial<Record<Family, Ruleset>>>,
): Filled {
  const found = inferSettings(rulesets, cluster);
  // On the node itself its host name is its Node's name, unless somebody overrode that.
  const here = hostname().toLowerCase();
  const node = found.nodeName ?? cluster.nodes.find(({ name }) => name === here)?.name ?? unnamed(cluster);
  const adopted = adoptFromDump(cluster, rulesets, request.node ?? node);
  const nfacct = request.nfacct ?? found.nfacct;
  return {
    cluster: adopted.cluster,
    request: {
      ...request,
      ...(nfacct === undefined ? {} : { nfacct }),
      fallback: {
        configuration: found.configuration,
        version: found.version,
        node,
        assumptions: [
          ...found.assumptions.flatMap(({ about, text }) => (about === 'nfacct' ? [] : [{ about, text }])),
          ...(found.nodeName === undefined ? [{ about: 'node' as const, text: nodeWords(node) }] : []),
        ],
        ...(found.interfaces === undefined ? {} : { interfaces: found.interfaces }),
      },
    },
    assumptions: adopted.assumptions,
    unjudged: adopted.unjudged,
    addressed: adopted.addressed,
  };
}

function nodeWords(node: string): string {
  return node === UNNAMED_NODE
    ? 'no node is named: endpoints are taken for local where the dump has them in KUBE-SVL chains'
    : `node ${node}`;
}

function unnamed(cluster: Cluster): string {
  return cluster.nodes.length === 1 ? (cluster.nodes[0]?.name ?? UNNAMED_NODE) : UNNAMED_NODE;
}
