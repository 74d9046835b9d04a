import { describe, expect, test } from 'vitest';
import {
  documents,
  type Manifest,
  ORIGIN,
  serviceManifest,
  type Told,
  told,
} from '../../test/kube/support.ts';
import type { JsonObject } from './fields.ts';
import { readService, type Service, type SkippedService } from './service.ts';

function read(value: Manifest): Told<Service | SkippedService | undefined> {
  return told((report) => readService(value as JsonObject, ORIGIN, report));
}

/** A Service that is read without a word. */
function readQuietly(value: Manifest): Service {
  const { value: service, problems } = read(value);
  expect(problems).toEqual([]);
  if (service === undefined || 'skipped' in service) throw new Error('skipped');
  return service;
}

const readSpec = (spec: Manifest) => readQuietly(serviceManifest(spec));

test('a Service as kubectl prints it is read without a word', () => {
  const [value] = documents(`
apiVersion: v1
kind: Service
metadata:
  annotations: {kubectl.kubernetes.io/last-applied-configuration: "{\\"apiVersion\\":\\"v1\\"}\\n"}
  creationTimestamp: "2024-03-05T09:10:00Z"
  finalizers: [service.kubernetes.io/load-balancer-cleanup]
  generation: 3
  labels: {app: web}
  managedFields:
  - {apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:spec": {}}, manager: kubectl, operation: Update, subresource: status}
  name: web
  namespace: shop
  ownerReferences: null
  resourceVersion: "18446744073709551615"
  selfLink: /api/v1/namespaces/shop/services/web
  uid: 1b3e0f4e-0000-4000-8000-000000000000
spec:
  allocateLoadBalancerNodePorts: true
  clusterIP: 10.96.0.50
  clusterIPs: [10.96.0.50, "fd00:10:96::50"]
  externalIPs: null
  externalName: ""
  externalTrafficPolicy: Local
  healthCheckNodePort: 31234
  internalTrafficPolicy: Cluster
  ipFamilies: [IPv4, IPv6]
  ipFamilyPolicy: RequireDualStack
  loadBalancerClass: example.com/lb
  loadBalancerIP: 203.0.113.10
  loadBalancerSourceRanges: [198.51.100.0/24]
  ports:
  - {appProtocol: kubernetes.io/h2c, name: http, nodePort: 30080, port: 80, protocol: TCP, targetPort: http}
  - {appProtocol: null, name: dns-udp, nodePort: null, port: 53, protocol: UDP, targetPort: 5353}
  publishNotReadyAddresses: true
  selector: {app: web}
  sessionAffinity: ClientIP
  sessionAffinityConfig: {clientIP: {timeoutSeconds: 10800}}
  trafficDistribution: PreferClose
  type: LoadBalancer
status:
  conditions: [{lastTransitionTime: "2024-03-05T09:10:00Z", message: "", reason: Ok, status: "True", type: example.com/Ready}]
  loadBalancer:
    ingress:
    - {ip: 203.0.113.10, ipMode: VIP, ports: [{port: 80, protocol: TCP}]}
    - {ip: "2001:db8::10"}
`);
  expect(readQuietly(value as Manifest)).toEqual({
    namespace: 'shop',
    name: 'web',
    labels: new Map(),
    annotations: new Map(),
    type: 'LoadBalancer',
    clusterIPs: [
      { family: 'IPv4', ip: { family: 'IPv4', text: '10.96.0.50' } },
      { family: 'IPv6', ip: { family: 'IPv6', text: 'fd00:10:96::50' } },
    ],
    ports: [
      { name: 'http', protocol: 'TCP', port: 80, nodePort: 30080, targetPort: 'http' },
      { name: 'dns-udp', protocol: 'UDP', port: 53, nodePort: 0, targetPort: 5353 },
    ],
    externalIPs: [],
    loadBalancerIPs: [
      { given: '203.0.113.10', ip: { family: 'IPv4', text: '203.0.113.10' }, ipMode: 'VIP' },
      { given: '2001:db8::10', ip: { family: 'IPv6', text: '2001:db8::10' }, ipMode: 'VIP' },
    ],
    sourceRanges: [
      {
        given: '198.51.100.0/24',
        cidr: { family: 'IPv4', text: '198.51.100.0/24', prefixLength: 24, bytes: [198, 51, 100, 0] },
      },
    ],
    affinitySeconds: 10800,
    internalTrafficPolicy: 'Cluster',
    externalTrafficPolicy: 'Local',
    healthCheckNodePort: 31234,
    template: {
      selector: new Map([['app', 'web']]),
      publishNotReadyAddresses: true,
      ipFamilies: ['IPv4', 'IPv6'],
      ipFamilyPolicy: 'RequireDualStack',
      allocateLoadBalancerNodePorts: true,
      trafficDistribution: 'PreferClose',
    },
    origin: ORIGIN,
  });
});

test('what is null, empty or zero counts as not given', () => {
  const service = readQuietly({
    ...serviceManifest({
      type: '',
      clusterIPs: null,
      ipFamilies: null,
      externalIPs: null,
      loadBalancerSourceRanges: [],
      sessionAffinity: '',
      sessionAffinityConfig: null,
      internalTrafficPolicy: null,
      externalTrafficPolicy: '',
      healthCheckNodePort: 0,
      ports: [{ name: null, port: 80, protocol: null, nodePort: 0 }],
    }),
    status: null,
  });
  expect(service).toMatchObject({
    type: 'ClusterIP',
    clusterIPs: [{ family: 'IPv4' }],
    ports: [{ name: '', protocol: 'TCP', port: 80, nodePort: 0 }],
    affinitySeconds: undefined,
    internalTrafficPolicy: 'Cluster',
    externalTrafficPolicy: 'Cluster',
    healthCheckNodePort: 0,
  });
  expect(readQuietly(serviceManifest({}, { status: { loadBalancer: {} } })).loadBalancerIPs).toEqual([]);
  expect(
    readQuietly(serviceManifest({}, { status: { loadBalancer: { ingress: null } } })).loadBalancerIPs,
  ).toEqual([]);
});

// ShouldSkipService and GetClusterIPByFamily.
describe('no rules are made for', () => {
  test.each([
    ['a headless Service', { clusterIP: 'None' }, 'headless'],
    ['a headless Service that says so in clusterIPs', { clusterIP: '', clusterIPs: ['None'] }, 'headless'],
    ['an ExternalName Service', { type: 'ExternalName', clusterIP: '' }, 'ExternalName'],
    ['an ExternalName Service with a stored cluster IP', { type: 'ExternalName' }, 'ExternalName'],
    ['a Service without a cluster IP', { clusterIP: '' }, 'no cluster IP'],
    ['a Service whose cluster IP is null', { clusterIP: null, clusterIPs: null }, 'no cluster IP'],
  ])('%s', (_title, spec, skipped) => {
    expect(read(serviceManifest(spec)).value).toMatchObject({
      namespace: 'shop',
      name: 'web',
      skipped,
      origin: ORIGIN,
    });
  });

  test('a headless Service with external IPs, which surprises people', () => {
    expect(read(serviceManifest({ clusterIP: 'None', externalIPs: ['203.0.113.9'] })).problems).toEqual([
      'note service-skipped at spec.clusterIP: kube-proxy makes no rules for headless Services',
      'warning external-ips-unused at spec.externalIPs: external IPs of a headless Service have no effect',
    ]);
  });
});

describe('cluster IPs:', () => {
  test.each([
    ['clusterIP alone', { clusterIP: 'FD00:10:96::0050' }, ['IPv6 fd00:10:96::50']],
    ['clusterIPs alone', { clusterIP: '', clusterIPs: ['10.96.0.50'] }, ['IPv4 10.96.0.50']],
    [
      'IPv6 first',
      { clusterIP: 'fd00::1', clusterIPs: ['fd00::1', '10.96.0.1'], ipFamilies: ['IPv6', 'IPv4'] },
      ['IPv6 fd00::1', 'IPv4 10.96.0.1'],
    ],
    [
      'a family without an address yet',
      { clusterIPs: ['10.96.0.50'], ipFamilies: ['IPv4', 'IPv6'] },
      ['IPv4 10.96.0.50'],
    ],
    // The API server fills in the families when it reads such a Service (defaultOnReadService).
    [
      'two addresses and no families',
      { clusterIPs: ['10.96.0.50', 'fd00::1'] },
      ['IPv4 10.96.0.50', 'IPv6 fd00::1'],
    ],
  ])('%s', (_title, spec, expected) => {
    expect(readSpec(spec).clusterIPs.map(({ family, ip }) => `${family} ${ip.text}`)).toEqual(expected);
  });

  test('a second one whose family is not listed is named', () => {
    const spec = { clusterIPs: ['10.96.0.50', 'fd00::1'], ipFamilies: ['IPv4'] };
    expect(read(serviceManifest(spec)).problems).toEqual([
      'note cluster-ip-unused at spec.clusterIPs[1]: spec.ipFamilies does not name its family: it gets no rules',
    ]);
  });

  test.each([
    [
      { clusterIPs: ['10.96.0.51'] },
      'error cluster-ip-mismatch at spec.clusterIPs[0]: found "10.96.0.51", expected the value of spec.clusterIP, "10.96.0.50"',
    ],
    [{ clusterIP: '10.96.0' }, 'error invalid-ip at spec.clusterIP: "10.96.0" is not an IP address'],
    [{ clusterIPs: ['10.96.0.50', 'x'] }, 'error invalid-ip at spec.clusterIPs[1]: "x" is not an IP address'],
    [
      { ipFamilies: ['IPv6'] },
      'error invalid-ip-family at spec.ipFamilies[0]: found "IPv6", expected the family of spec.clusterIPs[0], IPv4',
    ],
    [{ ipFamilies: [''] }, 'error invalid-ip-family at spec.ipFamilies[0]: found "", expected IPv4 or IPv6'],
    [
      { clusterIPs: ['10.96.0.50', '10.96.0.51'] },
      'error invalid-ip-family at spec.clusterIPs[1]: a second IPv4 cluster IP; a Service has one of each family',
    ],
    [
      { clusterIPs: '10.96.0.50' },
      'error wrong-type at spec.clusterIPs: found "10.96.0.50", expected a list',
    ],
  ])('%j is refused', (spec, problem) => {
    expect(read(serviceManifest(spec))).toEqual({ value: undefined, problems: [problem] });
  });
});

describe('ports:', () => {
  const ports = (...list: Manifest[]) => serviceManifest({ ports: list });

  test('names, protocols and numbers are kept, one entry for each name and protocol', () => {
    expect(
      read(
        ports(
          { name: 'dns', port: 53, protocol: 'UDP' },
          { name: 'dns', port: 53, protocol: 'TCP', nodePort: 30053 },
          { name: 'a'.repeat(63), port: 65535, protocol: 'SCTP' },
        ),
      ).value,
    ).toMatchObject({
      ports: [
        { name: 'dns', protocol: 'UDP', port: 53, nodePort: 0 },
        { name: 'dns', protocol: 'TCP', port: 53, nodePort: 30053 },
        { name: 'a'.repeat(63), protocol: 'SCTP', port: 65535, nodePort: 0 },
      ],
    });
  });

  // kube-proxy's map of service ports has the port name and the protocol for its key.
  test('of two entries with the same name and protocol the later one counts', () => {
    const { value, problems } = read(ports({ port: 80 }, { port: 81 }, { port: 82, protocol: 'UDP' }));
    expect((value as Service).ports.map(({ port }) => port)).toEqual([81, 82]);
    expect(problems).toEqual([
      'warning duplicate-port at spec.ports[1]: another port of this Service has the same name and protocol ("", TCP); kube-proxy uses this one alone',
    ]);
  });

  test('a Service without ports gets no rules', () => {
    for (const list of [null, [], undefined]) {
      expect(read(serviceManifest({ ports: list })).problems).toEqual([
        'warning no-ports at spec.ports: the Service has no ports and gets no rules',
      ]);
    }
  });

  test.each([
    [
      { name: 'http' },
      'error no-port at spec.ports[0].port: the port has no number, expected one from 1 to 65535',
    ],
    [
      { port: null },
      'error no-port at spec.ports[0].port: the port has no number, expected one from 1 to 65535',
    ],
    [{ port: 0 }, 'error wrong-type at spec.ports[0].port: found 0, expected a whole number from 1 to 65535'],
    [
      { port: 65536 },
      'error wrong-type at spec.ports[0].port: found 65536, expected a whole number from 1 to 65535',
    ],
    [
      { port: 80.5 },
      'error wrong-type at spec.ports[0].port: found 80.5, expected a whole number from 1 to 65535',
    ],
    [
      { port: '80' },
      'error wrong-type at spec.ports[0].port: found "80", expected a whole number from 1 to 65535',
    ],
    [
      { port: 80, nodePort: -1 },
      'error wrong-type at spec.ports[0].nodePort: found -1, expected a whole number from 0 to 65535',
    ],
    [
      { port: 80, protocol: 'tcp' },
      'error wrong-type at spec.ports[0].protocol: found "tcp", expected one of TCP, UDP, SCTP',
    ],
    ...['HTTP', 'a.b', '-a', 'a b', 'a"b', 'a\nb', 'a'.repeat(64)].map((name): [Manifest, string] => [
      { port: 80, name },
      `error invalid-port-name at spec.ports[0].name: ${JSON.stringify(name)} is not a port name (lower-case letters, digits and hyphens, at most 63 characters)`,
    ]),
  ])('%j is refused', (port, problem) => {
    expect(read(ports(port))).toEqual({ value: undefined, problems: [problem] });
  });
});

describe('names:', () => {
  test.each(['web', 'web-1', '1web', 'a'.repeat(63)])('%s is one', (name) => {
    expect(readQuietly({ ...serviceManifest({}), metadata: { name } })).toMatchObject({
      namespace: 'default',
      name,
    });
  });

  test.each(['Web', 'web.shop', 'web_1', '-web', 'web-', '', 'web ', 'web\n-A', '"', 'a'.repeat(64), 'ﬁ'])(
    '%j is none',
    (name) => {
      const { value, problems } = read({ ...serviceManifest({}), metadata: { name } });
      expect(value).toBeUndefined();
      expect(problems).toEqual([
        `error invalid-name at metadata.name: ${JSON.stringify(name)} is not a name of a Service (lower-case letters, digits and hyphens, at most 63 characters)`,
      ]);
    },
  );

  test('an object without a name says so', () => {
    expect(read({ ...serviceManifest({}), metadata: {} }).problems).toEqual([
      'error no-name at metadata.name: the Service has no name',
    ]);
  });

  test('a namespace is checked too', () => {
    expect(read({ ...serviceManifest({}), metadata: { name: 'web', namespace: 'a/b' } }).problems).toEqual([
      'error invalid-name at metadata.namespace: "a/b" is not a name of a namespace (lower-case letters, digits and hyphens, at most 63 characters)',
    ]);
  });
});

describe('addresses that come from outside:', () => {
  test('external IPs keep their order, their repetitions and the text they were given as', () => {
    expect(
      readSpec({ externalIPs: ['203.0.113.9', '2001:DB8:0:0::00AA', '203.0.113.9', '203.000.113.010'] })
        .externalIPs,
    ).toEqual([
      { given: '203.0.113.9', ip: { family: 'IPv4', text: '203.0.113.9' } },
      { given: '2001:DB8:0:0::00AA', ip: { family: 'IPv6', text: '2001:db8::aa' } },
      { given: '203.0.113.9', ip: { family: 'IPv4', text: '203.0.113.9' } },
      { given: '203.000.113.010', ip: { family: 'IPv4', text: '203.0.113.10' } },
    ]);
  });

  test.each(['', '203.0.113.9/32', 'lb.example.com', '203.0.113.9 -j ACCEPT', '203.0.113.9\n-A INPUT'])(
    '%j is no external IP',
    (text) => {
      expect(read(serviceManifest({ externalIPs: [text] }))).toEqual({
        value: undefined,
        problems: [`error invalid-ip at spec.externalIPs[0]: ${JSON.stringify(text)} is not an IP address`],
      });
    },
  );

  const withIngress = (...ingress: Manifest[]) =>
    serviceManifest({}, { status: { loadBalancer: { ingress } } });

  test('an ingress with a host name alone is noted', () => {
    const { value, problems } = read(withIngress({ hostname: 'lb.example.com' }, { ip: '203.0.113.1' }));
    expect((value as Service).loadBalancerIPs.map(({ given }) => given)).toEqual(['203.0.113.1']);
    expect(problems).toEqual([
      'note ingress-without-ip at status.loadBalancer.ingress[0]: an ingress without an IP address gets no rules; its host name is resolved outside of the cluster',
    ]);
  });

  test('an ingress says how it delivers; VIP where it says nothing', () => {
    expect(
      readQuietly(
        withIngress(
          { ip: '203.0.113.1' },
          { ip: '203.0.113.2', ipMode: null },
          { ip: '203.0.113.3', ipMode: 'VIP' },
          { ip: '203.0.113.4', ipMode: 'Proxy' },
        ),
      ).loadBalancerIPs.map(({ ipMode }) => ipMode),
    ).toEqual(['VIP', 'VIP', 'VIP', 'Proxy']);
  });

  test.each([
    [
      { ip: '203.0.113' },
      'error invalid-ip at status.loadBalancer.ingress[0].ip: "203.0.113" is not an IP address',
    ],
    [
      { ip: '203.0.113.1', ipMode: 'vip' },
      'error wrong-type at status.loadBalancer.ingress[0].ipMode: found "vip", expected one of VIP, Proxy',
    ],
  ])('the ingress %j is refused', (ingress, problem) => {
    expect(read(withIngress(ingress))).toEqual({ value: undefined, problems: [problem] });
  });

  // LoadBalancerSourceRanges validation takes blanks (kubernetes/kubernetes#94107); kube-proxy cuts them off.
  test('blanks around a source range are cut off', () => {
    const { value, problems } = read(
      serviceManifest({ loadBalancerSourceRanges: [' 198.51.100.0/24', '192.0.2.64/26 ', '10.1.2.3/8'] }),
    );
    expect((value as Service).sourceRanges.map(({ given, cidr }) => [given, cidr.text])).toEqual([
      ['198.51.100.0/24', '198.51.100.0/24'],
      ['192.0.2.64/26', '192.0.2.64/26'],
      ['10.1.2.3/8', '10.0.0.0/8'],
    ]);
    expect(problems).toEqual([
      'warning blanks-in-cidr at spec.loadBalancerSourceRanges[0]: blanks around 198.51.100.0/24 were cut off, as kube-proxy does',
      'warning blanks-in-cidr at spec.loadBalancerSourceRanges[1]: blanks around 192.0.2.64/26 were cut off, as kube-proxy does',
    ]);
  });

  test.each(['', '198.51.100.0', '198.51.100.0/33', '198.51.100.0/24,192.0.2.0/24', '198.51.100.0 /24'])(
    '%j is no source range',
    (text) => {
      expect(read(serviceManifest({ loadBalancerSourceRanges: [text] }))).toEqual({
        value: undefined,
        problems: [
          `error invalid-cidr at spec.loadBalancerSourceRanges[0]: ${JSON.stringify(text)} is not a CIDR such as 192.0.2.0/24`,
        ],
      });
    },
  );
});

describe('session affinity:', () => {
  test.each([
    ['none', {}, undefined],
    [
      'None',
      { sessionAffinity: 'None', sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } },
      undefined,
    ],
    // What the API server fills in (DefaultClientIPServiceAffinitySeconds).
    ['ClientIP without a timeout', { sessionAffinity: 'ClientIP' }, 10800],
    [
      'ClientIP with empty configuration',
      { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: null } },
      10800,
    ],
    [
      'the longest',
      { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 86400 } } },
      86400,
    ],
  ])('%s', (_title, spec, expected) => {
    expect(readSpec(spec).affinitySeconds).toBe(expected);
  });

  test.each([
    [
      { sessionAffinity: 'clientip' },
      'error wrong-type at spec.sessionAffinity: found "clientip", expected one of None, ClientIP',
    ],
    [
      { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 86401 } } },
      'error wrong-type at spec.sessionAffinityConfig.clientIP.timeoutSeconds: found 86401, expected a whole number from 1 to 86400',
    ],
    [
      { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } } },
      'error wrong-type at spec.sessionAffinityConfig.clientIP.timeoutSeconds: found 0, expected a whole number from 1 to 86400',
    ],
  ])('%j is refused', (spec, problem) => {
    expect(read(serviceManifest(spec))).toEqual({ value: undefined, problems: [problem] });
  });
});

test.each([
  [
    { type: 'Loadbalancer' },
    'error wrong-type at spec.type: found "Loadbalancer", expected one of ClusterIP, NodePort, LoadBalancer, ExternalName',
  ],
  [
    { externalTrafficPolicy: 'local' },
    'error wrong-type at spec.externalTrafficPolicy: found "local", expected one of Cluster, Local',
  ],
  [
    { internalTrafficPolicy: 'Global' },
    'error wrong-type at spec.internalTrafficPolicy: found "Global", expected one of Cluster, Local',
  ],
  [
    { healthCheckNodePort: 70000 },
    'error wrong-type at spec.healthCheckNodePort: found 70000, expected a whole number from 0 to 65535',
  ],
])('the words of %j are checked', (spec, problem) => {
  expect(read(serviceManifest(spec))).toEqual({ value: undefined, problems: [problem] });
});

test('all faults of a Service are told at once', () => {
  expect(
    read(serviceManifest({ ports: [{ port: 0 }, { name: 'A', port: 1 }], externalIPs: ['x', 'y'] })).problems,
  ).toHaveLength(4);
});

test('a load balancer with policy Local and no health check node port is warned about', () => {
  const manifest = serviceManifest(
    { type: 'LoadBalancer', externalTrafficPolicy: 'Local' },
    { status: { loadBalancer: { ingress: [{ ip: '203.0.113.1' }] } } },
  );
  expect(read(manifest).problems).toEqual([
    'warning no-health-check-node-port at spec.healthCheckNodePort: the Service needs a health check node port and has none; no rule lets health checks in',
  ]);
});

test('keys that name parts of every JavaScript object are labels like any other', () => {
  const selector = JSON.parse('{"__proto__": "a", "constructor": "b", "toString": "c"}');
  expect([...readQuietly(serviceManifest({ selector })).template.selector]).toEqual([
    ['__proto__', 'a'],
    ['constructor', 'b'],
    ['toString', 'c'],
  ]);
});

test('labels and annotations are those that some kube-proxy asks for', () => {
  const names = [
    'app',
    'service.kubernetes.io/service-proxy-name',
    'service.kubernetes.io/headless',
    'service.kubernetes.io/topology-mode',
    'service.kubernetes.io/topology-aware-hints',
    'kubectl.kubernetes.io/last-applied-configuration',
  ];
  const all = Object.fromEntries(names.map((name) => [name, 'x']));
  const service = readQuietly({
    ...serviceManifest({}),
    metadata: { name: 'web', labels: all, annotations: all },
  });
  expect([...service.labels.keys()]).toEqual([names[1], names[2]]);
  expect([...service.annotations.keys()]).toEqual([names[3], names[4]]);
});

test('a node port of a ClusterIP Service counts, and is a warning', () => {
  const { value, problems } = read(serviceManifest({ ports: [{ port: 80, nodePort: 30080 }] }));
  expect(value).toMatchObject({ type: 'ClusterIP', ports: [{ port: 80, nodePort: 30080 }] });
  expect(problems).toEqual([
    'warning unexpected-node-port at spec.ports[0].nodePort: a Service of type ClusterIP has a node port, which kube-proxy would open and no API server takes',
  ]);
});
