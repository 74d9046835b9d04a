/** For each kind of field that cannot be used: what is said about it, word for word, and that nothing is written. */
import { describe, expect, test } from 'vitest';
import { linesOf, workspace } from './support/workspace.ts';

/** Every field that is read, with a value that can be used. */
const CLUSTER = `apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: shop
spec:
  type: LoadBalancer
  clusterIP: 10.96.0.50
  clusterIPs:
    - 10.96.0.50
  ipFamilies:
    - IPv4
  ports:
    - name: http
      protocol: TCP
      port: 80
      nodePort: 30080
  externalIPs:
    - 198.51.100.1
  loadBalancerSourceRanges:
    - 192.0.2.0/24
  sessionAffinity: ClientIP
  sessionAffinityConfig:
    clientIP:
      timeoutSeconds: 600
  internalTrafficPolicy: Cluster
  externalTrafficPolicy: Local
  healthCheckNodePort: 32000
status:
  loadBalancer:
    ingress:
      - ip: 203.0.113.1
        ipMode: VIP
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: web-1
  namespace: shop
  labels:
    kubernetes.io/service-name: web
addressType: IPv4
ports:
  - name: http
    protocol: TCP
    port: 8080
endpoints:
  - addresses:
      - 10.244.1.10
    conditions:
      ready: true
    hints:
      forZones:
        - name: zone-1
    nodeName: node-a
---
apiVersion: v1
kind: Endpoints
metadata:
  name: db
  namespace: shop
subsets:
  - addresses:
      - ip: 10.244.1.20
        nodeName: node-a
    ports:
      - name: sql
        protocol: TCP
        port: 5432
---
apiVersion: v1
kind: Node
metadata:
  name: node-a
spec:
  podCIDRs:
    - 10.244.1.0/24
status:
  addresses:
    - type: InternalIP
      address: 192.168.0.2
  nodeInfo:
    kubeletVersion: v1.36.0
---
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: iptables
bindAddress: 0.0.0.0
hostnameOverride: node-a
clusterCIDR: 10.244.0.0/16
detectLocalMode: ClusterCIDR
detectLocal:
  bridgeInterface: cni0
  interfaceNamePrefix: veth
iptables:
  masqueradeAll: false
  masqueradeBit: 14
  localhostNodePorts: true
nodePortAddresses:
  - 192.168.0.0/24
conntrack:
  tcpBeLiberal: false
featureGates:
  AllAlpha: false
`;

/** A piece of CLUSTER, what stands in its place, and the errors. */
const CASES: readonly (readonly [string, string, readonly string[]])[] = [
  [
    'name: web\n  namespace: shop\nspec',
    'name: Web\n  namespace: shop\nspec',
    [
      'cluster.yaml:4:9: error: Service: metadata.name: "Web" is not a name of a Service (lower-case letters, digits and hyphens, at most 63 characters)',
    ],
  ],
  [
    'name: web\n  namespace: shop\nspec',
    'namespace: shop\nspec',
    ['cluster.yaml:4:3: error: Service: metadata.name: the Service has no name'],
  ],
  [
    'name: web\n  namespace: shop\nspec',
    'name: web\n  namespace: Sh.op\nspec',
    [
      'cluster.yaml:5:14: error: Service web: metadata.namespace: "Sh.op" is not a name of a namespace (lower-case letters, digits and hyphens, at most 63 characters)',
    ],
  ],
  [
    'name: web\n  namespace: shop\nspec',
    'name: 7\n  namespace: shop\nspec',
    [
      'cluster.yaml:4:9: error: Service: metadata.name: found 7, expected a string',
      'cluster.yaml:4:9: error: Service: metadata.name: the Service has no name',
    ],
  ],
  [
    'type: LoadBalancer',
    'type: Balancer',
    [
      'cluster.yaml:7:9: error: Service shop/web: spec.type: found "Balancer", expected one of ClusterIP, NodePort, LoadBalancer, ExternalName',
    ],
  ],
  [
    'clusterIP: 10.96.0.50',
    'clusterIP: 10.96.0.51',
    [
      'cluster.yaml:10:7: error: Service shop/web: spec.clusterIPs[0]: found "10.96.0.50", expected the value of spec.clusterIP, "10.96.0.51"',
    ],
  ],
  [
    '    - 10.96.0.50',
    '    - 10.96.0.500',
    [
      'cluster.yaml:10:7: error: Service shop/web: spec.clusterIPs[0]: found "10.96.0.500", expected the value of spec.clusterIP, "10.96.0.50"',
    ],
  ],
  [
    '    - IPv4\n',
    '    - IPv6\n',
    [
      'cluster.yaml:12:7: error: Service shop/web: spec.ipFamilies[0]: found "IPv6", expected the family of spec.clusterIPs[0], IPv4',
    ],
  ],
  [
    '    - IPv4\n',
    '    - ipv4\n',
    ['cluster.yaml:12:7: error: Service shop/web: spec.ipFamilies[0]: found "ipv4", expected IPv4 or IPv6'],
  ],
  [
    '- name: http\n      protocol',
    '- name: HTTP_1\n      protocol',
    [
      'cluster.yaml:14:13: error: Service shop/web: spec.ports[0].name: "HTTP_1" is not a port name (lower-case letters, digits and hyphens, at most 63 characters)',
    ],
  ],
  [
    'protocol: TCP\n      port: 80',
    'protocol: tcp\n      port: 80',
    [
      'cluster.yaml:15:17: error: Service shop/web: spec.ports[0].protocol: found "tcp", expected one of TCP, UDP, SCTP',
    ],
  ],
  [
    'protocol: TCP\n      port: 80',
    'protocol: ICMP\n      port: 80',
    [
      'cluster.yaml:15:17: error: Service shop/web: spec.ports[0].protocol: found "ICMP", expected one of TCP, UDP, SCTP',
    ],
  ],
  [
    '      port: 80\n',
    '      port: 70000\n',
    [
      'cluster.yaml:16:13: error: Service shop/web: spec.ports[0].port: found 70000, expected a whole number from 1 to 65535',
    ],
  ],
  [
    '      port: 80\n',
    '      port: "80"\n',
    [
      'cluster.yaml:16:13: error: Service shop/web: spec.ports[0].port: found "80", expected a whole number from 1 to 65535',
    ],
  ],
  [
    '      port: 80\n',
    '      port: 80.5\n',
    [
      'cluster.yaml:16:13: error: Service shop/web: spec.ports[0].port: found 80.5, expected a whole number from 1 to 65535',
    ],
  ],
  [
    '      port: 80\n',
    '',
    [
      'cluster.yaml:14:7: error: Service shop/web: spec.ports[0].port: the port has no number, expected one from 1 to 65535',
    ],
  ],
  [
    '      port: 80\n',
    '      port: null\n',
    [
      'cluster.yaml:16:13: error: Service shop/web: spec.ports[0].port: the port has no number, expected one from 1 to 65535',
    ],
  ],
  [
    '      port: 80\n',
    '      port: 0\n',
    [
      'cluster.yaml:16:13: error: Service shop/web: spec.ports[0].port: found 0, expected a whole number from 1 to 65535',
    ],
  ],
  [
    'nodePort: 30080',
    'nodePort: -1',
    [
      'cluster.yaml:17:17: error: Service shop/web: spec.ports[0].nodePort: found -1, expected a whole number from 0 to 65535',
    ],
  ],
  [
    '  ports:\n    - name: http\n      protocol: TCP\n      port: 80\n      nodePort: 30080',
    '  ports: 80',
    ['cluster.yaml:13:10: error: Service shop/web: spec.ports: found 80, expected a list'],
  ],
  [
    '  ports:\n    - name: http\n      protocol: TCP\n      port: 80\n      nodePort: 30080',
    '  ports: [80]',
    ['cluster.yaml:13:11: error: Service shop/web: spec.ports[0]: found 80, expected a mapping'],
  ],
  [
    '198.51.100.1',
    '198.51.100',
    ['cluster.yaml:19:7: error: Service shop/web: spec.externalIPs[0]: "198.51.100" is not an IP address'],
  ],
  [
    '- 198.51.100.1',
    '- 198',
    ['cluster.yaml:19:7: error: Service shop/web: spec.externalIPs[0]: found 198, expected a string'],
  ],
  [
    '192.0.2.0/24',
    '192.0.2.0/33',
    [
      'cluster.yaml:21:7: error: Service shop/web: spec.loadBalancerSourceRanges[0]: "192.0.2.0/33" is not a CIDR such as 192.0.2.0/24',
    ],
  ],
  [
    '192.0.2.0/24',
    '192.0.2.0',
    [
      'cluster.yaml:21:7: error: Service shop/web: spec.loadBalancerSourceRanges[0]: "192.0.2.0" is not a CIDR such as 192.0.2.0/24',
    ],
  ],
  [
    'sessionAffinity: ClientIP',
    'sessionAffinity: Cookie',
    [
      'cluster.yaml:22:20: error: Service shop/web: spec.sessionAffinity: found "Cookie", expected one of None, ClientIP',
    ],
  ],
  [
    'timeoutSeconds: 600',
    'timeoutSeconds: 86401',
    [
      'cluster.yaml:25:23: error: Service shop/web: spec.sessionAffinityConfig.clientIP.timeoutSeconds: found 86401, expected a whole number from 1 to 86400',
    ],
  ],
  [
    'internalTrafficPolicy: Cluster',
    'internalTrafficPolicy: local',
    [
      'cluster.yaml:26:26: error: Service shop/web: spec.internalTrafficPolicy: found "local", expected one of Cluster, Local',
    ],
  ],
  [
    'externalTrafficPolicy: Local',
    'externalTrafficPolicy: PreferLocal',
    [
      'cluster.yaml:27:26: error: Service shop/web: spec.externalTrafficPolicy: found "PreferLocal", expected one of Cluster, Local',
    ],
  ],
  [
    'healthCheckNodePort: 32000',
    'healthCheckNodePort: 65536',
    [
      'cluster.yaml:28:24: error: Service shop/web: spec.healthCheckNodePort: found 65536, expected a whole number from 0 to 65535',
    ],
  ],
  [
    'ip: 203.0.113.1',
    'ip: lb.example.net',
    [
      'cluster.yaml:32:13: error: Service shop/web: status.loadBalancer.ingress[0].ip: "lb.example.net" is not an IP address',
    ],
  ],
  [
    'ipMode: VIP',
    'ipMode: vip',
    [
      'cluster.yaml:33:17: error: Service shop/web: status.loadBalancer.ingress[0].ipMode: found "vip", expected one of VIP, Proxy',
    ],
  ],
  [
    'spec:\n  type: LoadBalancer',
    'spec: nothing\nx:\n  type: LoadBalancer',
    ['cluster.yaml:6:7: error: Service shop/web: spec: found "nothing", expected a mapping'],
  ],
  [
    'name: web-1',
    'name: Web_1',
    [
      'cluster.yaml:38:9: error: EndpointSlice: metadata.name: "Web_1" is not a name of an EndpointSlice (lower-case letters, digits, dots and hyphens, at most 253 characters)',
    ],
  ],
  [
    'addressType: IPv4',
    'addressType: ipv4',
    [
      'cluster.yaml:42:14: error: EndpointSlice shop/web-1: addressType: found "ipv4", expected one of IPv4, IPv6, FQDN',
    ],
  ],
  [
    'addressType: IPv4\n',
    '',
    [
      'cluster.yaml:35:1: error: EndpointSlice shop/web-1: addressType: the slice has no address type (one of IPv4, IPv6, FQDN)',
    ],
  ],
  [
    '- name: http\n    protocol: TCP\n    port: 8080',
    '- name: Http\n    protocol: TCP\n    port: 8080',
    [
      'cluster.yaml:44:11: error: EndpointSlice shop/web-1: ports[0].name: "Http" is not a port name (lower-case letters, digits and hyphens, at most 63 characters)',
    ],
  ],
  [
    '    port: 8080',
    '    port: 80800',
    [
      'cluster.yaml:46:11: error: EndpointSlice shop/web-1: ports[0].port: found 80800, expected a whole number from 1 to 65535',
    ],
  ],
  [
    'protocol: TCP\n    port: 8080',
    'protocol: QUIC\n    port: 8080',
    [
      'cluster.yaml:45:15: error: EndpointSlice shop/web-1: ports[0].protocol: found "QUIC", expected one of TCP, UDP, SCTP',
    ],
  ],
  [
    '- 10.244.1.10',
    '- 10.244.1.1000',
    [
      'cluster.yaml:49:9: error: EndpointSlice shop/web-1: endpoints[0].addresses[0]: "10.244.1.1000" is not an IP address',
    ],
  ],
  [
    '- 10.244.1.10',
    '- 10',
    [
      'cluster.yaml:49:9: error: EndpointSlice shop/web-1: endpoints[0].addresses[0]: found 10, expected a string',
    ],
  ],
  [
    '- 10.244.1.10',
    '- "fd00::10"',
    [
      'cluster.yaml:49:9: error: EndpointSlice shop/web-1: endpoints[0].addresses[0]: fd00::10 in a slice of address type IPv4; kube-proxy 1.36 does not check that and its rules would not load',
    ],
  ],
  [
    'ready: true',
    'ready: "yes"',
    [
      'cluster.yaml:51:14: error: EndpointSlice shop/web-1: endpoints[0].conditions.ready: found "yes", expected true or false',
    ],
  ],
  [
    'forZones:\n        - name: zone-1',
    'forZones: zone-1',
    [
      'cluster.yaml:53:17: error: EndpointSlice shop/web-1: endpoints[0].hints.forZones: found "zone-1", expected a list',
    ],
  ],
  [
    'nodeName: node-a\n---\napiVersion: v1\nkind: Endpoints',
    'nodeName: 7\n---\napiVersion: v1\nkind: Endpoints',
    [
      'cluster.yaml:55:15: error: EndpointSlice shop/web-1: endpoints[0].nodeName: found 7, expected a string',
    ],
  ],
  [
    'kubernetes.io/service-name: web',
    'kubernetes.io/service-name: 8',
    [
      'cluster.yaml:41:33: error: EndpointSlice shop/web-1: metadata.labels["kubernetes.io/service-name"]: found 8, expected a string',
    ],
  ],
  [
    'ip: 10.244.1.20',
    'ip: ten',
    ['cluster.yaml:64:13: error: Endpoints shop/db: subsets[0].addresses[0].ip: "ten" is not an IP address'],
  ],
  [
    'port: 5432',
    'port: sql',
    [
      'cluster.yaml:69:15: error: Endpoints shop/db: subsets[0].ports[0].port: found "sql", expected a whole number from 1 to 65535',
    ],
  ],
  [
    '- name: sql',
    '- name: my sql',
    [
      'cluster.yaml:67:15: error: Endpoints shop/db: subsets[0].ports[0].name: "my sql" is not a port name (lower-case letters, digits and hyphens, at most 63 characters)',
    ],
  ],
  [
    'name: node-a\nspec',
    'name: Node A\nspec',
    [
      'cluster.yaml:74:9: error: Node: metadata.name: "Node A" is not a name of a Node (lower-case letters, digits, dots and hyphens, at most 253 characters)',
    ],
  ],
  [
    'kubeletVersion: v1.36.0',
    'kubeletVersion: latest',
    [
      'cluster.yaml:83:21: error: Node node-a: status.nodeInfo.kubeletVersion: "latest" is not a Kubernetes version such as v1.30.5',
    ],
  ],
  [
    'kubeletVersion: v1.36.0',
    'kubeletVersion: v1.17.17',
    [
      'cluster.yaml:83:21: error: Node node-a: status.nodeInfo.kubeletVersion: the node runs v1.17.17; versions known here are 1.18 … 1.36',
    ],
  ],
  [
    'kubeproxy.config.k8s.io/v1alpha1',
    'kubeproxy.config.k8s.io/v1alpha2',
    [
      'cluster.yaml:85:13: error: KubeProxyConfiguration: apiVersion: found "kubeproxy.config.k8s.io/v1alpha2", expected kubeproxy.config.k8s.io/v1alpha1',
    ],
  ],
  [
    'mode: iptables',
    'mode: userspace',
    [
      'cluster.yaml:87:7: error: KubeProxyConfiguration: mode: found "userspace", expected one of iptables, ipvs, nftables',
    ],
  ],
  [
    'mode: iptables',
    'mode: nftables',
    [
      'error: the configuration asks for nftables mode; rules of the modes iptables and ipvs alone are known here',
    ],
  ],
  [
    'bindAddress: 0.0.0.0',
    'bindAddress: any',
    ['cluster.yaml:88:14: error: KubeProxyConfiguration: bindAddress: "any" is not an IP address'],
  ],
  [
    'hostnameOverride: node-a',
    'hostnameOverride: node a',
    [
      'error: "node a" is not a name of a Node (lower-case letters, digits, dots and hyphens, at most 253 characters)',
    ],
  ],
  [
    'hostnameOverride: node-a',
    'hostnameOverride: [node-a]',
    [
      'cluster.yaml:89:19: error: KubeProxyConfiguration: hostnameOverride: found ["node-a"], expected a string',
    ],
  ],
  [
    'clusterCIDR: 10.244.0.0/16',
    'clusterCIDR: 10.244.0.0',
    [
      'cluster.yaml:90:14: error: KubeProxyConfiguration: clusterCIDR: "10.244.0.0" is not a CIDR such as 10.244.0.0/16',
    ],
  ],
  [
    'clusterCIDR: 10.244.0.0/16',
    'clusterCIDR: 10.244.0.0/16,10.245.0.0/16',
    [
      'cluster.yaml:90:14: error: KubeProxyConfiguration: clusterCIDR: found "10.244.0.0/16,10.245.0.0/16", expected one CIDR, or one IPv4 and one IPv6 CIDR separated by a comma',
    ],
  ],
  [
    'detectLocalMode: ClusterCIDR',
    'detectLocalMode: clustercidr',
    [
      'cluster.yaml:91:18: error: KubeProxyConfiguration: detectLocalMode: found "clustercidr", expected one of ClusterCIDR, NodeCIDR, BridgeInterface, InterfaceNamePrefix',
    ],
  ],
  [
    'bridgeInterface: cni0',
    'bridgeInterface: a-bridge-with-a-long-name',
    [
      'cluster.yaml:93:20: error: KubeProxyConfiguration: detectLocal.bridgeInterface: "a-bridge-with-a-long-name" is not a name of a network interface (at most 15 characters, no blanks, slashes or quotes)',
    ],
  ],
  [
    'interfaceNamePrefix: veth',
    'interfaceNamePrefix: "veth +"',
    [
      'cluster.yaml:94:24: error: KubeProxyConfiguration: detectLocal.interfaceNamePrefix: "veth +" is not a prefix of interface names (at most 14 characters, no blanks, slashes or quotes)',
    ],
  ],
  [
    'masqueradeAll: false',
    'masqueradeAll: "false"',
    [
      'cluster.yaml:96:18: error: KubeProxyConfiguration: iptables.masqueradeAll: found "false", expected true or false',
    ],
  ],
  [
    'masqueradeBit: 14',
    'masqueradeBit: 32',
    [
      'cluster.yaml:97:18: error: KubeProxyConfiguration: iptables.masqueradeBit: found 32, expected a whole number from 0 to 31',
    ],
  ],
  [
    '- 192.168.0.0/24',
    '- 192.168.0.0',
    [
      'cluster.yaml:100:5: error: KubeProxyConfiguration: nodePortAddresses[0]: "192.168.0.0" is not a CIDR such as 192.168.0.0/24, nor primary',
    ],
  ],
  [
    '- 192.168.0.0/24',
    '- 192.168.0.0/24\n  - primary',
    ['cluster.yaml:101:5: error: KubeProxyConfiguration: nodePortAddresses[1]: primary has to stand alone'],
  ],
  [
    'tcpBeLiberal: false',
    'tcpBeLiberal: 1',
    [
      'cluster.yaml:102:17: error: KubeProxyConfiguration: conntrack.tcpBeLiberal: found 1, expected true or false',
    ],
  ],
];

const space = workspace();

test('the manifest that the cases spoil is fine by itself', async () => {
  space.write('cluster.yaml', CLUSTER);
  expect(await space.kpCompile(['@cluster.yaml', '--strict'])).toMatchObject({ code: 0, stderr: '' });
});

describe('a field that cannot be used is an error with its place, what was found and what is accepted:', () => {
  test.each(CASES)('%j → %j', async (before, after, errors) => {
    expect(CLUSTER.split(before)).toHaveLength(2);
    space.write(
      'cluster.yaml',
      CLUSTER.replace(before, () => after),
    );
    const { code, stdout, stderr } = await space.kpCompile(['@cluster.yaml']);
    expect(linesOf(stderr).filter((line) => /^(?:\S+: )?error: /.test(line))).toEqual(errors);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });
});

test('all bad objects of an input are named at once, in the order of the input', async () => {
  space.write(
    'cluster.yaml',
    CLUSTER.replace('port: 5432', 'port: 0')
      .replace('198.51.100.1', 'x')
      .replace('timeoutSeconds: 600', 'timeoutSeconds: 0')
      .replace('- 10.244.1.10', '- ten'),
  );
  const { code, stdout, stderr } = await space.kpCompile(['@cluster.yaml', '-q']);
  expect(linesOf(stderr)).toEqual([
    'cluster.yaml:19:7: error: Service shop/web: spec.externalIPs[0]: "x" is not an IP address',
    'cluster.yaml:25:23: error: Service shop/web: spec.sessionAffinityConfig.clientIP.timeoutSeconds: found 0, expected a whole number from 1 to 86400',
    'cluster.yaml:49:9: error: EndpointSlice shop/web-1: endpoints[0].addresses[0]: "ten" is not an IP address',
    'cluster.yaml:69:15: error: Endpoints shop/db: subsets[0].ports[0].port: found 0, expected a whole number from 1 to 65535',
  ]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
});

test('messages about JSON have places too', async () => {
  space.write(
    'cluster.json',
    '{"apiVersion":"v1","kind":"List","items":[\n  {"apiVersion":"v1","kind":"Service","metadata":{"name":"a"},\n   "spec":{"clusterIP":"10.96.0.1","ports":[{"port":"http"}]}}]}\n',
  );
  const { code, stderr } = await space.kpCompile(['@cluster.json', '-q']);
  expect(code).toBe(2);
  expect(linesOf(stderr)).toEqual([
    'cluster.json:3:53: error: Service default/a: spec.ports[0].port: found "http", expected a whole number from 1 to 65535',
  ]);
});

test('text that is neither YAML nor JSON is an error with its place, and the other files are still looked at', async () => {
  space.write('bad/a.yaml', 'apiVersion: v1\nkind: Service\n  metadata: {}\n');
  space.write('bad/b.json', '{"apiVersion":"v1",}\n');
  space.write('bad/c.yaml', CLUSTER.replace('198.51.100.1', 'x'));
  const { code, stdout, stderr } = await space.kpCompile(['@bad', '-q']);
  expect(linesOf(stderr).map((line) => line.replace(/(error: ).*/, '$1…'))).toEqual([
    expect.stringMatching(/^bad\/a\.yaml:\d+:\d+: error: …$/),
    expect.stringMatching(/^bad\/b\.json:1:\d+: error: …$/),
    expect.stringMatching(/^bad\/c\.yaml:19:7: error: …$/),
  ]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
});
