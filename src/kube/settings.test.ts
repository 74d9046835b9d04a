import { describe, expect, test } from 'vitest';
import {
  collect,
  configurationManifest,
  type Manifest,
  nodeManifest,
  ORIGIN,
  type Told,
  told,
} from '../../test/kube/support.ts';
import { kubeProxyVersion } from './kube-proxy-version.ts';
import { type ResolvedSettings, resolveSettings, type SettingsRequest } from './settings.ts';

function resolve(
  objects: readonly Manifest[],
  request: SettingsRequest = {},
): Told<ResolvedSettings | undefined> {
  return told((report) => resolveSettings(collect(objects, report), request, report));
}

function node(name: string, version?: string): Manifest {
  return nodeManifest(version === undefined ? {} : { nodeInfo: { kubeletVersion: version } }, {
    metadata: { name },
  });
}

describe('whose rules:', () => {
  test.each<[string, readonly Manifest[], SettingsRequest, string, boolean]>([
    ['the only Node', [node('node-a')], {}, 'node-a', true],
    ['nobody', [], {}, '', false],
    ['the one that is named', [node('node-a'), node('node-b')], { node: 'node-b' }, 'node-b', true],
    // nodeutil.GetHostname trims and lower-cases what --hostname-override says.
    ['in any spelling', [node('node-a')], { node: ' Node-A\n' }, 'node-a', true],
    [
      'the one in the configuration',
      [node('node-a'), node('node-b'), configurationManifest({ hostnameOverride: 'NODE-B' })],
      {},
      'node-b',
      true,
    ],
    [
      'the name on the command line before the one in the configuration',
      [node('node-a'), node('node-b'), configurationManifest({ hostnameOverride: 'node-b' })],
      { node: 'node-a' },
      'node-a',
      true,
    ],
    [
      'the flag before the file',
      [node('node-a'), node('node-b'), configurationManifest({ hostnameOverride: 'node-b' })],
      { flags: { hostnameOverride: 'node-a' } },
      'node-a',
      true,
    ],
    ['a name without a Node object', [], { node: 'node-z' }, 'node-z', false],
  ])('%s', (_title, objects, request, name, known) => {
    const { value, problems } = resolve(objects, request);
    expect(problems).toEqual([]);
    expect(value?.nodeName).toBe(name);
    expect(value?.node !== undefined).toBe(known);
  });

  test('several Nodes and no name are an error that lists them', () => {
    expect(resolve([node('node-b'), node('node-a')])).toEqual({
      value: undefined,
      problems: ['error several-nodes: the input holds 2 Nodes: node-a, node-b'],
    });
    const many = Array.from({ length: 23 }, (_, index) => node(`n${String(index).padStart(2, '0')}`));
    expect(resolve(many).problems[0]).toMatch(/^error several-nodes: .* 23 Nodes: n00, .*, n19 and 3 more$/);
  });

  test('a name that no Node of the input has is a warning', () => {
    expect(resolve([node('node-a')], { node: 'node-z' }).problems).toEqual([
      'warning unknown-node: no Node node-z in the input, which has node-a',
    ]);
  });

  test('what cannot be a name is an error', () => {
    expect(resolve([], { node: 'node a' })).toEqual({
      value: undefined,
      problems: [
        'error invalid-name: "node a" is not a name of a Node (lower-case letters, digits, dots and hyphens, at most 253 characters)',
      ],
    });
  });
});

describe('which version:', () => {
  test('the one asked for, else the Node’s, else the newest known', () => {
    const minor = (objects: readonly Manifest[], request?: SettingsRequest) =>
      resolve(objects, request).value?.version.minor;
    expect(minor([node('node-a', 'v1.30.5')], { version: kubeProxyVersion(28) })).toBe(28);
    expect(minor([node('node-a', 'v1.30.5')])).toBe(30);
    expect(minor([node('node-a')])).toBe(36);
    expect(minor([node('node-a', 'v1.20.0')], { version: kubeProxyVersion(28) })).toBe(28);
  });

  test('a newer Node gets the newest, with a warning', () => {
    const { value, problems } = resolve([node('node-a', 'v1.99.1')]);
    expect(value?.version.minor).toBe(36);
    expect(value?.assumptions).toContain('the node runs v1.99.1: rules of 1.36');
    expect(problems).toEqual([
      'warning newer-version at status.nodeInfo.kubeletVersion: the node runs v1.99.1; the newest version known here is 1.36, whose rules follow',
    ]);
  });

  test('an older Node, or one whose version cannot be read, is an error', () => {
    expect(resolve([node('node-a', 'v1.17.9')])).toEqual({
      value: undefined,
      problems: [
        'error older-version at status.nodeInfo.kubeletVersion: the node runs v1.17.9; versions known here are 1.18 … 1.36',
      ],
    });
    expect(resolve([node('node-a', 'latest')])).toEqual({
      value: undefined,
      problems: [
        'error unknown-version at status.nodeInfo.kubeletVersion: "latest" is not a Kubernetes version such as v1.30.5',
      ],
    });
  });
});

describe('which configuration:', () => {
  test('the one that is named wins over the one that is found, and flags win over both', () => {
    const found = configurationManifest({ iptables: { masqueradeBit: 1 }, mode: 'ipvs' });
    const named = { configuration: { masqueradeBit: 2, masqueradeAll: true }, origin: ORIGIN };
    expect(resolve([found]).value).toMatchObject({ mode: 'ipvs', configuration: { masqueradeBit: 1 } });
    const { value } = resolve([found], { configuration: named, flags: { masqueradeBit: 3 } });
    expect(value).toMatchObject({
      mode: 'iptables',
      configuration: { masqueradeBit: 3, masqueradeAll: true },
    });
  });

  test('two that say the same are one, two that differ are an error', () => {
    const one = configurationManifest({ featureGates: { A: true, B: false } });
    const same = configurationManifest({ featureGates: { B: false, A: true }, oomScoreAdj: 5 });
    const found = resolve([one, same]).problems;
    expect(found.filter((text) => !text.startsWith('note feature-gate-unused '))).toEqual([]);
    expect(resolve([one, configurationManifest({ mode: 'ipvs' })])).toEqual({
      value: undefined,
      problems: [
        'error several-configurations: the input holds more than one kube-proxy configuration (another one is in test.yaml)',
      ],
    });
  });

  test.each<[Readonly<Record<string, unknown>>, number, readonly string[]]>([
    [
      { detectLocalMode: 'BridgeInterface', detectLocal: { bridgeInterface: 'cni0' } },
      23,
      [
        'error field-of-newer-version at detectLocalMode: kube-proxy 1.23 does not start with BridgeInterface (1.24 and later do)',
      ],
    ],
    [{ detectLocalMode: 'BridgeInterface', detectLocal: { bridgeInterface: 'cni0' } }, 24, []],
    [
      { iptables: { localhostNodePorts: false } },
      25,
      [
        'warning field-of-newer-version at iptables.localhostNodePorts: kube-proxy 1.25 does not know it: no effect',
      ],
    ],
    [{ iptables: { localhostNodePorts: false } }, 26, []],
    [
      { mode: 'ipvs', ipvs: { scheduler: 'mh' } },
      26,
      [
        'error field-of-newer-version at ipvs.scheduler: kube-proxy 1.26 does not start with the scheduler mh (1.27 and later do)',
      ],
    ],
    [{ mode: 'ipvs', ipvs: { scheduler: 'mh' } }, 27, []],
  ])('what an older version does not know: %j in 1.%i', (fields, minor, problems) => {
    const found = resolve([configurationManifest(fields)], { version: kubeProxyVersion(minor) });
    expect(found.problems).toEqual(problems);
    expect(found.value === undefined).toBe(problems.some((text) => text.startsWith('error')));
  });

  test('feature gates that have no say', () => {
    const gates = { AllBeta: false, LoadBalancerIPMode: false, TopologyAwareHints: true, Nope: true };
    const at = (minor: number) =>
      resolve([configurationManifest({ featureGates: gates })], { version: kubeProxyVersion(minor) })
        .problems;
    const unused = (text: string) =>
      `note feature-gate-unused at featureGates.Nope: no feature gate of kube-proxy ${text} that shapes rules; kube-proxy does not start with one that it does not know`;
    expect(at(36)).toEqual([
      'warning feature-gate-locked at featureGates.LoadBalancerIPMode: kube-proxy 1.36 has this feature gate locked to true and does not start otherwise; compiled as true',
      unused('1.36'),
    ]);
    expect(at(30)).toEqual([unused('1.30')]);
    expect(at(28)).toEqual([
      'warning feature-gate-unknown at featureGates.LoadBalancerIPMode: kube-proxy 1.28 does not know this feature gate and does not start with it; it is off here',
      unused('1.28'),
    ]);
  });

  test('fields that the version does not know', () => {
    const at = (fields: Manifest, minor: number) =>
      resolve([configurationManifest(fields)], { version: kubeProxyVersion(minor) });
    const liberal = { conntrack: { tcpBeLiberal: true } };
    expect(at(liberal, 28).problems).toEqual([
      'warning field-of-newer-version at conntrack.tcpBeLiberal: kube-proxy 1.28 does not know it: no effect',
    ]);
    expect(at(liberal, 29).problems).toEqual([]);
    const primary = { nodePortAddresses: ['primary'] };
    expect(at(primary, 30)).toEqual({
      value: undefined,
      problems: [
        'error field-of-newer-version at nodePortAddresses[0]: kube-proxy 1.30 takes CIDRs alone, not primary (1.31 and later do)',
      ],
    });
    expect(at(primary, 31).problems).toEqual([]);
  });

  test.each([
    ['BridgeInterface', 'bridgeInterface'],
    ['InterfaceNamePrefix', 'interfaceNamePrefix'],
  ])('the mode %s needs its interface', (detectLocalMode, field) => {
    expect(resolve([configurationManifest({ detectLocalMode })])).toEqual({
      value: undefined,
      problems: [
        `error no-interface-name at detectLocal.${field}: detectLocalMode ${detectLocalMode} needs the name of the interface`,
      ],
    });
  });
});

test('what nobody said is listed', () => {
  expect(resolve([]).value?.assumptions).toEqual([
    'no KubeProxyConfiguration: kube-proxy’s defaults',
    'no node named: no endpoint is local',
    'kube-proxy 1.36, the newest version known here',
  ]);
  const configuration = configurationManifest({ nodePortAddresses: ['192.168.0.0/24'] });
  expect(resolve([configuration, node('node-a', 'v1.30.5')]).value?.assumptions).toEqual([
    'interface addresses: the InternalIPs of the Node, and lo',
  ]);
  expect(
    resolve([configuration], { node: 'node-a', version: kubeProxyVersion(30), interfaces: [] }).value
      ?.assumptions,
  ).toEqual(['no Node object node-a: its addresses, zone and pod CIDRs are not known']);
});
