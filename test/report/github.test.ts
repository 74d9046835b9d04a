import { expect, test } from 'vitest';
import type { Comparison } from '../../src/diff/index.ts';
import { githubReport, type PlaceOf } from '../../src/report/index.ts';
import { HOSTILE, INCOMPARABLE, ONE_FAMILY, TWO_FAMILIES } from './comparisons.ts';

const nowhere: PlaceOf = () => undefined;
const text = (comparison: Comparison, placeOf = nowhere, verbose = false) =>
  [...githubReport(comparison, { placeOf, verbose })].join('');

test('an error beside the Service, a notice for each note', () => {
  const placeOf: PlaceOf = (name) =>
    name === 'shop/web:http' ? { file: 'k8s/web.yaml', line: 12 } : undefined;
  expect(text(ONE_FAMILY, placeOf)).toBe(`\
::error file=k8s/web.yaml,line=12,title=shop/web%3Ahttp (IPv4)::endpoint 10.244.3.12:8080 is not programmed%0Aendpoint 10.244.1.10:8080 has a share of 50%25 instead of 33.3%25
::notice title=node (IPv4)::1 unreferenced chain: KUBE-SEP-OLD
assumed: clusterCIDR 10.244.0.0/16, as the dump shows it
1 of 14 service ports differs (IPv4); IPv6: not compared (the dump holds no IPv6 rules)
`);
});

test('without a place there is none; a file may have no line', () => {
  expect(text(TWO_FAMILIES).split('\n')[0]).toBe(
    '::error title=node (IPv6)::no kube-proxy rules in the IPv6 nat table; 1 service port has none',
  );
  expect(text(TWO_FAMILIES, () => ({ file: 'a,b:c%.yaml' })).split('\n')[1]).toBe(
    '::error file=a%2Cb%3Ac%25.yaml,title=shop/api (IPv4)::cluster IP 10.96.0.60:80 goes nowhere',
  );
});

test('-v adds the rules', () => {
  expect(text(ONE_FAMILY, nowhere, true).split('\n')[0]).toContain(
    'is not programmed%0A+ -t nat -A KUBE-SVC-67NZLRHBNDSAWJRO -j KUBE-SEP-VUPUHKXHY2PEPYE3%0Aendpoint',
  );
});

test('nothing of a dump becomes a command, of the old form either', () => {
  expect(text(HOSTILE, () => ({ file: 'x\ny' }), true)).toBe(`\
::error file=x\\x0ay,title=shop/\\x1b[2Jweb%3Aa%2Cb (IPv4)::100%25 \\x0d\\x0a::error::x \\u202e ## [add-mask]y%0A- -t n\\x07at -A X\\x0a::warning::z \\x9b31m
assumed: a\\x1bb
1 of 1 service port differs (IPv4, compared in part: l\\x1bm)
`);
});

test('what cannot be compared is an error', () => {
  expect(text(INCOMPARABLE).split('\n')[0]).toBe(
    '::error title=kp-diff::cannot compare: the dump was printed by an older iptables that hides matches',
  );
});
