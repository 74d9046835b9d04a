import type { ProxyState } from '../../kube/index.ts';
import type { Chain } from '../../netfilter/index.ts';
import type { IpvsServices, ServiceLayout } from './services.ts';
import type { SetName } from './sets.ts';

/** How a version of kube-proxy writes its state in ipvs mode; the newest is in newest-layout.ts. */
export interface IpvsLayout extends ServiceLayout {
  /** Out of built-in chains, in the order in which they are ensured. */
  readonly jumps: readonly Jump[];
  /** Chains that are made where they are missing and never written. */
  readonly ensuredNatChains: readonly string[];
  readonly sets: readonly SetName[];
  readonly nat: (state: ProxyState, services: IpvsServices) => Chain[];
  readonly filter: (state: ProxyState, services: IpvsServices) => Chain[];
}

export interface Jump {
  readonly table: 'nat' | 'filter';
  readonly from: string;
  readonly to: string;
  readonly comment: string;
}

/** A change of the layout, and how it was before it. */
export interface IpvsLayoutChange {
  /** The first minor version with the newer layout. */
  readonly since: number;
  readonly what: string;
  readonly before: (newer: IpvsLayout) => Partial<IpvsLayout>;
}
