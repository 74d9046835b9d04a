import type { FieldPath } from '../diagnostics.ts';
import {
  booleanField,
  enumField,
  fieldOf,
  integerField,
  type JsonObject,
  type ObjectContext,
  objectField,
  report,
  showValue,
  stringField,
  stringListField,
} from './fields.ts';
import { type IPAddress, parseCIDR, parseIP } from './ip.ts';
import { type IpvsSettings, readIpvsSettings } from './ipvs-settings.ts';

export type ProxyMode = 'iptables' | 'ipvs' | 'nftables';
export type DetectLocalMode = 'ClusterCIDR' | 'NodeCIDR' | 'BridgeInterface' | 'InterfaceNamePrefix';

/**
 * What a KubeProxyConfiguration says, as far as rules depend on it. A field that is missing, null or empty
 * there is absent here: kubeadm writes all fields, most of them empty, and kube-proxy fills in defaults.
 */
export interface KubeProxyConfiguration {
  readonly mode?: ProxyMode;
  readonly bindAddress?: IPAddress;
  readonly hostnameOverride?: string;
  readonly clusterCIDRs?: readonly string[];
  readonly detectLocalMode?: DetectLocalMode;
  readonly bridgeInterface?: string;
  readonly interfaceNamePrefix?: string;
  readonly masqueradeAll?: boolean;
  readonly masqueradeBit?: number;
  readonly localhostNodePorts?: boolean;
  readonly nodePortAddresses?: readonly string[];
  readonly tcpBeLiberal?: boolean;
  readonly featureGates?: ReadonlyMap<string, boolean>;
  /** Of the block ipvs: what was set there. */
  readonly ipvs?: Partial<IpvsSettings>;
}

const CONFIGURATION_API_VERSION = 'kubeproxy.config.k8s.io/v1alpha1';
const PROXY_MODES: readonly ProxyMode[] = ['iptables', 'ipvs', 'nftables'];
const DETECT_LOCAL_MODES: readonly DetectLocalMode[] = [
  'ClusterCIDR',
  'NodeCIDR',
  'BridgeInterface',
  'InterfaceNamePrefix',
];
/** Stands alone in nodePortAddresses for the node's own addresses (since 1.31). */
export const PRIMARY = 'primary';

/** Fields of v1alpha1 that have no influence on rules, and those that are read below. */
const KNOWN_FIELDS = new Set(
  `apiVersion kind metadata featureGates clientConnection logging hostnameOverride bindAddress healthzBindAddress
  metricsBindAddress bindAddressHardFail enableProfiling showHiddenMetricsForVersion mode iptables ipvs nftables
  winkernel detectLocalMode detectLocal clusterCIDR nodePortAddresses oomScoreAdj conntrack configSyncPeriod
  portRange windowsRunAsService udpIdleTimeout`.split(/\s+/),
);

const KNOWN_NESTED_FIELDS: Readonly<Record<string, ReadonlySet<string>>> = {
  iptables: new Set(['localhostNodePorts', 'masqueradeAll', 'masqueradeBit', 'minSyncPeriod', 'syncPeriod']),
  detectLocal: new Set(['bridgeInterface', 'interfaceNamePrefix']),
  conntrack: new Set(
    `maxPerCore min tcpBeLiberal tcpCloseWaitTimeout tcpEstablishedTimeout udpStreamTimeout udpTimeout`.split(
      ' ',
    ),
  ),
};

/** IFNAMSIZ of the kernel is 16, with the final NUL. */
const MAX_INTERFACE_NAME = 15;
const INTERFACE_NAME = /^[^\s/"'\\+!:]{1,15}$/;

/** Whether a text can be the name of a network interface and be written into a rule as it is. */
function isInterfaceName(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they must not reach a rule
  return INTERFACE_NAME.test(text) && !/[\x00-\x20\x7f-\uffff]/.test(text) && !text.startsWith('-');
}

/**
 * Reads a KubeProxyConfiguration of kubeproxy.config.k8s.io/v1alpha1; what is wrong in it is reported as an
 * error and left out. Source: kube-proxy's v1alpha1 defaults and validation.
 */
export function readKubeProxyConfiguration(
  value: JsonObject,
  context: ObjectContext,
): KubeProxyConfiguration {
  const apiVersion = stringField(context, value, 'apiVersion', []) ?? '';
  if (apiVersion !== CONFIGURATION_API_VERSION) {
    report(
      context,
      'error',
      'unknown-api-version',
      ['apiVersion'],
      `found ${showValue(apiVersion)}, expected ${CONFIGURATION_API_VERSION}`,
    );
  }
  reportUnknownFields(context, value, KNOWN_FIELDS, []);
  const iptables = objectField(context, value, 'iptables', []) ?? {};
  const detectLocal = objectField(context, value, 'detectLocal', []) ?? {};
  const conntrack = objectField(context, value, 'conntrack', []) ?? {};
  for (const [key, object] of Object.entries({ iptables, detectLocal, conntrack })) {
    reportUnknownFields(context, object, KNOWN_NESTED_FIELDS[key] ?? new Set(), [key]);
  }
  const bridgeInterface = interfaceField(context, detectLocal, 'bridgeInterface', MAX_INTERFACE_NAME);
  // The rule has a `+` behind the prefix, which counts (`must be shorter than IFNAMSIZ`).
  const interfaceNamePrefix = interfaceField(
    context,
    detectLocal,
    'interfaceNamePrefix',
    MAX_INTERFACE_NAME - 1,
  );
  const mode = enumField(context, value, 'mode', [], PROXY_MODES);
  const detectLocalMode = enumField(context, value, 'detectLocalMode', [], DETECT_LOCAL_MODES);

  return withoutUndefined({
    mode,
    bindAddress: readBindAddress(context, value),
    hostnameOverride: stringField(context, value, 'hostnameOverride', []) || undefined,
    clusterCIDRs: readClusterCIDRs(context, value, detectLocalMode),
    detectLocalMode,
    bridgeInterface,
    interfaceNamePrefix,
    masqueradeAll: booleanField(context, iptables, 'masqueradeAll', ['iptables']),
    masqueradeBit: integerField(context, iptables, 'masqueradeBit', ['iptables'], 0, 31),
    localhostNodePorts: booleanField(context, iptables, 'localhostNodePorts', ['iptables']),
    nodePortAddresses: readNodePortAddresses(context, value),
    tcpBeLiberal: booleanField(context, conntrack, 'tcpBeLiberal', ['conntrack']),
    featureGates: readFeatureGates(context, value),
    ipvs: readIpvsSettings(context, value),
  });
}

function reportUnknownFields(
  context: ObjectContext,
  object: JsonObject,
  known: ReadonlySet<string>,
  path: FieldPath,
): void {
  for (const key of Object.keys(object)) {
    if (known.has(key)) continue;
    report(
      context,
      'warning',
      'unknown-field',
      [...path, key],
      'no field of a KubeProxyConfiguration; it has no effect',
    );
  }
}

/** The second wins, field by field; feature gates are merged gate by gate. */
export function overrideConfiguration(
  base: KubeProxyConfiguration,
  override: KubeProxyConfiguration,
): KubeProxyConfiguration {
  const featureGates = new Map([...(base.featureGates ?? []), ...(override.featureGates ?? [])]);
  const ipvs = { ...base.ipvs, ...override.ipvs };
  return {
    ...base,
    ...override,
    ...(featureGates.size > 0 ? { featureGates } : {}),
    ...(Object.keys(ipvs).length > 0 ? { ipvs } : {}),
  };
}

type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> };

function withoutUndefined<T extends object>(record: T): Partial<Defined<T>> {
  const kept = Object.entries(record).filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept) as Partial<Defined<T>>;
}

function readBindAddress(context: ObjectContext, value: JsonObject): IPAddress | undefined {
  const text = stringField(context, value, 'bindAddress', []) ?? '';
  if (text === '') return undefined;
  const ip = parseIP(text);
  if (ip === undefined) {
    report(context, 'error', 'invalid-ip', ['bindAddress'], `${showValue(text)} is not an IP address`);
  }
  return ip;
}

function readClusterCIDRs(
  context: ObjectContext,
  value: JsonObject,
  mode: DetectLocalMode | undefined,
): readonly string[] | undefined {
  const text = stringField(context, value, 'clusterCIDR', []) ?? '';
  if (text.trim() === '') return undefined;
  // kube-proxy does not check it in the modes that do not read it.
  const checked = mode === undefined || mode === 'ClusterCIDR';
  const texts = text.split(',');
  const path: FieldPath = ['clusterCIDR'];
  const cidrs = texts.map(parseCIDR);
  const wrong = cidrs.indexOf(undefined);
  if (wrong >= 0) {
    if (!checked) return undefined;
    report(
      context,
      'error',
      'invalid-cidr',
      path,
      `${showValue(texts[wrong])} is not a CIDR such as 10.244.0.0/16`,
    );
    return undefined;
  }
  if (texts.length > 2 || (texts.length === 2 && cidrs[0]?.family === cidrs[1]?.family)) {
    if (!checked) return undefined;
    report(
      context,
      'error',
      'invalid-cidr',
      path,
      `found ${showValue(text)}, expected one CIDR, or one IPv4 and one IPv6 CIDR separated by a comma`,
    );
    return undefined;
  }
  return texts;
}

function readNodePortAddresses(context: ObjectContext, value: JsonObject): readonly string[] | undefined {
  const items = stringListField(context, value, 'nodePortAddresses', []);
  if (items.length === 0) return undefined;
  if (items.length === 1 && items[0]?.text === PRIMARY) return [PRIMARY];
  const texts: string[] = [];
  for (const { text, index } of items) {
    if (parseCIDR(text) === undefined) {
      report(
        context,
        'error',
        'invalid-cidr',
        ['nodePortAddresses', index],
        text === PRIMARY
          ? `${PRIMARY} has to stand alone`
          : `${showValue(text)} is not a CIDR such as 192.168.0.0/24, nor ${PRIMARY}`,
      );
    } else texts.push(text);
  }
  return texts;
}

function interfaceField(
  context: ObjectContext,
  object: JsonObject,
  key: 'bridgeInterface' | 'interfaceNamePrefix',
  maxLength: number,
): string | undefined {
  const path: FieldPath = ['detectLocal'];
  const text = stringField(context, object, key, path) ?? '';
  if (text === '') return undefined;
  if (isInterfaceName(text) && text.length <= maxLength) return text;
  const what = key === 'bridgeInterface' ? 'name of a network interface' : 'prefix of interface names';
  report(
    context,
    'error',
    'invalid-interface-name',
    [...path, key],
    `${showValue(text)} is not a ${what} (at most ${maxLength} characters, no blanks, slashes or quotes)`,
  );
  return undefined;
}

function readFeatureGates(
  context: ObjectContext,
  value: JsonObject,
): ReadonlyMap<string, boolean> | undefined {
  const gates = objectField(context, value, 'featureGates', []);
  if (gates === undefined) return undefined;
  const map = new Map<string, boolean>();
  for (const name of Object.keys(gates)) {
    const on = fieldOf(gates, name);
    if (typeof on === 'boolean') map.set(name, on);
    else
      report(
        context,
        'error',
        'wrong-type',
        ['featureGates', name],
        `found ${showValue(on)}, expected true or false`,
      );
  }
  return map;
}
