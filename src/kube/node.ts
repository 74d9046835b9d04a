import type { Origin, Report } from '../diagnostics.ts';
import {
  type JsonObject,
  objectField,
  objectListField,
  report,
  showValue,
  stringField,
  stringListField,
  stringMapField,
} from './fields.ts';
import { type CIDR, type IPAddress, parseCIDR, parseIP } from './ip.ts';
import { readObjectName } from './object-name.ts';

/** A Node, as far as it matters to kube-proxy. */
export interface Node {
  readonly name: string;
  /** Label topology.kubernetes.io/zone; empty where there is none. */
  readonly zone: string;
  readonly internalIPs: readonly IPAddress[];
  readonly externalIPs: readonly IPAddress[];
  readonly podCIDRs: readonly { readonly given: string; readonly cidr: CIDR }[];
  /** status.nodeInfo.kubeProxyVersion, else kubeletVersion: `v1.30.5`. */
  readonly version: string | undefined;
  /**
   * Whether it has all of these labels. No list of them: copies of a Node that differ in others, which come and go,
   * are no conflict.
   */
  readonly hasLabels?: (wanted: ReadonlyMap<string, string>) => boolean;
  readonly origin: Origin;
}

const ZONE_LABEL = 'topology.kubernetes.io/zone';

/**
 * Reads a Node of core/v1; undefined after an error. An address or pod CIDR that cannot be read is left out
 * after a warning: kube-proxy skips such an address (GetNodeHostIPs), and most Nodes are not the one in question.
 */
export function readNode(value: JsonObject, origin: Origin, sink: Report): Node | undefined {
  const object = readObjectName('Node', 'cluster', 'subdomain', value, origin, sink);
  if (object === undefined) return undefined;
  const { name, metadata, context } = object;
  const labels = stringMapField(context, metadata, 'labels', ['metadata']);
  const spec = objectField(context, value, 'spec', []) ?? {};
  const status = objectField(context, value, 'status', []) ?? {};

  const internalIPs: IPAddress[] = [];
  const externalIPs: IPAddress[] = [];
  for (const { value: item, index } of objectListField(context, status, 'addresses', ['status'])) {
    const path = ['status', 'addresses', index];
    const type = stringField(context, item, 'type', path);
    if (type !== 'InternalIP' && type !== 'ExternalIP') continue;
    const address = stringField(context, item, 'address', path) ?? '';
    const ip = parseIP(address);
    if (ip === undefined) {
      report(
        context,
        'warning',
        'invalid-ip',
        [...path, 'address'],
        `${showValue(address)} is not an IP address and is left out`,
      );
      continue;
    }
    (type === 'InternalIP' ? internalIPs : externalIPs).push(ip);
  }

  const podCIDRs: { given: string; cidr: CIDR }[] = [];
  const listed = stringListField(context, spec, 'podCIDRs', ['spec']);
  const single = stringField(context, spec, 'podCIDR', ['spec']) ?? '';
  const texts = listed.length > 0 ? listed : single === '' ? [] : [{ text: single, index: 0 }];
  for (const { text, index } of texts) {
    const cidr = parseCIDR(text);
    if (cidr === undefined) {
      report(
        context,
        'warning',
        'invalid-cidr',
        listed.length > 0 ? ['spec', 'podCIDRs', index] : ['spec', 'podCIDR'],
        `${showValue(text)} is not a CIDR such as 10.244.1.0/24 and is left out`,
      );
    } else podCIDRs.push({ given: text, cidr });
  }

  const info = objectField(context, status, 'nodeInfo', ['status']) ?? {};
  const path = ['status', 'nodeInfo'];
  const version =
    stringField(context, info, 'kubeProxyVersion', path) ||
    stringField(context, info, 'kubeletVersion', path);
  // The kubelet sets these (initialNode), so that Nodes written by hand seldom say them.
  const os = stringField(context, info, 'operatingSystem', path) || 'linux';
  const given = new Map([
    ['kubernetes.io/hostname', name],
    ['kubernetes.io/os', os],
    ['beta.kubernetes.io/os', os],
  ]);
  return {
    name,
    zone: labels.get(ZONE_LABEL) ?? '',
    internalIPs,
    externalIPs,
    podCIDRs,
    version: version || undefined,
    hasLabels: (wanted) =>
      [...wanted].every(([label, value]) => (labels.get(label) ?? given.get(label)) === value),
    origin,
  };
}
