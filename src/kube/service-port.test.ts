import { describe, expect, test } from 'vitest';
import { type Manifest, ORIGIN, serviceManifest, told } from '../../test/kube/support.ts';
import type { JsonObject } from './fields.ts';
import type { IPFamily } from './ip.ts';
import type { KubeProxyConfiguration } from './kube-proxy-configuration.ts';
import { kubeProxyVersion } from './kube-proxy-version.ts';
import { readService, type Service } from './service.ts';
import {
  reportMisreadAddresses,
  reportUnusedAddresses,
  type ServicePortWithoutEndpoints,
  servicePorts,
  usesEndpoints,
} from './service-port.ts';

function service(spec: Manifest, ingress: readonly Manifest[] = []): Service {
  const value = serviceManifest(spec, { status: { loadBalancer: { ingress } } });
  const found = readService(value as JsonObject, ORIGIN, () => {});
  if (found === undefined || 'skipped' in found) throw new Error('not read');
  return found;
}

function portsOf(
  of: Service,
  { family = 'IPv4', minor = 36, gates = {} }: { family?: IPFamily; minor?: number; gates?: Manifest } = {},
): ServicePortWithoutEndpoints[] {
  const configuration: KubeProxyConfiguration = {
    featureGates: new Map(Object.entries(gates).map(([name, on]) => [name, on === true])),
  };
  return servicePorts(of, family, kubeProxyVersion(minor), configuration);
}

const DUAL = {
  clusterIP: '10.96.0.50',
  clusterIPs: ['10.96.0.50', 'fd00:10:96::50'],
  ipFamilies: ['IPv4', 'IPv6'],
};

// newBaseServiceInfo.
test('each port becomes a service port of each family that has a cluster IP', () => {
  const of = service({
    ...DUAL,
    ports: [
      { name: 'http', port: 80, nodePort: 30080 },
      { port: 53, protocol: 'UDP' },
    ],
  });
  expect(portsOf(of)).toEqual([
    {
      namespace: 'shop',
      serviceName: 'web',
      portName: 'http',
      protocol: 'TCP',
      servicePortName: 'shop/web:http',
      clusterIP: '10.96.0.50',
      port: 80,
      nodePort: 30080,
      externalIPs: [],
      loadBalancerVIPs: [],
      sourceRanges: [],
      healthCheckNodePort: 0,
      affinitySeconds: undefined,
      internalPolicyLocal: false,
      externalPolicyLocal: false,
      externallyAccessible: true,
    },
    expect.objectContaining({
      portName: '',
      servicePortName: 'shop/web',
      nodePort: 0,
      externallyAccessible: false,
    }),
  ]);
  expect(portsOf(of, { family: 'IPv6' }).map(({ clusterIP }) => clusterIP)).toEqual([
    'fd00:10:96::50',
    'fd00:10:96::50',
  ]);
  expect(portsOf(service({}), { family: 'IPv6' })).toEqual([]);
});

describe('addresses of a family:', () => {
  const of = service(
    {
      ...DUAL,
      externalIPs: ['203.0.113.9', '2001:DB8:0::A', '203.0.113.8', '203.0.113.9'],
      loadBalancerSourceRanges: ['10.1.2.3/8', '2001:DB8::1/32'],
    },
    [{ ip: '2001:DB8::B' }, { ip: '198.51.100.1' }, { hostname: 'lb' }],
  );

  test('each family has its own, in the order given', () => {
    const found = portsOf(of);
    expect(found).toMatchObject([
      {
        externalIPs: ['203.0.113.9', '203.0.113.8', '203.0.113.9'],
        loadBalancerVIPs: ['198.51.100.1'],
      },
    ]);
    expect(found[0]?.sourceRanges.map(({ text }) => text)).toEqual(['10.0.0.0/8']);
  });

  test('they are written as parsed since 1.30, as given before', () => {
    const texts = (minor: number) =>
      portsOf(of, { family: 'IPv6', minor }).flatMap(({ externalIPs, loadBalancerVIPs, sourceRanges }) => [
        ...externalIPs,
        ...loadBalancerVIPs,
        ...sourceRanges.map(({ text }) => text),
      ]);
    expect(texts(30)).toEqual(['2001:db8::a', '2001:db8::b', '2001:db8::/32']);
    expect(texts(29)).toEqual(['2001:DB8:0::A', '2001:DB8::B', '2001:DB8::1/32']);
  });
});

describe('a /0 among the source ranges', () => {
  const ranges = (loadBalancerSourceRanges: string[], minor: number, family: IPFamily = 'IPv4') =>
    portsOf(service({ ...DUAL, loadBalancerSourceRanges }), { minor, family })[0]?.sourceRanges.map(
      ({ text }) => text,
    );

  test('is a range like any other up to 1.33', () => {
    expect(ranges(['192.0.2.0/24', '0.0.0.0/0'], 33)).toEqual(['192.0.2.0/24', '0.0.0.0/0']);
  });

  test('lets everybody in since 1.34, in its own family', () => {
    expect(ranges(['192.0.2.0/24', '0.0.0.0/0', '2001:db8::/32'], 34)).toEqual([]);
    expect(ranges(['192.0.2.0/24', '10.0.0.0/0'], 34)).toEqual([]);
    expect(ranges(['192.0.2.0/24', '0.0.0.0/0', '2001:db8::/32'], 34, 'IPv6')).toEqual(['2001:db8::/32']);
  });
});

// IsVIPMode (KEP-1860).
describe('an ingress with ipMode Proxy', () => {
  const of = service({ type: 'LoadBalancer' }, [
    { ip: '198.51.100.1', ipMode: 'Proxy' },
    { ip: '198.51.100.2' },
  ]);

  test.each<[number, Manifest, number]>([
    [28, {}, 2],
    [28, { LoadBalancerIPMode: true }, 2],
    [29, {}, 2],
    [29, { LoadBalancerIPMode: true }, 1],
    [30, {}, 1],
    [30, { LoadBalancerIPMode: false }, 2],
    [32, { LoadBalancerIPMode: false }, 1],
  ])('in 1.%i with %j: %i addresses left', (minor, gates, count) => {
    expect(portsOf(of, { minor, gates })[0]?.loadBalancerVIPs).toHaveLength(count);
  });

  test('does not make a service port reachable from outside', () => {
    const alone = service({}, [{ ip: '198.51.100.1', ipMode: 'Proxy' }]);
    expect(portsOf(alone)[0]?.externallyAccessible).toBe(false);
    expect(portsOf(alone, { minor: 28 })[0]?.externallyAccessible).toBe(true);
  });
});

// KEP-5707.
test('without AllowServiceExternalIPs there are none, but the service port stays reachable from outside', () => {
  const of = service({ externalIPs: ['203.0.113.9'] });
  const off = { AllowServiceExternalIPs: false };
  expect(portsOf(of, { minor: 35, gates: off })[0]?.externalIPs).toEqual(['203.0.113.9']);
  expect(portsOf(of, { minor: 36 })[0]?.externalIPs).toEqual(['203.0.113.9']);
  expect(portsOf(of, { minor: 36, gates: off })).toMatchObject([
    { externalIPs: [], externallyAccessible: true },
  ]);
});

// apiservice.ExternalPolicyLocal, NeedsHealthCheck; UsesClusterEndpoints, UsesLocalEndpoints.
describe('traffic policies:', () => {
  const local = { externalTrafficPolicy: 'Local', healthCheckNodePort: 31234 };
  const nodePort = { ports: [{ port: 80, nodePort: 30080 }] };

  test.each<[string, Manifest, string]>([
    ['ClusterIP', {}, 'cluster'],
    ['ClusterIP with policy Local, which means nothing there', local, 'cluster'],
    ['ClusterIP with external IPs', { ...local, externalIPs: ['203.0.113.9'] }, 'cluster local | eTP Local'],
    // Counted before the families are told apart.
    [
      'ClusterIP with external IPs of another family',
      { ...local, externalIPs: ['2001:db8::9'] },
      'cluster | eTP Local',
    ],
    ['NodePort', { ...local, ...nodePort, type: 'NodePort' }, 'cluster local | eTP Local'],
    [
      'LoadBalancer',
      { ...local, ...nodePort, type: 'LoadBalancer' },
      'cluster local | eTP Local | health check 31234',
    ],
    [
      'LoadBalancer with policy Cluster',
      { ...local, ...nodePort, type: 'LoadBalancer', externalTrafficPolicy: 'Cluster' },
      'cluster',
    ],
    [
      'LoadBalancer without node ports and addresses yet',
      { ...local, type: 'LoadBalancer' },
      'cluster | eTP Local | health check 31234',
    ],
    ['internal policy Local', { internalTrafficPolicy: 'Local' }, 'local | iTP Local'],
    [
      'internal policy Local and a node port',
      { ...nodePort, type: 'NodePort', internalTrafficPolicy: 'Local' },
      'cluster local | iTP Local',
    ],
    [
      'both policies Local',
      { ...local, ...nodePort, type: 'NodePort', internalTrafficPolicy: 'Local' },
      'cluster local | iTP Local | eTP Local',
    ],
  ])('%s', (_title, spec, expected) => {
    const [port] = portsOf(service(spec));
    if (port === undefined) throw new Error('no port');
    const uses = usesEndpoints(port);
    const words = [
      [uses.cluster ? 'cluster' : '', uses.local ? 'local' : ''].filter((word) => word !== '').join(' '),
      port.internalPolicyLocal ? 'iTP Local' : '',
      port.externalPolicyLocal ? 'eTP Local' : '',
      port.healthCheckNodePort === 0 ? '' : `health check ${port.healthCheckNodePort}`,
    ];
    expect(words.filter((word) => word !== '').join(' | ')).toBe(expected);
  });
});

// `iptables -s 010.0.0.1` of 1.8.9 is 8.0.0.1/32; `203.000.113.009` is `host/network not found`.
describe('leading zeros where addresses are written as given:', () => {
  const of = service(
    { externalIPs: ['010.0.0.1', '203.0.113.009'], loadBalancerSourceRanges: ['10.010.0.0/16'] },
    [{ ip: '203.0.113.10' }],
  );
  const problemsOf = (minor: number) =>
    told((report) => reportMisreadAddresses(of, kubeProxyVersion(minor), report)).problems;

  test('iptables reads another address, or none', () => {
    expect(problemsOf(29)).toEqual([
      'warning octal-address at spec.externalIPs[0]: kube-proxy 1.29 writes 010.0.0.1 as it is, and iptables reads 8.0.0.1',
      'error octal-address at spec.externalIPs[1]: kube-proxy 1.29 writes 203.0.113.009 as it is, which iptables does not take: its rules would not load',
      'warning octal-address at spec.loadBalancerSourceRanges[0]: kube-proxy 1.29 writes 10.010.0.0/16 as it is, and iptables reads 10.8.0.0',
    ]);
  });

  test('later versions write what they read', () => {
    expect(problemsOf(30)).toEqual([]);
  });
});

// `iptables -d ::ffff:192.0.2.1/128` of 1.8.9 is `host/network not found`.
describe('IPv4 addresses written as IPv6 ones where addresses are written as given:', () => {
  const of = service({ externalIPs: ['192.0.2.1', '::ffff:192.0.2.2'] }, [{ ip: '::FFFF:c000:203' }]);
  const problemsOf = (minor: number, each = of) =>
    told((report) => reportMisreadAddresses(each, kubeProxyVersion(minor), report)).problems;

  test('the rules would not load', () => {
    expect(problemsOf(29)).toEqual([
      'error mapped-address at spec.externalIPs[1]: kube-proxy 1.29 writes ::ffff:192.0.2.2 as it is, which iptables does not take: its rules would not load',
      'error mapped-address at status.loadBalancer.ingress: kube-proxy 1.29 writes ::FFFF:c000:203 as it is, which iptables does not take: its rules would not load',
    ]);
  });

  test('later versions write what they read', () => {
    expect(problemsOf(30)).toEqual([]);
  });

  test('of a family that the Service does not have they get no rules', () => {
    const v6 = service({ clusterIP: 'fd00::50', externalIPs: ['::ffff:192.0.2.2'] });
    expect(problemsOf(29, v6)).toEqual([]);
  });
});

describe('addresses that surprise people:', () => {
  const problemsOf = (of: Service) => told((report) => reportUnusedAddresses(of, report)).problems;

  test('those of a family that the Service does not have', () => {
    const of = service({ externalIPs: ['203.0.113.9', '2001:DB8::9'] }, [{ ip: '2001:db8::10' }]);
    expect(problemsOf(of)).toEqual([
      'warning wrong-family at spec.externalIPs[1]: external IP 2001:DB8::9 is ignored: the Service has no IPv6 cluster IP',
      'warning wrong-family at status.loadBalancer.ingress: load-balancer IP 2001:db8::10 is ignored: the Service has no IPv6 cluster IP',
    ]);
  });

  test('source ranges that leave a family open', () => {
    const of = service({ ...DUAL, loadBalancerSourceRanges: ['192.0.2.0/24'] }, [
      { ip: '198.51.100.1' },
      { ip: '2001:db8::10' },
    ]);
    expect(problemsOf(of)).toEqual([
      'warning source-ranges-of-other-family at spec.loadBalancerSourceRanges: no source range is IPv6, so the IPv6 load-balancer IPs are open to all',
    ]);
  });

  test('nothing is said where all is as it should be', () => {
    const of = service(
      { ...DUAL, externalIPs: ['203.0.113.9'], loadBalancerSourceRanges: ['192.0.2.0/24', '::/0'] },
      [{ ip: '198.51.100.1' }, { ip: '2001:db8::10' }],
    );
    expect(problemsOf(of)).toEqual([]);
  });
});
