import type { Diagnostic, Report } from '../diagnostics.ts';
import type { Cluster } from './cluster.ts';
import type { IPFamily } from './ip.ts';
import type { NodeSettings, ProxyState } from './proxy-state.ts';
import type { ServicePort } from './service-port.ts';

/**
 * Warns where the rules depend on something that nobody said: the node's name, its zone, its addresses, its
 * pod CIDRs, the cluster CIDR. Says nothing where it would make no difference.
 */
export function reportUnknowns(
  cluster: Cluster,
  states: Readonly<Record<IPFamily, ProxyState>>,
  settings: NodeSettings,
  report: Report,
): void {
  const warn = (code: string, message: string, help: string) => {
    const diagnostic: Diagnostic = { code, severity: 'warning', message, help };
    report(diagnostic);
  };
  const { configuration, node, nodeName, interfaces } = settings;
  const ports = [...states.IPv4.servicePorts, ...states.IPv6.servicePorts];

  const local = ports.filter(
    (port) => port.internalPolicyLocal || (port.externalPolicyLocal && port.externallyAccessible),
  );
  if (nodeName === '' && local.length > 0) {
    warn(
      'no-node',
      `no node is named, so no endpoint is local; ${countOf(local)} with a traffic policy Local`,
      'say whose rules you want with --node NAME',
    );
  }

  const hinted = cluster.endpointSlices.some(({ endpoints }) =>
    endpoints.some(({ zoneHints }) => zoneHints.length > 0),
  );
  if (hinted && node === undefined) {
    warn(
      'no-zone',
      'endpoints have topology hints, but the zone of the node is not known; hints for zones are not followed',
      'add the Node object to the input',
    );
  }

  if (node === undefined && configuration.bindAddress === undefined) {
    const ranged = ports.filter((port) => port.sourceRanges.length > 0 && port.loadBalancerVIPs.length > 0);
    if (ranged.length > 0) {
      warn(
        'no-node-address',
        `the address of the node is not known, so ${countOf(ranged)} may lack the rules that let the node itself through its source ranges`,
        'add the Node object to the input',
      );
    }
  }

  if (configuration.detectLocalMode === 'NodeCIDR') {
    if ((node?.podCIDRs ?? []).length === 0 && ports.length > 0) {
      warn(
        'no-pod-cidr',
        'detectLocalMode is NodeCIDR, but no pod CIDR of the node is known: traffic to cluster IPs is not masqueraded',
        'add the Node object with its spec.podCIDRs to the input',
      );
    }
  } else {
    for (const family of ['IPv4', 'IPv6'] as const) {
      const state = states[family];
      if (state.localDetector !== undefined || state.masqueradeAll) continue;
      if (state.servicePorts.length === 0) continue;
      warn(
        'no-cluster-cidr',
        `no ${family} cluster CIDR is known: ${family} clients outside of the cluster that use cluster IPs are not masqueraded`,
        'pass --cluster-cidr, or the KubeProxyConfiguration of the node',
      );
    }
  }

  for (const family of ['IPv4', 'IPv6'] as const) {
    const { nodePortAddresses: nodePorts, servicePorts } = states[family];
    if (nodePorts.match !== 'addresses' || !servicePorts.some((port) => port.nodePort !== 0)) continue;
    if (interfaces === undefined && node === undefined) {
      warn(
        'no-interfaces',
        `nodePortAddresses is set, but no ${family} address of the node is known: its node ports may be missing`,
        'pass --interface NAME=ADDRESS/LENGTH or --interfaces FILE',
      );
    } else if (nodePorts.addresses.length === 0) {
      warn(
        'no-matching-interface',
        `nodePortAddresses matches no ${family} address of the node: its ${family} node ports are not reachable`,
        'pass all of its addresses with --interface or --interfaces, if some are missing',
      );
    }
  }
}

function countOf(ports: readonly ServicePort[]): string {
  const first = ports[0]?.servicePortName ?? '';
  return ports.length === 1 ? `${first}` : `${ports.length} service ports (${first}, …)`;
}
