/**
 * What the real tools list is what they save: rules are loaded by both back ends, listed with `iptables -S` and
 * `iptables -L`, and read from there.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Family, Ruleset } from '../../src/netfilter/index.ts';
import { canonicalRule, parseIptablesSave, splitDumps } from '../../src/netfilter/index.ts';
import { kernelIsMissing } from '../support/kernel.ts';
import { sharedFiles } from './support/shared.ts';
import type { Spelling } from './support/spellings.ts';
import { spellings } from './support/spellings.ts';

const env = { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/sbin:/sbin` };
const missing = kernelIsMissing();
if (missing !== undefined) {
  if (process.env.CI !== undefined) throw new Error(`the kernel tests have to run in CI: ${missing}`);
  process.stderr.write(`Skipped: listings of a kernel, for ${missing}.\n`);
}

const SETUP = `set -e
ip link set lo up
for name in ct_state_invalid_dropped_pkts localhost_nps_accepted_pkts acct1; do nfacct add $name; done
if command -v ipset >/dev/null; then
  ipset create S4 hash:ip,port
  ipset create S6 hash:ip,port family inet6
fi
`;
const TABLES = ['nat', 'filter', 'mangle'];
const MARK = '=====';

/** Listings leave out a range of all ports, which matches what no range does. */
const ALL_PORTS = / --[sd]port 0:65535/g;

/** The outputs of several listings of what `input` makes, each with all tables. */
function list(tool: string, input: string, options: readonly string[]): readonly string[] {
  const commands = options.flatMap((option) => [
    ...TABLES.map((table) => `${tool} -t ${table} ${option}`),
    `echo ${MARK}`,
  ]);
  const script = `${SETUP}${tool}-restore\n${tool}-save\necho ${MARK}\n${commands.join('\n')}`;
  const { status, stdout, stderr } = spawnSync('unshare', ['-n', 'sh', '-c', script], {
    encoding: 'utf8',
    env,
    input,
    maxBuffer: 2 ** 28,
  });
  if (status !== 0) throw new Error(stderr);
  return stdout.split(`${MARK}\n`);
}

/** Chains by table and name; those that nobody ever touched are left out, as some tools do. */
function contentOf({ tables, family }: Ruleset): ReadonlyMap<string, readonly string[]> {
  return new Map(
    tables.flatMap(({ name, chains }) =>
      chains
        .filter(({ policy, rules }) => policy !== 'ACCEPT' || rules.length > 0)
        .map((chain): [string, string[]] => [
          `${name} ${chain.name}`,
          [chain.policy ?? '-', ...chain.rules.map((rule) => canonicalRule(rule, family))],
        ]),
    ),
  );
}

const wanted =
  /\/(?:affinity-custom|dualstack-lb|ipv6-affinity|lb-sourceranges|nodeport-protocols|realistic-kubeadm)\/save\.v[46]$/;
const saves = sharedFiles('conformance/expected').filter(
  ({ name }) => /^1\.(?:23|28|36)\/iptables\//.test(name) && wanted.test(name),
);

describe.skipIf(missing !== undefined || saves.length === 0)(
  'a listing of a node is read as its save',
  () => {
    const cases = saves.flatMap(({ name, path }) =>
      (['legacy', 'nft'] as const).map((backend) => ({ name, path, backend })),
    );
    test.each(cases)('$name, $backend', ({ name, path, backend }) => {
      const family: Family = name.endsWith('4') ? 'ipv4' : 'ipv6';
      const tool = `${family === 'ipv4' ? 'iptables' : 'ip6tables'}-${backend}`;
      const [save = '', ...listings] = list(tool, readFileSync(path, 'utf8'), [
        '-nvL',
        '-vnxL --line-numbers',
        '-S',
      ]);
      const expected = contentOf(parseIptablesSave(save, { family }).ruleset);
      for (const listing of listings.slice(0, 3)) {
        const dumps = splitDumps(listing, { family });
        expect(
          dumps.flatMap(({ problems }) => problems.filter(({ severity }) => severity !== 'note')),
        ).toEqual([]);
        expect(dumps).toHaveLength(1);
        expect(dumps[0] && contentOf(dumps[0].ruleset)).toEqual(expected);
      }
    });
  },
);

describe.skipIf(missing !== undefined)('a listed rule is read as what it is, or not at all', () => {
  const cases = (['ipv4', 'ipv6'] as const).flatMap((family) =>
    (['legacy', 'nft'] as const).flatMap((backend) => TABLES.map((table) => ({ family, backend, table }))),
  );
  test.each(cases)('$family, $backend, table $table', ({ family, backend, table }) => {
    const rows = spellings.filter(
      (row: Spelling) =>
        row.family === family &&
        row.table === table &&
        row.noKernel === undefined &&
        (backend === 'legacy' || row.legacyOnly === undefined),
    );
    const nameOf = (i: number) => `R${String(i).padStart(3, '0')}`;
    const input = [
      `*${table}`,
      ':OTHER - [0:0]',
      ...rows.map((_, i) => `:${nameOf(i)} - [0:0]`),
      ...rows.map((row, i) => `-A ${nameOf(i)} ${row.input}`),
      'COMMIT\n',
    ].join('\n');
    const tool = `${family === 'ipv4' ? 'iptables' : 'ip6tables'}-${backend}`;
    const [save = '', listing = '', rules = ''] = list(tool, input, ['-nvL', '-S']);
    const saved = parseIptablesSave(save, { family }).ruleset.tables.find(({ name }) => name === table);
    for (const [text, mayFail] of [
      [listing, true],
      [rules, false],
    ] as const) {
      const dumps = splitDumps(text, { family });
      const chains = new Map(
        dumps.flatMap(({ ruleset }) =>
          ruleset.tables.flatMap((found) => found.chains.map((chain) => [chain.name, chain] as const)),
        ),
      );
      let unread = 0;
      for (const chain of saved?.chains ?? []) {
        const [rule] = chain.rules;
        const [read] = chains.get(chain.name)?.rules ?? [];
        if (rule === undefined) continue;
        if (read?.unparsed !== undefined && mayFail) unread++;
        else
          expect(
            read && canonicalRule(read, family),
            text.split('\n').find((line) => line.includes(chain.name)),
          ).toBe(
            mayFail ? canonicalRule(rule, family).replaceAll(ALL_PORTS, '') : canonicalRule(rule, family),
          );
      }
      const errors = dumps.flatMap(({ problems }) =>
        problems.filter(({ code }) => code === 'unparsed-words'),
      );
      expect(errors).toHaveLength(unread);
    }
  });
});
