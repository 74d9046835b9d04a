import { expect, test } from 'vitest';
import type { Comparison } from '../../src/diff/index.ts';
import { textReport } from '../../src/report/index.ts';
import { COLORS, HOSTILE, INCOMPARABLE, NO_COLORS, ONE_FAMILY, SAME, TWO_FAMILIES } from './comparisons.ts';

const text = (comparison: Comparison, verbose = false, colors = NO_COLORS) =>
  [...textReport(comparison, { colors, verbose })].join('');

test('a service port is one line, its further problems are indented under it', () => {
  expect(text(ONE_FAMILY)).toBe(`\
shop/web:http: endpoint 10.244.3.12:8080 is not programmed
  endpoint 10.244.1.10:8080 has a share of 50% instead of 33.3%

note: 1 unreferenced chain: KUBE-SEP-OLD
assumed: clusterCIDR 10.244.0.0/16, as the dump shows it

1 of 14 service ports differs (IPv4); IPv6: not compared (the dump holds no IPv6 rules)
`);
});

test('-v shows the rules under each problem', () => {
  expect(text(ONE_FAMILY, true)).toBe(`\
Rules: - is there and not expected, + is expected and not there

shop/web:http: endpoint 10.244.3.12:8080 is not programmed
    + -t nat -A KUBE-SVC-67NZLRHBNDSAWJRO -j KUBE-SEP-VUPUHKXHY2PEPYE3
  endpoint 10.244.1.10:8080 has a share of 50% instead of 33.3%
    - -t nat -A KUBE-SVC-67NZLRHBNDSAWJRO -m statistic --mode random --probability 0.50000000000 -j KUBE-SEP-A
    + -t nat -A KUBE-SVC-67NZLRHBNDSAWJRO -m statistic --mode random --probability 0.33333333349 -j KUBE-SEP-A

note: 1 unreferenced chain: KUBE-SEP-OLD
assumed: clusterCIDR 10.244.0.0/16, as the dump shows it

1 of 14 service ports differs (IPv4); IPv6: not compared (the dump holds no IPv6 rules)
`);
});

test('two families have a heading each, the node comes before its service ports', () => {
  expect(text(TWO_FAMILIES)).toBe(`\
IPv4
node: KUBE-SERVICES is not reached from OUTPUT
shop/api: cluster IP 10.96.0.60:80 goes nowhere
shop/web:http: endpoint 10.244.3.12:8080 is not programmed
  endpoint 10.244.1.10:8080 has a share of 50% instead of 33.3%

IPv6
node: no kube-proxy rules in the IPv6 nat table; 1 service port has none

note: IPv4: shop/db: its endpoints are not judged

the node and 2 of 3 service ports differ (IPv4, compared in part: the dump holds no mangle table); the node differs (IPv6)
`);
});

test('where nothing differs the line of counts says what was compared', () => {
  expect(text(SAME)).toBe(
    'no difference in 14 service ports (IPv4); no difference in 1 service port (IPv6)\n',
  );
});

test('where nothing can be said the line says why', () => {
  expect(text(INCOMPARABLE)).toBe(
    'cannot compare: the dump was printed by an older iptables that hides matches\n',
  );
});

test('a finding of a family that was not compared is not lost', () => {
  const families = [{ family: 'ipv4', tables: [], servicePorts: 0, left: [] }] as const;
  expect(text({ ...ONE_FAMILY, notes: [], assumptions: [], families })).toContain('shop/web:http: endpoint');
});

test('nothing of a dump reaches the terminal raw', () => {
  expect(text(HOSTILE, true)).toBe(`\
Rules: - is there and not expected, + is expected and not there

shop/\\x1b[2Jweb:a,b: 100% \\x0d\\x0a::error::x \\u202e ##[add-mask]y
    - -t n\\x07at -A X\\x0a::warning::z \\x9b31m

assumed: a\\x1bb

1 of 1 service port differs (IPv4, compared in part: l\\x1bm)
`);
});

test('colours: names bold, rules red and green, words of notes cyan', () => {
  const colored = text(ONE_FAMILY, true, COLORS);
  expect(colored).toContain(`${COLORS.bold('shop/web:http:')} endpoint`);
  expect(colored).toContain(
    `    ${COLORS.green('+ -t nat -A KUBE-SVC-67NZLRHBNDSAWJRO -j KUBE-SEP-VUPUHKXHY2PEPYE3')}\n`,
  );
  expect(colored).toContain('    \x1b[31m- -t nat -A KUBE-SVC-');
  expect(colored).toContain(`${COLORS.cyan('note:')} 1 unreferenced`);
  expect(text({ ...SAME, families: SAME.families.slice(1) }, false, COLORS)).toBe(
    `${COLORS.green('no difference in 1 service port (IPv6)')}\n`,
  );
});
