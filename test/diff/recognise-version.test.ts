import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { describeRange, recogniseVersion } from '../../src/diff/recognise-version.ts';
import { viewOf } from '../../src/diff/view.ts';
import { kubeProxyVersion } from '../../src/kube/index.ts';
import { type Family, splitDumps } from '../../src/netfilter/index.ts';
import { expectedFolder, hasConformance } from '../support/shared.ts';
import { compileFiles } from './support/states.ts';

function recognise(...texts: readonly (readonly [string, Family])[]) {
  return recogniseVersion(
    texts.flatMap(([text, family]) => splitDumps(text, { family }).map(({ ruleset }) => viewOf(ruleset))),
  );
}

/** A nat table whose KUBE-SERVICES leads to one chain. */
const nat = (...rules: readonly string[]) => {
  const chains = new Set(['KUBE-SERVICES', ...rules.map((rule) => rule.split(' ')[0] ?? '')]);
  const declared = [...chains].map((chain) => `:${chain} - [0:0]`);
  return `*nat\n${declared.join('\n')}\n${rules.map((rule) => `-A ${rule}`).join('\n')}\nCOMMIT\n`;
};
const SUFFIX = '67NZLRHBNDSAWJRO';
const TO = `-d 10.96.0.50/32 -p tcp -m comment --comment "shop/web:http cluster IP" -m tcp --dport 80`;
const SEP = 'KUBE-SEP-FZQ6KZLGXRSKN2AD';

describe('a version range is recognised from', () => {
  test.each<[string, string, readonly string[]]>([
    [
      'masquerading in KUBE-SVC and comments without the endpoint',
      '1.22 … 1.23',
      [
        `KUBE-SERVICES ${TO} -j KUBE-SVC-${SUFFIX}`,
        `KUBE-SVC-${SUFFIX} ! -s 10.244.0.0/16 ${TO} -j KUBE-MARK-MASQ`,
        `KUBE-SVC-${SUFFIX} -m comment --comment "shop/web:http" -j ${SEP}`,
      ],
    ],
    [
      'masquerading in KUBE-SERVICES',
      '1.18 … 1.21',
      [
        `KUBE-SERVICES ! -s 10.244.0.0/16 ${TO} -j KUBE-MARK-MASQ`,
        `KUBE-SERVICES ${TO} -j KUBE-SVC-${SUFFIX}`,
        `KUBE-SVC-${SUFFIX} -m comment --comment "shop/web:http" -j ${SEP}`,
      ],
    ],
    [
      'comments that name the endpoint',
      '1.24 … 1.36',
      [
        `KUBE-SERVICES ${TO} -j KUBE-SVC-${SUFFIX}`,
        `KUBE-SVC-${SUFFIX} -m comment --comment "shop/web:http -> 10.244.1.10:8080" -j ${SEP}`,
      ],
    ],
    [
      'numbered rules in KUBE-XLB',
      '1.18 … 1.22',
      [
        `KUBE-NODEPORTS -p tcp -m comment --comment "shop/web:http" -m tcp --dport 30080 -j KUBE-XLB-${SUFFIX}`,
        `KUBE-SERVICES -m addrtype --dst-type LOCAL -j KUBE-NODEPORTS`,
        `KUBE-XLB-${SUFFIX} -m comment --comment "Balancing rule 0 for shop/web:http" -j ${SEP}`,
      ],
    ],
    [
      'a port without a name that has a colon',
      '1.18',
      [
        `KUBE-SERVICES ${TO.replace('web:http', 'web:')} -j KUBE-SVC-${SUFFIX}`,
        `KUBE-SVC-${SUFFIX} -m comment --comment "shop/web:" -j ${SEP}`,
      ],
    ],
  ])('%s: %s', (_name, range, rules) => {
    expect(describeRange(recognise([nat(...rules), 'ipv4']))).toBe(range);
  });

  test('chains that an upgrade left behind are no sign', () => {
    const rules = [
      `KUBE-SERVICES ${TO} -j KUBE-SVC-${SUFFIX}`,
      `KUBE-SVC-${SUFFIX} -m comment --comment "shop/web:http -> 10.244.1.10:8080" -j ${SEP}`,
      `KUBE-XLB-${SUFFIX} -m comment --comment "Balancing rule 0 for shop/web:http" -j ${SEP}`,
    ];
    const found = recognise([nat(...rules), 'ipv4']);
    expect(describeRange(found)).toBe('1.24 … 1.36');
    expect(found.reasons).toEqual(['comments that name the endpoint: 1.24 or later']);
  });

  test('nothing: the newest is assumed', () => {
    expect(recognise(['*nat\nCOMMIT\n', 'ipv4'])).toMatchObject({
      oldest: 18,
      newest: 36,
      version: { minor: 36 },
    });
  });
});

test.each(['hello1', 'load-balancer-local', 'source-ranges', 'internal-local', 'no-endpoints'])(
  'the range of what is compiled from fixtures/%s holds its version',
  async (fixture) => {
    for (const mode of ['iptables', 'ipvs'] as const) {
      for (let minor = 18; minor <= 36; minor++) {
        const options = { version: kubeProxyVersion(minor), node: 'node-a', flags: { mode } };
        const { rulesets } = await compileFiles([join('fixtures', fixture)], options);
        const found = recogniseVersion(Object.values(rulesets).map((ruleset) => viewOf(ruleset)));
        const isRight = found.mode === mode && found.oldest <= minor && minor <= found.newest;
        expect(isRight, `1.${minor} in ${mode} mode: ${found.mode} ${describeRange(found)}`).toBe(true);
      }
    }
  },
);

describe.skipIf(!hasConformance())('what the real kube-proxy left', () => {
  const all = ['1.23', '1.26', '1.28', '1.30', '1.36'].flatMap((version) =>
    (['iptables', 'ipvs'] as const).map((mode) => [version, mode] as const),
  );

  test.each(all)('of %s in %s mode is recognised, every case', (version, mode) => {
    const folder = expectedFolder(version, mode);
    const wrong = readdirSync(folder).flatMap((name) => {
      const read = (file: string, family: Family) => {
        const path = join(folder, name, file);
        return existsSync(path) ? ([[readFileSync(path, 'utf8'), family]] as const) : [];
      };
      const dumps = [...read('save.v4', 'ipv4'), ...read('save.v6', 'ipv6')];
      if (dumps.length < 2) return [];
      const found = recognise(...dumps);
      const minor = Number(version.slice(2));
      const right = found.mode === mode && found.oldest <= minor && minor <= found.newest;
      return right ? [] : [`${name}: ${found.mode} ${describeRange(found)}`];
    });
    expect(wrong).toEqual([]);
  });
});
