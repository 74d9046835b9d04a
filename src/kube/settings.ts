import type { Report } from '../diagnostics.ts';
import type { Cluster, FoundConfiguration } from './cluster.ts';
import { reportFeatureGates } from './feature-gates.ts';
import { isDnsSubdomain, report as reportAt, showValue } from './fields.ts';
import {
  type KubeProxyConfiguration,
  overrideConfiguration,
  PRIMARY,
  type ProxyMode,
} from './kube-proxy-configuration.ts';
import {
  KNOWN_VERSIONS,
  type KubeProxyVersion,
  kubeProxyVersion,
  NEWEST_VERSION,
  parseMinor,
  placeOfMinor,
} from './kube-proxy-version.ts';
import type { Node } from './node.ts';
import type { NetworkInterface } from './node-addresses.ts';
import type { NodeSettings } from './proxy-state.ts';

/** What the caller says about the node; everything else is taken from the input or assumed. */
export interface SettingsRequest {
  /** kube-proxy's --hostname-override: wins over the configuration's, which wins over the only Node. */
  readonly node?: string;
  readonly interfaces?: readonly NetworkInterface[];
  /** Instead of a configuration that is found in the input. */
  readonly configuration?: FoundConfiguration;
  /** kube-proxy's flags: they win over any configuration, field by field. */
  readonly flags?: KubeProxyConfiguration;
  readonly version?: KubeProxyVersion;
  /** Used where neither the caller nor the input says anything. */
  readonly fallback?: SettingsFallback;
}

/** Settings that were found elsewhere, for example in a node's own rules, each with words for it. */
export interface SettingsFallback {
  /** Only where there is no KubeProxyConfiguration at all; flags still win, field by field. */
  readonly configuration: KubeProxyConfiguration;
  readonly interfaces?: readonly NetworkInterface[];
  readonly version: KubeProxyVersion;
  readonly node?: string;
  readonly assumptions: readonly {
    readonly about: keyof KubeProxyConfiguration | 'version' | 'node';
    readonly text: string;
  }[];
}

export interface ResolvedSettings extends NodeSettings {
  readonly mode: ProxyMode;
  /** What nobody said, in words for the head of the output. */
  readonly assumptions: readonly string[];
}

/** Settles whose rules are asked for; undefined, after an error, where the input leaves that open. */
export function resolveSettings(
  cluster: Cluster,
  request: SettingsRequest,
  report: Report,
): ResolvedSettings | undefined {
  const assumptions: string[] = [];
  const base = chooseConfiguration(cluster, request, report);
  if (base === undefined) return undefined;
  const assume = (about: SettingsFallback['assumptions'][number]['about']) => {
    for (const each of request.fallback?.assumptions ?? [])
      if (each.about === about) assumptions.push(each.text);
  };
  const unconfigured = base.origin === undefined;
  if (unconfigured) {
    if (request.fallback === undefined) assumptions.push('no KubeProxyConfiguration: kube-proxy’s defaults');
    for (const field of Object.keys(base.configuration) as (keyof KubeProxyConfiguration)[]) {
      if (request.flags?.[field] === undefined) assume(field);
    }
  }
  const configuration = overrideConfiguration(
    unconfigured ? withoutOverriddenDetection(base.configuration, request.flags ?? {}) : base.configuration,
    request.flags ?? {},
  );

  const chosen = chooseNode(cluster, request, configuration, report);
  if (chosen === undefined) return undefined;
  const { name: nodeName, node } = chosen;
  if (chosen.byFallback) assume('node');
  else if (nodeName === '') assumptions.push('no node named: no endpoint is local');
  else if (node === undefined)
    assumptions.push(`no Node object ${nodeName}: its addresses, zone and pod CIDRs are not known`);

  const version = chooseVersion(request, node, assumptions, report);
  if (version === undefined) return undefined;
  if (!checkAgainstVersion(configuration, base.origin, version, report)) return undefined;
  const ofFallback = unconfigured && request.flags?.nodePortAddresses === undefined;
  const interfaces = request.interfaces ?? (ofFallback ? request.fallback?.interfaces : undefined);
  if (interfaces === undefined && (configuration.nodePortAddresses?.length ?? 0) > 0) {
    assumptions.push('interface addresses: the InternalIPs of the Node, and lo');
  }
  return {
    nodeName,
    node,
    interfaces,
    configuration,
    version,
    mode: configuration.mode ?? 'iptables',
    assumptions,
  };
}

/** A flag that says how local traffic is told replaces all that was found elsewhere about that. */
function withoutOverriddenDetection(
  found: KubeProxyConfiguration,
  flags: KubeProxyConfiguration,
): KubeProxyConfiguration {
  if (flags.detectLocalMode === undefined && flags.clusterCIDRs === undefined) return found;
  const {
    detectLocalMode: _,
    clusterCIDRs: __,
    bridgeInterface: ___,
    interfaceNamePrefix: ____,
    ...rest
  } = found;
  return rest;
}

type ChosenConfiguration = {
  configuration: KubeProxyConfiguration;
  origin: FoundConfiguration['origin'] | undefined;
};

function chooseConfiguration(
  cluster: Cluster,
  request: SettingsRequest,
  report: Report,
): ChosenConfiguration | undefined {
  if (request.configuration !== undefined) return request.configuration;
  const [first, ...others] = cluster.configurations;
  if (first === undefined) return { configuration: request.fallback?.configuration ?? {}, origin: undefined };
  const text = ({ configuration }: FoundConfiguration) =>
    JSON.stringify(configuration, (_, value: unknown) => (value instanceof Map ? [...value].sort() : value));
  const other = others.find((candidate) => text(candidate) !== text(first));
  if (other === undefined) return first;
  reportAt(
    { object: 'KubeProxyConfiguration', origin: other.origin, report },
    'error',
    'several-configurations',
    [],
    `the input holds more than one kube-proxy configuration (another one is in ${first.origin.file})`,
    'name the one to use with --config',
  );
  return undefined;
}

function chooseNode(
  cluster: Cluster,
  request: SettingsRequest,
  configuration: KubeProxyConfiguration,
  report: Report,
): { name: string; node: Node | undefined; byFallback: boolean } | undefined {
  // kube-proxy trims the override and puts it into lower case (nodeutil.GetHostname).
  const given = (request.node ?? configuration.hostnameOverride ?? '').trim().toLowerCase();
  if (given !== '') {
    if (!isDnsSubdomain(given)) {
      report({
        code: 'invalid-name',
        severity: 'error',
        message: `${showValue(given)} is not a name of a Node (lower-case letters, digits, dots and hyphens, at most 253 characters)`,
        help: 'say whose rules you want with --node NAME',
      });
      return undefined;
    }
    const node = cluster.nodes.find((candidate) => candidate.name === given);
    if (node === undefined && cluster.nodes.length > 0) {
      report({
        code: 'unknown-node',
        severity: 'warning',
        message: `no Node ${given} in the input, which has ${listNodes(cluster.nodes)}`,
        help: 'name one of these with --node, or add the Node object: its addresses, zone and pod CIDRs are not known',
      });
    }
    return { name: given, node, byFallback: false };
  }
  const [first, ...others] = cluster.nodes;
  const fallback = request.fallback?.node;
  if (fallback !== undefined && first?.name !== fallback) {
    return {
      name: fallback,
      node: cluster.nodes.find(({ name }) => name === fallback),
      byFallback: true,
    };
  }
  if (others.length > 0) {
    report({
      code: 'several-nodes',
      severity: 'error',
      message: `the input holds ${cluster.nodes.length} Nodes: ${listNodes(cluster.nodes)}`,
      help: 'say whose rules you want with --node NAME',
    });
    return undefined;
  }
  return { name: first?.name ?? '', node: first, byFallback: false };
}

const MAX_LISTED = 20;

function listNodes(nodes: readonly Node[]): string {
  const names = nodes.slice(0, MAX_LISTED).map(({ name }) => name);
  return names.join(', ') + (nodes.length > MAX_LISTED ? ` and ${nodes.length - MAX_LISTED} more` : '');
}

function chooseVersion(
  request: SettingsRequest,
  node: Node | undefined,
  assumptions: string[],
  report: Report,
): KubeProxyVersion | undefined {
  if (request.version !== undefined) return request.version;
  if (node?.version === undefined && request.fallback !== undefined) {
    for (const { about, text } of request.fallback.assumptions)
      if (about === 'version') assumptions.push(text);
    return request.fallback.version;
  }
  if (node?.version === undefined) {
    assumptions.push(`kube-proxy ${NEWEST_VERSION.text}, the newest version known here`);
    return NEWEST_VERSION;
  }
  const context = { object: `Node ${node.name}`, origin: node.origin, report };
  const path = ['status', 'nodeInfo', 'kubeletVersion'];
  const minor = parseMinor(node.version);
  if (minor === undefined) {
    reportAt(
      context,
      'error',
      'unknown-version',
      path,
      `${JSON.stringify(node.version)} is not a Kubernetes version such as v1.30.5`,
      'say which version its kube-proxy has with --kube-version 1.NN',
    );
    return undefined;
  }
  switch (placeOfMinor(minor)) {
    case 'known':
      return kubeProxyVersion(minor);
    case 'newer':
      reportAt(
        context,
        'warning',
        'newer-version',
        path,
        `the node runs ${node.version}; the newest version known here is ${NEWEST_VERSION.text}, whose rules follow`,
      );
      assumptions.push(`the node runs ${node.version}: rules of ${NEWEST_VERSION.text}`);
      return NEWEST_VERSION;
    case 'older':
      reportAt(
        context,
        'error',
        'older-version',
        path,
        `the node runs ${node.version}; versions known here are ${KNOWN_VERSIONS}`,
        'to see the rules of another version all the same, pass --kube-version 1.NN',
      );
      return undefined;
  }
}

/** False after an error: what a newer version takes and this one refuses. */
function checkAgainstVersion(
  configuration: KubeProxyConfiguration,
  origin: FoundConfiguration['origin'] | undefined,
  version: KubeProxyVersion,
  report: Report,
): boolean {
  const at = origin === undefined ? {} : { origin };
  if (configuration.tcpBeLiberal === true && !version.behaviour.honoursTcpBeLiberal) {
    report({
      code: 'field-of-newer-version',
      severity: 'warning',
      message: `kube-proxy ${version.text} does not know it: no effect`,
      object: 'KubeProxyConfiguration',
      field: ['conntrack', 'tcpBeLiberal'],
      ...at,
    });
  }
  if (configuration.localhostNodePorts === false && !version.behaviour.honoursLocalhostNodePorts) {
    report({
      code: 'field-of-newer-version',
      severity: 'warning',
      message: `kube-proxy ${version.text} does not know it: no effect`,
      object: 'KubeProxyConfiguration',
      field: ['iptables', 'localhostNodePorts'],
      ...at,
    });
  }
  const detection = configuration.detectLocalMode;
  if (
    (detection === 'BridgeInterface' || detection === 'InterfaceNamePrefix') &&
    !version.behaviour.detectsLocalByInterface
  ) {
    report({
      code: 'field-of-newer-version',
      severity: 'error',
      message: `kube-proxy ${version.text} does not start with ${detection} (1.24 and later do)`,
      object: 'KubeProxyConfiguration',
      field: ['detectLocalMode'],
      help: 'take another mode, or pass --kube-version 1.24 or later',
      ...at,
    });
    return false;
  }
  reportFeatureGates(configuration, version, (gate, severity, code, message) =>
    report({
      code,
      severity,
      message,
      object: 'KubeProxyConfiguration',
      field: ['featureGates', gate],
      ...at,
    }),
  );
  if (configuration.nodePortAddresses?.[0] === PRIMARY && !version.behaviour.nodePortAddressesPrimary) {
    report({
      code: 'field-of-newer-version',
      severity: 'error',
      message: `kube-proxy ${version.text} takes CIDRs alone, not ${PRIMARY} (1.31 and later do)`,
      object: 'KubeProxyConfiguration',
      field: ['nodePortAddresses', 0],
      help: 'list the networks instead, or pass --kube-version 1.31 or later',
      ...at,
    });
    return false;
  }
  if (
    configuration.mode === 'ipvs' &&
    configuration.ipvs?.scheduler === 'mh' &&
    !version.behaviour.ipvsMaglev
  ) {
    report({
      code: 'field-of-newer-version',
      severity: 'error',
      message: `kube-proxy ${version.text} does not start with the scheduler mh (1.27 and later do)`,
      object: 'KubeProxyConfiguration',
      field: ['ipvs', 'scheduler'],
      help: 'take another scheduler, or pass --kube-version 1.27 or later',
      ...at,
    });
    return false;
  }
  const missing =
    configuration.detectLocalMode === 'BridgeInterface' && configuration.bridgeInterface === undefined
      ? 'bridgeInterface'
      : configuration.detectLocalMode === 'InterfaceNamePrefix' &&
          configuration.interfaceNamePrefix === undefined
        ? 'interfaceNamePrefix'
        : undefined;
  if (missing === undefined) return true;
  report({
    code: 'no-interface-name',
    severity: 'error',
    message: `detectLocalMode ${configuration.detectLocalMode} needs the name of the interface`,
    object: 'KubeProxyConfiguration',
    field: ['detectLocal', missing],
    help: `set it, or pass ${missing === 'bridgeInterface' ? '--pod-bridge-interface' : '--pod-interface-name-prefix'}`,
    ...at,
  });
  return false;
}
