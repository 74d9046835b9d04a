import type { ProxyState } from '../../kube/index.ts';
import type { Rule } from '../../netfilter/index.ts';
import type { EndpointChain } from './endpoint-chain.ts';
import type { ServicePortPlan } from './service-port-plan.ts';
import type { Jump } from './well-known.ts';

/**
 * How a version of kube-proxy writes its rules in iptables mode, part by part. The newest is in
 * newest-layout.ts; each file of history/ says what was otherwise before one change, and no other file asks
 * for a version's number. What a version makes of Services and endpoints is kube/kube-proxy-version.ts's.
 */
export interface Layout {
  /** Out of built-in chains, in the order in which they are ensured. */
  readonly jumps: readonly Jump[];
  /** Chains that every sync writes, in the order of the restore payload. */
  readonly filterChains: readonly string[];
  readonly natChains: readonly string[];
  /** Chains that are made where they are missing, whether a sync writes them or not (besides the canary). */
  readonly ensuredChains: Readonly<Record<'filter' | 'nat', readonly string[]>>;

  readonly postrouting: (state: ProxyState) => Rule[];
  readonly forward: (state: ProxyState, nfacct: boolean) => Rule[];
  /** Rules of KUBE-FIREWALL; undefined leaves the chain alone. */
  readonly firewall: (state: ProxyState) => Rule[] | undefined;
  /** The last rules of nat/KUBE-SERVICES. */
  readonly nodePortJumps: (state: ProxyState) => Rule[];

  /** What a service port comes to, where that was settled otherwise. */
  readonly settle: (plan: ServicePortPlan) => ServicePortPlan;
  readonly clusterIP: (plan: ServicePortPlan, write: SharedChains) => void;
  readonly externalIP: (plan: ServicePortPlan, address: string, write: SharedChains) => void;
  readonly loadBalancerIP: (plan: ServicePortPlan, address: string, write: SharedChains) => void;
  /** Whether the node port of a service port, if it has one, has rules. */
  readonly usesNodePort: (plan: ServicePortPlan) => boolean;
  readonly nodePort: (plan: ServicePortPlan, write: SharedChains) => void;
  readonly healthCheckNodePort: (plan: ServicePortPlan, write: SharedChains) => void;

  /** Chains of a service port, in the order in which they are written; then come those of its endpoints. */
  readonly serviceChains: readonly ServiceChainKind[];
  /** The rules ahead of affinity and balancing in a chain of endpoints: what is to be masqueraded. */
  readonly policyHead: (plan: ServicePortPlan, chain: string) => Rule[];
  /** What stands in a chain of endpoints that has none. */
  readonly policyWithoutEndpoints: (plan: ServicePortPlan) => Rule[];
  /** The endpoints that have rules for affinity in a chain. */
  readonly affinityTargets: (
    plan: ServicePortPlan,
    chain: string,
    targets: readonly EndpointChain[],
  ) => readonly EndpointChain[];
  /** Comments of affinity and balancing rules in a chain; undefined: none. */
  readonly affinityNote: (plan: ServicePortPlan, chain: string, destination: string) => string | undefined;
  readonly balancingNote: (
    plan: ServicePortPlan,
    chain: string,
    destination: string,
    index: number,
  ) => string | undefined;
}

/** One kind of chain that service ports have. */
export interface ServiceChainKind {
  readonly name: (plan: ServicePortPlan) => string;
  readonly isUsed: (plan: ServicePortPlan) => boolean;
  readonly rules: (plan: ServicePortPlan, layout: Layout) => Rule[];
}

/** Takes the rules of chains that all service ports share, as they are written. */
export interface SharedChains {
  filter(chain: string, rule: Rule): void;
  nat(chain: string, rule: Rule): void;
}

/** A change of the layout, and how it was before it. */
export interface LayoutChange {
  /** The first minor version with the newer layout. */
  readonly since: number;
  readonly what: string;
  /** The parts that were otherwise, given the layout of the version that changed them. */
  readonly before: (newer: Layout) => Partial<Layout>;
}
