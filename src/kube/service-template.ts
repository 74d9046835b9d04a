import type { FieldPath } from '../diagnostics.ts';
import {
  booleanField,
  enumField,
  fieldOf,
  type JsonObject,
  type ObjectContext,
  report,
  showValue,
  stringField,
  stringListField,
  stringMapField,
} from './fields.ts';
import type { IPFamily } from './ip.ts';

export type IPFamilyPolicy = 'SingleStack' | 'PreferDualStack' | 'RequireDualStack';

/** What the API server and the endpoint controllers read of a Service, and kube-proxy does not. */
export interface ServiceTemplate {
  /** Empty where there is none: then no controller makes endpoints. */
  readonly selector: ReadonlyMap<string, string>;
  readonly publishNotReadyAddresses: boolean;
  /** As far as they were said; the API server fills in the rest. */
  readonly ipFamilies: readonly IPFamily[];
  readonly ipFamilyPolicy: IPFamilyPolicy;
  readonly allocateLoadBalancerNodePorts: boolean;
  /** PreferClose, PreferSameZone or PreferSameNode; empty where there is none. */
  readonly trafficDistribution: string;
}

const POLICIES: readonly IPFamilyPolicy[] = ['SingleStack', 'PreferDualStack', 'RequireDualStack'];
const FAMILIES: readonly IPFamily[] = ['IPv4', 'IPv6'];

/** Reads it, with the API server's defaults: SingleStack, and node ports for load balancers. */
export function readServiceTemplate(context: ObjectContext, spec: JsonObject): ServiceTemplate {
  return {
    selector: stringMapField(context, spec, 'selector', ['spec']),
    publishNotReadyAddresses: booleanField(context, spec, 'publishNotReadyAddresses', ['spec']) ?? false,
    ipFamilies: readFamilies(context, spec),
    ipFamilyPolicy: enumField(context, spec, 'ipFamilyPolicy', ['spec'], POLICIES) ?? 'SingleStack',
    allocateLoadBalancerNodePorts:
      booleanField(context, spec, 'allocateLoadBalancerNodePorts', ['spec']) ?? true,
    trafficDistribution: stringField(context, spec, 'trafficDistribution', ['spec']) ?? '',
  };
}

/** `ipFamily` is what 1.16 to 1.19 had instead of the list. Families beside addresses are checked with those. */
function readFamilies(context: ObjectContext, spec: JsonObject): IPFamily[] {
  const families: IPFamily[] = [];
  const hasAddress = [fieldOf(spec, 'clusterIP'), fieldOf(spec, 'clusterIPs')].some((value) =>
    Array.isArray(value) ? value.length > 0 : (value ?? '') !== '',
  );
  for (const { text, index } of stringListField(context, spec, 'ipFamilies', ['spec'])) {
    const family = FAMILIES.find((each) => each === text);
    if (family !== undefined && !families.includes(family)) families.push(family);
    else if (!hasAddress) {
      const accepted = family === undefined ? 'IPv4 or IPv6' : 'each family once';
      report(
        context,
        'error',
        'invalid-ip-family',
        ['spec', 'ipFamilies', index],
        `found ${showValue(text)}, expected ${accepted}`,
      );
    }
  }
  if (families.length > 0) return families;
  const single = enumField(context, spec, 'ipFamily', ['spec'], FAMILIES);
  return single === undefined ? [] : [single];
}

/**
 * Where a service port leads to: a number, or the name of a container's port; undefined where it is the port's own
 * number, the API server's default.
 */
export function readTargetPort(
  context: ObjectContext,
  port: JsonObject,
  path: FieldPath,
): number | string | undefined {
  const value = fieldOf(port, 'targetPort');
  if (value === undefined || value === null || value === '' || value === 0) return undefined;
  if (value === fieldOf(port, 'port')) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= 65535) return value;
  // IANA_SVC_NAME (RFC 6335): what the API server takes for the name of a port.
  if (
    typeof value === 'string' &&
    /^(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$/.test(value) &&
    value.length <= 15
  ) {
    return value;
  }
  report(
    context,
    'warning',
    'invalid-target-port',
    [...path, 'targetPort'],
    `found ${showValue(value)}, expected a number from 1 to 65535 or the name of a container port; no endpoints come from Pods through it`,
  );
  return String(value).slice(0, 16);
}
