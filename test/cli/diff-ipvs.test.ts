/** kp-diff on nodes in ipvs mode: what it reads, what it takes from listings, and what it says. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { run, runDiff } from '../support/run.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { documents, KUBE_PROXY, NODE_A, WEB } from './support/manifests.ts';

const folder = temporaryFolder();
const at = (name: string) => join(folder, name);
const NODE = ['--node', 'node-a'];
let servers = '';

function write(name: string, text: string): string {
  mkdirSync(join(at(name), '..'), { recursive: true });
  writeFileSync(at(name), text);
  return at(name);
}

/** What is told of `actual`, without notes and assumptions. */
async function told(...words: readonly string[]): Promise<readonly string[]> {
  const { stdout, stderr, code } = await runDiff([at('cluster.yaml'), ...words, ...NODE, '--output', 'json']);
  if (code > 1) throw new Error(stderr);
  const { findings } = JSON.parse(stdout) as {
    findings: { servicePort: string | null; problems: { code: string; message: string }[] }[];
  };
  return findings.flatMap(({ servicePort, problems }) =>
    problems.map(({ code: kind, message }) => `${servicePort ?? 'node'}: [${kind}] ${message}`),
  );
}

beforeAll(async () => {
  write('cluster.yaml', documents(NODE_A, WEB));
  write(
    'configured.yaml',
    documents(NODE_A, WEB, `${KUBE_PROXY}mode: ipvs\nipvs: {excludeCIDRs: [192.0.2.0/24]}\n`),
  );
  await run([at('cluster.yaml'), ...NODE, '--proxy-mode', 'ipvs', '--out-dir', at('node')]);
  await run([at('cluster.yaml'), ...NODE, '--out-dir', at('iptables')]);
  servers = readFileSync(at('node/ipvsadm.restore'), 'utf8');
});

describe('kp-diff on a node in ipvs mode', () => {
  test('reads the folder that kp-compile writes, and takes mode and scheduler from it', async () => {
    const { code, stdout } = await runDiff([at('cluster.yaml'), at('node'), ...NODE]);
    expect({ code }).toEqual({ code: 0 });
    expect(stdout).toContain('no difference in 1 service port (IPv4)');
  });

  test('takes an empty listing for what its name says', async () => {
    write('empty/ipvsadm.save', '');
    expect(await told(at('empty'), '--proxy-mode', 'ipvs')).toEqual([
      'shop/web: [cluster-ip-missing] cluster IP 10.96.0.50:80 goes nowhere',
      'shop/web: [node-port-missing] node port 30080 on 192.168.0.2 missing',
    ]);
  });

  test('tells weight 0 of a ready endpoint, and notes one that left', async () => {
    const text = servers
      .replace('10.244.2.10:8080 -m -w 1', '10.244.2.10:8080 -m -w 0')
      .concat('-a -t 10.96.0.50:80 -r 10.244.9.9:8080 -m -w 0\n');
    const file = write('weights.txt', text);
    expect(await told(file)).toEqual([
      'shop/web: [endpoint-share] endpoint 10.244.2.10:8080 has weight 0 at cluster IP 10.96.0.50:80, though it is ready',
    ]);
    const { stdout } = await runDiff([at('cluster.yaml'), file, ...NODE]);
    expect(stdout).toContain('note: IPv4: endpoint 10.244.9.9:8080 of cluster IP 10.96.0.50:80 is draining');
  });

  test('leaves virtual servers of others alone inside of excludeCIDRs', async () => {
    const file = write(
      'foreign.txt',
      `${servers}-A -t 192.0.2.10:6443 -s rr\n-A -t 198.51.100.20:8443 -s rr\n`,
    );
    const { stdout } = await runDiff([at('configured.yaml'), file, ...NODE]);
    expect(stdout).not.toContain('192.0.2.10');
    expect(stdout).toContain(
      'virtual server 198.51.100.20:8443 is not of any Service in the cluster: kube-proxy will delete it at its next sync',
    );
  });

  test('tells what ipvs mode left behind on a node of iptables mode', async () => {
    const listed = ['ipset.restore', 'ipvsadm.restore', 'kube-ipvs0.batch'].flatMap((name) => [
      '--actual',
      at(`node/${name}`),
    ]);
    const lines = await told(at('iptables'), ...listed);
    expect(lines.filter((line) => !line.includes('IPv6') && !line.includes('KUBE-6-'))).toEqual([
      expect.stringMatching(
        /^node: \[mode-leftover\] left over from ipvs mode: 2 virtual servers \(10\.96\.0\.50:80, /,
      ),
      expect.stringMatching(
        /^node: \[mode-leftover\] left over from ipvs mode: 17 IP sets .* no rule holds them$/,
      ),
      expect.stringMatching(
        /^node: \[mode-leftover\] left over from ipvs mode: 1 address \(10\.96\.0\.50\) on kube-ipvs0/,
      ),
    ]);
  });

  test('refuses a listing that is given twice', async () => {
    const { code, stderr } = await runDiff([
      ...[at('cluster.yaml'), at('node/ipvsadm.restore'), '--actual', at('node/ipvsadm.restore'), ...NODE],
    ]);
    expect(code).toBe(2);
    expect(stderr).toContain('was given already');
  });

  test('writes patches in an order in which nothing is lost', async () => {
    const drifted = servers
      .replace(/^-a .*10\.244\.2\.10.*\n/m, '')
      .concat('-a -t 10.96.0.50:80 -r 10.244.9.9:8080 -m -w 1\n');
    write('drifted/ipvsadm.save', drifted);
    for (const name of ['rules.v4', 'rules.v6', 'kube-ipvs0.batch'])
      write(`drifted/${name}`, readFileSync(at(`node/${name}`), 'utf8'));
    const sets = readFileSync(at('node/ipset.restore'), 'utf8');
    write(
      'drifted/ipset.save',
      sets.replace(/^add KUBE-CLUSTER-IP .*\n/m, 'add KUBE-CLUSTER-IP 10.96.0.51,tcp:80\n'),
    );
    const { code } = await runDiff([
      at('cluster.yaml'),
      at('drifted'),
      ...NODE,
      '--patch',
      at('patch'),
      '-q',
    ]);
    expect(code).toBe(1);
    expect(readFileSync(at('patch/patch.ipset'), 'utf8')).toBe(
      'add KUBE-CLUSTER-IP 10.96.0.50,tcp:80 -exist\ndel KUBE-CLUSTER-IP 10.96.0.51,tcp:80 -exist\n',
    );
    // Nobody knows whether it has connections: it gets no new ones.
    expect(readFileSync(at('patch/patch.ipvsadm.sh'), 'utf8')).toBe(
      '#!/bin/sh\nset -eu\nipvsadm -a -t 10.96.0.50:80 -r 10.244.2.10:8080 -m -w 1\nipvsadm -e -t 10.96.0.50:80 -r 10.244.9.9:8080 -m -w 0\n',
    );
    const script = readFileSync(at('patch/apply.sh'), 'utf8');
    const steps = ["grep -v '^del '", 'sh ./patch.ipvsadm.sh', "grep '^del '"].map((step) =>
      script.indexOf(step),
    );
    expect(steps).toEqual(steps.toSorted((a, b) => a - b));
    expect(steps[0]).toBeGreaterThan(0);
  });
});
