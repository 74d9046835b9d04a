import { describe, expect, test } from 'vitest';
import { collect, type Manifest, serviceManifest, told } from '../../test/kube/support.ts';
import type { Cluster } from './cluster.ts';
import { type CIDR, parseCIDR } from './ip.ts';
import { withServiceAddresses } from './service-addresses.ts';

function cidr(text: string): CIDR {
  const found = parseCIDR(text);
  if (found === undefined) throw new Error(text);
  return found;
}

const NODE_PORTS = { first: 30000, last: 32767 };

function manifest(name: string, spec: Manifest = {}): Manifest {
  return serviceManifest({ clusterIP: '', ...spec }, { metadata: { namespace: 'shop', name } });
}

interface Filled {
  readonly cluster: Cluster;
  /** `shop/web 10.96.1.2 fd00::5 30080` */
  readonly services: readonly string[];
  readonly problems: readonly string[];
}

function fill(manifests: readonly Manifest[], cidrs: readonly string[] = ['10.96.0.0/12']): Filled {
  const { value: cluster, problems } = told((report) =>
    withServiceAddresses(
      collect(manifests, () => {}),
      { serviceCIDRs: cidrs.map(cidr), nodePorts: NODE_PORTS },
      report,
    ),
  );
  const services = cluster.services.map(({ namespace, name, clusterIPs, ports, healthCheckNodePort }) =>
    [
      `${namespace}/${name}`,
      ...clusterIPs.map(({ ip }) => ip.text),
      ...ports.map(({ nodePort }) => nodePort),
      healthCheckNodePort,
    ]
      .filter((word) => word !== 0)
      .join(' '),
  );
  return { cluster, services, problems };
}

const errorsOf = ({ problems }: Filled) => problems.filter((line) => line.startsWith('error'));

describe('addresses and node ports of manifests', () => {
  // Golden files depend on these numbers: they are frozen.
  test.each<[string, Manifest, readonly string[], string]>([
    ['ClusterIP', {}, ['10.96.0.0/12'], 'shop/web 10.101.121.207'],
    ['NodePort', { type: 'NodePort' }, ['10.96.0.0/12'], 'shop/web 10.101.121.207 32631'],
    [
      'one node port is given',
      { type: 'NodePort', ports: [{ port: 80, nodePort: 30080 }] },
      ['10.96.0.0/12'],
      'shop/web 10.101.121.207 30080',
    ],
    [
      'TCP and UDP share a node port',
      {
        type: 'NodePort',
        ports: [
          { name: 'a', port: 53 },
          { name: 'b', port: 53, protocol: 'UDP' },
        ],
      },
      ['10.96.0.0/12'],
      'shop/web 10.101.121.207 32399 32399',
    ],
    [
      'TCP and UDP share the node port that one has',
      {
        type: 'NodePort',
        ports: [
          { name: 'a', port: 53 },
          { name: 'b', port: 53, protocol: 'UDP', nodePort: 30053 },
        ],
      },
      ['10.96.0.0/12'],
      'shop/web 10.101.121.207 30053 30053',
    ],
    ['LoadBalancer', { type: 'LoadBalancer' }, ['10.96.0.0/12'], 'shop/web 10.101.121.207 32631'],
    [
      'LoadBalancer without node ports',
      { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false },
      ['10.96.0.0/12'],
      'shop/web 10.101.121.207',
    ],
    [
      'LoadBalancer, policy Local',
      { type: 'LoadBalancer', externalTrafficPolicy: 'Local' },
      ['10.96.0.0/12'],
      'shop/web 10.101.121.207 32631 31898',
    ],
    [
      'dual-stack preferred, one family there',
      { ipFamilyPolicy: 'PreferDualStack' },
      ['10.96.0.0/12'],
      'shop/web 10.101.121.207',
    ],
    [
      'dual-stack preferred',
      { ipFamilyPolicy: 'PreferDualStack' },
      ['10.96.0.0/12', 'fd00:10:96::/108'],
      'shop/web 10.101.121.207 fd00:10:96::5:7733',
    ],
    [
      'dual-stack required, IPv6 first',
      { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv6'] },
      ['10.96.0.0/12', 'fd00:10:96::/108'],
      'shop/web fd00:10:96::5:7733 10.101.121.207',
    ],
    [
      'single-stack in a dual-stack cluster',
      {},
      ['fd00:10:96::/108', '10.96.0.0/12'],
      'shop/web fd00:10:96::5:7733',
    ],
    [
      'IPv6 by its family',
      { ipFamilies: ['IPv6'] },
      ['10.96.0.0/12', 'fd00:10:96::/108'],
      'shop/web fd00:10:96::5:7733',
    ],
    [
      'IPv6 in the spelling of 1.16',
      { ipFamily: 'IPv6' },
      ['10.96.0.0/12', 'fd00:10:96::/108'],
      'shop/web fd00:10:96::5:7733',
    ],
    [
      'a second family beside an address',
      { clusterIP: '10.96.0.9', ipFamilyPolicy: 'PreferDualStack' },
      ['10.96.0.0/12', 'fd00:10:96::/108'],
      'shop/web 10.96.0.9 fd00:10:96::5:7733',
    ],
    [
      'an object of a cluster stays as it is',
      { clusterIP: '10.96.0.9', ipFamilies: ['IPv4'], ipFamilyPolicy: 'PreferDualStack' },
      ['10.96.0.0/12', 'fd00:10:96::/108'],
      'shop/web 10.96.0.9',
    ],
    // initIPFamilyFields appends the family that RequireDualStack lacks.
    [
      'dual-stack required, with the address of one family',
      { clusterIP: '10.96.0.9', ipFamilies: ['IPv4'], ipFamilyPolicy: 'RequireDualStack' },
      ['10.96.0.0/12', 'fd00:10:96::/108'],
      'shop/web 10.96.0.9 fd00:10:96::5:7733',
    ],
    [
      'dual-stack required, with the address of one family and one range',
      { clusterIP: '10.96.0.9', ipFamilies: ['IPv4'], ipFamilyPolicy: 'RequireDualStack' },
      ['10.96.0.0/12'],
      'shop/web 10.96.0.9',
    ],
    ['headless', { clusterIP: 'None' }, ['10.96.0.0/12'], ''],
  ])('%s', (_title, spec, cidrs, expected) => {
    const filled = fill([manifest('web', spec)], cidrs);
    expect(errorsOf(filled)).toEqual([]);
    expect(filled.services.join()).toBe(expected);
  });

  test.each<[string, Manifest, readonly string[], string]>([
    [
      'a family without a range',
      { ipFamilies: ['IPv6'] },
      ['10.96.0.0/12'],
      'error no-address-left at spec.ipFamilies: IPv6 is asked for, and no --service-cidr is IPv6',
    ],
    [
      'dual-stack required, one range',
      { ipFamilyPolicy: 'RequireDualStack' },
      ['10.96.0.0/12'],
      'error no-address-left at spec.ipFamilyPolicy: RequireDualStack needs a --service-cidr of each family',
    ],
    [
      'two families, single stack',
      { ipFamilies: ['IPv4', 'IPv6'] },
      ['10.96.0.0/12', 'fd00::/108'],
      'error no-address-left at spec.ipFamilyPolicy: two families need the policy PreferDualStack or RequireDualStack',
    ],
  ])('refused: %s', (_title, spec, cidrs, error) => {
    const filled = fill([manifest('web', spec)], cidrs);
    expect(errorsOf(filled)).toEqual([error]);
    expect(filled.services).toEqual([]);
    expect(filled.cluster.skippedServices.map(({ name }) => name)).toEqual(['web']);
  });

  test('stay when other Services come and go, and when the order of the input changes', () => {
    const names = Array.from({ length: 400 }, (_, index) => `svc-${index}`);
    const all = fill(names.map((name) => manifest(name, { type: 'NodePort' })));
    expect(new Set(all.services.map((line) => line.split(' ')[1])).size).toBe(400);
    expect(new Set(all.services.map((line) => line.split(' ')[2])).size).toBe(400);
    const reversed = fill([...names].reverse().map((name) => manifest(name, { type: 'NodePort' })));
    expect(reversed.services).toEqual(all.services);
    const half = fill(names.filter((_, index) => index % 2 === 0).map((name) => manifest(name)));
    const addresses = new Map(all.services.map((line) => [line.split(' ')[0], line.split(' ')[1]]));
    const moved = half.services.filter((line) => addresses.get(line.split(' ')[0]) !== line.split(' ')[1]);
    expect(moved).toEqual([]);
  });

  test('never are those that somebody has', () => {
    const [line = ''] = fill([manifest('web')]).services;
    const taken = line.split(' ')[1] ?? '';
    const { services } = fill([manifest('web'), manifest('other', { clusterIP: taken })]);
    expect(services[0]).toBe(`shop/other ${taken}`);
    expect(services[1]).not.toContain(taken);
  });

  test('a small range is used up to its last address, and then refused', () => {
    // 10.0.0.0/29: .0 is the network, .1 the API server, .7 the broadcast address.
    const six = Array.from({ length: 6 }, (_, index) => manifest(`s${index}`));
    const filled = fill(six, ['10.0.0.0/29']);
    expect(filled.services.map((line) => line.split(' ')[1]).sort()).toEqual([
      '10.0.0.2',
      '10.0.0.3',
      '10.0.0.4',
      '10.0.0.5',
      '10.0.0.6',
    ]);
    expect(errorsOf(filled)).toEqual([
      'error no-address-left at spec.clusterIP: no IPv4 address is left in --service-cidr',
    ]);
  });

  test('node ports run out, those of health checks too', () => {
    const run = (last: number) =>
      told((report) =>
        withServiceAddresses(
          collect(
            [
              manifest('web', {
                type: 'LoadBalancer',
                externalTrafficPolicy: 'Local',
                clusterIP: '10.96.0.9',
              }),
            ],
            () => {},
          ),
          { serviceCIDRs: [], nodePorts: { first: 30000, last } },
          report,
        ),
      ).problems;
    const health =
      'error no-address-left at spec.healthCheckNodePort: no node port for health checks is left in --service-node-port-range';
    expect(run(30001).filter((line) => line.startsWith('error'))).toEqual([]);
    expect(run(30000)).toEqual([
      health,
      'note invented-address at spec: invented: node port 30000 for 80/TCP',
    ]);
    expect(run(29999)).toEqual([
      'error no-address-left at spec.ports: no node port is left in --service-node-port-range',
      health,
    ]);
  });

  test('are named in a note and for the head of the output', () => {
    const { cluster, problems } = fill([manifest('web', { type: 'NodePort' })]);
    expect(problems).toEqual([
      'note invented-address at spec: invented: cluster IP 10.101.121.207, node port 32631 for 80/TCP',
    ]);
    expect(cluster.invented).toEqual(['those of 1 Service (shop/web), out of 10.96.0.0/12, 30000-32767']);
  });

  test('without ranges nothing changes', () => {
    const before = collect([manifest('web')], () => {});
    const ranges = { serviceCIDRs: [], nodePorts: undefined };
    expect(told((report) => withServiceAddresses(before, ranges, report))).toEqual({
      value: before,
      problems: [],
    });
  });
});
