import { describe, expect, test } from 'vitest';
import { ORIGIN } from '../../test/kube/support.ts';
import { type IPAddress, parseIP } from './ip.ts';
import { kubeProxyVersion } from './kube-proxy-version.ts';
import type { Node } from './node.ts';
import { LOOPBACK_INTERFACE, type NodeIPs, nodeIPs, nodePortAddresses } from './node-addresses.ts';

function ip(text: string): IPAddress {
  const found = parseIP(text);
  if (found === undefined) throw new Error(text);
  return found;
}

function nodeWith(internalIPs: readonly string[], externalIPs: readonly string[] = []): Node {
  return {
    name: 'node-a',
    zone: '',
    internalIPs: internalIPs.map(ip),
    externalIPs: externalIPs.map(ip),
    podCIDRs: [],
    version: undefined,
    origin: ORIGIN,
  };
}

const inShort = ({ IPv4, IPv6, primary }: NodeIPs) => `${IPv4.text} ${IPv6.text} ${primary}`;

// GetNodeHostIPs and detectNodeIPs.
describe('node IPs:', () => {
  test.each<[string, Node | undefined, string | undefined, string]>([
    ['nothing is known', undefined, undefined, '127.0.0.1 ::1 IPv4'],
    ['a Node without addresses', nodeWith([]), undefined, '127.0.0.1 ::1 IPv4'],
    ['one address', nodeWith(['192.168.0.2']), undefined, '192.168.0.2 ::1 IPv4'],
    ['IPv6 alone', nodeWith(['fd00::2']), undefined, '127.0.0.1 fd00::2 IPv6'],
    ['IPv6 first', nodeWith(['fd00::2', '192.168.0.2']), undefined, '192.168.0.2 fd00::2 IPv6'],
    [
      'the first of each family counts',
      nodeWith(['192.168.0.2', '192.168.0.3', 'fd00::2', 'fd00::3']),
      undefined,
      '192.168.0.2 fd00::2 IPv4',
    ],
    [
      'internal ones go before external ones',
      nodeWith(['192.168.0.2'], ['fd00::2', '203.0.113.2']),
      undefined,
      '192.168.0.2 fd00::2 IPv4',
    ],
    ['external ones do', nodeWith([], ['203.0.113.2']), undefined, '203.0.113.2 ::1 IPv4'],
    [
      'bindAddress replaces the one of its family, which becomes primary',
      nodeWith(['192.168.0.2', 'fd00::2']),
      'fd00::9',
      '192.168.0.2 fd00::9 IPv6',
    ],
    ['bindAddress alone', undefined, '192.168.0.9', '192.168.0.9 ::1 IPv4'],
    [
      'a bindAddress of zeros says nothing beside a Node',
      nodeWith(['192.168.0.2']),
      '::',
      '192.168.0.2 ::1 IPv4',
    ],
    ['and tells the family where there is no Node', undefined, '::', '127.0.0.1 ::1 IPv6'],
  ])('%s', (_title, node, bindAddress, expected) => {
    expect(inShort(nodeIPs(node, bindAddress === undefined ? {} : { bindAddress: ip(bindAddress) }))).toBe(
      expected,
    );
  });
});

const INTERFACES = [
  LOOPBACK_INTERFACE,
  { name: 'eth0', addresses: ['192.168.0.2', '192.168.0.3', 'fd00::2'].map(ip) },
  { name: 'eth1', addresses: ['172.16.0.2', '192.168.0.2'].map(ip) },
];

/** `all`, or the addresses; `+lo` where 127.0.0.0/8 is among what is open. */
function evaluate(
  cidrs: readonly string[] | undefined,
  family: 'IPv4' | 'IPv6',
  minor = 36,
  node?: Node,
): string {
  const configuration = cidrs === undefined ? {} : { nodePortAddresses: cidrs };
  const found = nodePortAddresses(
    configuration,
    family,
    nodeIPs(node, configuration),
    INTERFACES,
    kubeProxyVersion(minor),
  );
  const what = found.match === 'all' ? 'all' : found.addresses.map(({ text }) => text).join(' ') || 'none';
  return found.containsIPv4Loopback ? `${what} +lo` : what;
}

// NewNodePortAddresses and GetNodeIPs.
describe('nodePortAddresses:', () => {
  test.each<[readonly string[] | undefined, string, string]>([
    [undefined, 'all +lo', 'all'],
    [[], 'all +lo', 'all'],
    [['192.168.0.0/24'], '192.168.0.2 192.168.0.3', 'all'],
    [['fd00::/8'], 'all +lo', 'fd00::2'],
    [['192.168.0.0/24', 'fd00::/8'], '192.168.0.2 192.168.0.3', 'fd00::2'],
    [['192.168.0.3/32', '172.16.0.0/12'], '192.168.0.3 172.16.0.2', 'all'],
    [['10.0.0.0/8'], 'none', 'all'],
    [['127.0.0.0/8'], '127.0.0.1 +lo', 'all'],
    [['127.0.0.1/32', '192.168.0.2/32'], '127.0.0.1 192.168.0.2 +lo', 'all'],
    [['127.1.0.0/16'], 'none +lo', 'all'],
    [['64.0.0.0/2'], '127.0.0.1 +lo', 'all'],
    [['::1/128'], 'all +lo', '::1'],
    [['0.0.0.0/0'], 'all +lo', 'all'],
    [['::/0'], 'all +lo', 'all'],
    [['192.168.0.0/24', '0.0.0.0/0', '10.0.0.0/8'], 'all +lo', 'all'],
    [['192.168.0.9/24'], '192.168.0.2 192.168.0.3', 'all'],
  ])('%j: %s, %s', (cidrs, ipv4, ipv6) => {
    for (const minor of [28, 36]) {
      expect(evaluate(cidrs, 'IPv4', minor)).toBe(ipv4);
      expect(evaluate(cidrs, 'IPv6', minor)).toBe(ipv6);
    }
  });

  // IsZeroCIDR compared texts until the source ranges of 1.34 needed it for parsed networks.
  test('a /0 that is spelled otherwise stands for all addresses since 1.34', () => {
    expect(evaluate(['192.168.0.0/0'], 'IPv4', 33)).toBe('127.0.0.1 192.168.0.2 192.168.0.3 172.16.0.2 +lo');
    expect(evaluate(['192.168.0.0/0'], 'IPv4', 34)).toBe('all +lo');
  });

  test('primary stands for the node IPs; a family without one has all', () => {
    const both = nodeWith(['192.168.0.2', 'fd00::2']);
    expect(evaluate(['primary'], 'IPv4', 36, both)).toBe('192.168.0.2');
    expect(evaluate(['primary'], 'IPv6', 36, both)).toBe('fd00::2');
    expect(evaluate(['primary'], 'IPv4', 36, nodeWith(['192.168.0.2']))).toBe('192.168.0.2');
    expect(evaluate(['primary'], 'IPv6', 36, nodeWith(['192.168.0.2']))).toBe('all');
    expect(evaluate(['primary'], 'IPv4')).toBe('all +lo');
  });
});
