import type { Report } from '../diagnostics.ts';
import {
  type Cluster,
  type IPFamily,
  type KubeProxyVersion,
  nodeIPs,
  type ProxyMode,
  proxyStates,
  reportUnknowns,
  resolveSettings,
  type SettingsRequest,
} from '../kube/index.ts';
import { compileIptables, type IptablesRules } from './iptables/index.ts';

export { chainSuffix } from './chain-names.ts';
export { type IptablesRules, NFACCT_OBJECTS } from './iptables/index.ts';

export interface CompileOptions extends SettingsRequest {
  /** Whether kube-proxy can make nfacct objects (1.31 and later use them); true, as on ordinary nodes. */
  readonly nfacct?: boolean;
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
  readonly rules: Readonly<Record<IPFamily, IptablesRules>>;
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
  if (settings.mode !== 'iptables') {
    report({
      code: 'unsupported-mode',
      severity: 'error',
      message: `the configuration asks for ${settings.mode} mode; rules of iptables mode alone are known here`,
      help: 'to compile those all the same, pass --proxy-mode iptables',
    });
    return undefined;
  }
  const states = proxyStates(cluster, settings, report);
  reportUnknowns(cluster, states, settings, report);
  const nfacct = options.nfacct ?? true;
  const assumptions = [...settings.assumptions];
  if (settings.version.behaviour.nfacct) {
    assumptions.push(
      nfacct ? 'nfacct counters, which kube-proxy can make on ordinary nodes' : 'no nfacct counters',
    );
  }
  return {
    mode: settings.mode,
    version: settings.version,
    nodeName: settings.nodeName,
    primaryFamily: nodeIPs(settings.node, settings.configuration).primary,
    assumptions,
    rules: whenAsked((family) => compileIptables(states[family], { nfacct })),
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
