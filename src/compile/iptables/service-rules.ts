import type { Endpoint, LocalDetector, ProxyState, ServicePort } from '../../kube/index.ts';
import { cidrContains } from '../../kube/index.ts';
import type { Match, Rule, Target } from '../../netfilter/index.ts';
import { endpointChain, servicePortChains } from '../chain-names.ts';
import { balancingProbability } from '../probabilities.ts';
import {
  comment,
  destinationPort,
  host,
  jumpTo,
  network,
  ofType,
  type ProtocolName,
  protocolMatch,
} from './rule.ts';
import {
  EXTERNAL_SERVICES,
  MARK_MASQ,
  NFACCT_LOCALHOST_NODE_PORTS,
  NODEPORTS,
  PROXY_FIREWALL,
  SERVICES,
} from './well-known.ts';

/** Takes the rules as they are written; a chain of a service port is declared before its rules. */
export interface RuleWriter {
  filter(chain: string, rule: Rule): void;
  nat(chain: string, rule: Rule): void;
  declare(chain: string): void;
}

/** What all service ports of a state have in common. */
export interface ServiceRuleOptions {
  /** Large clusters leave out the comments of balancing and endpoint rules. */
  readonly comments: boolean;
  readonly nfacct: boolean;
}

/** In which table traffic without an endpoint is ended, and how. */
interface Refusal {
  readonly comment: string;
  readonly target: Target;
}

/**
 * Writes the rules of one service port, in kube-proxy's order. Source: the loop over service ports in
 * syncProxyRules of the iptables proxier, 1.28 to 1.36.
 */
export function writeServicePort(
  port: ServicePort,
  state: ProxyState,
  options: ServiceRuleOptions,
  write: RuleWriter,
): void {
  const name = port.servicePortName;
  const protocol = port.protocol.toLowerCase() as ProtocolName;
  const chains = servicePortChains(name, protocol);
  const { cluster, local, reachable, hasAny } = port.endpoints;
  const masquerade = jumpTo(MARK_MASQ);

  const internalChain = port.internalPolicyLocal ? chains.localPolicy : chains.clusterPolicy;
  const hasInternal = hasAny && !(port.internalPolicyLocal && local.length === 0);
  const externalPolicyChain = port.externalPolicyLocal ? chains.localPolicy : chains.clusterPolicy;
  const hasExternal = hasAny && !(port.externalPolicyLocal && local.length === 0);
  // Even without an endpoint for traffic from outside: pods and the node itself are let through in there.
  const usesExternal = hasAny && port.externallyAccessible;
  const usesFirewall = hasAny && port.loadBalancerVIPs.length > 0 && port.sourceRanges.length > 0;
  const refusal: Refusal = hasAny
    ? { comment: `${name} has no local endpoints`, target: { kind: 'DROP' } }
    : { comment: `${name} has no endpoints`, target: { kind: 'REJECT' } };

  const to = (address: string, note: string, target: Target): Rule => ({
    destination: host(address),
    protocol: protocolMatch(protocol),
    matches: [comment(note), destinationPort(protocol, port.port)],
    target,
  });

  if (cluster.length > 0) write.declare(chains.clusterPolicy);
  if (local.length > 0) write.declare(chains.localPolicy);
  if (usesExternal) write.declare(chains.external);
  if (usesFirewall) write.declare(chains.firewall);

  if (hasInternal) write.nat(SERVICES, to(port.clusterIP, `${name} cluster IP`, jumpTo(internalChain)));
  else write.filter(SERVICES, to(port.clusterIP, refusal.comment, refusal.target));

  for (const address of port.externalIPs) {
    if (hasAny) write.nat(SERVICES, to(address, `${name} external IP`, jumpTo(chains.external)));
    if (!hasExternal) write.filter(EXTERNAL_SERVICES, to(address, refusal.comment, refusal.target));
  }

  for (const address of port.loadBalancerVIPs) {
    const target = jumpTo(usesFirewall ? chains.firewall : chains.external);
    if (hasAny) write.nat(SERVICES, to(address, `${name} loadbalancer IP`, target));
    if (usesFirewall) {
      const note = `${name} traffic not accepted by ${chains.firewall}`;
      write.filter(PROXY_FIREWALL, to(address, note, { kind: 'DROP' }));
    }
    if (!hasExternal) write.filter(EXTERNAL_SERVICES, to(address, refusal.comment, refusal.target));
  }

  if (port.nodePort !== 0) writeNodePort();

  if (port.healthCheckNodePort !== 0) {
    write.filter(NODEPORTS, {
      protocol: protocolMatch('tcp'),
      matches: [comment(`${name} health check node port`), destinationPort('tcp', port.healthCheckNodePort)],
      target: { kind: 'ACCEPT' },
    });
  }

  if (hasInternal) {
    const rule = to(port.clusterIP, `${name} cluster IP`, masquerade);
    if (state.masqueradeAll) write.nat(internalChain, rule);
    else if (state.localDetector !== undefined) {
      write.nat(internalChain, { ...detect(state.localDetector, true), ...rule });
    }
  }

  if (usesExternal) writeExternal();
  if (usesFirewall) writeFirewall();
  if (cluster.length > 0) writeBalancing(chains.clusterPolicy, cluster);
  if (local.length > 0) writeBalancing(chains.localPolicy, local);
  for (const endpoint of reachable) writeEndpoint(endpoint);

  function writeNodePort(): void {
    const dport = destinationPort(protocol, port.nodePort);
    const target = jumpTo(chains.external);
    if (hasAny && options.nfacct && state.localhostNodePorts) {
      write.nat(NODEPORTS, {
        destination: network('127.0.0.0/8'),
        protocol: protocolMatch(protocol),
        matches: [comment(name), dport, { kind: 'nfacct', name: NFACCT_LOCALHOST_NODE_PORTS }],
        target,
      });
    }
    if (hasAny) {
      write.nat(NODEPORTS, { protocol: protocolMatch(protocol), matches: [comment(name), dport], target });
    }
    if (!hasExternal) {
      write.filter(EXTERNAL_SERVICES, {
        protocol: protocolMatch(protocol),
        matches: [comment(refusal.comment), ofType('destination', 'LOCAL'), dport],
        target: refusal.target,
      });
    }
  }

  function writeExternal(): void {
    if (!port.externalPolicyLocal) {
      // The endpoint may be on another node, and the answer has to come back through this one.
      write.nat(chains.external, {
        matches: [comment(`masquerade traffic for ${name} external destinations`)],
        target: masquerade,
      });
    } else {
      if (state.localDetector !== undefined) {
        write.nat(chains.external, {
          ...detect(state.localDetector, false),
          matches: [comment(`pod traffic for ${name} external destinations`)],
          target: jumpTo(chains.clusterPolicy),
        });
      }
      const fromNode = ofType('source', 'LOCAL');
      write.nat(chains.external, {
        matches: [comment(`masquerade LOCAL traffic for ${name} external destinations`), fromNode],
        target: masquerade,
      });
      write.nat(chains.external, {
        matches: [comment(`route LOCAL traffic for ${name} external destinations`), fromNode],
        target: jumpTo(chains.clusterPolicy),
      });
    }
    if (hasExternal) write.nat(chains.external, { matches: [], target: jumpTo(externalPolicyChain) });
  }

  function writeFirewall(): void {
    const matches = [comment(`${name} loadbalancer IP`)];
    const target = jumpTo(chains.external);
    for (const { text } of port.sourceRanges) {
      write.nat(chains.firewall, { source: network(text), matches, target });
    }
    // A packet from the node itself to the load balancer may loop back with the VIP as its source.
    if (port.sourceRanges.some(({ cidr }) => cidrContains(cidr, state.nodeIP))) {
      for (const address of port.loadBalancerVIPs) {
        write.nat(chains.firewall, { source: host(address), matches, target });
      }
    }
    write.nat(chains.firewall, {
      matches: [comment(`other traffic to ${name} will be dropped by ${PROXY_FIREWALL}`)],
    });
  }

  function writeBalancing(chain: string, endpoints: readonly Endpoint[]): void {
    const note = (endpoint: Endpoint): Match[] =>
      options.comments ? [comment(`${name} -> ${endpoint.destination}`)] : [];
    const targets = endpoints.map((endpoint) => endpointChain(name, protocol, endpoint.destination));
    const seconds = port.affinitySeconds;
    if (seconds !== undefined) {
      endpoints.forEach((endpoint, index) => {
        const target = targets[index] ?? '';
        write.nat(chain, {
          matches: [
            ...note(endpoint),
            {
              kind: 'recent',
              negated: false,
              action: 'rcheck',
              name: target,
              seconds,
              reap: true,
              side: 'source',
            },
          ],
          target: jumpTo(target),
        });
      });
    }
    endpoints.forEach((endpoint, index) => {
      const matches = note(endpoint);
      if (index < endpoints.length - 1) {
        const probability = balancingProbability(index, endpoints.length);
        matches.push({ kind: 'statistic', mode: 'random', negated: false, probability });
      }
      write.nat(chain, { matches, target: jumpTo(targets[index] ?? '') });
    });
  }

  function writeEndpoint(endpoint: Endpoint): void {
    const chain = endpointChain(name, protocol, endpoint.destination);
    const note: Match[] = options.comments ? [comment(name)] : [];
    write.declare(chain);
    // A pod that reaches itself through the Service must not see its own address as the source.
    write.nat(chain, { source: host(endpoint.sourceAddress), matches: note, target: masquerade });
    const remember: Match[] =
      port.affinitySeconds === undefined
        ? []
        : [{ kind: 'recent', negated: false, action: 'set', name: chain, side: 'source' }];
    write.nat(chain, {
      protocol: protocolMatch(protocol),
      matches: [...note, ...remember, { kind: protocol }],
      target: { kind: 'DNAT', destinations: [endpoint.destination], random: false, persistent: false },
    });
  }
}

/** The match for traffic of local pods, or (negated) for all other traffic. */
function detect(
  detector: NonNullable<LocalDetector>,
  negated: boolean,
): Pick<Rule, 'source' | 'inInterface'> {
  return detector.by === 'source'
    ? { source: network(detector.cidr, negated) }
    : { inInterface: { negated, name: detector.name } };
}
