/** What README.md shows is what happens. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { run } from './support/run.ts';

const root = join(import.meta.dirname, '..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');

function blocks(language: string): string[] {
  return [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(
    (match) => match[1] ?? '',
  );
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
    const shown = (blocks('text')[0] ?? '').trimEnd().split('\n');
    let from = 0;
    let gap = false;
    for (const line of shown) {
      if (line === '…') {
        gap = true;
        continue;
      }
      const place = gap ? printed.indexOf(line, from) : from;
      expect(printed[place], `after line ${from}`).toBe(line);
      from = place + 1;
      gap = false;
    }
    expect(from).toBe(printed.length);
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

  test('links to files that are there', () => {
    const links = [...readme.matchAll(/\]\(([^)#]+)\)/g)].map((match) => match[1] ?? '');
    expect(links.filter((link) => !link.startsWith('http') && !existsSync(join(root, link)))).toEqual([]);
  });
});
