/**
 * The real tools say what iptables-save prints: every rule of the table of spellings is loaded, by both back
 * ends, in a network namespace of the test's own.
 */
import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { canonicalRule, type Rule, restoreLine } from '../../src/netfilter/index.ts';
import type { Spelling } from './support/spellings.ts';
import { spellings } from './support/spellings.ts';

const env = { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/sbin:/sbin` };
const SETUP = `set -e
ip link set lo up
ipset create S4 hash:ip,port
ipset create S6 hash:ip,port family inet6
nfacct add acct1
`;

const missing = whatIsMissing();
if (missing !== undefined) {
  if (process.env.CI !== undefined) throw new Error(`the kernel tests have to run in CI: ${missing}`);
  process.stderr.write(`Skipped: netfilter kernel tests, for ${missing}.\n`);
}

function whatIsMissing(): string | undefined {
  if (process.getuid?.() !== 0) return 'they need root';
  for (const tool of [
    'unshare',
    'ip',
    'ipset',
    'nfacct',
    'iptables-legacy-restore',
    'iptables-nft-restore',
  ]) {
    if (spawnSync('which', [tool], { env }).status !== 0) return `${tool} is not installed`;
  }
  const { status, stderr } = inNamespace('true', '');
  return status === 0 ? undefined : `no namespace with sets and counters can be made: ${stderr.trim()}`;
}

function inNamespace(script: string, input: string) {
  return spawnSync('unshare', ['-n', 'sh', '-c', SETUP + script], { encoding: 'utf8', env, input });
}

/** The tools print chains by name. */
function chainName(index: number): string {
  return `R${String(index).padStart(3, '0')}`;
}

/** One chain a rule, so that each line of the answer belongs to its question. */
function restoreInput(rows: readonly Spelling[], table: string): string {
  const chains = rows.map((_, i) => `:${chainName(i)} - [0:0]\n`).join('');
  const rules = rows.map(({ input }, i) => `-A ${chainName(i)} ${input}\n`).join('');
  return `*${table}\n:OTHER - [0:0]\n${chains}${rules}COMMIT\n`;
}

describe.skipIf(missing !== undefined)('the table of spellings is what the real tools print', () => {
  const backends = ['legacy', 'nft'] as const;
  const tables = ['filter', 'nat', 'mangle'] as const;
  const cases = (['ipv4', 'ipv6'] as const).flatMap((family) =>
    backends.flatMap((backend) => tables.map((table) => ({ family, backend, table }))),
  );
  test.each(cases)('$family, $backend, table $table', ({ family, backend, table }) => {
    const rows = spellings.filter(
      (row) =>
        row.family === family &&
        row.table === table &&
        row.noKernel === undefined &&
        (backend === 'legacy' || row.legacyOnly === undefined),
    );
    const tool = `${family === 'ipv4' ? 'iptables' : 'ip6tables'}-${backend}`;
    const { status, stdout, stderr } = inNamespace(
      `${tool}-restore; ${tool}-save -t ${table}`,
      restoreInput(rows, table),
    );
    expect(stderr).toBe('');
    expect(status).toBe(0);
    const printed = stdout.split('\n').filter((line) => line.startsWith('-A '));
    expect(printed).toEqual(rows.map(({ saved }, i) => `-A ${chainName(i)} ${saved}`.trimEnd()));
  });

  const comments = [
    'a b',
    "it's a b",
    "it's",
    '!',
    '#x',
    '-j',
    '',
    'ünï x',
    'a  b',
    ' a ',
    'x -A y -j DROP',
    "'",
    ';$(id)`',
  ];
  test.each(backends)('whatever a comment holds, a %s kernel takes it as that', (backend) => {
    const rules = comments.map(
      (text): Rule => ({ matches: [{ kind: 'comment', text }], target: { kind: 'DROP' } }),
    );
    const input = [
      '*filter',
      ':R - [0:0]',
      ...rules.map((rule) => restoreLine(rule, 'R')),
      'COMMIT',
      '',
    ].join('\n');
    const { stdout, stderr } = inNamespace(`iptables-${backend}-restore; iptables-${backend}-save`, input);
    expect(stderr).toBe('');
    const printed = stdout.split('\n').filter((line) => line.startsWith('-A '));
    expect(printed).toEqual(rules.map((rule) => `-A R ${canonicalRule(rule, 'ipv4')}`));
  });
});
