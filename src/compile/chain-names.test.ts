import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chainSuffix, endpointChain, servicePortChains } from './chain-names.ts';

// Names that real clusters have (kubeadm's kubernetes and kube-dns) and those of kube-proxy's own tests.
describe('service ports have the names that nodes have:', () => {
  test.each([
    ['default/kubernetes:https', 'tcp', 'NPX46M4PTMTKRN6Y'],
    ['kube-system/kube-dns:dns', 'udp', 'TCOU7JCQXEZGVUNU'],
    ['kube-system/kube-dns:dns-tcp', 'tcp', 'ERIFXISQEP7F7OF4'],
    ['kube-system/kube-dns:metrics', 'tcp', 'JD5MR3NA4I4DYORP'],
    ['ns1/svc1:p80', 'tcp', 'XPGD46QRK7WJZT7O'],
    ['ns2/svc2:p80', 'tcp', 'GNZBNJ2PO5MGZ6GT'],
    ['default/my-nginx-svc', 'tcp', 'NE3M6G7FP5C7DVRO'],
    ['shop/web:http', 'tcp', '67NZLRHBNDSAWJRO'],
  ])('%s %s', (name, protocol, suffix) => {
    expect(servicePortChains(name, protocol)).toEqual({
      clusterPolicy: `KUBE-SVC-${suffix}`,
      localPolicy: `KUBE-SVL-${suffix}`,
      external: `KUBE-EXT-${suffix}`,
      firewall: `KUBE-FW-${suffix}`,
    });
  });
});

describe('endpoints have the names that nodes have:', () => {
  test.each([
    ['ns1/svc1:p80', 'tcp', '10.180.0.1:80', 'KUBE-SEP-SXIVWICOYRO3J4NJ'],
    ['ns2/svc2:p80', 'tcp', '10.180.0.2:80', 'KUBE-SEP-RS4RBKLTHTF2IUXJ'],
    ['default/my-nginx-svc', 'tcp', '10.244.3.38:80', 'KUBE-SEP-DSBJGVCOU4RGUKVK'],
    ['kube-system/kube-dns:dns-tcp', 'tcp', '10.244.0.5:53', 'KUBE-SEP-LASJGFFJP3UOS6RQ'],
    ['shop/web:http', 'tcp', '10.244.1.10:8080', 'KUBE-SEP-FZQ6KZLGXRSKN2AD'],
    ['shop/web:http', 'tcp', '[fd00:10:244:1::a]:8080', 'KUBE-SEP-GMZ7ISVB72WUUPDE'],
  ])('%s %s %s', (name, protocol, destination, chain) => {
    expect(endpointChain(name, protocol, destination)).toBe(chain);
  });
});

test('a suffix is the first 16 characters of base32 over SHA-256', () => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const digest = createHash('sha256').update(text, 'utf8').digest();
      const bits = [...digest].map((byte) => byte.toString(2).padStart(8, '0')).join('');
      const expected = Array.from({ length: 16 }, (_, index) =>
        alphabet.charAt(Number.parseInt(bits.slice(index * 5, index * 5 + 5), 2)),
      ).join('');
      expect(chainSuffix(text)).toBe(expected);
    }),
  );
});

// XT_EXTENSION_MAXNAMELEN: 29 characters with the final NUL.
test('every name fits into the kernel', () => {
  const longest = endpointChain('a/b', 'sctp', '[fd00::1]:65535');
  expect(longest.length).toBeLessThanOrEqual(28);
});
