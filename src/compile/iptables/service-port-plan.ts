import type { Endpoint, ProxyState, ServicePort } from '../../kube/index.ts';
import type { Target } from '../../netfilter/index.ts';
import { endpointChain, type ServicePortChains, servicePortChains } from '../chain-names.ts';
import { EndpointChain, endpointParts } from './endpoint-chain.ts';
import type { ProtocolName } from './rule.ts';

/** What all service ports of a state have in common. */
export interface ServiceRuleOptions {
  /** Large clusters leave out the comments of balancing and endpoint rules. */
  readonly comments: boolean;
  readonly nfacct: boolean;
}

/**
 * What syncProxyRules settles about a service port before it writes a rule: which chains there are, where
 * traffic is sent, and how it ends where it cannot be sent anywhere.
 */
export interface ServicePortPlan {
  readonly port: ServicePort;
  readonly state: ProxyState;
  readonly options: ServiceRuleOptions;
  /** kube-proxy's ServicePortName, which every comment has. */
  readonly name: string;
  readonly protocol: ProtocolName;
  readonly chains: ServicePortChains;
  readonly hasAny: boolean;
  readonly hasInternal: boolean;
  readonly hasExternal: boolean;
  readonly usesExternal: boolean;
  readonly usesFirewall: boolean;
  /** Where traffic to the cluster IP goes. */
  readonly internalChain: string;
  /** Where traffic from outside goes in the end. */
  readonly externalPolicyChain: string;
  /** Chains of the endpoints that are used under either policy, and of both. */
  readonly cluster: readonly EndpointChain[];
  readonly local: readonly EndpointChain[];
  readonly reachable: readonly EndpointChain[];
  readonly refusal: { readonly comment: string; readonly target: Target };
}

/** Source: the head of the loop over service ports in syncProxyRules of the iptables proxier, 1.28 to 1.36. */
export function planServicePort(
  port: ServicePort,
  state: ProxyState,
  options: ServiceRuleOptions,
): ServicePortPlan {
  const name = port.servicePortName;
  const protocol = port.protocol.toLowerCase() as ProtocolName;
  const chains = servicePortChains(name, protocol);
  const { cluster, local, reachable, hasAny } = port.endpoints;
  const noLocal = local.length === 0;
  const parts = endpointParts(port, protocol, options.comments);
  const targets = reachable.map(
    (endpoint) => new EndpointChain(endpointChain(name, protocol, endpoint.destination), endpoint, parts),
  );
  const targetsOf = (endpoints: readonly Endpoint[]): readonly EndpointChain[] => {
    if (endpoints.length === targets.length || endpoints.length === 0)
      return endpoints.length === 0 ? [] : targets;
    const chosen = new Set(endpoints.map(({ destination }) => destination));
    return targets.filter(({ destination }) => chosen.has(destination));
  };
  return {
    port,
    state,
    options,
    name,
    protocol,
    chains,
    hasAny,
    hasInternal: hasAny && !(port.internalPolicyLocal && noLocal),
    hasExternal: hasAny && !(port.externalPolicyLocal && noLocal),
    // Even without an endpoint for traffic from outside: pods and the node itself are let through in there.
    usesExternal: hasAny && port.externallyAccessible,
    usesFirewall: hasAny && port.loadBalancerVIPs.length > 0 && port.sourceRanges.length > 0,
    internalChain: port.internalPolicyLocal ? chains.localPolicy : chains.clusterPolicy,
    externalPolicyChain: port.externalPolicyLocal ? chains.localPolicy : chains.clusterPolicy,
    cluster: targetsOf(cluster),
    local: targetsOf(local),
    reachable: targets,
    refusal: hasAny
      ? { comment: `${name} has no local endpoints`, target: { kind: 'DROP' } }
      : { comment: `${name} has no endpoints`, target: { kind: 'REJECT' } },
  };
}
