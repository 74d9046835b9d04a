import { describe, expect, test } from 'vitest';
import {
  collect,
  documents,
  type Manifest,
  nodeManifest,
  serviceManifest,
  sliceManifest,
  told,
} from '../../test/kube/support.ts';
import { type CIDR, parseCIDR } from './ip.ts';
import { withPodEndpoints } from './pod-endpoints.ts';

const WEB = serviceManifest({ selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }] });
const READY = [{ type: 'Ready', status: 'True' }];

/** Pod web-1 of Service web, ready on node-a, with what is said changed. */
function pod(fields: { spec?: Manifest; status?: Manifest; metadata?: Manifest } = {}): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'shop', name: 'web-1', labels: { app: 'web', tier: 'x' }, ...fields.metadata },
    spec: { nodeName: 'node-a', containers: [{ name: 'c' }], ...fields.spec },
    status: { phase: 'Running', podIP: '10.244.1.10', conditions: READY, ...fields.status },
  };
}

const cidrs = (texts: readonly string[]): CIDR[] => texts.flatMap((text) => parseCIDR(text) ?? []);

/** What becomes of a cluster: `IPv4 10.244.1.10:8080 ready serving node-a`, and the messages. */
function derive(objects: readonly Manifest[], podCIDRs?: readonly string[], nodeName?: string) {
  const cluster = collect(objects, () => {});
  const { value, problems } = told((report) =>
    withPodEndpoints(
      cluster,
      { assumeReady: podCIDRs === undefined ? undefined : { podCIDRs: cidrs(podCIDRs), nodeName } },
      report,
    ),
  );
  const endpoints = value.endpointSlices.flatMap((slice) =>
    slice.endpoints.flatMap((endpoint) =>
      slice.ports.map(({ name, protocol, port }) =>
        [
          slice.addressType,
          `${endpoint.address}:${port}`,
          ...(name === '' ? [] : [name]),
          ...(protocol === 'TCP' ? [] : [protocol]),
          ...(endpoint.ready ? ['ready'] : []),
          ...(endpoint.serving ? ['serving'] : []),
          ...(endpoint.terminating ? ['terminating'] : []),
          ...(endpoint.nodeName === undefined ? [] : [endpoint.nodeName]),
          ...endpoint.zoneHints.map((zone) => `for ${zone}`),
          ...endpoint.nodeHints.map((node) => `for ${node}`),
        ].join(' '),
      ),
    ),
  );
  return { endpoints, problems, invented: value.invented ?? [], slices: value.endpointSlices.length };
}

describe('an endpoint for each Pod that the selector finds:', () => {
  test.each<[string, Manifest, readonly string[]]>([
    ['ready', pod(), ['IPv4 10.244.1.10:8080 ready serving node-a']],
    ['not ready', pod({ status: { conditions: [] } }), ['IPv4 10.244.1.10:8080 node-a']],
    [
      'ready is neither said nor denied',
      pod({ status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } }),
      ['IPv4 10.244.1.10:8080 node-a'],
    ],
    [
      'terminating and still ready',
      pod({ metadata: { deletionTimestamp: '2026-01-02T03:04:05Z' } }),
      ['IPv4 10.244.1.10:8080 serving terminating node-a'],
    ],
    ['done', pod({ status: { phase: 'Succeeded' } }), []],
    ['failed', pod({ status: { phase: 'Failed' } }), []],
    ['on no node', pod({ spec: { nodeName: '' } }), ['IPv4 10.244.1.10:8080 ready serving']],
    [
      'on the network of its node',
      pod({ spec: { hostNetwork: true }, status: { podIP: '192.168.0.2' } }),
      ['IPv4 192.168.0.2:8080 ready serving node-a'],
    ],
    [
      'of two families',
      pod({ status: { podIPs: [{ ip: '10.244.1.10' }, { ip: 'fd00::10' }] } }),
      ['IPv4 10.244.1.10:8080 ready serving node-a', 'IPv6 fd00::10:8080 ready serving node-a'],
    ],
    ['of another Service', pod({ metadata: { labels: { app: 'api' } } }), []],
    ['in another namespace', pod({ metadata: { namespace: 'other' } }), []],
    ['without labels', pod({ metadata: { labels: null } }), []],
  ])('%s', (_title, value, expected) => {
    expect(derive([WEB, value])).toMatchObject({ endpoints: expected, problems: [] });
  });

  test('publishNotReadyAddresses makes them all ready', () => {
    const service = serviceManifest({ selector: { app: 'web' }, publishNotReadyAddresses: true });
    const leaving = pod({ status: { conditions: [] }, metadata: { deletionTimestamp: 'x' } });
    expect(derive([service, leaving]).endpoints).toEqual(['IPv4 10.244.1.10:80 ready terminating node-a']);
  });

  test('none for a Service without a selector, or one that is headless', () => {
    expect(derive([serviceManifest({}), pod()]).endpoints).toEqual([]);
    expect(derive([serviceManifest({ selector: {} }), pod()]).endpoints).toEqual([]);
    expect(
      derive([serviceManifest({ clusterIP: 'None', selector: { app: 'web' } }), pod()]).endpoints,
    ).toEqual([]);
  });

  test('hints where the Service asks for near endpoints and the zone of the node is known', () => {
    const near = (trafficDistribution: string) =>
      serviceManifest({ selector: { app: 'web' }, trafficDistribution });
    const node = nodeManifest(
      {},
      { metadata: { name: 'node-a', labels: { 'topology.kubernetes.io/zone': 'z1' } } },
    );
    expect(derive([near('PreferClose'), node, pod()]).endpoints).toEqual([
      'IPv4 10.244.1.10:80 ready serving node-a for z1',
    ]);
    expect(derive([near('PreferSameNode'), node, pod()]).endpoints).toEqual([
      'IPv4 10.244.1.10:80 ready serving node-a for z1 for node-a',
    ]);
    expect(derive([near('PreferClose'), pod()]).endpoints).toEqual([
      'IPv4 10.244.1.10:80 ready serving node-a',
    ]);
  });
});

describe('target ports', () => {
  const service = serviceManifest({
    selector: { app: 'web' },
    ports: [
      { name: 'http', port: 80, targetPort: 'web' },
      { name: 'dns', port: 53, protocol: 'UDP', targetPort: 'dns' },
      { name: 'same', port: 9090 },
    ],
  });
  const withPorts = (name: string, address: string, ports: readonly Manifest[], more: Manifest = {}) =>
    pod({
      metadata: { name },
      spec: { containers: [{ name: 'first' }, { name: 'second', ports }], ...more },
      status: { podIP: address },
    });

  test('by name, in any container, a number of its own in each Pod: a slice for each set of numbers', () => {
    const { endpoints, slices, problems } = derive([
      service,
      withPorts('web-1', '10.244.1.10', [
        { name: 'web', containerPort: 8080 },
        { name: 'dns', containerPort: 5353, protocol: 'UDP' },
      ]),
      withPorts('web-2', '10.244.1.11', [{ name: 'web', containerPort: 8081 }]),
    ]);
    expect(slices).toBe(2);
    expect(problems).toEqual([]);
    expect(endpoints).toEqual([
      'IPv4 10.244.1.10:8080 http ready serving node-a',
      'IPv4 10.244.1.10:5353 dns UDP ready serving node-a',
      'IPv4 10.244.1.10:9090 same ready serving node-a',
      'IPv4 10.244.1.11:8081 http ready serving node-a',
      'IPv4 10.244.1.11:9090 same ready serving node-a',
    ]);
  });

  test('of a sidecar count, of other init containers not', () => {
    const sidecar = (restartPolicy?: string) =>
      withPorts('web-1', '10.244.1.10', [], {
        initContainers: [{ name: 'i', restartPolicy, ports: [{ name: 'web', containerPort: 7000 }] }],
      });
    expect(derive([service, sidecar('Always')]).endpoints[0]).toContain(':7000 http');
    expect(derive([service, sidecar()]).endpoints.join()).not.toContain('http');
  });

  test('of one name and number with two protocols are apart', () => {
    const both = serviceManifest({
      selector: { app: 'web' },
      ports: [
        { port: 53, targetPort: 'x' },
        { port: 53, protocol: 'UDP', targetPort: 'x' },
      ],
    });
    expect(
      derive([
        both,
        withPorts('web-1', '10.244.1.10', [{ name: 'x', containerPort: 1 }]),
        withPorts('web-2', '10.244.1.11', [{ name: 'x', containerPort: 1, protocol: 'UDP' }]),
      ]).endpoints,
    ).toEqual(['IPv4 10.244.1.10:1 ready serving node-a', 'IPv4 10.244.1.11:1 UDP ready serving node-a']);
  });

  test('that no Pod has are a warning', () => {
    expect(
      derive([service, withPorts('web-1', '10.244.1.10', [{ name: 'dns', containerPort: 53 }])]).problems,
    ).toEqual([
      'warning no-such-port at spec.ports[0].targetPort: none of its Pods has a TCP port named "web": no endpoints',
      'warning no-such-port at spec.ports[1].targetPort: none of its Pods has a UDP port named "dns": no endpoints',
    ]);
  });
});

describe('slices and Pods', () => {
  test('slices count, and agree', () => {
    expect(derive([WEB, sliceManifest({}), pod()])).toMatchObject({ slices: 1, problems: [] });
  });

  test('slices count, and a disagreement is one warning for the Service', () => {
    const other = pod({ metadata: { name: 'web-2' }, status: { podIP: '10.244.1.11' } });
    const late = pod({ status: { conditions: [] } });
    const { endpoints, problems } = derive([WEB, sliceManifest({}), late, other]);
    expect(endpoints).toEqual(['IPv4 10.244.1.10:8080 ready serving node-a']);
    expect(problems).toEqual([
      'warning slices-and-pods-differ: EndpointSlices and Pods say different things, and the slices count; ready in slices alone: 10.244.1.10:8080/TCP; ready by Pods alone: 10.244.1.11:8080/TCP',
    ]);
  });

  test('Endpoints objects count as well', () => {
    const [endpoints] = documents(
      '{apiVersion: v1, kind: Endpoints, metadata: {namespace: shop, name: web}, subsets: [{addresses: [{ip: 10.244.1.10}], ports: [{port: 8080}]}]}',
    );
    expect(derive([WEB, endpoints as Manifest, pod()])).toMatchObject({ slices: 0, problems: [] });
  });
});

describe('what would make Pods', () => {
  const maker = (kind: string, spec: Manifest = {}, name = 'web') => ({
    apiVersion: 'apps/v1',
    kind,
    metadata: { namespace: 'shop', name },
    spec: {
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'c', ports: [{ name: 'http', containerPort: 8080 }] }] },
      },
      ...spec,
    },
  });

  test('is a warning without --assume-ready', () => {
    expect(derive([WEB, maker('Deployment')])).toMatchObject({
      endpoints: [],
      problems: [
        'warning no-endpoints: no endpoints are known of 1 Service (shop/web), though the input has what would make their Pods',
      ],
    });
  });

  // Golden files depend on these addresses: they are frozen.
  test.each<[string, readonly Manifest[], readonly string[]]>([
    [
      'a Deployment',
      [maker('Deployment', { replicas: 2 })],
      ['IPv4 10.244.141.104:8080 ready serving', 'IPv4 10.244.201.217:8080 ready serving'],
    ],
    [
      'a Deployment and its ReplicaSet',
      [
        maker('Deployment'),
        {
          ...maker('ReplicaSet'),
          metadata: {
            namespace: 'shop',
            name: 'web-5d',
            ownerReferences: [{ kind: 'Deployment', name: 'web' }],
          },
        },
      ],
      ['IPv4 10.244.141.104:8080 ready serving'],
    ],
    ['a StatefulSet', [maker('StatefulSet')], ['IPv4 10.244.136.2:8080 ready serving']],
    ['no replicas', [maker('Deployment', { replicas: 0 })], []],
    [
      'a DaemonSet',
      [maker('DaemonSet'), nodeManifest({})],
      ['IPv4 10.244.182.224:8080 ready serving node-a'],
    ],
    ['a DaemonSet without Nodes', [maker('DaemonSet')], ['IPv4 10.244.109.123:8080 ready serving']],
    [
      'a Pod that has no address yet',
      [pod({ status: { podIP: '', conditions: [] }, spec: { nodeName: '' } })],
      ['IPv4 10.244.105.197:8080 ready serving'],
    ],
  ])('%s', (_title, makers, expected) => {
    const { endpoints, problems, invented } = derive([WEB, ...makers], ['10.244.0.0/16']);
    expect({ endpoints, problems }).toEqual({ endpoints: expected, problems: [] });
    expect(invented).toEqual(['endpoints of 1 Service (shop/web), out of 10.244.0.0/16, taken for ready']);
  });

  test('hostNetwork: the addresses of Nodes', () => {
    const host = { template: { metadata: { labels: { app: 'web' } }, spec: { hostNetwork: true } } };
    const node = nodeManifest({ addresses: [{ type: 'InternalIP', address: '192.168.0.2' }] });
    expect(derive([WEB, node, maker('DaemonSet', host)], ['10.244.0.0/16']).endpoints).toEqual([
      'IPv4 192.168.0.2:8080 ready serving node-a',
    ]);
  });

  const pending = (name: string, owner: Manifest, spec: Manifest = {}, labels: Manifest = {}) =>
    pod({
      metadata: { name, labels: { app: 'web', ...labels }, ownerReferences: [owner] },
      spec: { nodeName: '', ...spec },
      status: { phase: 'Pending', podIP: '', conditions: [] },
    });
  const replicaSet = (owner?: string) => ({
    ...maker('ReplicaSet', { replicas: 2 }),
    metadata: {
      namespace: 'shop',
      name: 'web-5d',
      ...(owner !== undefined && { ownerReferences: [{ kind: 'Deployment', name: owner }] }),
    },
  });
  const node = (name: string, address: string, labels: Manifest = {}) =>
    nodeManifest({ addresses: [{ type: 'InternalIP', address }] }, { metadata: { name, labels } });
  const NODES = [node('n1', '192.168.0.1', { disk: 'ssd' }), node('n2', '192.168.0.2')];

  // The controllers make as many Pods as are missing: manageReplicas, updateReplicas, podsShouldBeOnNode.
  describe('Pods of the input count instead of as many:', () => {
    const ofSet = { kind: 'ReplicaSet', name: 'web-5d' };
    const hash = { 'pod-template-hash': '5d' };
    test.each<[string, readonly Manifest[], number]>([
      ['both of a Deployment', [maker('Deployment', { replicas: 2 }), replicaSet('web')], 2],
      ['both of a ReplicaSet', [replicaSet()], 2],
      ['a ReplicaSet whose Deployment is not there', [replicaSet('web')], 2],
      ['a Deployment whose ReplicaSet is not there', [maker('Deployment', { replicas: 2 })], 2],
      ['two of three', [maker('Deployment', { replicas: 3 }), replicaSet('web')], 3],
      ['of another Deployment', [maker('Deployment', { replicas: 1 }), replicaSet('other')], 3],
    ])('%s', (_title, makers, expected) => {
      const pods = ['web-5d-a', 'web-5d-b'].map((name) => pending(name, ofSet, {}, hash));
      expect(derive([WEB, ...makers, ...pods], ['10.244.0.0/16']).endpoints.length).toBe(expected);
    });

    test('of a DaemonSet, on their Nodes', () => {
      const owner = { kind: 'DaemonSet', name: 'web' };
      const on = (name: string) => pending(`web-${name}`, owner, { nodeName: name });
      const nodesOf = (objects: readonly Manifest[]) =>
        derive([WEB, maker('DaemonSet'), ...NODES, ...objects], ['10.244.0.0/16']).endpoints.map((line) =>
          line.replace(/.* /, ''),
        );
      expect(nodesOf([on('n1'), on('n2')])).toEqual(['n1', 'n2']);
      expect(nodesOf([on('n2')])).toEqual(['n1', 'n2']);
      expect(nodesOf([pending('web-x', owner)]).length).toBe(2);
      // ReplaceDaemonSetPodNodeNameNodeAffinity: what its controller writes instead of spec.nodeName.
      const nodeSelectorTerms = [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] }];
      const affinity = {
        nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
      };
      expect(nodesOf([pending('web-x', owner, { affinity })]).sort()).toEqual(['n1', 'n2']);
    });

    test('not those that are done or leave', () => {
      const gone = { ...pending('web-5d-a', ofSet), status: { phase: 'Failed' } };
      const leaving = pod({
        metadata: { name: 'web-5d-b', deletionTimestamp: '2026-01-02T03:04:05Z', ownerReferences: [ofSet] },
        status: { phase: 'Pending', podIP: '', conditions: [] },
      });
      expect(derive([WEB, replicaSet(), gone, leaving], ['10.244.0.0/16']).endpoints.length).toBe(2);
    });
  });

  describe('spec.nodeName counts:', () => {
    const endpointsOf = (object: Manifest) => derive([WEB, ...NODES, object], ['10.244.0.0/16']).endpoints;
    const template = (spec: Manifest) => ({ template: { metadata: { labels: { app: 'web' } }, spec } });
    const bare = (spec: Manifest) => pod({ spec, status: { podIP: '', conditions: [] } });
    test.each<[string, Manifest, string]>([
      ['a Pod', bare({ nodeName: 'n2' }), 'IPv4 10.244.105.197:8080 ready serving n2'],
      [
        'a Pod on the network of its node',
        bare({ nodeName: 'n2', hostNetwork: true }),
        'IPv4 192.168.0.2:8080 ready serving n2',
      ],
      [
        'a Deployment',
        maker('Deployment', template({ nodeName: 'n2' })),
        'IPv4 10.244.141.104:8080 ready serving n2',
      ],
      [
        'a Deployment on the network of its node',
        maker('Deployment', template({ nodeName: 'n2', hostNetwork: true })),
        'IPv4 192.168.0.2:8080 ready serving n2',
      ],
      [
        'a DaemonSet',
        maker('DaemonSet', template({ nodeName: 'n2', hostNetwork: true })),
        'IPv4 192.168.0.2:8080 ready serving n2',
      ],
    ])('%s', (_title, object, expected) => {
      expect(endpointsOf(object)).toEqual([expected]);
    });
  });

  // updateIdentity of the StatefulSet controller.
  describe('one Pod of a StatefulSet, by the labels that its controller sets:', () => {
    const endpointsOf = (selector: Manifest, spec: Manifest = {}, more: readonly Manifest[] = []) =>
      derive(
        [serviceManifest({ selector }), maker('StatefulSet', { replicas: 2, ...spec }, 'db'), ...more],
        ['10.244.0.0/16'],
      );
    const byName = (name: string) => ({ 'statefulset.kubernetes.io/pod-name': name });
    const byIndex = (index: string) => ({ 'apps.kubernetes.io/pod-index': index });
    const [zero, one] = endpointsOf({ app: 'web' }).endpoints;

    test.each<[string, Manifest, string | undefined]>([
      ['by name', byName('db-0'), zero],
      ['by name and a label of the template', { ...byName('db-1'), app: 'web' }, one],
      ['by index', byIndex('1'), one],
      ['by both', { ...byName('db-1'), ...byIndex('1') }, one],
    ])('%s', (_title, selector, expected) => {
      expect(endpointsOf(selector)).toMatchObject({ endpoints: [expected], problems: [] });
    });

    test.each<[string, Manifest]>([
      ['the ordinal after the last', byName('db-2')],
      ['another StatefulSet', byName('dc-0')],
      ['an ordinal in other words', byName('db-00')],
      ['no ordinal', byName('db')],
      ['a label that the template has not', { ...byName('db-0'), app: 'api' }],
      ['name and index of two Pods', { ...byName('db-0'), ...byIndex('1') }],
    ])('none for %s', (_title, selector) => {
      expect(endpointsOf(selector).endpoints).toEqual([]);
    });

    test('spec.ordinals.start is that of the first', () => {
      const from5 = { ordinals: { start: 5 } };
      expect(endpointsOf(byName('db-6'), from5).endpoints.length).toBe(1);
      expect(endpointsOf(byName('db-0'), from5).endpoints).toEqual([]);
    });

    test('the Pod of the input where it is there', () => {
      const there = pending('db-0', { kind: 'StatefulSet', name: 'db' }, { nodeName: 'n1' }, byName('db-0'));
      expect(endpointsOf(byName('db-0'), {}, [there]).endpoints).toEqual([
        expect.stringMatching(/^IPv4 .*:80 ready serving n1$/),
      ]);
      expect(endpointsOf(byName('db-1'), {}, [there]).endpoints).toEqual([one]);
    });

    test('is a warning without --assume-ready', () => {
      expect(
        derive([serviceManifest({ selector: byName('db-0') }), maker('StatefulSet', {}, 'db')]).problems,
      ).toEqual([
        'warning no-endpoints: no endpoints are known of 1 Service (shop/web), though the input has what would make their Pods',
      ]);
    });
  });

  test('a Service that selects nothing of the input is a warning', () => {
    const warning =
      'warning no-endpoints: no endpoints are known of 1 Service (shop/web): no Pod of the input, and nothing that makes Pods, has the labels of the selector';
    const other = serviceManifest({ selector: { app: 'wbe' } });
    expect(derive([other, maker('Deployment')], ['10.244.0.0/16'])).toMatchObject({
      endpoints: [],
      problems: [warning],
      invented: [],
    });
    expect(derive([other], ['10.244.0.0/16']).problems).toEqual([warning]);
    expect(derive([other, maker('Deployment')]).problems).toEqual([]);
    expect(derive([WEB, pod({ status: { phase: 'Succeeded' } })], ['10.244.0.0/16']).problems).toEqual([]);
  });

  // NodeShouldRunDaemonPod.
  describe('a DaemonSet has Pods on the Nodes that its template selects:', () => {
    const selecting = (nodeSelector: Manifest) =>
      maker('DaemonSet', {
        template: { metadata: { labels: { app: 'web' } }, spec: { nodeSelector, hostNetwork: true } },
      });
    const [N1, N2] = ['IPv4 192.168.0.1:8080 ready serving n1', 'IPv4 192.168.0.2:8080 ready serving n2'];
    test.each<[string, Manifest, readonly string[]]>([
      ['by a label', { disk: 'ssd' }, [N1]],
      ['by its name', { 'kubernetes.io/hostname': 'n2' }, [N2]],
      ['all', { 'kubernetes.io/os': 'linux' }, [N1, N2]],
    ])('%s', (_title, nodeSelector, expected) => {
      expect(derive([WEB, ...NODES, selecting(nodeSelector)], ['10.244.0.0/16'])).toMatchObject({
        endpoints: expected,
        problems: [],
      });
    });

    test('none, and that is a warning', () => {
      expect(derive([WEB, ...NODES, selecting({ disk: 'hdd' })], ['10.244.0.0/16'])).toMatchObject({
        endpoints: [],
        problems: [
          'warning no-endpoints at spec.template.spec.nodeSelector: selects none of the Nodes of the input: it has no Pods',
        ],
      });
    });
  });

  test('copies of a Node that differ in labels are no conflict', () => {
    const both = [node('n1', '192.168.0.1', { disk: 'ssd' }), node('n1', '192.168.0.1', { disk: 'hdd' })];
    expect(told((report) => collect(both, report)).problems).toEqual([]);
  });

  test('is not asked where Pods are there, or slices', () => {
    expect(derive([WEB, pod(), maker('Deployment')], ['10.244.0.0/16']).invented).toEqual([]);
    expect(derive([WEB, sliceManifest({}), maker('Deployment')], ['10.244.0.0/16']).invented).toEqual([]);
  });

  test('nobody says where Pods are; more Pods than there can be', () => {
    expect(derive([WEB, maker('Deployment')], []).problems).toEqual([
      'error no-pod-range: --assume-ready invents addresses of Pods, and nobody says of which network',
    ]);
    expect(
      derive([WEB, maker('Deployment', { replicas: 2_147_483_647 })], ['10.244.0.0/16']).problems,
    ).toEqual(['error no-address-left at spec.replicas: 2147483647 Pods; at most 10000 of one are invented']);
    expect(derive([WEB, maker('Deployment', { replicas: 9 })], ['10.244.0.0/29']).problems).toEqual([
      'error no-address-left: no address is left in the network of Pods',
    ]);
  });
});

test('Pods that cannot be read are left out with a warning, for kube-proxy never sees them', () => {
  const { problems } = told((report) => {
    collect(
      [pod({ status: { podIP: 'nowhere' } }), pod({ metadata: { name: 'A' } }), { ...pod(), spec: 7 }],
      report,
    );
  });
  expect(problems).toEqual([
    'warning invalid-ip at status.podIP: "nowhere" is not an IP address and is left out',
    'warning invalid-name at metadata.name: "A" is not a name of a Pod (lower-case letters, digits, dots and hyphens, at most 253 characters)',
    'warning wrong-type at spec: found 7, expected a mapping',
    'warning conflicting-objects at metadata.name: the same object was read before with other contents (test.yaml); no endpoints come from it',
  ]);
});

test('hints that an annotation asks for are not made of Pods, which is a warning', () => {
  const metadata = {
    namespace: 'shop',
    name: 'web',
    annotations: { 'service.kubernetes.io/topology-mode': 'Auto' },
  };
  const { endpoints, problems } = derive([{ ...WEB, metadata }, pod()]);
  expect(endpoints).toHaveLength(1);
  expect(problems).toEqual([
    'warning no-hints at metadata.annotations["service.kubernetes.io/topology-mode"]: endpoints from Pods get no hints of zones, which this annotation asks for: all of them are used',
  ]);
});

test('without Nodes, a DaemonSet has a Pod on the node whose rules are asked for', () => {
  const daemonSet = {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { namespace: 'shop', name: 'web' },
    spec: { template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'a' }] } } },
  };
  const [endpoint, ...more] = derive([WEB, daemonSet], ['10.244.0.0/16'], 'node-b').endpoints;
  expect(more).toEqual([]);
  expect(endpoint).toMatch(/^IPv4 10\.244\.\d+\.\d+:8080 ready serving node-b$/);
});
