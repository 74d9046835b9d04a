import type { Report } from '../diagnostics.ts';
import {
  behaviourChanges,
  type Cluster,
  type IPFamily,
  type KubeProxyVersion,
  nodeIPs,
  type ProxyMode,
  type ProxyState,
  proxyStates,
  reportUnknowns,
  resolveSettings,
  type SettingsRequest,
  type VersionChange,
} from '../kube/index.ts';
import type { IpSet, VirtualServer } from '../netfilter/index.ts';
import { compileIptables, LAYOUT_CHANGES as IPTABLES_CHANGES, type IptablesRules } from './iptables/index.ts';
import {
  compileIpvs,
  LAYOUT_CHANGES as IPVS_CHANGES,
  ipvsSysctls,
  type Sysctl,
  type VirtualServerOwner,
} from './ipvs/index.ts';

export { chainSuffix, endpointChain } from './chain-names.ts';
export { type IptablesRules, NFACCT_OBJECTS } from './iptables/index.ts';
export { type VirtualServerOwner, virtualServerKey } from './ipvs/index.ts';

export interface CompileOptions extends SettingsRequest {
  /** Whether kube-proxy can make nfacct objects (1.31 and later use them); true, as on ordinary nodes. */
  readonly nfacct?: boolean;
}

/** What changed in a mode between versions: the layout first, then what is made of Services and endpoints. */
export function versionChanges(mode: ProxyMode): readonly VersionChange[] {
  const layout = mode === 'ipvs' ? IPVS_CHANGES : mode === 'iptables' ? IPTABLES_CHANGES : [];
  return [...behaviourChanges(), ...layout];
}

/** The rules of one node, and what they rest on. */
export interface Compilation {
  readonly mode: ProxyMode;
  readonly version: KubeProxyVersion;
  /** Empty where nobody said. */
  readonly nodeName: string;
  /** The family of the node's first address. */
  readonly primaryFamily: IPFamily;
  readonly assumptions: readonly string[];
  /** Addresses that no cluster gave; empty where all come from the input. */
  readonly invented: readonly string[];
  readonly rules: Readonly<Record<IPFamily, IptablesRules>>;
  /** In ipvs mode: what there is beside the rules. */
  readonly ipvs?: IpvsArtefacts;
}

/** Sets, virtual servers and addresses of both families, and what goes for the whole node. */
export interface IpvsArtefacts {
  readonly sets: Readonly<Record<IPFamily, readonly IpSet[]>>;
  readonly virtualServers: Readonly<Record<IPFamily, readonly VirtualServer[]>>;
  /** On the dummy interface kube-ipvs0. */
  readonly addresses: Readonly<Record<IPFamily, readonly string[]>>;
  /** Which service port each virtual server is for, by virtualServerKey. */
  readonly owners: ReadonlyMap<string, VirtualServerOwner>;
  /** Virtual servers inside are none of kube-proxy's business. */
  readonly excludeCIDRs: readonly string[];
  readonly sysctls: readonly Sysctl[];
  /** Seconds, as `ipvsadm --set` takes them; 0 leaves the kernel's. */
  readonly timeouts: { readonly tcp: number; readonly tcpFin: number; readonly udp: number };
}

/**
 * Compiles a cluster into the rules that kube-proxy programs on one node, for both families.
 *
 * Problems go to `report`; with at least one error the result is not to be used as it stands, since objects
 * were left out. Returns undefined where there is nothing to compile: several Nodes and no name, a version
 * or a mode that is not known here.
 */
export function compile(cluster: Cluster, options: CompileOptions, report: Report): Compilation | undefined {
  const settings = resolveSettings(cluster, options, report);
  if (settings === undefined) return undefined;
  if (settings.mode === 'nftables') {
    report({
      code: 'unsupported-mode',
      severity: 'error',
      message: `the configuration asks for ${settings.mode} mode; rules of the modes iptables and ipvs alone are known here`,
      help: 'to compile those all the same, pass --proxy-mode iptables',
    });
    return undefined;
  }
  const states = proxyStates(cluster, settings, report);
  reportUnknowns(cluster, states, settings, report);
  const common = {
    mode: settings.mode,
    version: settings.version,
    nodeName: settings.nodeName,
    primaryFamily: nodeIPs(settings.node, settings.configuration).primary,
    invented: cluster.invented ?? [],
  };
  if (settings.mode === 'ipvs') {
    return { ...common, assumptions: settings.assumptions, ...compileBothIpvs(states) };
  }
  const nfacct = options.nfacct ?? true;
  const assumptions = [...settings.assumptions];
  if (settings.version.behaviour.nfacct) {
    assumptions.push(
      nfacct ? 'nfacct counters, which kube-proxy can make on ordinary nodes' : 'no nfacct counters',
    );
  }
  return {
    ...common,
    assumptions,
    rules: whenAsked((family) => compileIptables(states[family], { nfacct })),
  };
}

function compileBothIpvs(
  states: Readonly<Record<IPFamily, ProxyState>>,
): Pick<Compilation, 'rules'> & { readonly ipvs: IpvsArtefacts } {
  const of = { IPv4: compileIpvs(states.IPv4), IPv6: compileIpvs(states.IPv6) };
  const { tcpTimeout, tcpFinTimeout, udpTimeout } = states.IPv4.ipvs;
  return {
    rules: of,
    ipvs: {
      sets: { IPv4: of.IPv4.sets, IPv6: of.IPv6.sets },
      virtualServers: { IPv4: of.IPv4.virtualServers, IPv6: of.IPv6.virtualServers },
      addresses: { IPv4: of.IPv4.addresses, IPv6: of.IPv6.addresses },
      owners: new Map([...of.IPv4.owners, ...of.IPv6.owners]),
      excludeCIDRs: states.IPv4.ipvs.excludeCIDRs,
      sysctls: ipvsSysctls(states),
      timeouts: { tcp: tcpTimeout, tcpFin: tcpFinTimeout, udp: udpTimeout },
    },
  };
}

/** What each family has is made when it is asked for, once: often that is one family alone. */
function whenAsked<T>(make: (family: IPFamily) => T): Readonly<Record<IPFamily, T>> {
  const made: Partial<Record<IPFamily, T>> = {};
  const get = (family: IPFamily): T => {
    made[family] ??= make(family);
    return made[family];
  };
  return {
    get IPv4() {
      return get('IPv4');
    },
    get IPv6() {
      return get('IPv6');
    },
  };
}
