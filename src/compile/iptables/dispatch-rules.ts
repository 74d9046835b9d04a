import type { Rule, Target } from '../../netfilter/index.ts';
import type { Layout, SharedChains } from './layout.ts';
import { comment, destinationPort, host, jumpTo, network, ofType, protocolMatch } from './rule.ts';
import type { ServicePortPlan } from './service-port-plan.ts';
import {
  EXTERNAL_SERVICES,
  NFACCT_LOCALHOST_NODE_PORTS,
  NODEPORTS,
  PROXY_FIREWALL,
  SERVICES,
} from './well-known.ts';

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
export function writeDispatch(plan: ServicePortPlan, layout: Layout, write: SharedChains): void {
  const { port } = plan;
  layout.clusterIP(plan, write);
  for (const address of port.externalIPs) layout.externalIP(plan, address, write);
  for (const address of port.loadBalancerVIPs) layout.loadBalancerIP(plan, address, write);
  if (layout.usesNodePort(plan)) layout.nodePort(plan, write);
  if (port.healthCheckNodePort !== 0) layout.healthCheckNodePort(plan, write);
}

export function clusterIP(plan: ServicePortPlan, write: SharedChains): void {
  const { port, name, refusal } = plan;
  if (plan.hasInternal) {
    write.nat(SERVICES, ruleTo(plan, port.clusterIP, `${name} cluster IP`, jumpTo(plan.internalChain)));
  } else write.filter(SERVICES, ruleTo(plan, port.clusterIP, refusal.comment, refusal.target));
}

export function externalIP(plan: ServicePortPlan, address: string, write: SharedChains): void {
  if (plan.hasAny) {
    write.nat(SERVICES, ruleTo(plan, address, `${plan.name} external IP`, jumpTo(plan.chains.external)));
  }
  refuse(plan, address, write);
}

export function loadBalancerIP(plan: ServicePortPlan, address: string, write: SharedChains): void {
  const { name, chains, usesFirewall } = plan;
  const target = jumpTo(usesFirewall ? chains.firewall : chains.external);
  if (plan.hasAny) write.nat(SERVICES, ruleTo(plan, address, `${name} loadbalancer IP`, target));
  if (usesFirewall) {
    const note = `${name} traffic not accepted by ${chains.firewall}`;
    write.filter(PROXY_FIREWALL, ruleTo(plan, address, note, { kind: 'DROP' }));
  }
  refuse(plan, address, write);
}

/** Refuses traffic from outside to an address, where there is nothing to send it to. */
export function refuse(plan: ServicePortPlan, address: string, write: SharedChains): void {
  const { comment: note, target } = plan.refusal;
  if (!plan.hasExternal) write.filter(EXTERNAL_SERVICES, ruleTo(plan, address, note, target));
}

export function healthCheckNodePort({ port, name }: ServicePortPlan, write: SharedChains): void {
  write.filter(NODEPORTS, {
    protocol: protocolMatch('tcp'),
    matches: [comment(`${name} health check node port`), destinationPort('tcp', port.healthCheckNodePort)],
    target: { kind: 'ACCEPT' },
  });
}

export function nodePort(plan: ServicePortPlan, write: SharedChains): void {
  const { port, state, name } = plan;
  const target = jumpTo(plan.chains.external);
  const rule = nodePortRule(plan, target);
  if (plan.hasAny && plan.options.nfacct && state.localhostNodePorts) {
    write.nat(NODEPORTS, {
      ...rule,
      destination: network('127.0.0.0/8'),
      matches: [
        comment(name),
        destinationPort(plan.protocol, port.nodePort),
        { kind: 'nfacct', name: NFACCT_LOCALHOST_NODE_PORTS },
      ],
    });
  }
  if (plan.hasAny) write.nat(NODEPORTS, rule);
  refuseNodePort(plan, write);
}

/** A rule for traffic to the node port, whatever the address. */
export function nodePortRule(plan: ServicePortPlan, target: Target): Rule {
  return {
    protocol: protocolMatch(plan.protocol),
    matches: [comment(plan.name), destinationPort(plan.protocol, plan.port.nodePort)],
    target,
  };
}

export function refuseNodePort(
  { port, protocol, refusal, hasExternal }: ServicePortPlan,
  write: SharedChains,
): void {
  if (hasExternal) return;
  write.filter(EXTERNAL_SERVICES, {
    protocol: protocolMatch(protocol),
    matches: [
      comment(refusal.comment),
      ofType('destination', 'LOCAL'),
      destinationPort(protocol, port.nodePort),
    ],
    target: refusal.target,
  });
}
