import { expect, test } from 'vitest';
import { compile, kubeProxyVersion, printRestore } from '../../src/index.ts';
import { collect, serviceManifest, sliceManifest } from '../kube/support.ts';

/** Lines of `iptables-restore` input for one Service with so many endpoints, of which only the first is ready. */
function linesWith(count: number, minor: number): readonly string[] {
  const endpoints = Array.from({ length: count }, (_, index) => ({
    addresses: [`10.244.${index >> 8}.${index & 255}`],
    conditions: { ready: index === 0 },
  }));
  const affinity = { sessionAffinity: 'ClientIP', type: 'NodePort', ports: [{ port: 80, nodePort: 30080 }] };
  const cluster = collect([serviceManifest(affinity), sliceManifest({ endpoints })], () => {});
  const flags = { clusterCIDRs: ['10.244.0.0/16'] };
  const compilation = compile(cluster, { node: 'node-a', version: kubeProxyVersion(minor), flags }, () => {});
  if (compilation === undefined) throw new Error('not compiled');
  return [...printRestore(compilation.rules.IPv4.payload)].join('').split('\n');
}

const SVC = 'KUBE-SVC-E3PXEPMWAWIUT6ZV';

// largeClusterEndpointsThreshold: more than a thousand, counting those that are not ready.
test.each([28, 36])('1.%i: the comments of SVC and SEP rules vanish above a thousand endpoints', (minor) => {
  const rulesOf = (count: number) =>
    linesWith(count, minor).filter((line) => /^-A KUBE-(?:SVC|SEP|EXT)-/.test(line));
  const [SEP = ''] = /KUBE-SEP-\w+/.exec(rulesOf(1).join('\n')) ?? [];
  const masquerade = `-A ${SVC} -m comment --comment "shop/web cluster IP" -m tcp -p tcp -d 10.96.0.50 --dport 80 ! -s 10.244.0.0/16 -j KUBE-MARK-MASQ`;
  const external = [
    '-A KUBE-EXT-E3PXEPMWAWIUT6ZV -m comment --comment "masquerade traffic for shop/web external destinations" -j KUBE-MARK-MASQ',
    `-A KUBE-EXT-E3PXEPMWAWIUT6ZV -j ${SVC}`,
  ];
  const balancing = '-m comment --comment "shop/web -> 10.244.0.0:8080" ';
  const endpoint = '-m comment --comment shop/web ';
  const expected = (first: string, second: string) => [
    ...external,
    masquerade,
    `-A ${SVC} ${first}-m recent --name ${SEP} --rcheck --seconds 10800 --reap -j ${SEP}`,
    `-A ${SVC} ${first}-j ${SEP}`,
    `-A ${SEP} ${second}-s 10.244.0.0 -j KUBE-MARK-MASQ`,
    `-A ${SEP} ${second}-m recent --name ${SEP} --set -m tcp -p tcp -j DNAT --to-destination 10.244.0.0:8080`,
  ];
  expect(rulesOf(1000).toSorted()).toEqual(expected(balancing, endpoint).toSorted());
  expect(rulesOf(1001).toSorted()).toEqual(expected('', '').toSorted());
});
