import { expect, test } from 'vitest';
import { statReport } from '../../src/report/index.ts';
import { COLORS, NO_COLORS, ONE_FAMILY, SAME, TWO_FAMILIES } from './comparisons.ts';

test('counts problems of each kind by family', () => {
  expect([...statReport(TWO_FAMILIES, NO_COLORS)].join('')).toBe(`\
                  IPv4  IPv6
endpoint-missing     1     0
endpoint-share       1     0
jump-missing         1     0
node-flushed         0     1
service-missing      1     0
the node and 2 of 3 service ports differ (IPv4, compared in part: the dump holds no mangle table); the node differs (IPv6)
`);
});

test('the most frequent kind comes first', () => {
  const [finding] = ONE_FAMILY.findings;
  const problems = finding?.problems ?? [];
  const findings = [...ONE_FAMILY.findings, { family: 'ipv4' as const, problems: problems.slice(1) }];
  expect([...statReport({ ...ONE_FAMILY, findings }, NO_COLORS)].slice(0, 3)).toEqual([
    '                  IPv4\n',
    'endpoint-share       2\n',
    'endpoint-missing     1\n',
  ]);
});

test('only the line of counts where nothing differs', () => {
  expect([...statReport(SAME, COLORS)].join('')).toBe(
    'no difference in 14 service ports (IPv4); no difference in 1 service port (IPv6)\n',
  );
});
