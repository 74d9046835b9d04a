/** Versions of kube-proxy on the command line of kp-diff: recognised, read back, compared. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { run, runDiff } from '../support/run.ts';
import { temporaryFolder } from '../support/temporary.ts';

const diff = (...args: readonly string[]) => runDiff(args);

/** `iptables -vnL` of KUBE-SERVICES, of one KUBE-SVC chain and of its three KUBE-SEP chains, as iptables prints it. */
const LISTING = 'test/diff/dumps/hello1-1.23-listing.txt';

describe('a listing of a node of 1.23', () => {
  test('is the same as the manifests at 1.23', async () => {
    const { code, stdout } = await diff('fixtures/hello1', LISTING, '--kube-version', '1.23');
    expect(stdout).toMatch(
      /^no difference in 1 service port, and 4 more were not compared in full \(IPv4, compared in part/,
    );
    expect(code).toBe(0);
  });

  test('is recognised, with reasons', async () => {
    const { code, stdout } = await diff('--inventory', LISTING);
    expect(code).toBe(0);
    expect(stdout).toContain(`kube-proxy 1.22 … 1.23, iptables mode
  masquerading in KUBE-SVC chains: 1.22 or later
  comments that do not name the endpoint: 1.23 or earlier
`);
    expect(stdout).toContain(`
cyclinder/hello1-service tcp 8080
  cluster IP      10.108.221.226
  endpoints       10.244.1.38:8080, 10.244.1.39:8080, 10.244.2.48:8080
`);
  });
});

describe('--inventory', () => {
  test('as JSON has the same', async () => {
    const { stdout } = await diff('--inventory', LISTING, '--output', 'json');
    const found = JSON.parse(stdout);
    expect(found.version).toMatchObject({ oldest: '1.22', newest: '1.23', assumed: '1.23' });
    expect(found.servicePorts[0]).toMatchObject({
      name: 'cyclinder/hello1-service',
      protocol: 'tcp',
      port: 8080,
      clusterIPs: ['10.108.221.226'],
      chains: [
        { name: 'KUBE-SVC-2V5PDE3Q62WJ3RNU', isRight: true },
        { name: 'KUBE-SEP-YENGSOSF6TP2X7WS', isRight: true },
        { name: 'KUBE-SEP-72L7BBRMXEG5VF7W', isRight: true },
        { name: 'KUBE-SEP-IA4L7KGKOCPR4FES', isRight: true },
      ],
    });
  });

  test.each([
    [['--inventory'], /what iptables-save prints/],
    [['--inventory', 'fixtures/hello1'], /holds none/],
    [['--inventory', LISTING, '--output', 'github'], /text or json/],
  ])('%j is a usage error', async (args, message) => {
    const { code, stdout, stderr } = await diff(...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(message);
  });
});

describe('--inventory of what holds no Services', () => {
  const folder = temporaryFolder();

  test('is refused where there is no chain of kube-proxy', async () => {
    const file = join(folder, 'docker.save');
    writeFileSync(file, '*nat\n:PREROUTING ACCEPT [0:0]\n:DOCKER - [0:0]\n-A PREROUTING -j DOCKER\nCOMMIT\n');
    const { code, stdout, stderr } = await diff('--inventory', file);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('no chain of kube-proxy');
  });

  test('says so in ipvs mode, and tells the version', async () => {
    const file = join(folder, 'ipvs.save');
    const node = ['--node', 'node-a', '--proxy-mode', 'ipvs', '--kube-version', '1.27'];
    writeFileSync(file, (await run(['fixtures/hello1/cluster.yaml', ...node])).stdout);
    const { code, stdout } = await diff('--inventory', file);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^kube-proxy 1\.26 … 1\.27, ipvs mode\n/);
    expect(stdout).toContain('name no Services');
    expect(stdout).not.toContain('compiled again');
  });
});

describe('--upgrade', () => {
  test('tells each change that matters, with its reason', async () => {
    const { code, stdout } = await diff('--upgrade', '1.23..1.28', 'fixtures/hello1');
    expect(code).toBe(1);
    expect(stdout.split('\n').filter((line) => /^1\./.test(line))).toEqual([
      '1.24: KUBE-EXT and KUBE-SVL chains in place of KUBE-XLB; KUBE-FW only where there are source ranges; comments name the endpoint',
      '1.25: KUBE-PROXY-FIREWALL and DROP rules of the filter table in place of KUBE-MARK-DROP (KEP-3178)',
      '1.26: node ports are not open on ::1, nor on 127.0.0.0/8 where localhostNodePorts is off',
      '1.27: kube-proxy writes KUBE-FIREWALL itself (KEP-3178); before, kubelet alone did',
      expect.stringMatching(
        /^1\.23 to 1\.28, iptables mode: 4 changes of the rules; \d+ other changes make no/,
      ),
    ]);
  });

  test('with no change of the rules ends with 0', async () => {
    const { code, stdout } = await diff('--upgrade', '1.34..1.35', 'fixtures/hello1');
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^1\.34 to 1\.35, iptables mode: the rules stay the same; 1 other change makes no/,
    );
  });

  test('as JSON gives every line, and in ipvs mode sets and virtual servers too', async () => {
    const { stdout } = await diff(
      ...['--upgrade', '1.25..1.26', 'fixtures/hello1/cluster.yaml', '--node', 'node-a'],
      ...['--proxy-mode', 'ipvs', '--output', 'json'],
    );
    const { mode, groups } = JSON.parse(stdout);
    expect(mode).toBe('ipvs');
    expect(groups.flatMap(({ added }: { added: readonly string[] }) => added)).toContain(
      'IPv4 ipset KUBE-IPVS-IPS 10.108.221.226',
    );
  });

  test.each([['1.23'], ['1.17..1.36'], ['1.30..1.30'], ['1.36..1.23'], ['old..new']])(
    '%s is a usage error',
    async (range) => {
      const { code, stdout, stderr } = await diff('--upgrade', range, 'fixtures/hello1');
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toContain('--upgrade');
    },
  );
});
