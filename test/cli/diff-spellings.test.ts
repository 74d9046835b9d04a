import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { run, runDiff } from '../support/run.ts';
import { temporaryFolder } from '../support/temporary.ts';

const folder = temporaryFolder();
const fixtures = join(import.meta.dirname, '..', '..', 'fixtures');
const at = (name: string) => join(folder, name);

async function compiled(fixture: string, ...options: string[]): Promise<string> {
  const { code, stdout, stderr } = await run([join(fixtures, fixture), '--node', 'node-a', ...options]);
  expect(code, stderr).toBe(0);
  return stdout;
}

async function lastLine(fixture: string, name: string, text: string): Promise<string> {
  writeFileSync(at(name), text);
  const { stdout, stderr } = await runDiff([join(fixtures, fixture), at(name), '--node', 'node-a']);
  return (stdout || stderr).trimEnd().split('\n').at(-1) ?? '';
}

let save = '';

beforeAll(async () => {
  save = (await compiled('hello1')).replace(/^#.*\n/gm, '');
});

const SAME = 'no difference in 5 service ports (IPv4); IPv6: not compared (the dump holds no IPv6 rules)';

describe('the same rules in another spelling are no difference', () => {
  test('protocols by number, as iptables -n -L of 1.8.9 prints them', async () => {
    const numbered = save.replaceAll('-p tcp', '-p 6').replaceAll('-p udp', '-p 17');
    expect(numbered).not.toBe(save);
    expect(await lastLine('hello1', 'numbered', numbered)).toBe(SAME);
  });

  // kube-proxy 1.28 writes external IPs as they were given, and the kernel prints them in its own way.
  test('an IPv6 address that is not written as the kernel prints it', async () => {
    const manifest = [
      'apiVersion: v1',
      'kind: Service',
      'metadata: {name: web, namespace: shop}',
      'spec: {clusterIP: "fd00:10:96::5", externalIPs: ["2001:DB8:7:0::0142"], ports: [{port: 80}]}',
      '---',
      'apiVersion: discovery.k8s.io/v1',
      'kind: EndpointSlice',
      'metadata: {name: web-a, namespace: shop, labels: {kubernetes.io/service-name: web}}',
      'addressType: IPv6',
      'ports: [{name: "", port: 80}]',
      'endpoints: [{addresses: ["fd00:10:244::1"]}]',
      '',
    ].join('\n');
    writeFileSync(at('web.yaml'), manifest);
    const options = ['--node', 'node-a', '--kube-version', '1.28', '--cluster-cidr', 'fd00:10:244::/56'];
    const { stdout } = await run([at('web.yaml'), ...options, '--family', 'ipv6']);
    expect(stdout).toContain('-d 2001:db8:7::142/128');
    writeFileSync(at('web.v6'), stdout);
    const { code, stdout: report } = await runDiff([
      at('web.yaml'),
      at('web.v6'),
      ...options,
      '--patch',
      at('patch'),
    ]);
    expect(report).toContain('no difference in 1 service port (IPv6)');
    expect(code).toBe(0);
  });
});

test('a dump that is given twice in one file is one dump', async () => {
  expect(await lastLine('hello1', 'twice', save + save)).toBe(SAME);
});

test('a table that is given twice, with other rules, is no second back end but a mistake', async () => {
  const other = save.replaceAll('10.244.1.38', '10.244.1.99');
  writeFileSync(at('other'), save + other);
  const { code, stderr } = await runDiff([join(fixtures, 'hello1'), at('other'), '--node', 'node-a']);
  expect(stderr).toContain('was given already');
  expect(code).toBe(2);
});

test('a filter listing without any address belongs to the family whose nat listing was given', async () => {
  const listing = (table: string) =>
    (save.split(`*${table}\n`)[1]?.split('COMMIT')[0] ?? '')
      .replace(/^:(\S+) - .*$/gm, '-N $1')
      .replace(/^:(\S+) (\S+) .*$/gm, '-P $1 $2')
      .replace(/^.*127\.0\.0\.0\/8.*\n/gm, '');
  writeFileSync(at('S.nat'), listing('nat'));
  writeFileSync(at('S.filter'), listing('filter'));
  const { stdout } = await runDiff([
    join(fixtures, 'hello1'),
    '--actual',
    at('S.nat'),
    '--actual',
    at('S.filter'),
    '--node',
    'node-a',
  ]);
  expect(stdout).toContain('IPv6: not compared');
});

test('a node whose chains were emptied is one finding, not one for each rule', async () => {
  const flushed = save.replace(/^-A .*\n/gm, '');
  writeFileSync(at('flushed'), flushed);
  const { code, stdout } = await runDiff([join(fixtures, 'hello1'), at('flushed'), '--node', 'node-a']);
  expect(stdout.split('\n')[0]).toBe(
    'node: no kube-proxy rules in the IPv4 nat table (KUBE-SERVICES is missing from PREROUTING and OUTPUT); 5 service ports have none: the node was flushed, kube-proxy does not run, or it runs in nftables mode',
  );
  expect(stdout.match(/^(?:node|\S+\/\S+):/gm)?.length).toBe(1);
  expect(code).toBe(1);
});

// An ip6tables-restore of 1.17 to 1.24 that failed as a whole: kubelet made KUBE-MARK-DROP for the other family.
test('a jump to a chain that is not declared is an error with its line', async () => {
  writeFileSync(at('bad'), save.replace(/^COMMIT$/m, '-A KUBE-FORWARD -j KUBE-MARK-DROP\nCOMMIT'));
  const { stderr } = await runDiff([join(fixtures, 'hello1'), at('bad'), '--node', 'node-a']);
  const line = save.split('\n').indexOf('COMMIT') + 1;
  expect(stderr).toContain(
    `bad:${line}: error: a rule jumps to KUBE-MARK-DROP, which the filter table does not declare`,
  );
});

describe('settings that only the dump shows are taken from it', () => {
  test.each([
    ['masqueradeAll with a cluster CIDR', ['--masquerade-all', '--cluster-cidr', '10.244.0.0/16']],
    [
      'masqueradeAll with the bridge of the pods',
      ['--masquerade-all', '--detect-local-mode', 'BridgeInterface', '--pod-bridge-interface', 'cni0'],
    ],
    [
      'the prefix of pod interfaces',
      ['--detect-local-mode', 'InterfaceNamePrefix', '--pod-interface-name-prefix', 'veth'],
    ],
    ['conntrack that is liberal with TCP', ['--cluster-cidr', '10.244.0.0/16', '--conntrack-tcp-be-liberal']],
    ['another bit for masquerading', ['--cluster-cidr', '10.244.0.0/16', '--iptables-masquerade-bit', '3']],
    [
      'no node ports on the loopback network',
      ['--cluster-cidr', '10.244.0.0/16', '--iptables-localhost-nodeports=false'],
    ],
  ])('%s', async (title, options) => {
    const manifest = join(fixtures, 'node-port-local', 'cluster.yaml');
    const name = title.replaceAll(' ', '-');
    const { stdout } = await run([manifest, '--node', 'node-a', '--kube-version', '1.36', ...options]);
    writeFileSync(at(name), stdout);
    const { code, stdout: report } = await runDiff([manifest, at(name), '--node', 'node-a']);
    expect(report).toMatch(/^no difference in /m);
    expect(code).toBe(0);
  });
});
