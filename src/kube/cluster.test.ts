import { describe, expect, test } from 'vitest';
import {
  collect,
  configurationManifest,
  type Manifest,
  nodeManifest,
  serviceManifest,
  sliceManifest,
  told,
} from '../../test/kube/support.ts';
import { isReadKind } from './kinds.ts';

const problemsOf = (...objects: Manifest[]) => told((report) => collect(objects, report)).problems;

describe('what is read:', () => {
  test.each([
    ['v1', 'Service', true],
    ['v1', 'Endpoints', true],
    ['v1', 'Node', true],
    ['v1', 'ConfigMap', true],
    ['discovery.k8s.io/v1', 'EndpointSlice', true],
    ['discovery.k8s.io/v1beta1', 'EndpointSlice', true],
    ['kubeproxy.config.k8s.io/v1alpha1', 'KubeProxyConfiguration', true],
    ['serving.knative.dev/v1', 'Service', false],
    ['cilium.io/v2', 'CiliumEndpointSlice', false],
    ['metrics.k8s.io/v1beta1', 'NodeMetrics', false],
    ['v1', 'Pod', true],
    ['apps/v1', 'Deployment', true],
    ['extensions/v1beta1', 'DaemonSet', true],
    ['apps.example.com/v1', 'Deployment', false],
    ['v1', 'Secret', false],
    ['v1', '', false],
    // With a warning.
    ['v1', 'service', true],
    ['v2', 'Service', true],
    ['serving.knative.dev/v1', 'service', false],
    ['', 'Service', false],
  ])('%s %s: %s', (apiVersion, kind, expected) => {
    expect(isReadKind(apiVersion, kind)).toBe(expected);
  });
});

describe('a kind that is almost one of those that are read is named:', () => {
  const problemsOfKind = (apiVersion: string, kind: string) =>
    problemsOf({ ...serviceManifest({}), apiVersion, kind });

  test.each([
    ['v1', 'service', 'kind: found "service", expected Service'],
    ['v1', 'SERVICE', 'kind: found "SERVICE", expected Service'],
    ['discovery.k8s.io/v1', 'Endpointslice', 'kind: found "Endpointslice", expected EndpointSlice'],
    ['v1', 'node', 'kind: found "node", expected Node'],
    ['apps/v1', 'deployment', 'kind: found "deployment", expected Deployment'],
    ['v1', 'list', 'kind: found "list", expected List'],
    ['v1', 'servicelist', 'kind: found "servicelist", expected ServiceList'],
    [
      'kubeproxy.config.k8s.io/v1alpha1',
      'KubeproxyConfiguration',
      'kind: found "KubeproxyConfiguration", expected KubeProxyConfiguration',
    ],
  ])('%s %s', (apiVersion, kind, message) => {
    expect(problemsOfKind(apiVersion, kind)).toEqual([`warning unknown-kind at ${message}; it is not read`]);
  });

  test.each([
    ['v2', 'Service', 'found "v2", expected v1 for a Service'],
    ['V1', 'Service', 'found "V1", expected v1 for a Service'],
    ['core/v1', 'Endpoints', 'found "core/v1", expected v1 for an Endpoints'],
    ['apps/v1', 'Service', 'found "apps/v1", expected v1 for a Service'],
    [
      'discovery.k8s.io/v2',
      'EndpointSlice',
      'found "discovery.k8s.io/v2", expected discovery.k8s.io/v1 or discovery.k8s.io/v1beta1 for an EndpointSlice',
    ],
    [
      'v1',
      'EndpointSlice',
      'found "v1", expected discovery.k8s.io/v1 or discovery.k8s.io/v1beta1 for an EndpointSlice',
    ],
    [
      'apps/v2',
      'Deployment',
      'found "apps/v2", expected apps/v1, apps/v1beta2, apps/v1beta1 or extensions/v1beta1 for a Deployment',
    ],
  ])('%s %s', (apiVersion, kind, message) => {
    expect(problemsOfKind(apiVersion, kind)).toEqual([
      `warning unknown-api-version at apiVersion: ${message}; it is not read`,
    ]);
  });

  test.each([
    ['serving.knative.dev/v1', 'Service'],
    ['example.com/v1', 'service'],
    ['v1', 'Secret'],
    ['v1', 'NodeList'],
    ['extensions/v1beta1', 'Ingress'],
  ])('%s %s is not', (apiVersion, kind) => {
    expect(problemsOfKind(apiVersion, kind)).toEqual([]);
  });
});

describe('of two objects with one name', () => {
  test('the same contents are one object, whatever else differs', () => {
    const uid = { metadata: { namespace: 'shop', name: 'web', uid: 'x', resourceVersion: '2' } };
    expect(problemsOf(serviceManifest({}), serviceManifest({}, uid))).toEqual([]);
    const metadata = { namespace: 'shop', name: 'web', labels: { app: 'web' }, annotations: { note: 'x' } };
    expect(problemsOf(serviceManifest({}), serviceManifest({}, { metadata }))).toEqual([]);
    expect(problemsOf(sliceManifest({}), sliceManifest({}))).toEqual([]);
    expect(problemsOf(nodeManifest({}), nodeManifest({ conditions: [] }))).toEqual([]);
  });

  test('other contents are an error that says where the first one is', () => {
    const message = 'at metadata.name: the same object was read before with other contents (test.yaml)';
    expect(problemsOf(serviceManifest({}), serviceManifest({ clusterIP: '10.96.0.51' }))).toEqual([
      `error conflicting-objects ${message}`,
    ]);
    expect(problemsOf(sliceManifest({}), sliceManifest({ endpoints: [] }))).toEqual([
      `error conflicting-objects ${message}`,
    ]);
    const address = { addresses: [{ type: 'InternalIP', address: '192.168.0.2' }] };
    expect(problemsOf(nodeManifest({}), nodeManifest(address))).toEqual([
      `error conflicting-objects ${message}`,
    ]);
    const labels = { 'service.kubernetes.io/service-proxy-name': 'other' };
    const metadata = { namespace: 'shop', name: 'web', labels };
    expect(problemsOf(serviceManifest({}), serviceManifest({}, { metadata }))).toEqual([
      `error conflicting-objects ${message}`,
    ]);
    expect(problemsOf(serviceManifest({}), serviceManifest({ type: 'ExternalName' }))).toContain(
      `error conflicting-objects ${message}`,
    );
  });

  test('another namespace or another kind is another object', () => {
    const elsewhere = { metadata: { namespace: 'default', name: 'web' } };
    expect(problemsOf(serviceManifest({}), serviceManifest({ clusterIP: '10.96.0.51' }, elsewhere))).toEqual(
      [],
    );
  });
});

test('Services and slices come sorted by namespace and name, byte by byte', () => {
  const named = (namespace: string, name: string) => serviceManifest({}, { metadata: { namespace, name } });
  const { services } = collect(
    [named('b', 'a'), named('a', 'b'), named('a-b', 'a'), named('a', 'a-b'), named('a', 'a')],
    () => {},
  );
  expect(services.map(({ namespace, name }) => `${namespace}/${name}`)).toEqual([
    'a/a',
    'a/a-b',
    'a/b',
    'a-b/a',
    'b/a',
  ]);
});

describe('a ConfigMap:', () => {
  const configMap = (name: string, data: unknown): Manifest => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'kube-system', name },
    data,
  });
  const HEAD = 'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n';
  const found = (value: Manifest) =>
    told((report) => collect([value], report).configurations.map(({ configuration }) => configuration));

  test('kubeadm’s has the configuration beside a kubeconfig', () => {
    const kubeconfig = 'apiVersion: v1\nkind: Config\nclusters: []\n';
    expect(
      found(
        configMap('kube-proxy', {
          'config.conf': `${HEAD}mode: ""\nclusterCIDR: 10.244.0.0/16\niptables:\n  masqueradeBit: null\n`,
          'kubeconfig.conf': kubeconfig,
        }),
      ),
    ).toEqual({ value: [{ clusterCIDRs: ['10.244.0.0/16'] }], problems: [] });
  });

  test.each([
    ['kube-proxy', 'config.conf'],
    ['kube-proxy-config', 'config'],
    ['kube-proxy-worker', 'config.yaml'],
  ])('%s may have it under %s', (name, key) => {
    expect(found(configMap(name, { [key]: `${HEAD}mode: ipvs\n` })).value).toEqual([{ mode: 'ipvs' }]);
  });

  test('JSON is YAML', () => {
    const text = JSON.stringify(configurationManifest({ mode: 'ipvs' }));
    expect(found(configMap('kube-proxy', { 'config.conf': text })).value).toEqual([{ mode: 'ipvs' }]);
  });

  test.each([
    ['another name', configMap('coredns', { Corefile: HEAD })],
    ['the configuration of Windows nodes', configMap('kube-proxy-windows', { 'config.conf': HEAD })],
    ['no data', configMap('kube-proxy', null)],
    ['data of another kind', configMap('kube-proxy', { x: 'kind: Config\n' })],
    ['a comment that names the kind', configMap('kube-proxy', { x: '# KubeProxyConfiguration\na: b\n' })],
    ['values that are no text', configMap('kube-proxy', { x: 1 })],
  ])('%s gives none', (_title, value) => {
    expect(found(value)).toEqual({ value: [], problems: [] });
  });

  test('a fault inside points at the key and tells the path', () => {
    expect(
      found(configMap('kube-proxy', { 'config.conf': `${HEAD}iptables: {masqueradeBit: 99}\n` })),
    ).toEqual({
      value: [{}],
      problems: [
        'error wrong-type at data["config.conf"]: iptables.masqueradeBit: found 99, expected a whole number from 0 to 31',
      ],
    });
  });

  test('what is no YAML is an error', () => {
    const { value, problems } = found(configMap('kube-proxy', { 'config.conf': `${HEAD}mode: [\n` }));
    expect(value).toEqual([]);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^error invalid-yaml at data\["config\.conf"\]: not YAML: /);
  });
});
