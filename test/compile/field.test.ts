/**
 * The "compile" answers of ../shared/field that concern iptables mode at 1.28 and later: small inputs written
 * after public bug reports, each with the rules that are right for it.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { documents } from '../kube/support.ts';
import { run } from '../support/run.ts';
import { temporaryFolder } from '../support/temporary.ts';

const CASES = join(import.meta.dirname, '..', '..', '..', 'shared', 'field', 'cases');
const present = existsSync(CASES);
if (!present) process.stderr.write('Skipped: answers from the field, for ../shared/field is not there.\n');

const VERSIONS = ['1.28', '1.30', '1.36'];

/** The folder of a case: `R13` → its path. */
function folderOf(id: string): string {
  const name = readdirSync(CASES).find((entry) => entry.startsWith(`${id}-`));
  if (name === undefined) throw new Error(`no case ${id}`);
  return join(CASES, name);
}

interface Compiled {
  readonly code: number;
  readonly stderr: string;
  /** Lines of a chain, without `-A CHAIN`; all tables together. */
  chain(name: string): readonly string[];
  /** Names of declared chains. */
  readonly chains: readonly string[];
  readonly text: string;
}

/** Runs the command with what the material says of its node: node-a, 192.168.0.2, cluster CIDR 10.244.0.0/16. */
async function compile(
  inputs: readonly string[],
  options: readonly string[] = [],
  clusterCIDR: readonly string[] = ['--cluster-cidr', '10.244.0.0/16'],
  stdin = '',
): Promise<Compiled> {
  const node = ['--node', 'node-a', '--interface', 'eth0=192.168.0.2/24'];
  const { code, stdout, stderr } = await run([...inputs, ...node, ...clusterCIDR, ...options], { stdin });
  const lines = stdout.split('\n');
  return {
    code,
    stderr,
    text: stdout,
    chains: lines.flatMap((line) => /^:(\S+)/.exec(line)?.[1] ?? []),
    chain: (name) =>
      lines.filter((line) => line.startsWith(`-A ${name} `)).map((line) => line.slice(`-A ${name} `.length)),
  };
}

const manifestsOf = (id: string) => [join(folderOf(id), 'manifests.yaml')];
const servicesIn = ({ chains }: Compiled) => chains.filter((name) => name.startsWith('KUBE-SVC-'));

const WEB = '67NZLRHBNDSAWJRO';

describe.skipIf(!present).each(VERSIONS)('the field, as kube-proxy %s has it:', (version) => {
  const at = ['--kube-version', version];

  test('R13: blanks around source ranges are cut off', async () => {
    const { code, stderr, chain } = await compile(manifestsOf('R13'), at);
    expect(code).toBe(0);
    expect(chain(`KUBE-FW-${WEB}`)).toEqual([
      `-s 198.51.100.0/24 -m comment --comment "shop/web:http loadbalancer IP" -j KUBE-EXT-${WEB}`,
      `-s 192.0.2.64/26 -m comment --comment "shop/web:http loadbalancer IP" -j KUBE-EXT-${WEB}`,
      '-m comment --comment "other traffic to shop/web:http will be dropped by KUBE-PROXY-FIREWALL"',
    ]);
    expect(stderr).toContain('blanks around 198.51.100.0/24 were cut off');
  });

  test('R15: an IPv4 external IP has no place in an IPv6 Service', async () => {
    const ipv6 = await compile(manifestsOf('R15'), [...at, '--family', 'ipv6']);
    expect(ipv6.code).toBe(0);
    expect(ipv6.chain('KUBE-SERVICES')[0]).toMatch(/^-d fd00:10:96::50\/128 -p tcp .* -j KUBE-SVC-/);
    expect(ipv6.chain('KUBE-SEP-GMZ7ISVB72WUUPDE')[1]).toBe(
      '-p tcp -m comment --comment "shop/web:http" -m tcp -j DNAT --to-destination [fd00:10:244:1::a]:8080',
    );
    expect(ipv6.text).not.toContain('203.0.113.9');
    expect(ipv6.stderr).toContain('external IP 203.0.113.9 is ignored');
    const ipv4 = await compile(manifestsOf('R15'), [...at, '--family', 'ipv4']);
    expect(ipv4.text).not.toContain('shop/web');
  });

  test('R17: the same port with two protocols is two service ports', async () => {
    const compiled = await compile(manifestsOf('R17'), at);
    const { chain, stderr } = compiled;
    expect(servicesIn(compiled)).toEqual(['KUBE-SVC-F4RJWPT7THDY3ITB', 'KUBE-SVC-GJSAEEIPK7TWTYKX']);
    const nodePorts = chain('KUBE-NODEPORTS').filter((rule) => !rule.includes('127.0.0.0/8'));
    expect(nodePorts).toEqual([
      '-p udp -m comment --comment "infra/dns:dns" -m udp --dport 30053 -j KUBE-EXT-GJSAEEIPK7TWTYKX',
      '-p tcp -m comment --comment "infra/dns:dns-tcp" -m tcp --dport 30053 -j KUBE-EXT-F4RJWPT7THDY3ITB',
    ]);
    expect(stderr).toBe('');
  });

  test('R19: headless, ExternalName and foreign Services get no rules and one note each', async () => {
    const compiled = await compile(manifestsOf('R19'), [...at, '--verbose']);
    expect(compiled.code).toBe(0);
    expect(servicesIn(compiled)).toEqual([`KUBE-SVC-${WEB}`]);
    expect(compiled.text).not.toMatch(/headless|extname|other-proxy|203\.0\.113\.5/);
    for (const name of ['headless', 'extname', 'other-proxy']) {
      expect(compiled.stderr.match(new RegExp(`note: Service shop/${name}: `, 'g'))).toHaveLength(1);
    }
  });

  test('R21: one address with two ports is two endpoints', async () => {
    const { chain, chains } = await compile(manifestsOf('R21'), at);
    expect(chains.filter((name) => name.startsWith('KUBE-SEP-'))).toEqual([
      'KUBE-SEP-DAVQQQFZBSF7BXSZ',
      'KUBE-SEP-IOU2JWQU4HVC2DPY',
    ]);
    expect(chain(`KUBE-SVC-${WEB}`).slice(1)).toEqual([
      '-m comment --comment "shop/web:http -> 192.168.0.2:8080" -m statistic --mode random --probability 0.50000000000 -j KUBE-SEP-DAVQQQFZBSF7BXSZ',
      '-m comment --comment "shop/web:http -> 192.168.0.2:8081" -j KUBE-SEP-IOU2JWQU4HVC2DPY',
    ]);
  });

  test('R23: the last local endpoint is used while it drains', async () => {
    const { chain } = await compile(manifestsOf('R23'), at);
    expect(chain(`KUBE-SVL-${WEB}`)).toEqual([
      '-m comment --comment "shop/web:http -> 10.244.1.10:8080" -j KUBE-SEP-FZQ6KZLGXRSKN2AD',
    ]);
    const cluster = chain(`KUBE-SVC-${WEB}`).filter((rule) => rule.includes(' -> '));
    expect(cluster).toHaveLength(1);
    expect(cluster[0]).toContain('shop/web:http -> 10.244.2.11:8080');
    expect(chain('KUBE-EXTERNAL-SERVICES')).toEqual([]);
  });

  test('R23, no longer serving: it is not, and traffic from outside is dropped', async () => {
    const [file = ''] = manifestsOf('R23');
    const text = readFileSync(file, 'utf8').replace(
      'serving: true, terminating: true',
      'serving: false, terminating: true',
    );
    const { chain, chains } = await compile(['-'], at, undefined, text);
    expect(chains).not.toContain(`KUBE-SVL-${WEB}`);
    expect(chain('KUBE-EXTERNAL-SERVICES')).toEqual([
      '-p tcp -m comment --comment "shop/web:http has no local endpoints" -m addrtype --dst-type LOCAL -m tcp --dport 30080 -j DROP',
    ]);
  });

  test('R25: without a cluster CIDR nothing is told apart by its source', async () => {
    const { chain, text, stderr } = await compile(manifestsOf('R25'), at, []);
    expect(chain(`KUBE-SVC-${WEB}`)).toEqual([
      '-m comment --comment "shop/web:http -> 10.244.1.10:8080" -j KUBE-SEP-FZQ6KZLGXRSKN2AD',
    ]);
    expect(text).not.toContain('pod traffic');
    expect(text).not.toMatch(/-s {2}|-s -/);
    expect(stderr).toContain('no IPv4 cluster CIDR is known');

    const all = await compile(manifestsOf('R25'), [...at, '--masquerade-all'], []);
    expect(all.chain(`KUBE-SVC-${WEB}`)[0]).toBe(
      '-d 10.96.0.50/32 -p tcp -m comment --comment "shop/web:http cluster IP" -m tcp --dport 80 -j KUBE-MARK-MASQ',
    );
  });

  test('R45: node ports on some addresses are dispatched by those', async () => {
    const { chain } = await compile(manifestsOf('R25'), [...at, '--nodeport-addresses', '192.168.0.0/24']);
    const dispatch = chain('KUBE-SERVICES').filter((rule) => rule.endsWith('-j KUBE-NODEPORTS'));
    expect(dispatch).toEqual([
      '-d 192.168.0.2/32 -m comment --comment "kubernetes service nodeports; NOTE: this must be the last rule in this chain" -j KUBE-NODEPORTS',
    ]);
  });

  test('R49: documents are told apart as kubectl does', async () => {
    for (const file of ['a.yaml', 'b.yaml', 'c.yaml']) {
      const { code, chain } = await compile([join(folderOf('R49'), file)], at);
      expect(code, file).toBe(0);
      const rules = [...chain('KUBE-SERVICES')].filter((rule) => rule.includes('shop/'));
      expect(rules, file).toHaveLength(1);
      expect(rules[0], file).toMatch(/^-d 10\.96\.0\.50\/32 .*"shop\/web:http has no endpoints"/);
    }
  });

  test('R51: a must-gather tree is read from any folder above it', async () => {
    for (const folder of [
      '.',
      'must-gather.local.1',
      join('must-gather.local.1', 'quay-io-example-sha256-0'),
    ]) {
      const { code, chain, text } = await compile([join(folderOf('R51'), folder)], at);
      expect(code, folder).toBe(0);
      expect(text, folder).toContain('--to-destination 10.244.1.10:8080');
      expect(chain('KUBE-SERVICES').join('\n'), folder).toMatch(/"infra\/dns\S* has no endpoints"/);
    }
  });

  test('R53: with few endpoints all rules have their comments', async () => {
    const { chain } = await compile(manifestsOf('R53'), at);
    expect(chain(`KUBE-SVC-${WEB}`).every((rule) => rule.includes('--comment'))).toBe(true);
  });

  test('R56: both families get their rules, and none uses KUBE-MARK-DROP', async () => {
    for (const family of ['ipv4', 'ipv6']) {
      const compiled = await compile(manifestsOf('R56'), [...at, '--family', family]);
      expect(servicesIn(compiled), family).toEqual([`KUBE-SVC-${WEB}`]);
      expect(compiled.text).not.toMatch(/KUBE-MARK-DROP|0x8000/);
    }
  });
});

describe.skipIf(!present)('R53, more than a thousand endpoints:', () => {
  const folder = temporaryFolder();

  test.each([
    [250, true],
    [251, false],
  ])('%i Services of four: comments of balancing and endpoint rules are there: %s', async (count, there) => {
    const made = spawnSync('python3', [join(folderOf('R53'), 'gen.py'), String(count)], {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    });
    expect(made.stderr).toBe('');
    const file = join(folder, 'big.yaml');
    expect(documents(readFileSync(file, 'utf8'))).toHaveLength(2 * count);
    const { code, text } = await compile([file]);
    expect(code).toBe(0);
    for (const [title, start, commented] of [
      ['balancing', /^-A KUBE-SVC-\S+ (?!.*cluster IP).*-j KUBE-SEP-/, there],
      ['endpoints', /^-A KUBE-SEP-/, there],
      ['masquerading', /^-A KUBE-SVC-\S+ .*-j KUBE-MARK-MASQ/, true],
      ['dispatch', /^-A KUBE-SERVICES .*-j KUBE-SVC-/, true],
    ] as const) {
      const rules = text.split('\n').filter((line) => start.test(line));
      expect(rules.length, title).toBeGreaterThanOrEqual(count);
      expect(
        rules.filter((line) => line.includes('--comment')),
        title,
      ).toHaveLength(commented ? rules.length : 0);
    }
  });
});
