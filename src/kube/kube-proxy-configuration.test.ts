import { describe, expect, test } from 'vitest';
import {
  configurationManifest,
  documents,
  type Manifest,
  ORIGIN,
  type Told,
  told,
} from '../../test/kube/support.ts';
import type { JsonObject } from './fields.ts';
import {
  type KubeProxyConfiguration,
  overrideConfiguration,
  readKubeProxyConfiguration,
} from './kube-proxy-configuration.ts';

function read(value: Manifest): Told<KubeProxyConfiguration> {
  return told((report) =>
    readKubeProxyConfiguration(value as JsonObject, {
      object: 'KubeProxyConfiguration',
      origin: ORIGIN,
      report,
    }),
  );
}

const readFields = (fields: Manifest) => read(configurationManifest(fields));

// kubeadm writes every field of v1alpha1, most of them with their zero values; kube-proxy fills in defaults.
test('the zero values that kubeadm writes say nothing', () => {
  const [value] = documents(`
apiVersion: kubeproxy.config.k8s.io/v1alpha1
bindAddress: 0.0.0.0
bindAddressHardFail: false
clientConnection: {acceptContentTypes: "", burst: 0, contentType: "", kubeconfig: /var/lib/kube-proxy/kubeconfig.conf, qps: 0}
clusterCIDR: 10.244.0.0/16
configSyncPeriod: 0s
conntrack: {maxPerCore: null, min: null, tcpBeLiberal: false, tcpCloseWaitTimeout: null, tcpEstablishedTimeout: null, udpStreamTimeout: 0s, udpTimeout: 0s}
detectLocal: {bridgeInterface: "", interfaceNamePrefix: ""}
detectLocalMode: ""
enableProfiling: false
featureGates: null
healthzBindAddress: ""
hostnameOverride: ""
iptables: {localhostNodePorts: null, masqueradeAll: false, masqueradeBit: null, minSyncPeriod: 0s, syncPeriod: 0s}
ipvs: {excludeCIDRs: null, minSyncPeriod: 0s, scheduler: "", strictARP: false, syncPeriod: 0s, tcpFinTimeout: 0s, tcpTimeout: 0s, udpTimeout: 0s}
kind: KubeProxyConfiguration
logging: {flushFrequency: 0, options: {json: {infoBufferSize: "0"}}, verbosity: 0}
metricsBindAddress: ""
mode: ""
nftables: {masqueradeAll: false, masqueradeBit: null, minSyncPeriod: 0s, syncPeriod: 0s}
nodePortAddresses: null
oomScoreAdj: null
portRange: ""
showHiddenMetricsForVersion: ""
udpIdleTimeout: 0s
windowsRunAsService: false
winkernel: {enableDSR: false, forwardHealthCheckVip: false, networkName: "", rootHnsEndpointName: "", sourceVip: ""}
`);
  expect(read(value as Manifest)).toEqual({
    problems: [],
    value: {
      bindAddress: { family: 'IPv4', text: '0.0.0.0' },
      clusterCIDRs: ['10.244.0.0/16'],
      ipvs: { strictARP: false },
      masqueradeAll: false,
      tcpBeLiberal: false,
    },
  });
});

test('an empty configuration says nothing at all', () => {
  expect(readFields({})).toEqual({ value: {}, problems: [] });
  expect(readFields({ iptables: null, detectLocal: null, conntrack: null, bindAddress: null })).toEqual({
    value: {},
    problems: [],
  });
});

test('every field that rules depend on is read', () => {
  expect(
    readFields({
      mode: 'ipvs',
      bindAddress: '::',
      hostnameOverride: 'Node-A ',
      clusterCIDR: '10.244.0.0/16,fd00:10:244::/56',
      detectLocalMode: 'BridgeInterface',
      detectLocal: { bridgeInterface: 'br0', interfaceNamePrefix: 'veth' },
      iptables: { masqueradeAll: true, masqueradeBit: 0, localhostNodePorts: false },
      nodePortAddresses: ['192.168.0.0/24', 'fd00::/8'],
      conntrack: { tcpBeLiberal: true },
      featureGates: { AllAlpha: true, LoadBalancerIPMode: false },
    }),
  ).toEqual({
    problems: [],
    value: {
      mode: 'ipvs',
      bindAddress: { family: 'IPv6', text: '::' },
      hostnameOverride: 'Node-A ',
      clusterCIDRs: ['10.244.0.0/16', 'fd00:10:244::/56'],
      detectLocalMode: 'BridgeInterface',
      bridgeInterface: 'br0',
      interfaceNamePrefix: 'veth',
      masqueradeAll: true,
      masqueradeBit: 0,
      localhostNodePorts: false,
      nodePortAddresses: ['192.168.0.0/24', 'fd00::/8'],
      tcpBeLiberal: true,
      featureGates: new Map([
        ['AllAlpha', true],
        ['LoadBalancerIPMode', false],
      ]),
    },
  });
});

// v1alpha1 validation: Validate and its helpers.
describe('what kube-proxy would not start with is an error:', () => {
  const interfaceName = (what: string, text: string, length: number) =>
    `${JSON.stringify(text)} is not a ${what} (at most ${length} characters, no blanks, slashes or quotes)`;

  test.each<[Manifest, string]>([
    [
      { mode: 'kernelspace' },
      'wrong-type at mode: found "kernelspace", expected one of iptables, ipvs, nftables',
    ],
    [{ bindAddress: 'node-a' }, 'invalid-ip at bindAddress: "node-a" is not an IP address'],
    [
      { iptables: { masqueradeBit: 32 } },
      'wrong-type at iptables.masqueradeBit: found 32, expected a whole number from 0 to 31',
    ],
    [
      { iptables: { masqueradeBit: -1 } },
      'wrong-type at iptables.masqueradeBit: found -1, expected a whole number from 0 to 31',
    ],
    [
      { iptables: { masqueradeAll: 'yes' } },
      'wrong-type at iptables.masqueradeAll: found "yes", expected true or false',
    ],
    [{ iptables: [] }, 'wrong-type at iptables: found [], expected a mapping'],
    [
      { detectLocalMode: 'clusterCIDR' },
      'wrong-type at detectLocalMode: found "clusterCIDR", expected one of ClusterCIDR, NodeCIDR, BridgeInterface, InterfaceNamePrefix',
    ],
    [
      { clusterCIDR: '10.244.0.0' },
      'invalid-cidr at clusterCIDR: "10.244.0.0" is not a CIDR such as 10.244.0.0/16',
    ],
    [
      { clusterCIDR: '10.244.0.0/16, fd00::/56' },
      'invalid-cidr at clusterCIDR: " fd00::/56" is not a CIDR such as 10.244.0.0/16',
    ],
    [
      { clusterCIDR: '10.244.0.0/16,10.245.0.0/16' },
      'invalid-cidr at clusterCIDR: found "10.244.0.0/16,10.245.0.0/16", expected one CIDR, or one IPv4 and one IPv6 CIDR separated by a comma',
    ],
    [
      { clusterCIDR: '10.244.0.0/16,fd00::/56,10.245.0.0/16' },
      'invalid-cidr at clusterCIDR: found "10.244.0.0/16,fd00::/56,10.245.0.0/16", expected one CIDR, or one IPv4 and one IPv6 CIDR separated by a comma',
    ],
    [
      { nodePortAddresses: ['192.168.0.1'] },
      'invalid-cidr at nodePortAddresses[0]: "192.168.0.1" is not a CIDR such as 192.168.0.0/24, nor primary',
    ],
    [
      { nodePortAddresses: ['192.168.0.0/24', 'primary'] },
      'invalid-cidr at nodePortAddresses[1]: primary has to stand alone',
    ],
    [
      { nodePortAddresses: '192.168.0.0/24' },
      'wrong-type at nodePortAddresses: found "192.168.0.0/24", expected a list',
    ],
    [
      { featureGates: { AllAlpha: 'true' } },
      'wrong-type at featureGates.AllAlpha: found "true", expected true or false',
    ],
    ...['br 0', 'br/0', '-br0', 'br+', 'br"0', 'br\n0', 'abcdefghijklmnop', 'bré'].map(
      (text): [Manifest, string] => [
        { detectLocal: { bridgeInterface: text } },
        `invalid-interface-name at detectLocal.bridgeInterface: ${interfaceName('name of a network interface', text, 15)}`,
      ],
    ),
    // The `+` counts: `interface name abcdefghijklmno+ must be shorter than IFNAMSIZ (15)` of iptables 1.8.9.
    [
      { detectLocal: { interfaceNamePrefix: 'abcdefghijklmno' } },
      `invalid-interface-name at detectLocal.interfaceNamePrefix: ${interfaceName('prefix of interface names', 'abcdefghijklmno', 14)}`,
    ],
  ])('%j', (fields, problem) => {
    expect(readFields(fields).problems).toEqual([`error ${problem}`]);
  });

  test('another version of the API', () => {
    expect(read({ apiVersion: 'kubeproxy.config.k8s.io/v1alpha2', mode: 'ipvs' }).problems).toEqual([
      'error unknown-api-version at apiVersion: found "kubeproxy.config.k8s.io/v1alpha2", expected kubeproxy.config.k8s.io/v1alpha1',
    ]);
  });
});

test('interface names use all the room there is', () => {
  expect(
    readFields({
      detectLocal: { bridgeInterface: 'abcdefghijklmno', interfaceNamePrefix: 'abcdefghijklmn' },
    }),
  ).toEqual({
    problems: [],
    value: { bridgeInterface: 'abcdefghijklmno', interfaceNamePrefix: 'abcdefghijklmn' },
  });
});

// Validate checks clusterCIDR in ClusterCIDR mode alone.
test('a cluster CIDR that the mode does not use is not checked', () => {
  for (const clusterCIDR of ['nonsense', '10.0.0.0/8,11.0.0.0/8']) {
    expect(readFields({ detectLocalMode: 'NodeCIDR', clusterCIDR })).toEqual({
      problems: [],
      value: { detectLocalMode: 'NodeCIDR' },
    });
  }
});

test('a field that there is not, at the top or in what rules depend on, is warned about', () => {
  expect(
    readFields({
      clusterCidr: '10.244.0.0/16',
      iptables: { masqueradeALL: true },
      detectLocal: { bridge: 'br0' },
      conntrack: { beLiberal: true, max: 0 },
    }).problems,
  ).toEqual(
    [
      'clusterCidr',
      'iptables.masqueradeALL',
      'detectLocal.bridge',
      'conntrack.beLiberal',
      'conntrack.max',
    ].map(
      (path) => `warning unknown-field at ${path}: no field of a KubeProxyConfiguration; it has no effect`,
    ),
  );
});

test('a flag wins over the file field by field, and gate by gate', () => {
  expect(
    overrideConfiguration(
      {
        masqueradeBit: 5,
        masqueradeAll: true,
        nodePortAddresses: ['10.0.0.0/8'],
        featureGates: new Map([
          ['A', true],
          ['B', true],
        ]),
      },
      { masqueradeBit: 7, nodePortAddresses: ['11.0.0.0/8'], featureGates: new Map([['B', false]]) },
    ),
  ).toEqual({
    masqueradeBit: 7,
    masqueradeAll: true,
    nodePortAddresses: ['11.0.0.0/8'],
    featureGates: new Map([
      ['A', true],
      ['B', false],
    ]),
  });
  expect(overrideConfiguration({ masqueradeAll: true }, {})).toEqual({ masqueradeAll: true });
});
