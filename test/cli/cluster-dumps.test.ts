/** Dumps as the tools leave them: each in every form that people pass on, with the same rules and without a word too much. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { tar } from '../load/tar-support.ts';
import {
  CLUSTER_INFO,
  type Files,
  MUST_GATHER_FILES,
  MUST_GATHER_LISTS,
  SUPPORT_BUNDLE,
} from '../support/cluster-dumps.ts';
import { run, runDiff } from '../support/run.ts';
import { workspace } from './support/workspace.ts';

const space = workspace();
const OPTIONS = ['--cluster-cidr', '10.244.0.0/16'];

function write(folder: string, files: Readonly<Record<string, string | Uint8Array>>): string {
  for (const [name, content] of Object.entries(files)) {
    const path = space.path(join(folder, name));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
  return space.path(folder);
}

/** kp-compile with bytes on standard input. */
async function compile(args: readonly string[], stdin: Uint8Array = new Uint8Array()) {
  const found = await run([...args, ...OPTIONS], { stdin });
  return { ...found, rules: found.stdout.split('\n').filter((line) => line.includes('shop/web')) };
}

const WEB = [
  '-A KUBE-SEP-FZQ6KZLGXRSKN2AD -s 10.244.1.10/32 -m comment --comment "shop/web:http" -j KUBE-MARK-MASQ',
  '-A KUBE-SEP-FZQ6KZLGXRSKN2AD -p tcp -m comment --comment "shop/web:http" -m tcp -j DNAT --to-destination 10.244.1.10:8080',
  '-A KUBE-SERVICES -d 10.96.0.50/32 -p tcp -m comment --comment "shop/web:http cluster IP" -m tcp --dport 80 -j KUBE-SVC-67NZLRHBNDSAWJRO',
  '-A KUBE-SVC-67NZLRHBNDSAWJRO ! -s 10.244.0.0/16 -d 10.96.0.50/32 -p tcp -m comment --comment "shop/web:http cluster IP" -m tcp --dport 80 -j KUBE-MARK-MASQ',
  '-A KUBE-SVC-67NZLRHBNDSAWJRO -m comment --comment "shop/web:http -> 10.244.1.10:8080" -j KUBE-SEP-FZQ6KZLGXRSKN2AD',
];

const UNSELECTED =
  'warning: no endpoints are known of 1 Service (default/kubernetes) without a selector: the input has neither EndpointSlices nor Endpoints\n  help: add them: kubectl get endpointslices -A -o yaml\n';

const POD_FILE = 'must-gather.local.7/quay-io-org-image-sha256-0f/namespaces/shop';
const TWO_COPIES = (input: string, separator: string) =>
  `${input}${separator}${POD_FILE}/pods/web-1/web-1.yaml:4:19: warning: Pod shop/web-1: metadata.name: the same object was read before with other contents (${input}${separator}${POD_FILE}/core/pods.yaml); no endpoints come from it\n  other: ${input}${separator}${POD_FILE}/core/pods.yaml:4:54\n`;

const NOTHING = () => '';

/** The tool, its files, and what is said of them as an input of that name. */
const TREES: readonly (readonly [string, Files, (input: string, separator: string) => string])[] = [
  ['kubectl cluster-info dump --output-directory', CLUSTER_INFO, () => UNSELECTED],
  ['oc adm inspect, a file for each kind', MUST_GATHER_LISTS, TWO_COPIES],
  ['oc adm inspect, a file for each object', MUST_GATHER_FILES, NOTHING],
  ['support-bundle', SUPPORT_BUNDLE, NOTHING],
];

describe.each(TREES)('a dump of %s', (title, files, says) => {
  const name = title.replace(/\W+/g, '-');
  const archive = tar(Object.entries(files).map(([file, text]) => ({ name: file, text })));

  test('as a folder', async () => {
    const folder = write(name, files);
    expect(await compile([folder])).toMatchObject({ code: 0, rules: WEB, stderr: says(folder, '/') });
  });

  test('as a folder of compressed files', async () => {
    const packed = Object.entries(files).map(([file, text]) => [`${file}.gz`, gzipSync(text)]);
    const folder = write(`${name}-packed`, Object.fromEntries(packed));
    const { code, rules, stderr } = await compile([folder]);
    expect({ code, rules, stderr: stderr.replaceAll('.yaml.gz', '.yaml') }).toEqual({
      code: 0,
      rules: WEB,
      stderr: says(folder, '/'),
    });
  });

  test.each([
    ['dump.tar', archive],
    ['dump.tar.gz', gzipSync(archive)],
    ['dump.tgz', gzipSync(archive)],
    ['dump', gzipSync(archive)],
  ])('as %s, and from standard input', async (file, bytes) => {
    const path = join(write(`${name}-archives`, { [file]: bytes }), file);
    expect(await compile([path])).toMatchObject({ code: 0, rules: WEB, stderr: says(path, '!') });
    const piped = await compile(['-'], bytes);
    expect(piped).toMatchObject({ code: 0, rules: WEB, stderr: says('<stdin>', '!') });
  });

  test('as what kp-diff expects of a node', async () => {
    const folder = write(name, files);
    const { stdout } = await compile([folder]);
    const node = space.write(`${name}.save`, stdout);
    for (const input of [folder, join(write(`${name}-archives`, { 'a.tgz': gzipSync(archive) }), 'a.tgz')]) {
      const { code, stdout: report } = await runDiff([input, node, ...OPTIONS]);
      expect([code, report.trimEnd().split('\n').at(-1)]).toEqual([
        0,
        expect.stringMatching(/^no difference in \d service ports? \(IPv4\); IPv6: not compared/),
      ]);
    }
  });
});

describe('what a dump does not say is not made up in silence:', () => {
  test('endpoints of a Service without a selector, where there are no slices', async () => {
    const { stdout, stderr } = await compile([write('plain', CLUSTER_INFO)]);
    expect(stderr).toBe(UNSELECTED);
    expect(stdout).toContain('--comment "default/kubernetes:https has no endpoints"');
  });

  test('a file of a tree that is broken is an error', async () => {
    const folder = write('broken', { ...CLUSTER_INFO, 'shop/services.json': '{"kind": "ServiceList",\n' });
    expect(await compile([folder])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(
        `${folder}/shop/services.json:2:1: error: expected a key in double quotes, found the end of the text`,
      ),
    });
  });
});
