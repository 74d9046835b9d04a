/**
 * Whatever stands in a field, nothing gets into the output that the compiler did not mean, and nothing raw onto
 * the terminal.
 */
import { describe, expect, test } from 'vitest';
import { parseSave } from '../support/parse-save.ts';
import { linesOf, workspace } from './support/workspace.ts';

const space = workspace();

const HOSTILE: readonly (readonly [string, string])[] = [
  ['a line of its own', 'evil\n-A INPUT -j ACCEPT'],
  ['an option', 'evil -j ACCEPT'],
  ['an option at its start', '-j evil'],
  ['a double quote', 'evil" -j ACCEPT -m comment --comment "'],
  ['a single quote', "evil' -j ACCEPT '"],
  ['a backslash at its end', 'evil\\'],
  ['a command in backticks', '`evil`'],
  ['a command in a dollar', '$(evil)'],
  ['a terminal escape', 'evil\x1b[2J\x1b]0;evil\x07'],
  ['a terminal escape of one byte', 'evil\u009b31m'],
  ['a carriage return', '10.0.0.1\revil'],
  ['a line separator', 'evil\u2028-A INPUT -j ACCEPT'],
  ['a right-to-left override', 'evil\u202eTPECCA'],
  ['a NUL', 'evil\0'],
  ['a table', 'evil\nCOMMIT\n*filter\n:INPUT DROP [0:0]'],
  ['the prototype', '__proto__'],
  ['the constructor', 'constructor'],
  ['an address and more', '10.0.0.1/32 -j evil'],
  ['an address with a line feed', '10.0.0.1\n'],
  ['a zone', 'fe80::1%evil'],
  ['a very long word', 'evil'.repeat(2000)],
  ['a label with a line feed', 'evil\n'],
];

type Json = { [key: string]: Json } | Json[] | string | number | boolean;

/** Every string that could reach a rule or a message. */
const OBJECTS: readonly Json[] = [
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name: 'web',
      namespace: 'shop',
      labels: { app: 'web' },
      annotations: { 'service.kubernetes.io/topology-mode': 'Auto' },
    },
    spec: {
      type: 'LoadBalancer',
      clusterIP: '10.96.0.50',
      clusterIPs: ['10.96.0.50', 'fd00:96::50'],
      ipFamilies: ['IPv4', 'IPv6'],
      ipFamilyPolicy: 'PreferDualStack',
      ports: [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 30080, targetPort: 'http' }],
      externalIPs: ['198.51.100.1', '2001:db8::1'],
      externalName: 'web.example.net',
      loadBalancerSourceRanges: ['192.0.2.0/24'],
      loadBalancerIP: '203.0.113.9',
      selector: { app: 'web' },
      sessionAffinity: 'ClientIP',
      internalTrafficPolicy: 'Cluster',
      externalTrafficPolicy: 'Local',
      healthCheckNodePort: 32000,
    },
    status: { loadBalancer: { ingress: [{ ip: '203.0.113.1', ipMode: 'VIP', hostname: 'lb.example.net' }] } },
  },
  {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'web-1', namespace: 'shop', labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    ports: [{ name: 'http', protocol: 'TCP', port: 8080, appProtocol: 'http' }],
    endpoints: [
      {
        addresses: ['10.244.1.10', '10.244.1.11'],
        nodeName: 'node-a',
        hostname: 'web-0',
        zone: 'zone-1',
        conditions: { ready: true },
        hints: { forZones: [{ name: 'zone-1' }], forNodes: [{ name: 'node-a' }] },
      },
    ],
  },
  {
    apiVersion: 'discovery.k8s.io/v1beta1',
    kind: 'EndpointSlice',
    metadata: { name: 'web-2', namespace: 'shop', labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv6',
    ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
    endpoints: [{ addresses: ['fd00:244:1::10'], topology: { 'kubernetes.io/hostname': 'node-a' } }],
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'db', namespace: 'shop' },
    spec: { clusterIP: '10.96.0.60', ports: [{ name: 'sql', port: 5432 }] },
  },
  {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name: 'db', namespace: 'shop' },
    subsets: [
      {
        addresses: [{ ip: '10.244.1.20', nodeName: 'node-a', hostname: 'db-0' }],
        ports: [{ name: 'sql', protocol: 'TCP', port: 5432 }],
      },
    ],
  },
  {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'node-a', labels: { 'topology.kubernetes.io/zone': 'zone-1' } },
    spec: { podCIDR: '10.244.1.0/24', podCIDRs: ['10.244.1.0/24'] },
    status: {
      addresses: [{ type: 'InternalIP', address: '192.168.0.2' }],
      nodeInfo: { kubeletVersion: 'v1.36.0', kubeProxyVersion: 'v1.36.0' },
    },
  },
  {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'iptables',
    bindAddress: '0.0.0.0',
    hostnameOverride: 'node-a',
    clusterCIDR: '10.244.0.0/16',
    detectLocalMode: 'InterfaceNamePrefix',
    detectLocal: { bridgeInterface: 'cni0', interfaceNamePrefix: 'veth' },
    nodePortAddresses: ['192.168.0.0/24'],
    featureGates: { AllAlpha: false },
  },
];

type Path = readonly (string | number)[];

/** The paths of all strings, and of all keys of mappings whose keys are free. */
function stringPaths(value: Json, path: Path = []): Path[] {
  if (typeof value === 'string') return [path];
  if (typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([key, item]) =>
    stringPaths(item, [...path, Array.isArray(value) ? Number(key) : key]),
  );
}

function replaced(value: Json, [step, ...rest]: Path, text: string): Json {
  if (step === undefined) return text;
  if (Array.isArray(value))
    return value.map((item, index) => (index === step ? replaced(item, rest, text) : item));
  if (typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, key === step ? replaced(item, rest, text) : item]),
  );
}

/** What may not be in any output: a control character apart from the line feed, or one that turns text around. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const RAW = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

const RULE_LINE =
  /^(?:\*(?:filter|mangle|nat)|COMMIT|:[A-Z]+(?:-[A-Z0-9]+)* (?:ACCEPT|-) \[0:0\]|-A (?:INPUT|FORWARD|OUTPUT|PREROUTING|POSTROUTING|KUBE-[-A-Z0-9]+) .*)$/;

function expectHarmless(stdout: string, stderr: string): void {
  expect(stdout).not.toMatch(RAW);
  expect(stderr).not.toMatch(RAW);
  const rules = linesOf(stdout).filter((line) => !line.startsWith('#'));
  expect(rules.filter((line) => !RULE_LINE.test(line))).toEqual([]);
  // An interface may be called `x` or $(x): the kernel allows it, and no shell sees the rules.
  expect(rules.filter((line) => /evil/i.test(line.replace(/ -i (?:`evil`|\$\(evil\))\+ /, ' ')))).toEqual([]);
  // Messages are lines that begin with their place or severity; nothing forges one.
  const messages = linesOf(stderr);
  expect(
    messages.filter(
      (line) => !/^(?:\S+(?::\d+:\d+)?: )?(?:error|warning|note): |^ {2}help: |^kp-compile: /.test(line),
    ),
  ).toEqual([]);
}

describe('every string of every object may hold', () => {
  test.each(HOSTILE)('%s', async (_title, text) => {
    for (const [index, object] of OBJECTS.entries()) {
      for (const path of stringPaths(object)) {
        const objects = OBJECTS.map((other, place) =>
          place === index ? replaced(other, path, text) : other,
        );
        space.write('cluster.json', JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
        for (const words of [
          ['--format', 'save'],
          ['--format', 'restore', '--kube-version', '1.28', '--family', 'ipv6'],
        ]) {
          const { code, stdout, stderr } = await space.kpCompile([
            '@cluster.json',
            '-v',
            '--keep-going',
            ...words,
          ]);
          expect([0, 1, 2], `${path.join('.')}: ${stderr}`).toContain(code);
          expectHarmless(stdout, stderr);
          if (stdout !== '' && words[1] === 'save') parseSave(stdout, 'ipv4');
        }
      }
    }
  });
});

describe('keys may hold', () => {
  test.each(HOSTILE)('%s', async (_title, text) => {
    const keyed = OBJECTS.map((object) =>
      typeof object === 'object' && !Array.isArray(object)
        ? {
            ...object,
            [text]: { [text]: text },
            metadata: { ...(object.metadata as object), [text]: text, labels: { [text]: text } },
          }
        : object,
    );
    // JSON.stringify leaves out no key; a `__proto__` of a literal would be no key at all.
    const json = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: keyed });
    space.write('cluster.json', json);
    const { code, stdout, stderr } = await space.kpCompile(['@cluster.json', '-v', '--keep-going']);
    expect([0, 1, 2], stderr).toContain(code);
    expectHarmless(stdout, stderr);
  });

  test('__proto__ and constructor, which change nothing', async () => {
    const plain = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: OBJECTS });
    space.write('plain.json', plain);
    const { stdout } = await space.kpCompile(['@plain.json', '-q']);
    const poison =
      '"__proto__":{"clusterIP":"10.0.0.66","mode":"ipvs"},"constructor":{"prototype":{"evil":1}},';
    space.write(
      'poisoned.json',
      plain.replace(/"(?:items":\[|spec":|metadata":|status":|conditions":)\{/g, `$&${poison}`),
    );
    expect(await space.kpCompile(['@poisoned.json', '-q'])).toEqual({ code: 0, stdout, stderr: '' });
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});

describe('the version of a Node, which is told in a comment, stays on its line:', () => {
  test.each([
    ['v1.99.0\n'],
    ['v1.99.0\r\n'],
    ['\nv1.99.0'],
    ['v1.99.0-\x1b[31mevil'],
    ['v1.99.0+evil\u2028-A INPUT -j ACCEPT'],
  ])('%j', async (version) => {
    space.write(
      'node.json',
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: 'node-a' },
        status: { nodeInfo: { kubeletVersion: version } },
      }),
    );
    const { stdout, stderr } = await space.kpCompile(['@node.json']);
    expectHarmless(stdout, stderr);
  });
});

describe('names of files may hold', () => {
  test.each([
    ['a terminal escape', 'evil\x1b[31m.yaml'],
    ['a line of its own', 'evil\nerror: forged.yaml'],
    ['a right-to-left override', 'evil\u202e.yaml'],
  ])('%s', async (_title, name) => {
    space.write(`files/${name}`, 'apiVersion: v1\nkind: Service\nmetadata:\n  name: Evil\n');
    const { code, stderr } = await space.kpCompile(['@files', '-q']);
    expect(code).toBe(2);
    expect(stderr).not.toMatch(RAW);
    expect(linesOf(stderr).filter((line) => !line.includes('.yaml:4:9: error: Service: '))).toEqual([]);
  });
});

describe('the output of ip addr may hold', () => {
  test.each([
    ['a terminal escape', '\x1b[31mevil'],
    ['a line of its own', 'evil\nkp-compile: forged'],
  ])('%s as the name of an interface', async (_title, ifname) => {
    space.write('cluster.json', JSON.stringify({ apiVersion: 'v1', kind: 'List', items: OBJECTS }));
    space.write(
      'addr.json',
      JSON.stringify([{ ifname, addr_info: [{ family: 'inet', local: '192.168.0.x', prefixlen: 24 }] }]),
    );
    const { code, stdout, stderr } = await space.kpCompile(['@cluster.json', '--interfaces', '@addr.json']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).not.toMatch(RAW);
    expect(linesOf(stderr)).toHaveLength(1);
    space.write(
      'addr.json',
      JSON.stringify([{ ifname, addr_info: [{ family: 'inet', local: '192.168.0.7', prefixlen: 24 }] }]),
    );
    const used = await space.kpCompile(['@cluster.json', '--interfaces', '@addr.json']);
    expect(used.code).toBe(0);
    expectHarmless(used.stdout, used.stderr);
  });
});
