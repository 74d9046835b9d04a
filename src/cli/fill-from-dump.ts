import { hostname } from 'node:os';
import type { CompileOptions } from '../compile/index.ts';
import { adoptFromDump, type InferredIpvs, inferIpvs, inferSettings, type NodeState } from '../diff/index.ts';
import {
  type Cluster,
  type KubeProxyConfiguration,
  NEWEST_VERSION,
  type NetworkInterface,
} from '../kube/index.ts';

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
  { rulesets, ipvs: listed }: Pick<NodeState, 'rulesets' | 'ipvs'>,
  listedInterfaces: readonly NetworkInterface[] | undefined,
): Filled {
  const found = inferSettings(rulesets, cluster);
  const ipvs = inferIpvs(listed, rulesets, cluster);
  // On the node itself its host name is its Node's name, unless somebody overrode that.
  const here = hostname().toLowerCase();
  const node = found.nodeName ?? cluster.nodes.find(({ name }) => name === here)?.name ?? unnamed(cluster);
  const name = request.node ?? node;
  const adopted = adoptFromDump(
    cluster,
    rulesets,
    name,
    ipvs && listed && { state: listed, localEndpoints: ipvs.localEndpoints },
  );
  const withoutRules = Object.keys(rulesets).length === 0;
  const nfacct = request.nfacct ?? found.nfacct;
  const interfaces =
    request.interfaces ?? listedInterfaces ?? withInternalIPs(ipvs?.interfaces, cluster, name);
  return {
    cluster: adopted.cluster,
    request: {
      ...request,
      ...(nfacct === undefined ? {} : { nfacct }),
      ...(interfaces === undefined ? {} : { interfaces }),
      fallback: {
        configuration: { ...found.configuration, ...ipvs?.configuration },
        version: withoutRules ? NEWEST_VERSION : found.version,
        node,
        assumptions: [
          ...found.assumptions.flatMap(({ about, text }) =>
            about === 'nfacct' || (withoutRules && about === 'version') ? [] : [{ about, text }],
          ),
          ...assumptionsOf(ipvs, found.configuration),
          ...(withoutRules ? [{ about: 'version' as const, text: WITHOUT_RULES }] : []),
          ...(found.nodeName === undefined ? [{ about: 'node' as const, text: nodeWords(node) }] : []),
        ],
        ...(found.interfaces === undefined ? {} : { interfaces: found.interfaces }),
      },
    },
    assumptions: [
      ...adopted.assumptions,
      ...(interfaces === undefined || interfaces === request.interfaces
        ? []
        : [`addresses of the node: ${addressWords(interfaces)} (as in the listing)`]),
    ],
    unjudged: adopted.unjudged,
    addressed: adopted.addressed,
  };
}

/** Those that the rules did not give rise to already. */
function assumptionsOf(ipvs: InferredIpvs | undefined, told: KubeProxyConfiguration) {
  return (ipvs?.assumptions ?? []).flatMap(({ about, text }) =>
    about === 'nfacct' || (about !== 'version' && about !== 'node' && told[about] !== undefined)
      ? []
      : [{ about, text }],
  );
}

const WITHOUT_RULES = `kube-proxy ${NEWEST_VERSION.text}: the newest version known here`;

/** What node ports show of a node's addresses, and those that its Node has. */
function withInternalIPs(
  shown: readonly NetworkInterface[] | undefined,
  { nodes }: Cluster,
  node: string,
): readonly NetworkInterface[] | undefined {
  if (shown === undefined) return undefined;
  const known = new Set(shown.flatMap(({ addresses }) => addresses.map(({ text }) => text)));
  const own = (nodes.find(({ name }) => name === node)?.internalIPs ?? []).filter(
    ({ text }) => !known.has(text),
  );
  return own.length === 0 ? shown : [...shown, { name: 'node', addresses: own }];
}

const MAX_ADDRESSES = 5;

function addressWords(interfaces: readonly NetworkInterface[]): string {
  const texts = interfaces.flatMap(({ addresses }) => addresses.map(({ text }) => text));
  const more = texts.length > MAX_ADDRESSES ? ` and ${texts.length - MAX_ADDRESSES} more` : '';
  return texts.slice(0, MAX_ADDRESSES).join(', ') + more;
}

function nodeWords(node: string): string {
  return node === UNNAMED_NODE
    ? 'no node is named: endpoints are taken for local where the dump has them in KUBE-SVL chains'
    : `node ${node}`;
}

function unnamed(cluster: Cluster): string {
  return cluster.nodes.length === 1 ? (cluster.nodes[0]?.name ?? UNNAMED_NODE) : UNNAMED_NODE;
}
