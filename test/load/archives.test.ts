/** Archives and compressed files: the same objects as in a folder, and nothing else from hostile ones. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { load, loadText, serviceJson, serviceYaml, withFiles } from './load-support.ts';
import { type Entry, tar } from './tar-support.ts';

const WEB: Entry = { name: 'shop/web.yaml', text: serviceYaml('web') };

/** Loads one archive of these entries, as `dump.tar`. */
const loadTar = (...entries: Entry[]) => loadText('dump.tar', tar(entries));

/** Dumps as people have them: file by file, in the layouts of the tools that take them. */
const TREES: readonly (readonly [string, Readonly<Record<string, string>>, readonly string[]])[] = [
  [
    'kubectl cluster-info dump --output-directory',
    {
      'nodes.json': '{"kind":"NodeList","apiVersion":"v1","items":[{"metadata":{"name":"node-a"}}]}',
      'shop/services.json':
        '{"kind":"ServiceList","apiVersion":"v1","items":[{"metadata":{"name":"web","namespace":"shop"}}]}',
      'shop/pods.json':
        '{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"web-1","namespace":"shop"}}]}',
      'shop/daemonsets.json': '{"kind":"DaemonSetList","apiVersion":"apps/v1","items":[]}',
      'shop/web-1/logs.txt': '==== START logs for container web of pod shop/web-1 ====\n',
    },
    ['Node node-a', 'Pod shop/web-1', 'Service shop/web'],
  ],
  [
    'oc adm must-gather: lists of each kind, and files of each object, under the name of an image',
    {
      'must-gather.local.7/event-filter.html': '<html>',
      'must-gather.local.7/quay-io-org-image-sha256-0f/version': 'openshift/must-gather\n4.14.1\n',
      'must-gather.local.7/quay-io-org-image-sha256-0f/namespaces/shop/core/services.yaml': `---\napiVersion: v1\nitems:\n- ${serviceYaml('web', '  ').trimStart()}kind: ServiceList\n`,
      'must-gather.local.7/quay-io-org-image-sha256-0f/namespaces/shop/core/services/api.yaml': `---\n${serviceYaml('api')}`,
      'must-gather.local.7/quay-io-org-image-sha256-0f/namespaces/shop/pods/web-1/web/web/logs/current.log':
        'x',
      'must-gather.local.7/quay-io-org-image-sha256-0f/namespaces/empty/core/services.yaml':
        '---\napiVersion: v1\nitems: []\nkind: ServiceList\n',
    },
    ['Service shop/api', 'Service shop/web'],
  ],
  [
    'a support bundle: a list of each namespace, errors beside them',
    {
      'support-bundle-1/version.yaml':
        'apiVersion: troubleshoot.sh/v1beta2\nkind: SupportBundle\nspec: {versionNumber: "1"}\n',
      'support-bundle-1/cluster-resources/services/shop.json': `{"kind":"ServiceList","apiVersion":"v1","items":[${serviceJson('web')}]}`,
      'support-bundle-1/cluster-resources/services-errors.json': '["forbidden"]',
      'support-bundle-1/cluster-resources/nodes.json':
        '{"kind":"NodeList","apiVersion":"v1","items":[{"metadata":{"name":"node-a"}}]}',
    },
    ['Node node-a', 'Service shop/web', 'SupportBundle ?'],
  ],
];

describe.each(TREES)('%s', (_title, files, names) => {
  const sorted = (found: readonly string[]) => [...found].sort();
  const entries = Object.entries(files).map(([name, text]) => ({ name, text }));

  test('as a folder', async () => {
    await withFiles(files, async (folder) => {
      const loaded = await load(folder, ['.']);
      expect(sorted(loaded.names)).toEqual(names);
      expect(loaded.diagnostics.filter(({ severity }) => severity !== 'note')).toEqual([]);
    });
  });

  test.each([
    ['dump.tar', tar(entries)],
    ['dump.tar.gz', gzipSync(tar(entries))],
    ['dump.tgz', gzipSync(tar(entries))],
    ['dump.bin', gzipSync(tar(entries))],
  ])('as %s, and from standard input', async (name, bytes) => {
    const loaded = await loadText(name, bytes);
    expect(sorted(loaded.names)).toEqual(names);
    expect(loaded.diagnostics.filter(({ severity }) => severity !== 'note')).toEqual([]);
    const piped = await load('', ['-'], { stdin: () => Readable.from([Buffer.from(bytes)]) });
    expect(sorted(piped.names)).toEqual(names);
  });
});

describe('one compressed file', () => {
  test('is read like what is in it, named, in a folder, in an archive', async () => {
    const packed = gzipSync(serviceYaml('web'));
    expect((await loadText('web.yaml.gz', packed)).names).toEqual(['Service shop/web']);
    expect((await loadText('web', packed)).names).toEqual(['Service shop/web']);
    expect((await loadTar({ name: 'web.json.gz', bytes: packed })).names).toEqual(['Service shop/web']);
    await withFiles({ 'a.yaml.gz': packed, 'b.txt.gz': packed }, async (folder) => {
      expect((await load(folder, ['.'])).names).toEqual(['Service shop/web']);
    });
  });

  test('has lines, as far as messages go', async () => {
    const { messages } = await loadText('a.yaml.gz', gzipSync('apiVersion: v1\nkind: 7\n'));
    expect(messages).toEqual(['a.yaml.gz:2:7: error: kind: kind must be a string, found the number 7']);
    // The marks of UTF-16 are found behind the packing.
    const wide = gzipSync(Buffer.from('\ufeffapiVersion: v1\r\nkind: 7\r\n', 'utf16le'));
    expect((await loadText('a.yaml.gz', wide)).messages).toEqual(messages);
  });

  test('is not kept in memory once it was read, and found again for messages', async () => {
    await withFiles(
      { 'a.yaml.gz': gzipSync('kind: 7\n'), 'b.yaml.gz': gzipSync('\nkind: 8\n') },
      async (folder) => {
        const { summary, messages } = await load(folder, ['.']);
        expect(messages).toEqual([
          'a.yaml.gz:1:7: note: kind: kind must be a string, found the number 7',
          'b.yaml.gz:2:7: note: kind: kind must be a string, found the number 8',
        ]);
        writeFileSync(join(folder, 'b.yaml.gz'), 'x');
        expect(summary.sources.slice(join(folder, 'a.yaml.gz'), 0, 4)?.toString()).toBe('kind');
        expect(summary.sources.slice(join(folder, 'b.yaml.gz'), 0, 4)).toBeUndefined();
      },
    );
  });
});

describe('messages about files in archives', () => {
  test('name the archive, the file and the line', async () => {
    const { messages } = await loadTar(WEB, { name: './b/bad.yaml', text: 'a: 1\nb: [\n' });
    expect(messages).toEqual([
      'dump.tar!b/bad.yaml:3:1: error: a bracket or quote is still open here, or its text is indented too little',
    ]);
  });
});

const hasGnuTar = spawnSync('tar', ['--version'], { encoding: 'utf8' }).stdout?.includes('GNU tar') === true;
if (!hasGnuTar) process.stderr.write('Skipped: archives that tar makes, for there is no GNU tar.\n');

describe.skipIf(!hasGnuTar)('archives that other programs make', () => {
  test.each(['ustar', 'pax', 'gnu', 'v7'])('tar --format=%s', async (format) => {
    const long = `${'a'.repeat(60)}/${'b'.repeat(format === 'v7' ? 20 : 70)}/web.yaml`;
    await withFiles({ [`tree/${long}`]: serviceYaml('web') }, async (folder) => {
      execFileSync('tar', ['-C', folder, `--format=${format}`, '-cf', join(folder, 'dump.tar'), 'tree']);
      const { names, messages } = await load(folder, ['dump.tar']);
      expect({ names, messages }).toEqual({ names: ['Service shop/web'], messages: [] });
    });
  });

  test('with names longer than any field', async () => {
    const long = `${`${'d'.repeat(200)}/`.repeat(5)}web.yaml`;
    await withFiles({ [`tree/${long}`]: serviceYaml('web') }, async (folder) => {
      for (const format of ['pax', 'gnu']) {
        execFileSync('tar', ['-C', folder, `--format=${format}`, '-cf', join(folder, 'dump.tar'), 'tree']);
        expect((await load(folder, ['dump.tar'])).names).toEqual(['Service shop/web']);
      }
    });
  });

  test('with links: they are named and not followed', async () => {
    await withFiles({ 'tree/web.yaml': serviceYaml('web') }, async (folder) => {
      symlinkSync('web.yaml', join(folder, 'tree/same.yaml'));
      symlinkSync('/etc/passwd', join(folder, 'tree/log'));
      mkdirSync(join(folder, 'tree/empty'));
      execFileSync('tar', ['-C', folder, '-cf', join(folder, 'dump.tar'), 'tree']);
      const { names, messages } = await load(folder, ['dump.tar']);
      expect(names).toEqual(['Service shop/web']);
      expect(messages).toEqual([
        'dump.tar!tree/log: note: is a link; links in archives are not followed',
        'dump.tar!tree/same.yaml: error: is a link; links in archives are not followed',
      ]);
    });
  });
});

describe('hostile archives', () => {
  test.each<[string, Entry, string]>([
    [
      'an absolute name',
      { name: '/etc/web.yaml', text: 'x: 1' },
      'dump.tar!/etc/web.yaml: error: the name leads out of the archive; not read',
    ],
    [
      'a name that leads up',
      { name: 'a/../../web.yaml', text: 'x: 1' },
      'dump.tar!a/../../web.yaml: error: the name leads out of the archive; not read',
    ],
    [
      'a name that leads up on Windows',
      { name: 'a\\..\\web.yaml', text: 'x: 1' },
      String.raw`dump.tar!a\..\web.yaml: error: the name leads out of the archive; not read`,
    ],
    [
      'a drive',
      { name: 'C:/web.yaml', text: 'x: 1' },
      'dump.tar!C:/web.yaml: error: the name leads out of the archive; not read',
    ],
    [
      'a hard link',
      { name: 'a.yaml', type: '1', text: '' },
      'dump.tar!a.yaml: error: is a link; links in archives are not followed',
    ],
    [
      'a terminal escape in a name',
      { name: 'a\x1b[31m.yaml', text: 'x: [' },
      String.raw`dump.tar!a\x1b[31m.yaml:1:5: error: unexpected end of the stream within a flow collection`,
    ],
  ])('%s', async (_title, entry, message) => {
    const { names, messages } = await loadTar(entry, WEB);
    expect(names).toEqual(['Service shop/web']);
    expect(messages).toEqual([message]);
  });

  test('hidden files, devices and other names are passed over', async () => {
    const { names, messages } = await loadTar(
      { name: '.git/web.yaml', text: serviceYaml('hidden') },
      { name: 'a/._web.yaml', text: '\0' },
      { name: 'dev.yaml', type: '3', text: '' },
      { name: 'notes.txt', text: 'x' },
      WEB,
    );
    expect({ names, messages }).toEqual({ names: ['Service shop/web'], messages: [] });
  });

  test('that are cut off or damaged are errors, and what was whole is read', async () => {
    const whole = tar([WEB, { name: 'b.yaml', text: serviceYaml('b') }]);
    const cut = await loadText('dump.tar', whole.subarray(0, 1600));
    expect(cut.names).toEqual(['Service shop/web']);
    expect(cut.messages).toEqual([
      'dump.tar: error: the tar archive ends inside the entry at byte 1025\n  help: the archive may be cut off',
    ]);
    const bent = Buffer.from(whole);
    bent.fill(0x41, 1024, 1100);
    expect((await loadText('dump.tar', bent)).messages).toEqual([
      'dump.tar: error: the tar header at byte 1025 is damaged\n  help: the archive may be cut off',
    ]);
    expect((await loadText('dump.tgz', gzipSync(whole).subarray(0, 60))).messages).toEqual([
      'dump.tgz: error: cannot be unpacked: unexpected end of file\n  help: it may be cut off: gzip -t FILE',
    ]);
  });

  test('sizes that are none, or larger than the archive, are errors', async () => {
    for (const size of ['77777777777', 'xyz']) {
      const { messages } = await loadTar({ name: 'a.yaml', text: 'x', size });
      expect(messages[0]).toBe(
        'dump.tar: error: the tar archive ends inside the entry at byte 1\n  help: the archive may be cut off',
      );
    }
  });

  test('bombs are given up at the limit', async () => {
    const bomb = gzipSync(Buffer.alloc(20_000_000, 'a'));
    expect(bomb.length).toBeLessThan(30_000);
    const message =
      'unpacks to more than 1000000 bytes\n  help: raise --max-unpacked-bytes, if that is no archive bomb';
    const limits = { maxUnpackedBytes: 1_000_000 };
    expect((await loadText('a.yaml.gz', bomb, { limits })).messages).toEqual([
      `a.yaml.gz: error: ${message}`,
    ]);
    const inside = tar([{ name: 'a.yaml.gz', bytes: bomb }]);
    expect((await loadText('dump.tar', inside, { limits })).messages).toEqual([
      `dump.tar!a.yaml.gz: error: ${message}`,
    ]);
  });

  test('bombs in one archive share the limit, and after it nothing is unpacked', async () => {
    const packed = gzipSync(`# ${'a'.repeat(600_000)}\n`);
    const entries = ['a', 'b', 'c'].map((name) => ({ name: `${name}.yaml.gz`, bytes: packed }));
    const limits = { maxUnpackedBytes: 1_000_000 };
    const help = '\n  help: raise --max-unpacked-bytes, if that is no archive bomb';
    expect((await loadText('dump.tar', tar(entries), { limits })).messages).toEqual([
      `dump.tar!b.yaml.gz: error: unpacks to more than 1000000 bytes${help}`,
      `dump.tar!c.yaml.gz: error: unpacks to more than 1000000 bytes${help}`,
    ]);
    // Files on their own do not.
    await withFiles({ 'a.yaml.gz': packed, 'b.yaml.gz': packed, 'c.yaml.gz': packed }, async (folder) => {
      expect((await load(folder, ['.'], { limits })).messages).toEqual([]);
    });
  });

  test('names that no system takes are cut and refused', async () => {
    const long = `${'d'.repeat(40_000)}.yaml`;
    const gnu: Entry[] = [{ name: '././@LongLink', type: 'L', text: `${long}\0` }, WEB];
    const pax: Entry[] = [{ name: 'pax', type: 'x', text: `40017 path=${long}\n` }, WEB];
    for (const entries of [gnu, pax]) {
      const bytes = tar([...entries, { ...WEB, name: 'b.yaml' }]);
      const { names, messages } = await load('', ['-'], { stdin: () => Readable.from([bytes]) });
      expect(names).toEqual(['Service shop/web']);
      expect(messages).toEqual([
        `<stdin>!${'d'.repeat(742)}…(31776 characters)…${'d'.repeat(250)}: error: the name has 40005 bytes, more than any system takes; not read`,
      ]);
    }
  });

  test('errors of an archive are given up together', async () => {
    const entries = Array.from({ length: 20 }, (_, index) => ({ name: `../${index}.yaml`, text: '' }));
    const { messages, names } = await loadText('dump.tar', tar([...entries, WEB]), {
      limits: { maxProblems: 2 },
    });
    expect(names).toEqual([]);
    expect(messages).toEqual([
      'dump.tar!../0.yaml: error: the name leads out of the archive; not read',
      'dump.tar!../1.yaml: error: the name leads out of the archive; not read',
      'dump.tar!../2.yaml: error: more than 2 errors in this file; from here on it was not read\n  help: raise --max-errors to see the others',
    ]);
  });

  test('many files are given up at the limit', async () => {
    const entries = Array.from({ length: 20 }, (_, index) => ({ name: `${index}.yaml`, text: '# x\n' }));
    expect((await loadText('dump.tar', tar(entries), { limits: { maxFiles: 10 } })).messages).toEqual([
      'dump.tar!10.yaml: error: more than 10 files; the rest was not read',
    ]);
  });

  test('archives in archives and in folders are passed over with a note', async () => {
    const inner = tar([WEB]);
    const { messages } = await loadTar({ name: 'inner.json', bytes: inner }, WEB);
    expect(messages).toEqual([
      'dump.tar!inner.json: note: is a tar archive, not text; skipped\n  help: unpack it first and pass the folder',
    ]);
    await withFiles({ 'a.tar': inner }, async (folder) => {
      expect((await load(folder, ['.'])).names).toEqual([]);
    });
  });

  test('without anything to read are warned about', async () => {
    expect((await loadTar({ name: 'a.txt', text: 'x' })).messages).toEqual([
      'dump.tar: warning: no .yaml, .yml or .json file was read in this archive',
    ]);
  });

  test('nothing is written', async () => {
    await withFiles({}, async (folder) => {
      writeFileSync(join(folder, 'dump.tar'), tar([{ name: '../escaped.yaml', text: 'x: 1' }, WEB]));
      await load(folder, ['dump.tar']);
      expect(readdirSync(folder)).toEqual(['dump.tar']);
    });
  });
});
