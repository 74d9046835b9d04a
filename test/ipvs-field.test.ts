/** Reports from the field about ipvs mode, and listings of real nodes, as far as kp-compile and kp-diff answer them. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseIpset, parseIptablesSave, parseIpvsadm } from '../src/netfilter/index.ts';
import { run, runDiff } from './support/run.ts';

const FIELD = join(import.meta.dirname, '..', '..', 'shared', 'field');
const isThere = existsSync(FIELD);
if (!isThere) process.stderr.write('Skipped: reports from the field, for ../shared/field is not there.\n');

const at = (...path: readonly string[]) => join(FIELD, 'cases', ...path);

describe.skipIf(!isThere)('reports about ipvs mode', () => {
  test('R33: weight 0 of a ready endpoint is an error, of one that left a note', async () => {
    const name = 'R33-ipvs-weight-zero-but-ready';
    const { code, stdout } = await runDiff([at(name, 'manifests.yaml'), at(name, 'ipvsadm-Ln.txt')]);
    expect(code).toBe(1);
    expect(stdout).toContain(
      'shop/web:http: endpoint 10.244.2.11:8080 has weight 0 at cluster IP 10.96.0.50:80, though it is ready\n',
    );
    expect(stdout).toContain('note: IPv4: endpoint 10.244.9.9:8080 of cluster IP 10.96.0.50:80 is draining');
  });

  test('R35: foreign virtual servers, protected and not; kp-compile mentions neither', async () => {
    const name = 'R35-ipvs-foreign-virtual-server';
    const [manifests, config] = [at(name, 'manifests.yaml'), at(name, 'proxy-config.yaml')];
    const { code, stdout } = await runDiff([manifests, at(name, 'ipvsadm-Ln.txt'), '--config', config]);
    expect(code).toBe(1);
    expect(stdout).not.toContain('192.0.2.10');
    expect(stdout).toContain(
      '198.51.100.20:8443 is not of any Service in the cluster: kube-proxy will delete it',
    );
    const compiled = await run([manifests, '--config', config, '--emit', 'ipvsadm']);
    expect(compiled.stdout).toBe(
      '-A -t 10.96.0.50:80 -s rr\n-a -t 10.96.0.50:80 -r 10.244.1.10:8080 -m -w 1\n-a -t 10.96.0.50:80 -r 10.244.2.11:8080 -m -w 1\n',
    );
  });

  describe('R37: policy Local', () => {
    const name = 'R37-ipvs-etp-local-lb-has-all-endpoints';
    const manifests = at(name, 'manifests.yaml');

    test('the load balancer and the node port have local endpoints alone', async () => {
      const { stdout } = await run([
        ...[manifests, '--node', 'node-a', '--interface', 'eth0=192.168.0.2/24'],
        ...['--proxy-mode', 'ipvs', '--emit', 'ipvsadm', '-q'],
      ]);
      expect(stdout.match(/^-a .*/gm)).toEqual([
        '-a -t 10.96.0.50:80 -r 10.244.1.10:8080 -m -w 1',
        '-a -t 10.96.0.50:80 -r 10.244.2.11:8080 -m -w 1',
        '-a -t 203.0.113.10:80 -r 10.244.1.10:8080 -m -w 1',
        '-a -t 192.168.0.2:30080 -r 10.244.1.10:8080 -m -w 1',
      ]);
    });

    test('a remote endpoint of the load balancer is too many', async () => {
      const { code, stdout } = await runDiff([manifests, at(name, 'ipvs-bad.txt'), '--node', 'node-a', '-v']);
      expect(code).toBe(1);
      expect(stdout).toContain('- ipvsadm -a -t 203.0.113.10:80 -r 10.244.2.11:8080 -m -w 1\n');
      expect(stdout.match(/^ {4}[-+] .*/gm)).toHaveLength(1);
    });

    test.each([
      ['1.23', 0],
      ['1.26', 4],
      ['1.36', 4],
    ])('a node without an endpoint, kube-proxy %s: %i real servers missing', async (version, missing) => {
      const { stdout } = await runDiff([
        ...[manifests, at(name, 'ipvs-node-z.txt'), '--node', 'node-z', '--kube-version', version, '-v'],
      ]);
      expect(stdout.match(/^ {4}\+ ipvsadm -a .*/gm) ?? []).toHaveLength(missing);
    });
  });

  test('R39 and R41: the listings and saves are read without loss of a line', () => {
    for (const file of [
      at('R39-hostport-steals-cluster-ip-in-ipvs', 'ipset-save.txt'),
      at('R41-ipvs-filter-rejects-health-checks', 'ipset-save.txt'),
    ]) {
      const { sets, problems } = parseIpset(readFileSync(file, 'utf8'));
      expect(problems).toEqual([]);
      expect(sets.length).toBeGreaterThan(2);
    }
    for (const [folder, file] of [
      ['R39-hostport-steals-cluster-ip-in-ipvs', 'bad.save'],
      ['R39-hostport-steals-cluster-ip-in-ipvs', 'good.save'],
      ['R41-ipvs-filter-rejects-health-checks', 'node.save'],
      ['R41-ipvs-filter-rejects-health-checks', 'fixed.save'],
    ] as const) {
      const { problems } = parseIptablesSave(readFileSync(at(folder, file), 'utf8'));
      expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
    }
  });

  test.each([
    ['28-kubeadm-1.23-ipvs-calico-ipvsadm-Ln.txt', '10.96.0.1', '192.168.191.153'],
    ['30-minikube-ipvs-ipvsadm-Ln-trailing-blanks.txt', '10.96.0.1', '192.168.49.2'],
  ])('the listing %s is read', (file, address, real) => {
    const { virtualServers, problems } = parseIpvsadm(readFileSync(join(FIELD, 'dumps', file), 'utf8'));
    expect(problems).toEqual([]);
    expect(virtualServers.every(({ scheduler }) => scheduler === 'rr')).toBe(true);
    const api = virtualServers.find(({ service }) => service.by === 'address' && service.address === address);
    expect(api?.realServers.map((server) => server.address)).toEqual([real]);
  });
});
