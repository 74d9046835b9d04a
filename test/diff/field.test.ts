/**
 * Public bug reports with known answers, as far as they are for kp-diff and for versions that are compiled here. Their
 * files lie in ../shared; they were written after older kube-proxies, whose rules are the same where it matters.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Comparison, compareStates, type NodeState, patchOf } from '../../src/diff/index.ts';
import { kubeProxyVersion } from '../../src/kube/index.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { compileFiles, dumped } from './support/states.ts';

const cases = join(import.meta.dirname, '..', '..', '..', 'shared', 'field', 'cases');
const isThere = existsSync(cases);
if (!isThere) process.stderr.write('Skipped: reports from the field, for ../shared/field is not there.\n');

const folder = temporaryFolder();

function file(path: string): string {
  return join(cases, path);
}

function text(path: string): string {
  return readFileSync(file(path), 'utf8');
}

/** For the node of the reports. */
function manifests(path: string): Promise<NodeState> {
  return compileFiles([path], {
    node: 'node-a',
    version: kubeProxyVersion(30),
    flags: { clusterCIDRs: ['10.244.0.0/16'] },
  });
}

function compare(expected: NodeState, actual: NodeState): Comparison {
  return compareStates(expected, actual, { scope: 'kube-proxy' });
}

/** Each finding in a line: whose, and what. */
function told({ findings }: Comparison): string[] {
  return findings.map(
    ({ family, servicePort, problems }) =>
      `${family} ${servicePort ?? 'node'}: ${problems.map(({ message }) => message).join('; ')}`,
  );
}

function noted({ notes }: Comparison): string[] {
  return notes.flatMap(({ problems }) => problems.map(({ message }) => message));
}

const PARTIAL =
  'the dump is partial or from another version: filter/KUBE-FIREWALL, filter/KUBE-NODEPORTS, ' +
  'filter/KUBE-PROXY-FIREWALL and all jumps to them are not there';

describe.skipIf(!isThere)('reports from the field', () => {
  test('R03: an endpoint is missing after a partial sync: one finding', async () => {
    const name = 'R03-endpoint-missing-after-partial-sync';
    const expected = await manifests(file(`${name}/manifests.yaml`));
    const actual = dumped({ ipv4: text(`${name}/node.save`) });
    const result = compare(expected, actual);
    expect(told(result)).toEqual(['ipv4 shop/web:http: endpoint 10.244.3.12:8080 is not programmed']);
    expect(noted(result)).toEqual([PARTIAL]);
    const patch = patchOf(expected, actual).ipv4 ?? '';
    expect(patch).toContain(':KUBE-SEP-VUPUHKXHY2PEPYE3 - [0:0]');
    expect(patch).toContain('--probability 0.33333333349 -j');
    expect(patch).not.toContain('KUBE-SEP-FZQ6KZLGXRSKN2AD -s');
  });

  test('R05: chains that nothing leads to are a note', async () => {
    const name = 'R05-unreferenced-chains-are-benign';
    const expected = await manifests(file(`${name}/manifests.yaml`));
    const actual = dumped({ ipv4: text(`${name}/node.save`) });
    const result = compare(expected, actual);
    expect(told(result)).toEqual([]);
    expect(noted(result)).toEqual([
      PARTIAL,
      '1 unreferenced chain (not reachable from any hook; kube-proxy deletes them in a while): KUBE-SEP-QZLTW326N2VK3RCT',
    ]);
    expect(patchOf(expected, actual)).toEqual({});
  });

  test('R07: a dump that hides ports and marks cannot be compared', async () => {
    const name = 'R07-save-by-older-nft-hides-dport-and-mark';
    const result = compare(
      await manifests(file(`${name}/manifests.yaml`)),
      dumped({ ipv4: text(`${name}/node.save`) }),
    );
    expect(told(result)).toEqual([]);
    expect(result.incomparable).toBe(
      'the dump looks printed by an iptables older than the one that wrote the rules: port and mark matches are ' +
        'not shown (KUBE-SERVICES has rules without --dport: 2 for 10.96.0.50/tcp)',
    );
  });

  test('R09: a garbled DNAT is told by where it sends', async () => {
    const name = 'R09-garbled-dnat-target';
    const expected = await manifests(file(`${name}/manifests.yaml`));
    const actual = dumped({ ipv4: text(`${name}/node.save`) });
    expect(told(compare(expected, actual))).toEqual([
      'ipv4 shop/web:http: endpoint 10.244.2.11:8080 is not programmed: KUBE-SEP-BTZNBNILETY57XCS sends to 0.0.0.0:0',
    ]);
    expect(patchOf(expected, actual).ipv4).toContain('--to-destination 10.244.2.11:8080');
  });

  test('R11: KUBE chains in both back ends', () => {
    const name = 'R11-both-backends-own-kube-chains';
    const nft = text(`${name}/node-nft.save`);
    const node = dumped({ ipv4: nft });
    const legacy = dumped({ ipv4: text(`${name}/node-legacy.save`) }).rulesets;
    expect(told(compare(node, { ...node, otherBackend: legacy }))).toEqual([
      'ipv4 node: KUBE-SERVICES exists in both back ends, iptables-legacy and nft: which of the two decides is a matter of which was loaded first',
    ]);
    // A warning that the dump ends with is neither an error nor drift.
    const warned = compare(node, { ...node, legacyTablesPresent: true });
    expect(told(warned)).toEqual([]);
    expect(noted(warned)).toEqual([
      'iptables-legacy has tables as well; they are not in this dump and may hold rules of kube-proxy',
    ]);
  });

  test('R29: a node that firewalld flushed is one finding', async () => {
    const name = 'R29-firewalld-reload-flushed-everything';
    const expected = await manifests(file(`${name}/manifests.yaml`));
    const actual = dumped({ ipv4: text(`${name}/node.save`) });
    expect(told(compare(expected, actual))).toEqual([
      'ipv4 node: no kube-proxy rules in the IPv4 nat table (KUBE-SERVICES is missing from PREROUTING and OUTPUT); ' +
        '1 service port has none: the node was flushed, kube-proxy does not run, or it runs in nftables mode',
    ]);
    expect(patchOf(expected, actual).ipv4).toContain('-I PREROUTING 1');
  });

  test('R53: a large cluster has no comments', async () => {
    const name = 'R53-large-cluster-no-comments';
    const expected = await manifests(file(`${name}/manifests.yaml`));
    const dump = text(`${name}/nocomment.save`);
    expect(told(compare(expected, dumped({ ipv4: dump })))).toEqual([]);
    // Where the last of three endpoints is missing as well, the name is known from the hash.
    const cut = dump.replace(/^-A KUBE-SVC.* -j KUBE-SEP-VUP.*\n/m, '');
    const owners = [{ servicePortName: 'shop/web:http', protocol: 'tcp' }];
    expect(told(compare({ ...expected, owners }, dumped({ ipv4: cut })))).toEqual([
      'ipv4 shop/web:http: endpoint 10.244.3.12:8080 is not programmed; 33.3% of new connections go nowhere',
    ]);
  });

  test('R53: five thousand services take seconds', async () => {
    const generated = spawnSync('python3', [file('R53-large-cluster-no-comments/gen.py')], {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    });
    expect(generated.status).toBe(0);
    const expected = await manifests(join(folder, 'big.yaml'));
    const actual = dumped({ ipv4: generated.stdout });
    const start = process.cpuUsage();
    const result = compare(expected, actual);
    const { user, system } = process.cpuUsage(start);
    // All that it lacks is what the generator leaves out: node ports, masquerading, the filter table.
    expect(result.findings.every(({ servicePort }) => servicePort === undefined)).toBe(true);
    expect(result.families[0]?.servicePorts).toBe(5000);
    expect((user + system) / 1e6).toBeLessThan(10);
  });

  test('R56: one family is right, the other has nothing: one finding', async () => {
    const name = 'R56-mark-drop-missing-in-one-family';
    const expected = await manifests(file(`${name}/manifests.yaml`));
    const actual = dumped({ ipv4: text(`${name}/node4.save`), ipv6: text(`${name}/node6.save`) });
    expect(told(compare(expected, actual))).toEqual([
      'ipv6 node: no kube-proxy rules in the IPv6 nat table (KUBE-SERVICES is missing from PREROUTING and OUTPUT); ' +
        '1 service port has none: the node was flushed, kube-proxy does not run, or it runs in nftables mode',
    ]);
  });
});
