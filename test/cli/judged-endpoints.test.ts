/** What the input says of a Service's endpoints is judged, also where it says that there are none. */
import { expect, test } from 'vitest';
import { runDiff } from '../support/run.ts';
import { workspace } from './support/workspace.ts';

const space = workspace();

const SERVICE = `apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {clusterIP: 10.96.0.50, selector: {app: web}, ports: [{port: 80}]}
`;

const SLICE = `apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: "", port: 80, protocol: TCP}]
endpoints: [{addresses: [10.244.1.10]}]
`;

const pod = (phase: string) => `apiVersion: v1
kind: Pod
metadata: {name: web-0, namespace: shop, labels: {app: web}}
spec: {nodeName: node-a, containers: [{name: a}]}
status:
  phase: ${phase}
  podIP: 10.244.1.10
  podIPs: [{ip: 10.244.1.10}]
  conditions: [{type: Ready, status: "True"}]
`;

test.each([
  // EndpointSlices of the controller leave out Pods that have ended (ShouldPodBeInEndpoints).
  ['a Pod that has failed', pod('Failed'), 1],
  ['a Pod that has succeeded', pod('Succeeded'), 1],
  ['a Pod that runs', pod('Running'), 0],
  [
    'Endpoints without subsets',
    'apiVersion: v1\nkind: Endpoints\nmetadata: {name: web, namespace: shop}\nsubsets: []\n',
    1,
  ],
  ['nothing at all', '', 0],
])('%s', async (_title, other, code) => {
  const live = await space.kpCompile([space.write('live.yaml', `${SERVICE}---\n${SLICE}`), '-q']);
  space.write('live.txt', live.stdout);
  space.write('input.yaml', other === '' ? SERVICE : `${SERVICE}---\n${other}`);
  const found = await runDiff([space.path('input.yaml'), space.path('live.txt'), '--node', 'node-a']);
  expect(found.code, found.stdout + found.stderr).toBe(code);
  if (code === 1) expect(found.stdout).toContain('shop/web');
});
