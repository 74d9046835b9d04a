import type { IPFamily, ProxyState } from '../../kube/index.ts';
import type { IpSet, Ruleset, VirtualServer } from '../../netfilter/index.ts';
import { layoutOf } from './history.ts';
import { ipvsRules } from './rules.ts';
import { ipvsServices, type VirtualServerOwner } from './services.ts';
import { ipSets } from './sets.ts';

/** What kube-proxy programs for one family in ipvs mode. */
export interface IpvsFamily {
  readonly payload: Ruleset;
  readonly kernel: Ruleset;
  readonly sets: readonly IpSet[];
  readonly virtualServers: readonly VirtualServer[];
  /** Addresses on kube-ipvs0, /32 or /128 each. */
  readonly addresses: readonly string[];
  /** By virtualServerKey. */
  readonly owners: ReadonlyMap<string, VirtualServerOwner>;
}

export { LAYOUT_CHANGES } from './history.ts';
export { type VirtualServerOwner, virtualServerKey } from './services.ts';

/** Compiles one family. */
export function compileIpvs(state: ProxyState): IpvsFamily {
  const layout = layoutOf(state.version);
  const services = ipvsServices(state, layout);
  return {
    ...ipvsRules(state, services, layout),
    sets: ipSets(layout.sets, services.entries, state.family),
    virtualServers: services.virtualServers,
    addresses: services.boundAddresses,
    owners: services.owners,
  };
}

/** A sysctl and the value that kube-proxy gives it. */
export interface Sysctl {
  readonly name: string;
  readonly value: number;
}

/**
 * The sysctls of ipvs mode. Not among them: net.ipv4.vs.conn_reuse_mode, which is touched on kernels from 4.1
 * to 5.8 alone. Source: NewProxier of the ipvs proxier.
 */
export function ipvsSysctls(states: Readonly<Record<IPFamily, ProxyState>>): Sysctl[] {
  const { strictARP } = states.IPv4.ipvs;
  return [
    { name: 'net.ipv4.vs.conntrack', value: 1 },
    { name: 'net.ipv4.vs.expire_nodest_conn', value: 1 },
    { name: 'net.ipv4.vs.expire_quiescent_template', value: 1 },
    { name: 'net.ipv4.ip_forward', value: 1 },
    ...(strictARP
      ? [
          { name: 'net.ipv4.conf.all.arp_ignore', value: 1 },
          { name: 'net.ipv4.conf.all.arp_announce', value: 2 },
        ]
      : []),
  ];
}
