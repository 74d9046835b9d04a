import { expect, test } from 'vitest';
import { collect, type Manifest, serviceManifest, told } from '../../test/kube/support.ts';
import { reportShadowedPorts } from './shadowed-ports.ts';

const named = (name: string, spec: Manifest) =>
  serviceManifest(spec, { metadata: { namespace: 'shop', name } });

const problemsOf = (...manifests: readonly Manifest[]) =>
  told((report) => reportShadowedPorts(collect(manifests, () => {}).services, report)).problems;

const CHANCE = 'is that of Service shop/a as well: one shadows the other, and which one is left to chance';

test('the same cluster IP, port and protocol of two Services', () => {
  expect(problemsOf(named('b', {}), named('a', {}))).toEqual([
    `warning shared-cluster-ip at spec.ports[0].port: 10.96.0.50:80 TCP ${CHANCE}`,
  ]);
});

test('another port, protocol or address is not the same', () => {
  expect(
    problemsOf(
      named('a', {}),
      named('b', { ports: [{ port: 81 }] }),
      named('c', { ports: [{ port: 80, protocol: 'UDP' }] }),
      named('d', { clusterIP: '10.96.0.51' }),
      named('e', { clusterIP: 'None' }),
      named('f', { clusterIP: 'None' }),
    ),
  ).toEqual([]);
});

test('the same node port and protocol of two Services', () => {
  const nodePort = (name: string, ip: string, protocol: string) =>
    named(name, { type: 'NodePort', clusterIP: ip, ports: [{ port: 80, nodePort: 30080, protocol }] });
  expect(
    problemsOf(
      nodePort('a', '10.96.0.50', 'TCP'),
      nodePort('b', '10.96.0.51', 'TCP'),
      nodePort('c', '10.96.0.52', 'UDP'),
    ),
  ).toEqual([`warning shared-node-port at spec.ports[0].nodePort: node port 30080 TCP ${CHANCE}`]);
});

test('one Service may have a port and a node port for two protocols', () => {
  const ports = [
    { name: 'dns', port: 53, nodePort: 30053, protocol: 'UDP' },
    { name: 'dns-tcp', port: 53, nodePort: 30053, protocol: 'TCP' },
  ];
  expect(problemsOf(named('a', { type: 'NodePort', ports }))).toEqual([]);
});
