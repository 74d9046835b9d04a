import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { load, serviceJson, serviceYaml, withFiles } from './load-support.ts';

describe('a directory', () => {
  test('gives its .yaml, .yml and .json files at any depth, in the order of their names', async () => {
    const files = {
      'b.yml': serviceYaml('b'),
      'a.yaml': serviceYaml('a'),
      'B.YAML': serviceYaml('upper'),
      'sub/z.json': serviceJson('z'),
      'sub/deeper/w.yaml': serviceYaml('w'),
      'readme.md': '# no',
      version: 'openshift/must-gather\n4.16.0\n',
    };
    await withFiles(files, async (folder) => {
      const loaded = await load(folder, ['.']);
      expect(loaded.names).toEqual([
        'Service shop/upper',
        'Service shop/a',
        'Service shop/b',
        'Service shop/w',
        'Service shop/z',
      ]);
      expect(loaded.messages).toEqual([]);
      expect(loaded.summary.files).toBe(5);
    });
  });

  test('keeps its hidden files and folders to itself', async () => {
    const files = { '.hidden.yaml': 'broken: [', '.git/x.yaml': 'broken: [', 'a.yaml': serviceYaml('a') };
    await withFiles(files, async (folder) => {
      const loaded = await load(folder, ['.']);
      expect(loaded.names).toEqual(['Service shop/a']);
      expect(loaded.messages).toEqual([]);
    });
  });

  test('is entered once, whatever links lead to it', async () => {
    await withFiles({ 'a/x.yaml': serviceYaml('x') }, async (folder) => {
      symlinkSync('..', join(folder, 'a', 'loop'));
      symlinkSync('a', join(folder, 'b'));
      const loaded = await load(folder, ['.']);
      expect(loaded.names).toEqual(['Service shop/x']);
      expect(loaded.messages).toEqual([
        'a/loop: note: this directory was read already, by another name or through a link; not read again',
        'b: note: this directory was read already, by another name or through a link; not read again',
      ]);
    });
  });

  test('that is a mounted ConfigMap gives each file once', async () => {
    await withFiles({ '..2024_01_01/web.yaml': serviceYaml('web') }, async (folder) => {
      symlinkSync('..2024_01_01', join(folder, '..data'));
      symlinkSync('..data/web.yaml', join(folder, 'web.yaml'));
      const loaded = await load(folder, ['.']);
      expect(loaded.names).toEqual(['Service shop/web']);
      expect(loaded.messages).toEqual([]);
    });
  });

  test('without anything to read is warned about', async () => {
    await withFiles({ 'sub/notes.txt': 'x' }, async (folder) => {
      const { messages } = await load(folder, ['sub']);
      expect(messages).toEqual(['sub: warning: no .yaml, .yml or .json file was read in this directory']);
    });
  });

  test('may hold files of other people, which are noted, and broken ones, which are errors', async () => {
    const files = {
      'Chart.yaml': 'apiVersion: v2\nname: shop\n',
      'drone.yaml': 'kind: pipeline\ntype: docker\n',
      'list.yaml': '- a\n- b\n',
      'package.json': '{"name": "shop"}',
      'template.yaml': 'kind: Service\nmetadata:\n  {{ include "labels" . }}\n',
      'web.yaml': serviceYaml('web'),
      'zip.yaml': Buffer.from([0x50, 0x4b, 3, 4, 0]),
    };
    await withFiles(files, async (folder) => {
      const loaded = await load(folder, ['.']);
      expect(loaded.names).toEqual(['Service shop/web']);
      expect(loaded.messages).toEqual([
        'Chart.yaml:1:1: note: no kind: this is no Kubernetes object',
        'drone.yaml:1:1: warning: kind pipeline without apiVersion',
        "list.yaml:1:1: note: a sequence is no Kubernetes object; expected a mapping with apiVersion and kind\n  help: pass the List itself, or its items one after another (jq '.items[]')",
        'package.json:1:1: note: no kind: this is no Kubernetes object',
        'template.yaml:3:3: error: a mapping or sequence stands where a key must be\n  help: this looks like a template; render it first, for example helm template CHART | … -',
        'zip.yaml: note: is a zip file, not text; skipped\n  help: unpack it first and pass the folder',
      ]);
    });
  });
});

describe('a file that the user named', () => {
  test('is read whatever its name, as YAML or JSON', async () => {
    await withFiles({ 'dump.txt': serviceJson('a'), services: serviceYaml('b') }, async (folder) => {
      expect((await load(folder, ['dump.txt', 'services'])).names).toEqual([
        'Service shop/a',
        'Service shop/b',
      ]);
    });
  });

  test('is read once, however often it is named', async () => {
    await withFiles({ 'a.yaml': serviceYaml('a') }, async (folder) => {
      const loaded = await load(folder, ['a.yaml', '.', 'a.yaml']);
      expect(loaded.names).toEqual(['Service shop/a']);
      expect(new Set(loaded.messages)).toEqual(
        new Set([
          'a.yaml: note: this file was read already, by another name or through a link; not read again',
        ]),
      );
    });
  });

  test('has to hold Kubernetes objects', async () => {
    const files = { 'values.yaml': 'replicas: 2\n', 'empty.yaml': '\n \n', 'comment.yaml': '# nothing\n' };
    await withFiles(files, async (folder) => {
      const { messages } = await load(folder, ['values.yaml', 'empty.yaml', 'comment.yaml']);
      expect(messages).toEqual([
        'values.yaml:1:1: error: no kind: this is no Kubernetes object',
        'empty.yaml: warning: is empty',
      ]);
    });
  });

  test('and cannot be read is an error, and the next one is read', async () => {
    await withFiles({ 'a.yaml': serviceYaml('a') }, async (folder) => {
      const loaded = await load(folder, ['missing.yaml', 'a.yaml/b.yaml', 'a.yaml']);
      expect(loaded.names).toEqual(['Service shop/a']);
      expect(loaded.messages).toEqual([
        'missing.yaml: error: cannot be read: no such file or directory',
        'a.yaml/b.yaml: error: cannot be read: not a directory',
      ]);
    });
  });

  test('and is a device or an idle pipe is refused at once', async () => {
    await withFiles({}, async (folder) => {
      execFileSync('sh', ['-c', 'mkfifo "$0"', join(folder, 'pipe.yaml')]);
      symlinkSync('/dev/zero', join(folder, 'zero.yaml'));
      const named = await load(folder, ['pipe.yaml', 'zero.yaml']);
      expect(named.messages).toEqual([
        'pipe.yaml: error: is a pipe with nothing in it and nobody writing to it',
        'zero.yaml: error: is a device, not a file',
      ]);
      const found = await load(folder, ['.']);
      expect(found.messages.map((message) => message.replace(folder, '.'))).toEqual([
        '.: warning: no .yaml, .yml or .json file was read in this directory',
        'pipe.yaml: note: is no regular file; skipped',
        'zero.yaml: note: is no regular file; skipped',
      ]);
    });
  });
});

describe('standard input', () => {
  test('is read once, in its turn, and found again for messages', async () => {
    await withFiles({ 'a.yaml': serviceYaml('a'), 'b.yaml': serviceYaml('b') }, async (folder) => {
      const text = `${serviceYaml('in')}---\nspec: {}\n`;
      const loaded = await load(folder, ['a.yaml', '-', 'b.yaml', '-'], { text });
      expect(loaded.names).toEqual(['Service shop/a', 'Service shop/in', 'Service shop/b']);
      expect(loaded.messages).toEqual([
        "<stdin>: error: standard input can be read once; '-' was given twice",
        '<stdin>:5:1: error: no kind: this is no Kubernetes object',
      ]);
    });
  });
});

describe('the kinds that are not wanted', () => {
  test('are counted by kind and not handed on', async () => {
    const text = `${serviceYaml('a')}---\napiVersion: v1\nkind: ConfigMap\n---\napiVersion: v1\nkind: ConfigMap\n`;
    await withFiles({ 'a.yaml': text }, async (folder) => {
      const loaded = await load(folder, ['.'], {
        wants: (apiVersion, kind) => apiVersion === 'v1' && kind === 'Service',
      });
      expect(loaded.names).toEqual(['Service shop/a']);
      expect([...loaded.summary.skipped]).toEqual([['ConfigMap', 2]]);
      expect(loaded.summary.objects).toBe(1);
      expect(loaded.messages).toEqual([]);
    });
  });
});

test('a folder that is named twice is no empty folder', async () => {
  await withFiles({ 'folder/a.yaml': serviceYaml('a') }, async (folder) => {
    const loaded = await load(folder, ['folder', 'folder']);
    expect(loaded.names).toEqual(['Service shop/a']);
    expect(loaded.messages).toEqual([
      'folder: note: this directory was read already, by another name or through a link; not read again',
    ]);
  });
});
