import { Chalk } from 'chalk';
import type { Comparison, Finding, Problem, ProblemCode } from '../../src/diff/index.ts';

export const NO_COLORS = new Chalk({ level: 0 });
export const COLORS = new Chalk({ level: 1 });

const WEB = 'KUBE-SVC-67NZLRHBNDSAWJRO';

function problem(code: ProblemCode, message: string, rules: Partial<Problem> = {}): Problem {
  return { code, message, expected: [], actual: [], ...rules };
}

const WEB_FINDING: Finding = {
  family: 'ipv4',
  servicePort: 'shop/web:http',
  problems: [
    problem('endpoint-missing', 'endpoint 10.244.3.12:8080 is not programmed', {
      expected: [{ table: 'nat', line: `-A ${WEB} -j KUBE-SEP-VUPUHKXHY2PEPYE3` }],
    }),
    problem('endpoint-share', 'endpoint 10.244.1.10:8080 has a share of 50% instead of 33.3%', {
      expected: [
        {
          table: 'nat',
          line: `-A ${WEB} -m statistic --mode random --probability 0.33333333349 -j KUBE-SEP-A`,
        },
      ],
      actual: [
        {
          table: 'nat',
          line: `-A ${WEB} -m statistic --mode random --probability 0.50000000000 -j KUBE-SEP-A`,
        },
      ],
    }),
  ],
};

/** A node with one Service that lacks an endpoint; its dump holds IPv4 alone. */
export const ONE_FAMILY: Comparison = {
  findings: [WEB_FINDING],
  notes: [
    { family: 'ipv4', problems: [problem('unreferenced-chains', '1 unreferenced chain: KUBE-SEP-OLD')] },
  ],
  assumptions: ['clusterCIDR 10.244.0.0/16, as the dump shows it'],
  families: [
    { family: 'ipv4', tables: ['filter', 'nat'], servicePorts: 14, left: [] },
    { family: 'ipv6', tables: [], servicePorts: 0, left: ['the dump holds no IPv6 rules'] },
  ],
};

/** Service ports before the node, families the wrong way round: reports sort what they are given. */
export const TWO_FAMILIES: Comparison = {
  findings: [
    {
      family: 'ipv6',
      problems: [
        problem('node-flushed', 'no kube-proxy rules in the IPv6 nat table; 1 service port has none'),
      ],
    },
    {
      family: 'ipv4',
      servicePort: 'shop/api',
      problems: [problem('service-missing', 'cluster IP 10.96.0.60:80 goes nowhere')],
    },
    WEB_FINDING,
    { family: 'ipv4', problems: [problem('jump-missing', 'KUBE-SERVICES is not reached from OUTPUT')] },
  ],
  notes: [
    {
      family: 'ipv4',
      servicePort: 'shop/db',
      problems: [problem('not-judged', 'its endpoints are not judged')],
    },
  ],
  assumptions: [],
  families: [
    { family: 'ipv4', tables: ['filter', 'nat'], servicePorts: 3, left: ['the dump holds no mangle table'] },
    { family: 'ipv6', tables: ['nat'], servicePorts: 1, left: [] },
  ],
};

export const SAME: Comparison = {
  findings: [],
  notes: [],
  assumptions: [],
  families: [
    { family: 'ipv4', tables: ['filter', 'nat'], servicePorts: 14, left: [] },
    { family: 'ipv6', tables: ['filter', 'nat'], servicePorts: 1, left: [] },
  ],
};

export const INCOMPARABLE: Comparison = {
  findings: [],
  notes: [],
  assumptions: [],
  families: [{ family: 'ipv4', tables: [], servicePorts: 0, left: [] }],
  incomparable: 'the dump was printed by an older iptables that hides matches',
};

/** Whatever a dump may hold: a terminal escape, line ends, a bidi override, commands of a workflow. */
export const HOSTILE: Comparison = {
  findings: [
    {
      family: 'ipv4',
      servicePort: 'shop/\x1b[2Jweb:a,b',
      problems: [
        problem('rules-differ', '100% \r\n::error::x \u202e ##[add-mask]y', {
          actual: [{ table: 'n\x07at', line: '-A X\n::warning::z \x9b31m' }],
        }),
      ],
    },
  ],
  notes: [],
  assumptions: ['a\x1bb'],
  families: [{ family: 'ipv4', tables: ['nat'], servicePorts: 1, left: ['l\x1bm'] }],
};
