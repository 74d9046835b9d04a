/** Cases from the field that are about versions below 1.28, in ../shared. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { kubeProxyVersion } from '../../src/kube/index.ts';
import { printSave } from '../../src/netfilter/index.ts';
import { compileFiles } from '../diff/support/states.ts';
import { runDiff } from '../support/run.ts';

const cases = join(import.meta.dirname, '..', '..', '..', 'shared', 'field', 'cases');
const at = (id: string) => join(cases, readdirSync(cases).find((name) => name.startsWith(`${id}-`)) ?? id);

async function rules(id: string, minor: number): Promise<string> {
  const { rulesets } = await compileFiles([join(at(id), 'manifests.yaml')], {
    version: kubeProxyVersion(minor),
    node: 'node-a',
    flags: { clusterCIDRs: ['10.244.0.0/16'] },
  });
  return [...printSave(rulesets.ipv4 ?? { family: 'ipv4', tables: [] })].join('');
}

describe.skipIf(!existsSync(cases))('cases from the field, at the versions that they are about:', () => {
  test('R13: blanks around source ranges are cut off before 1.20 too', async () => {
    const text = await rules('R13', 19);
    expect(text).toContain('-A KUBE-FW-67NZLRHBNDSAWJRO -s 198.51.100.0/24 ');
    expect(text).toContain('-A KUBE-FW-67NZLRHBNDSAWJRO -s 192.0.2.64/26 ');
  });

  test('R21: one address with two ports is one endpoint up to 1.21, two from 1.22', async () => {
    const count = async (minor: number) => (await rules('R21', minor)).match(/--to-destination/g)?.length;
    expect([await count(21), await count(22)]).toEqual([1, 2]);
  });

  test('R23: a local endpoint that terminates is used from 1.26', async () => {
    expect(await rules('R23', 26)).toMatch(/-A KUBE-SVL-67NZLRHBNDSAWJRO .*-j KUBE-SEP-FZQ6KZLGXRSKN2AD/);
    expect(await rules('R23', 25)).not.toContain('KUBE-SEP-FZQ6KZLGXRSKN2AD');
    expect(await rules('R23', 23)).not.toContain('KUBE-SEP-FZQ6KZLGXRSKN2AD');
  });

  test('R37: a node without a local endpoint is right for 1.23 and drift for 1.26', async () => {
    const args = [join(at('R37'), 'manifests.yaml'), join(at('R37'), 'ipvs-node-z.txt')];
    const options = ['--node', 'node-z', '--proxy-mode', 'ipvs', '--interface', 'eth0=192.168.0.9'];
    const code = async (version: string) =>
      (await runDiff([...args, ...options, '--cluster-cidr', '10.244.0.0/16', '--kube-version', version]))
        .code;
    expect([await code('1.23'), await code('1.26')]).toEqual([0, 1]);
  });

  test('R56: of old versions the chain KUBE-MARK-DROP is declared, of newer ones it is not', async () => {
    expect(await rules('R56', 23)).toContain(':KUBE-MARK-DROP - [0:0]');
    expect(await rules('R56', 25)).not.toContain('KUBE-MARK-DROP');
  });
});
