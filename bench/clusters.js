// Clusters of any size, the same on every machine for the same seed. The objects carry what real ones carry
// (labels, annotations, uids, targetRefs, zones), because a reader pays for every byte whether it uses it or not.

/**
 * @typedef {object} ClusterSize
 * @property {number} services
 * @property {number} endpoints endpoints of each service
 * @property {number} [seed] default 1
 * @property {boolean} [pods] Pods in place of EndpointSlices, as a dump has them that took only some kinds
 */

/** @typedef {Record<string, unknown>} KubeObject */

const NODES = 100;
const ZONES = ['zone-a', 'zone-b', 'zone-c'];

/** The node that the generated manifests should be compiled for; its Node object is the only one among them. */
export const NODE_NAME = 'node-000';

/**
 * The Node first, then each Service followed by its EndpointSlice, or by the Pods of that.
 *
 * Of a hundred services about 88 are ClusterIP, 8 NodePort and 4 LoadBalancer; every fifth has two ports.
 *
 * @param {ClusterSize} size
 * @returns {Generator<KubeObject>}
 */
export function* clusterObjects({ services, endpoints, seed = 1, pods = false }) {
  const random = mulberry32(seed);
  // Counted up, so that no two services clash; even 20,000 services stay inside the default range.
  let nodePort = 30_000;
  yield nodeObject(random);
  for (let index = 0; index < services; index++) {
    const [service, slice] = serviceObjects(index, endpoints, random, () => nodePort++);
    if (service === undefined || slice === undefined) throw new Error('a service has two objects');
    yield service;
    if (pods) yield* podObjects(slice, random);
    else yield slice;
  }
}

/**
 * @param {() => number} random
 * @returns {KubeObject}
 */
function nodeObject(random) {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      creationTimestamp: '2026-01-02T03:04:05Z',
      labels: {
        'kubernetes.io/arch': 'amd64',
        'kubernetes.io/hostname': NODE_NAME,
        'kubernetes.io/os': 'linux',
        'topology.kubernetes.io/zone': ZONES[0],
      },
      name: NODE_NAME,
      uid: uid(random),
    },
    spec: { podCIDR: '10.128.0.0/24', podCIDRs: ['10.128.0.0/24'] },
    status: {
      addresses: [
        { address: '192.168.10.11', type: 'InternalIP' },
        { address: NODE_NAME, type: 'Hostname' },
      ],
      nodeInfo: { architecture: 'amd64', operatingSystem: 'linux' },
    },
  };
}

/**
 * @param {number} index
 * @param {number} endpointCount
 * @param {() => number} random
 * @param {() => number} nextNodePort
 * @returns {Generator<KubeObject>}
 */
function* serviceObjects(index, endpointCount, random, nextNodePort) {
  const namespace = `team-${String(index % 50).padStart(2, '0')}`;
  const name = `svc-${String(index).padStart(5, '0')}`;
  const clusterIP = ipv4(0x0a60_0100 + index);
  const draw = random();
  const type = draw < 0.88 ? 'ClusterIP' : draw < 0.96 ? 'NodePort' : 'LoadBalancer';
  const exposed = type !== 'ClusterIP';
  const local = index % 3 === 0;
  const labels = {
    app: name,
    'app.kubernetes.io/instance': name,
    'app.kubernetes.io/managed-by': 'Helm',
    'app.kubernetes.io/name': name,
    'app.kubernetes.io/version': `1.${index % 20}.0`,
    'helm.sh/chart': `${name}-0.${index % 7}.1`,
  };
  const serviceUid = uid(random);
  const ports = [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 8080 }];
  if (index % 5 === 0) ports.push({ name: 'metrics', port: 9090, protocol: 'TCP', targetPort: 9090 });

  yield {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      annotations: { 'meta.helm.sh/release-name': name, 'meta.helm.sh/release-namespace': namespace },
      creationTimestamp: '2026-01-02T03:04:05Z',
      labels,
      name,
      namespace,
      resourceVersion: String(100_000 + index),
      uid: serviceUid,
    },
    spec: {
      clusterIP,
      clusterIPs: [clusterIP],
      ...(exposed ? { externalTrafficPolicy: local ? 'Local' : 'Cluster' } : {}),
      ...(type === 'LoadBalancer' && local ? { healthCheckNodePort: nextNodePort() } : {}),
      internalTrafficPolicy: 'Cluster',
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      ports: ports.map((port) => (exposed ? { ...port, nodePort: nextNodePort() } : port)),
      selector: { app: name },
      sessionAffinity: 'None',
      type,
    },
    status: {
      loadBalancer:
        type === 'LoadBalancer'
          ? { ingress: [{ ip: ipv4(0xcb00_7100 + (index % 0x8000)), ipMode: 'VIP' }] }
          : {},
    },
  };

  yield {
    addressType: 'IPv4',
    apiVersion: 'discovery.k8s.io/v1',
    endpoints: Array.from({ length: endpointCount }, (_, place) => {
      const node = (index + place) % NODES;
      return {
        addresses: [ipv4(0x0a80_0000 + index * endpointCount + place)],
        conditions: { ready: true, serving: true, terminating: false },
        nodeName: `node-${String(node).padStart(3, '0')}`,
        targetRef: {
          kind: 'Pod',
          name: `${name}-${hex(random, 10)}-${hex(random, 5)}`,
          namespace,
          uid: uid(random),
        },
        zone: ZONES[node % ZONES.length],
      };
    }),
    kind: 'EndpointSlice',
    metadata: {
      annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': '2026-01-02T03:04:05Z' },
      creationTimestamp: '2026-01-02T03:04:05Z',
      generateName: `${name}-`,
      generation: 1 + (index % 9),
      labels: {
        ...labels,
        'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
        'kubernetes.io/service-name': name,
      },
      name: `${name}-${hex(random, 5)}`,
      namespace,
      ownerReferences: [
        {
          apiVersion: 'v1',
          blockOwnerDeletion: true,
          controller: true,
          kind: 'Service',
          name,
          uid: serviceUid,
        },
      ],
      resourceVersion: String(200_000 + index),
      uid: uid(random),
    },
    ports: ports.map((port) => ({ name: port.name, port: port.targetPort, protocol: port.protocol })),
  };
}

/**
 * @typedef {object} SliceEndpoint
 * @property {string[]} addresses
 * @property {string} nodeName
 * @property {{ name: string, namespace: string, uid: string }} targetRef
 */

/**
 * The Pods behind a slice, with what kubectl shows of an ordinary one.
 *
 * @param {KubeObject} slice
 * @param {() => number} random
 * @returns {Generator<KubeObject>}
 */
function* podObjects(slice, random) {
  const endpoints = /** @type {SliceEndpoint[]} */ (slice.endpoints);
  const { labels } = /** @type {{ labels: Record<string, string> }} */ (slice.metadata);
  const app = labels['kubernetes.io/service-name'];
  const conditions = ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'];
  for (const { addresses, nodeName, targetRef } of endpoints) {
    const podIP = addresses[0];
    yield {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        creationTimestamp: '2026-01-02T03:04:05Z',
        generateName: `${app}-`,
        labels: { app, 'pod-template-hash': hex(random, 10) },
        name: targetRef.name,
        namespace: targetRef.namespace,
        ownerReferences: [
          {
            apiVersion: 'apps/v1',
            blockOwnerDeletion: true,
            controller: true,
            kind: 'ReplicaSet',
            name: `${app}-${hex(random, 10)}`,
            uid: uid(random),
          },
        ],
        resourceVersion: '300000',
        uid: targetRef.uid,
      },
      spec: {
        containers: [
          {
            env: [
              { name: 'POD_NAME', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
            ],
            image: `registry.example.net/team/${app}:1.0.0`,
            imagePullPolicy: 'IfNotPresent',
            name: 'server',
            ports: [{ containerPort: 8080, name: 'http', protocol: 'TCP' }],
            readinessProbe: { httpGet: { path: '/ready', port: 8080, scheme: 'HTTP' }, periodSeconds: 10 },
            resources: { limits: { memory: '256Mi' }, requests: { cpu: '100m', memory: '128Mi' } },
            terminationMessagePath: '/dev/termination-log',
            volumeMounts: [{ mountPath: '/var/run/secrets', name: 'token', readOnly: true }],
          },
        ],
        dnsPolicy: 'ClusterFirst',
        nodeName,
        restartPolicy: 'Always',
        serviceAccountName: 'default',
        volumes: [{ name: 'token', projected: { defaultMode: 420, sources: [] } }],
      },
      status: {
        conditions: conditions.map((type) => ({
          lastProbeTime: null,
          lastTransitionTime: '2026-01-02T03:04:05Z',
          status: 'True',
          type,
        })),
        hostIP: '192.168.10.11',
        phase: 'Running',
        podIP,
        podIPs: [{ ip: podIP }],
        qosClass: 'Burstable',
        startTime: '2026-01-02T03:04:05Z',
      },
    };
  }
}

/** @param {number} value */
function ipv4(value) {
  return [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');
}

/**
 * @param {() => number} random
 * @param {number} digits
 */
function hex(random, digits) {
  let text = '';
  while (text.length < digits)
    text += Math.floor(random() * 0x1000_0000)
      .toString(16)
      .padStart(7, '0');
  return text.slice(0, digits);
}

/** @param {() => number} random */
function uid(random) {
  return [8, 4, 4, 4, 12].map((digits) => hex(random, digits)).join('-');
}

/**
 * A small seeded generator (mulberry32): Math.random cannot be seeded.
 *
 * @param {number} seed
 * @returns {() => number} numbers in [0, 1)
 */
function mulberry32(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b_79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}
