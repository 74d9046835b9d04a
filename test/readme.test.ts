/** What README.md shows is what happens. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { applyRestore, parseIptablesSave, printSave } from '../src/netfilter/index.ts';
import { run, runDiff } from './support/run.ts';
import { temporaryFolder } from './support/temporary.ts';

const root = join(import.meta.dirname, '..');
const AUDIT_FOLDER = temporaryFolder();
const readme = readFileSync(join(root, 'README.md'), 'utf8');

function blocks(language: string): string[] {
  return [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(
    (match) => match[1] ?? '',
  );
}

/** A line `…` stands for lines left out. */
function expectShown(text: string, whole: string): void {
  const printed = whole.trimEnd().split('\n');
  let from = 0;
  let gap = false;
  for (const line of text.trimEnd().split('\n')) {
    if (line === '…') {
      gap = true;
      continue;
    }
    const place = gap ? printed.indexOf(line, from) : from;
    expect(printed[place], `after line ${from}`).toBe(line);
    from = place + 1;
    gap = false;
  }
  if (!gap) expect(from).toBe(printed.length);
}

describe('README.md', () => {
  test('has one command that installs, builds and compiles, and one that tests', () => {
    expect(blocks('sh')).toEqual([
      'npm ci && npm run build && node bin/kp-compile.js fixtures/hello1 --node node-a\n',
      'npm test\n',
    ]);
  });

  test('shows lines of what that prints, in their order, and says how many there are', async () => {
    const { stdout } = await run([join(root, 'fixtures', 'hello1'), '--node', 'node-a']);
    const printed = stdout.trimEnd().split('\n');
    expect(readme).toContain(`It prints ${printed.length} lines;`);
    expectShown(blocks('text')[0] ?? '', stdout);
  });

  test('names every option of the help', async () => {
    const { stdout } = await run(['--help']);
    const options = [...stdout.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)(?:, (--[a-z-]+))?/gm)].flatMap((match) =>
      match.slice(1).filter((name) => name !== undefined),
    );
    expect(options.length).toBeGreaterThan(30);
    const left = options.filter((name) => !readme.includes(`\`${name}`));
    expect(left.filter((name) => !['--quiet', '--verbose', '--version', '--help'].includes(name))).toEqual(
      [],
    );
  });

  test('shows a message as it is printed', async () => {
    const message = blocks('text')[1] ?? '';
    const place = /:(\d+):/.exec(message)?.[1];
    const manifest = `apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: shop
spec:
  clusterIP: 10.96.0.50
  ports:
    - port: 70000
`;
    const { stderr } = await run(['-', '-q'], { stdin: '\n'.repeat(Number(place) - 9) + manifest });
    expect(stderr.replace('<stdin>', 'cluster.yaml')).toBe(message);
  });

  test.skipIf(!existsSync(join(root, 'dist', 'index.js')))(
    'has an example of the library that works',
    async () => {
      const [example = ''] = blocks('js');
      const { status, stdout, stderr } = spawnSync('node', ['--input-type=module', '-e', example], {
        cwd: root,
        encoding: 'utf8',
      });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      const { stdout: rules } = await run([join(root, 'fixtures', 'hello1'), '--node', 'node-a']);
      expect(stdout).toBe(rules.replace(/^#.*\n/gm, ''));
    },
  );

  test('shows the audit of a node as it goes', async () => {
    const folder = AUDIT_FOLDER;
    const [section = ''] = /^## Audit of a node$.*?(?=^## )/ms.exec(readme) ?? [];
    const steps = [...section.matchAll(/^```console\n(.*?)^```$/gms)]
      .flatMap(([, block = '']) => block.split(/^\$ /m).slice(1))
      .map((step) => ({
        command: step.slice(0, step.indexOf('\n')),
        shown: step.slice(step.indexOf('\n') + 1),
      }));
    let dump = readFileSync(join(root, 'fixtures', 'drift', 'node.save'), 'utf8');
    let code = 0;
    const patch = join(folder, 'patch');
    const answers: Readonly<Record<string, () => string>> = {
      'echo $?': () => String(code),
      'ls patch/': () => readdirSync(patch).join('  '),
      'cat patch/patch.v4': () => readFileSync(join(patch, 'patch.v4'), 'utf8'),
      // In a kernel: audit.test.ts.
      'patch/apply.sh': () => {
        const text = readFileSync(join(patch, 'patch.v4'), 'utf8');
        const commands = parseIptablesSave(text, { family: 'ipv4', keepOrder: true });
        const applied = applyRestore(parseIptablesSave(dump, { family: 'ipv4' }).ruleset, commands);
        if ('error' in applied) throw new Error(applied.error);
        dump = [...printSave(applied.ruleset)].join('');
        return '';
      },
    };
    const ran: string[] = [];
    for (const { command, shown } of steps) {
      const words = /^(?:iptables-save \| )?kp-diff (.*)$/.exec(command)?.[1]?.split(' ');
      // The first example is of a cluster of the reader's own.
      if (words?.[0] === 'manifests/') continue;
      if (words === undefined) {
        expectShown(shown, answers[command]?.() ?? `unknown command: ${command}`);
        continue;
      }
      const args = words.map((word) => word.replace(/^(?:patch|undo)\/$/, (name) => join(folder, name)));
      const result = await runDiff(args, { stdin: dump });
      code = result.code;
      expect(result.stderr).toBe('');
      expectShown(shown, result.stdout);
      ran.push(`${code} ${words.slice(1).join(' ')}`);
    }
    expect(ran).toEqual([
      '1 fixtures/drift/node.save --node node-a',
      '1 fixtures/drift/node.save --node node-a -v',
      '1 fixtures/drift/node.save --node node-a -q --patch patch/ --reverse-patch undo/',
      '0 - --node node-a',
      '1 fixtures/drift/node.save --node node-a --output github',
    ]);
    // The job in CI is the same command.
    expect(blocks('yaml').join('')).toContain(
      `- run: kp-diff ${steps.at(-2)?.command.slice('kp-diff '.length)}\n`,
    );
  });

  test('names every option that kp-diff alone has', async () => {
    const optionsOf = ({ stdout }: { readonly stdout: string }) =>
      [...stdout.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map((match) => match[1] ?? '');
    const shared = optionsOf(await run(['--help']));
    const own = optionsOf(await runDiff(['--help'])).filter((name) => !shared.includes(name));
    expect(own).toContain('--reverse-patch');
    expect(own.filter((name) => !readme.includes(`\`${name}`) && !readme.includes(`, \`${name}`))).toEqual(
      [],
    );
  });

  test('links to files that are there', () => {
    const links = [...readme.matchAll(/\]\(([^)#]+)\)/g)].map((match) => match[1] ?? '');
    expect(links.filter((link) => !link.startsWith('http') && !existsSync(join(root, link)))).toEqual([]);
  });
});
