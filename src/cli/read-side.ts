/** One side of kp-diff: whatever was named for it → the state of a node. */
import { type CompileOptions, compile, type IpvsArtefacts } from '../compile/index.ts';
import type { Diagnostic, Report } from '../diagnostics.ts';
import type { IpvsState, NodeState } from '../diff/index.ts';
import {
  type Cluster,
  type FoundConfiguration,
  type NetworkInterface,
  servicePortName,
} from '../kube/index.ts';
import { locate, type Sources, type WholeInput } from '../load/index.ts';
import type { Family, KnownChains } from '../netfilter/index.ts';
import type { ReportPlace } from '../report/index.ts';
import { saysInvented } from './artefacts.ts';
import type { CutTable } from './cut-off.ts';
import { detectInput, type RulesFile } from './detect-input.ts';
import { fillFromDump } from './fill-from-dump.ts';
import { type InputOptions, inputLimits } from './input-options.ts';
import type { Io } from './io.ts';
import { answeredBy, deriveEndpoints, inventAddresses, type ManifestRequest } from './manifest-options.ts';
import type { Progress } from './progress.ts';
import { readCluster } from './read-cluster.ts';
import { canonicalState, type IpvsListing, readIpvs } from './read-ipvs.ts';
import { readRules } from './read-rules.ts';

export type Side = RulesSide | ManifestsSide;

interface RulesSide {
  readonly kind: 'rules';
  readonly state: NodeState;
  readonly cuts: readonly CutTable[];
  /** Lines inside of tables that could not be read: rules may be lost. */
  readonly unread: number;
  /** Of the node, where a listing of all its addresses was given. */
  readonly interfaces?: readonly NetworkInterface[];
  /** What kp-compile wrote with addresses that no cluster gave. */
  readonly invented: boolean;
}

export interface ManifestsSide {
  readonly kind: 'manifests';
  readonly cluster: Cluster;
  readonly configuration: FoundConfiguration | undefined;
  readonly sources: Sources;
}

/** Reads one side; undefined, after an error, where it cannot be used. */
export async function readSide(
  inputs: readonly string[],
  options: InputOptions & {
    readonly config?: string;
    readonly family?: Family;
    readonly lastWins?: boolean;
    /** Chains of the other side, where that was read before. */
    readonly known?: KnownChains;
  },
  io: Io,
  progress: Progress,
  report: Report,
): Promise<Side | undefined> {
  const rules: RulesFile[] = [];
  const listings: IpvsListing[] = [];
  const manifests: string[] = [];
  const given = new Map<string, WholeInput>();
  let unusable = false;
  const limits = inputLimits(options);
  for (const input of inputs) {
    const found = await detectInput(input, io, limits);
    if (found.kind === 'rules') {
      rules.push(...found.files);
      listings.push(...found.listings);
    } else if (found.kind === 'unusable') {
      report(found.problem);
      unusable = true;
    } else {
      manifests.push(found.input);
      if (found.whole !== undefined) given.set(found.input, found.whole);
    }
  }
  if (unusable) return undefined;
  const [firstRules] = [...rules, ...listings];
  const [firstManifests] = manifests;
  if (firstRules !== undefined && firstManifests !== undefined) {
    report({
      code: 'mixed-inputs',
      severity: 'error',
      message: `holds what a node has, and ${firstManifests} on the same side holds manifests`,
      place: { file: firstRules.file },
      help: 'each side is one or the other',
    });
    return undefined;
  }
  if (firstRules !== undefined) {
    const read = readRules(rules, options.family, report, options.known);
    const ipvs = listings.length === 0 ? undefined : readIpvs(listings, report);
    if (read === undefined || (listings.length > 0 && ipvs === undefined)) return undefined;
    return {
      kind: 'rules',
      state: { ...read.state, ...(ipvs && { ipvs: ipvs.state }) },
      cuts: read.cuts,
      unread: read.unread,
      ...(ipvs?.interfaces && { interfaces: ipvs.interfaces }),
      invented: [...rules, ...listings].some(({ text }) => saysInvented(text)),
    };
  }
  const { cluster, configuration, sources } = await readCluster(
    manifests,
    options.config,
    io,
    progress,
    report,
    { given, limits, lastWins: options.lastWins === true },
  );
  return { kind: 'manifests', cluster, configuration, sources };
}

export interface CompiledSide {
  readonly state: NodeState;
  /** Addresses in it that no cluster gave, in words. */
  readonly invented: readonly string[];
  /** Whether a message about the input says nothing any more: the other side has the answer. */
  readonly isAnswered: (diagnostic: Diagnostic) => boolean;
}

/**
 * What the node of the manifests should have, with what they leave open taken from the other side where that is
 * a dump; undefined, after an error, where that cannot be said.
 */
export function compileSide(
  side: ManifestsSide,
  asked: CompileOptions,
  manifests: ManifestRequest,
  other: Side | undefined,
  report: Report,
): CompiledSide | undefined {
  const { configuration } = side;
  const configured = { ...asked, ...(configuration === undefined ? {} : { configuration }) };
  const served = deriveEndpoints(side.cluster, manifests, configured, report);
  const filled =
    other?.kind === 'rules' ? fillFromDump(served, asked, other.state, other.interfaces) : undefined;
  const { cluster: known, request } = filled ?? { cluster: served, request: asked };
  if (filled !== undefined) reportNoNodePorts(filled.cluster, filled.addressed, report);
  // What the dump shows is no invention; what it does not show either may be one.
  const cluster = inventAddresses(known, manifests, report);
  const compilation = compile(
    cluster,
    { ...request, ...(configuration === undefined ? {} : { configuration }) },
    report,
  );
  if (compilation === undefined) return undefined;
  const { IPv4, IPv6 } = compilation.rules;
  const state: NodeState = {
    kind: 'manifests',
    rulesets: { ipv4: IPv4.kernel, ipv6: IPv6.kernel },
    ...(compilation.ipvs && { ipvs: ipvsState(compilation.ipvs) }),
    owners: cluster.services.flatMap(({ namespace, name, ports }) =>
      ports.map((port) => ({
        servicePortName: servicePortName(namespace, name, port.name),
        protocol: port.protocol.toLowerCase(),
      })),
    ),
    assumptions: [
      ...compilation.assumptions,
      ...(filled?.assumptions ?? []),
      ...(filled?.unjudged ?? []).map(
        (service) => `endpoints of ${service}: not in the input, so not judged`,
      ),
    ],
  };
  const isFilled = answeredBy(cluster);
  const isAnswered = (diagnostic: Diagnostic) =>
    // Where the configuration has none and the node does, that is a difference.
    (filled !== undefined && ['no-cluster-cidr', 'no-endpoints'].includes(diagnostic.code)) ||
    isFilled(diagnostic);
  const copied =
    other?.kind === 'rules' && other.invented && filled !== undefined && filled.addressed.size > 0;
  const invented = [...compilation.invented, ...(copied ? ['those of the rules on the other side'] : [])];
  return { state, invented, isAnswered };
}

/** The API server gives each port of a NodePort Service a node port; a dump without one is no node as it should be. */
function reportNoNodePorts({ services }: Cluster, addressed: ReadonlySet<string>, report: Report): void {
  for (const { namespace, name, type, ports, origin } of services) {
    if (type !== 'NodePort' || !addressed.has(`${namespace}/${name}`)) continue;
    const index = ports.findIndex(({ nodePort }) => nodePort === 0);
    if (index < 0) continue;
    report({
      code: 'no-node-port',
      severity: 'warning',
      message: 'neither the manifest nor the dump has the node port of this port; it is not compared',
      object: `Service ${namespace}/${name}`,
      field: ['spec', 'ports', index],
      origin,
    });
  }
}

function ipvsState({ sets, virtualServers, addresses, owners, excludeCIDRs }: IpvsArtefacts): IpvsState {
  return canonicalState({
    sets: [...sets.IPv4, ...sets.IPv6],
    virtualServers: [...virtualServers.IPv4, ...virtualServers.IPv6],
    addresses: [...addresses.IPv4, ...addresses.IPv6],
    owners,
    excludeCIDRs,
  });
}

/** Where manifests say something of a service port. */
export function placesIn({ cluster, sources }: ManifestsSide): ReadonlyMap<string, () => ReportPlace> {
  const places = new Map<string, () => ReportPlace>();
  for (const { namespace, name, ports, origin } of cluster.services) {
    for (const port of ports) {
      places.set(servicePortName(namespace, name, port.name), () => {
        const line = locate(origin, [], sources)?.line;
        return { file: origin.file, ...(line === undefined ? {} : { line }) };
      });
    }
  }
  return places;
}
