import type { Rule, Target } from '../../netfilter/index.ts';
import { comment, destinationPort, host, jumpTo, network, ofType, protocolMatch } from './rule.ts';
import type { ServicePortPlan } from './service-port-plan.ts';
import {
  EXTERNAL_SERVICES,
  NFACCT_LOCALHOST_NODE_PORTS,
  NODEPORTS,
  PROXY_FIREWALL,
  SERVICES,
} from './well-known.ts';

/** Takes the rules of chains that all service ports share, as they are written. */
export interface SharedChains {
  filter(chain: string, rule: Rule): void;
  nat(chain: string, rule: Rule): void;
}

/** A rule for traffic to an address and the port of the service port. */
export function ruleTo(plan: ServicePortPlan, address: string, note: string, target: Target): Rule {
  return {
    destination: host(address),
    protocol: protocolMatch(plan.protocol),
    matches: [comment(note), destinationPort(plan.protocol, plan.port.port)],
    target,
  };
}

/**
 * Writes what leads to the chains of one service port, or refuses its traffic. Source: the first half of the
 * loop over service ports in syncProxyRules of the iptables proxier, 1.28 to 1.36.
 */
export function writeDispatch(plan: ServicePortPlan, write: SharedChains): void {
  const { port, name, chains, hasAny, hasInternal, hasExternal, usesFirewall, refusal } = plan;
  const to = (address: string, note: string, target: Target) => ruleTo(plan, address, note, target);

  if (hasInternal) write.nat(SERVICES, to(port.clusterIP, `${name} cluster IP`, jumpTo(plan.internalChain)));
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

  if (port.nodePort !== 0) writeNodePort(plan, write);

  if (port.healthCheckNodePort !== 0) {
    write.filter(NODEPORTS, {
      protocol: protocolMatch('tcp'),
      matches: [comment(`${name} health check node port`), destinationPort('tcp', port.healthCheckNodePort)],
      target: { kind: 'ACCEPT' },
    });
  }
}

function writeNodePort(plan: ServicePortPlan, write: SharedChains): void {
  const { port, state, name, hasAny, refusal } = plan;
  const protocol = protocolMatch(plan.protocol);
  const dport = destinationPort(plan.protocol, port.nodePort);
  const target = jumpTo(plan.chains.external);
  if (hasAny && plan.options.nfacct && state.localhostNodePorts) {
    write.nat(NODEPORTS, {
      destination: network('127.0.0.0/8'),
      protocol,
      matches: [comment(name), dport, { kind: 'nfacct', name: NFACCT_LOCALHOST_NODE_PORTS }],
      target,
    });
  }
  if (hasAny) write.nat(NODEPORTS, { protocol, matches: [comment(name), dport], target });
  if (!plan.hasExternal) {
    write.filter(EXTERNAL_SERVICES, {
      protocol,
      matches: [comment(refusal.comment), ofType('destination', 'LOCAL'), dport],
      target: refusal.target,
    });
  }
}
