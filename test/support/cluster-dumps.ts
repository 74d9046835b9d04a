/** Dumps of one small cluster, file by file, in the layouts of the tools that take them, with what else lies there. */

export type Files = Readonly<Record<string, string>>;

type Json = Readonly<Record<string, unknown>>;

const NODE: Json = {
  metadata: { name: 'node-a' },
  spec: { podCIDR: '10.244.1.0/24', podCIDRs: ['10.244.1.0/24'] },
  status: {
    addresses: [
      { type: 'InternalIP', address: '192.168.0.2' },
      { type: 'Hostname', address: 'node-a' },
    ],
    nodeInfo: { kubeletVersion: 'v1.30.4', kubeProxyVersion: 'v1.30.4' },
  },
};

const WEB: Json = {
  metadata: { name: 'web', namespace: 'shop', labels: { app: 'web' } },
  spec: {
    type: 'ClusterIP',
    clusterIP: '10.96.0.50',
    clusterIPs: ['10.96.0.50'],
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    selector: { app: 'web' },
    ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 'http' }],
    sessionAffinity: 'None',
  },
  status: { loadBalancer: {} },
};

const KUBERNETES: Json = {
  metadata: { name: 'kubernetes', namespace: 'default' },
  spec: {
    type: 'ClusterIP',
    clusterIP: '10.96.0.1',
    clusterIPs: ['10.96.0.1'],
    ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: 6443 }],
  },
};

const SLICE: Json = {
  metadata: { name: 'web-x1', namespace: 'shop', labels: { 'kubernetes.io/service-name': 'web' } },
  addressType: 'IPv4',
  ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
  endpoints: [{ addresses: ['10.244.1.10'], nodeName: 'node-a', conditions: { ready: true, serving: true } }],
};

const ENDPOINTS: Json = {
  metadata: { name: 'web', namespace: 'shop' },
  subsets: [
    {
      addresses: [{ ip: '10.244.1.10', nodeName: 'node-a' }],
      ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    },
  ],
};

const pod = (ready: boolean): Json => ({
  metadata: { name: 'web-1', namespace: 'shop', labels: { app: 'web' } },
  spec: {
    nodeName: 'node-a',
    containers: [{ name: 'web', ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }] }],
  },
  status: {
    phase: 'Running',
    podIP: '10.244.1.10',
    podIPs: [{ ip: '10.244.1.10' }],
    conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
  },
});

const DEPLOYMENT: Json = {
  metadata: { name: 'web', namespace: 'shop' },
  spec: { replicas: 1, template: { metadata: { labels: { app: 'web' } }, spec: {} } },
};

/** As kubectl prints a list that the API server gave it: the items do not repeat what they are. */
function list(apiVersion: string, kind: string, ...items: Json[]): string {
  const value = { kind: `${kind}List`, apiVersion, metadata: { resourceVersion: '4711' }, items };
  return `${JSON.stringify(value, undefined, 4)}\n`;
}

/** The same with what they are. */
function fullList(apiVersion: string, kind: string, ...items: Json[]): string {
  return list(apiVersion, kind, ...items.map((item) => ({ kind, apiVersion, ...item })));
}

/** YAML as `oc` writes it; JSON in flow style is YAML. */
function yaml(value: Json): string {
  const lines = Object.entries(value).map(([key, item]) =>
    Array.isArray(item) && item.length > 0
      ? `${key}:\n${item.map((each) => `- ${JSON.stringify(each)}\n`).join('')}`
      : `${key}: ${JSON.stringify(item)}\n`,
  );
  return `---\n${lines.join('')}`;
}

function yamlList(apiVersion: string, kind: string, ...items: Json[]): string {
  const full = items.map((item) => ({ apiVersion, kind, ...item }));
  return yaml({ apiVersion, items: full, kind: `${kind}List`, metadata: { resourceVersion: '4711' } });
}

const LOG = '2025-06-02T09:00:00.000000000Z {"level":"info"}\n';

/** `kubectl cluster-info dump --output-directory DIR --namespaces default,shop`: no slices and no Endpoints. */
export const CLUSTER_INFO: Files = {
  'nodes.json': list('v1', 'Node', NODE),
  ...Object.fromEntries(
    [['default', [KUBERNETES], [], []] as const, ['shop', [WEB], [pod(true)], [DEPLOYMENT]] as const].flatMap(
      ([namespace, services, pods, deployments]) => [
        [`${namespace}/events.json`, list('v1', 'Event', { reason: 'Pulled', message: 'a\nb' })],
        [`${namespace}/replication-controllers.json`, list('v1', 'ReplicationController')],
        [`${namespace}/services.json`, list('v1', 'Service', ...services)],
        [`${namespace}/daemonsets.json`, list('apps/v1', 'DaemonSet')],
        [`${namespace}/deployments.json`, list('apps/v1', 'Deployment', ...deployments)],
        [`${namespace}/replicasets.json`, list('apps/v1', 'ReplicaSet')],
        [`${namespace}/pods.json`, list('v1', 'Pod', ...pods)],
      ],
    ),
  ),
  'shop/web-1/logs.txt': `==== START logs for container web of pod shop/web-1 ====\n${LOG}`,
};

const IMAGE = 'must-gather.local.7/quay-io-org-image-sha256-0f';

/** `oc adm must-gather` or `oc adm inspect`: a file for each kind, Pods again in files of their own, taken later. */
export const MUST_GATHER_LISTS: Files = {
  'must-gather.local.7/event-filter.html': '<html></html>\n',
  'must-gather.local.7/timestamp': '2025-06-02 09:00:00 +0000 UTC\n',
  [`${IMAGE}/version`]: 'openshift/must-gather\n4.16.0\n',
  [`${IMAGE}/cluster-scoped-resources/core/nodes.yaml`]: yamlList('v1', 'Node', NODE),
  [`${IMAGE}/namespaces/shop/shop.yaml`]: yaml({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'shop' },
  }),
  [`${IMAGE}/namespaces/shop/core/services.yaml`]: yamlList('v1', 'Service', WEB),
  [`${IMAGE}/namespaces/shop/core/endpoints.yaml`]: yamlList('v1', 'Endpoints', ENDPOINTS),
  [`${IMAGE}/namespaces/shop/core/pods.yaml`]: yamlList('v1', 'Pod', pod(true)),
  [`${IMAGE}/namespaces/shop/core/configmaps.yaml`]: yamlList('v1', 'ConfigMap', {
    metadata: { name: 'ca', namespace: 'shop' },
    data: { crt: '-----BEGIN CERTIFICATE-----\n---\n' },
  }),
  [`${IMAGE}/namespaces/shop/apps/deployments.yaml`]: yamlList('apps/v1', 'Deployment', DEPLOYMENT),
  [`${IMAGE}/namespaces/shop/discovery.k8s.io/endpointslices.yaml`]: yamlList(
    'discovery.k8s.io/v1',
    'EndpointSlice',
    SLICE,
  ),
  [`${IMAGE}/namespaces/shop/pods/web-1/web-1.yaml`]: yaml({ apiVersion: 'v1', kind: 'Pod', ...pod(false) }),
  [`${IMAGE}/namespaces/shop/pods/web-1/web/web/logs/current.log`]: LOG,
  [`${IMAGE}/namespaces/shop/pods/web-1/web/web/metrics.json`]:
    '# HELP go_goroutines Number of goroutines.\n# TYPE go_goroutines gauge\ngo_goroutines{a="b"} 7\n',
  [`${IMAGE}/namespaces/shop/pods/web-1/web/web/version.json`]: '{"major": "1", "minor": "30"}\n',
  [`${IMAGE}/namespaces/shop/pods/web-1/web/web/healthz/index`]: 'ok\n',
  [`${IMAGE}/namespaces/empty/core/services.yaml`]: yamlList('v1', 'Service'),
  [`${IMAGE}/etcd_info/endpoint_health.json`]: '[{"endpoint": "https://192.168.0.2:2379", "health": true}]\n',
  [`${IMAGE}/monitoring/prometheus/rules.json`]: '{"status": "success", "data": {"groups": []}}\n',
};

/** The same with a file for each object. */
export const MUST_GATHER_FILES: Files = {
  [`${IMAGE}/version`]: 'openshift/must-gather\n4.16.0\n',
  [`${IMAGE}/cluster-scoped-resources/core/nodes/node-a.yaml`]: yaml({
    apiVersion: 'v1',
    kind: 'Node',
    ...NODE,
  }),
  [`${IMAGE}/namespaces/shop/core/services/web.yaml`]: yaml({ apiVersion: 'v1', kind: 'Service', ...WEB }),
  [`${IMAGE}/namespaces/shop/core/pods/web-1.yaml`]: yaml({ apiVersion: 'v1', kind: 'Pod', ...pod(true) }),
  [`${IMAGE}/namespaces/shop/discovery.k8s.io/endpointslices/web-x1.yaml`]: yaml({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    ...SLICE,
  }),
};

const BUNDLE = 'support-bundle-2025-06-02T09_00_00';

/** `support-bundle` of troubleshoot.sh: a list for each namespace, and what it was not allowed to read. */
export const SUPPORT_BUNDLE: Files = {
  [`${BUNDLE}/version.yaml`]:
    'apiVersion: troubleshoot.sh/v1beta2\nkind: SupportBundle\nspec:\n  versionNumber: v0.90.0\n',
  [`${BUNDLE}/analysis.json`]: '[{"name": "nodes", "severity": "warn"}]\n',
  [`${BUNDLE}/cluster-info/cluster_version.json`]: '{"info": {"major": "1"}, "string": "v1.30.4"}\n',
  [`${BUNDLE}/execution-data/summary.txt`]: 'Summary\n',
  [`${BUNDLE}/host-collectors/system/cpu.json`]: '{"logicalCount": 2}\n',
  [`${BUNDLE}/cluster-resources/nodes.json`]: fullList('v1', 'Node', NODE),
  [`${BUNDLE}/cluster-resources/nodes-errors.json`]: 'null\n',
  [`${BUNDLE}/cluster-resources/namespaces.json`]: fullList('v1', 'Namespace', {
    metadata: { name: 'shop' },
  }),
  [`${BUNDLE}/cluster-resources/services/shop.json`]: fullList('v1', 'Service', WEB),
  [`${BUNDLE}/cluster-resources/services-errors.json`]: '["services is forbidden in namespace a", "b"]\n',
  [`${BUNDLE}/cluster-resources/endpoints/shop.json`]: fullList('v1', 'Endpoints', ENDPOINTS),
  [`${BUNDLE}/cluster-resources/endpoints-errors.json`]: '{"kube-system": "endpoints is forbidden"}\n',
  [`${BUNDLE}/cluster-resources/pods/shop.json`]: fullList('v1', 'Pod', pod(true)),
  [`${BUNDLE}/cluster-resources/pods/logs/shop/web-1/web.log`]: LOG,
  [`${BUNDLE}/cluster-resources/pods-errors.json`]: '',
  [`${BUNDLE}/cluster-resources/deployments/shop.json`]: fullList('apps/v1', 'Deployment', DEPLOYMENT),
  [`${BUNDLE}/cluster-resources/statefulsets-errors.json/shop.json`]: fullList('apps/v1', 'StatefulSet'),
  [`${BUNDLE}/cluster-resources/auth-cani-list/shop.json`]: '[{"verbs": ["get"], "resources": ["pods"]}]\n',
  [`${BUNDLE}/cluster-resources/groups.json`]: '[{"name": "", "versions": [{"version": "v1"}]}]\n',
  [`${BUNDLE}/cluster-resources/resources.json`]:
    '[{"kind": "APIResourceList", "groupVersion": "v1", "resources": [{"kind": "Service"}]}]\n',
  [`${BUNDLE}/cluster-resources/custom-resources/crons.example.com.yaml`]:
    '- apiVersion: example.com/v1\n  kind: Cron\n  metadata:\n    name: a\n',
  [`${BUNDLE}/cluster-resources/image-pull-secrets/shop/pull.json`]: '{"quay.io": "robot"}\n',
  [`${BUNDLE}/cluster-resources/pvs`]: list('v1', 'PersistentVolume'),
};
