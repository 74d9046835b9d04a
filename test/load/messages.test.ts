import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Diagnostic, FieldPath } from '../../src/diagnostics.ts';
import { compareDiagnostics, escapeText, locate, renderDiagnostic } from '../../src/load/index.ts';
import { load, loadText, withFiles } from './load-support.ts';

const YAML = `# web
apiVersion: v1
kind: Service
metadata:
  name: web
  labels: &labels {app: web, "a.b/c": 'ö', tier: front}
spec:
  selector: *labels
  ports:
  - name: http
    port: 99999
  - <<: &base {protocol: TCP,
      targetPort: 1}
    port: 1
  clusterIP:
  type: "ClusterIP"
`;

const JSON_TEXT = `{"apiVersion": "v1", "kind": "List", "items": [
\t{"apiVersion": "v1", "kind": "A", "é": 1, "spec": {"ports": [{"port": 1}, {
\t\t"port": 2}]}}]}
`;

describe('a field', () => {
  const places: [string, FieldPath, string][] = [
    ['is found at its value', ['spec', 'ports', 0, 'port'], '11:11'],
    ['is found by a quoted key', ['metadata', 'labels', 'a.b/c'], '6:39'],
    ['is found at its bracket', ['metadata', 'labels'], '6:19'],
    ['that is an alias is found there', ['spec', 'selector'], '8:13'],
    ['inside an alias is found at its anchor', ['spec', 'selector', 'tier'], '6:50'],
    ['that was merged is found where it came from', ['spec', 'ports', 1, 'targetPort'], '13:19'],
    ['with nothing in it is found at its key', ['spec', 'clusterIP'], '15:3'],
    ['that is missing is found at its parent', ['spec', 'ports', 0, 'nodePort'], '10:5'],
    [
      'that is missing with its parents is found at the nearest',
      ['status', 'loadBalancer', 'ingress', 0],
      '2:1',
    ],
    ['past the end of a sequence is found at the sequence', ['spec', 'ports', 7], '10:3'],
    ['of no name is the object', [], '2:1'],
  ];
  test.each(places)('%s', async (_, path, expected) => {
    const { objects, summary } = await loadText('a.yaml', YAML);
    const [object] = objects;
    if (object === undefined) throw new Error('not loaded');
    // The file is gone by now, so the places have to come from a text that is kept.
    expect(locate(object.origin, path, summary.sources)).toBeUndefined();
    const kept = await load('.', ['-'], { text: YAML });
    const [again] = kept.objects;
    if (again === undefined) throw new Error('not loaded');
    const position = locate(again.origin, path, kept.summary.sources);
    expect(`${position?.line}:${position?.column}`).toBe(expected);
  });

  test('is found in JSON, behind tabs and letters of several bytes', async () => {
    const { objects, summary } = await load('.', ['-'], { text: JSON_TEXT });
    const [object] = objects;
    if (object === undefined) throw new Error('not loaded');
    expect(locate(object.origin, ['spec', 'ports', 0, 'port'], summary.sources)).toEqual({
      line: 2,
      column: 72,
    });
    expect(locate(object.origin, ['spec', 'ports', 1, 'port'], summary.sources)).toEqual({
      line: 3,
      column: 11,
    });
  });

  test('is not looked for in a file that has changed', async () => {
    await withFiles({ 'a.yaml': YAML }, async (folder) => {
      const { objects, summary } = await load(folder, ['a.yaml']);
      const [object] = objects;
      if (object === undefined) throw new Error('not loaded');
      expect(locate(object.origin, ['kind'], summary.sources)).toEqual({ line: 3, column: 7 });
      writeFileSync(join(folder, 'a.yaml'), `${YAML}# more\n`);
      expect(locate(object.origin, ['metadata'], { ...summary.sources })).toBeUndefined();
    });
  });

  test('is found in the right line far into a file', async () => {
    const filler = `apiVersion: v1\nkind: Filler\ndata: ${'x'.repeat(500)}\r\n---\r\n`.repeat(1000);
    const { objects, summary } = await load('.', ['-'], { text: `${filler}${YAML}` });
    const object = objects.at(-1);
    if (object === undefined) throw new Error('not loaded');
    expect(locate(object.origin, ['spec', 'ports', 0, 'port'], summary.sources)).toEqual({
      line: 4011,
      column: 11,
    });
  });
});

describe('a message', () => {
  const place = { file: 'web.yaml', line: 12, column: 9 };
  const at = { line: 3, column: 4 };
  const origin = { file: 'a.yaml', format: 'yaml', start: 0, end: 9, path: [] } as const;
  const base = { code: 'x', severity: 'error', message: 'is bad' } as const;
  const cases: [string, Diagnostic, string][] = [
    [
      'names place, object and field',
      { ...base, place, object: 'Service shop/web', field: ['spec', 'ports', 0, 'port'] },
      'web.yaml:12:9: error: Service shop/web: spec.ports[0].port: is bad',
    ],
    [
      'has its help on a line of its own',
      { ...base, severity: 'warning', origin, help: 'pass --x' },
      'a.yaml:3:4: warning: is bad\n  help: pass --x',
    ],
    ['without a place is only itself', { ...base, severity: 'note' }, 'note: is bad'],
    ['about a file has no line', { ...base, place: { file: 'b' } }, 'b: error: is bad'],
    ['about standard input says so', { ...base, place: { file: '-', line: 1 } }, '<stdin>:1: error: is bad'],
    [
      'cannot hold a line feed or an escape',
      {
        ...base,
        message: 'a\nb\x1b[31m',
        object: 'Service \u202ex',
        place: { file: '\x07.yaml' },
        help: '\r',
      },
      '\\x07.yaml: error: Service \\u202ex: a\\x0ab\\x1b[31m\n  help: \\x0d',
    ],
    [
      'quotes keys that are no words',
      { ...base, field: ['metadata', 'labels', 'a.b/c\u200b'] },
      'error: metadata.labels["a.b/c\\u200b"]: is bad',
    ],
  ];
  test.each(cases)('%s', (_, diagnostic, expected) => {
    expect(renderDiagnostic(diagnostic, () => at)).toBe(expected);
  });

  test('without a known line still names the file', () => {
    expect(renderDiagnostic({ ...base, origin }, () => undefined)).toBe('a.yaml: error: is bad');
  });

  test('cuts long values in their middle', () => {
    expect(escapeText('a'.repeat(1000), 20)).toBe(`${'a'.repeat(15)}…(980 characters)…${'a'.repeat(5)}`);
    expect(escapeText('short')).toBe('short');
    expect(escapeText('\ud800é😀\x7f\x9b\u2028')).toBe('\\ud800é😀\\x7f\\x9b\\u2028');
  });
});

describe('the order of messages', () => {
  test('is that of the inputs, then of the text, and does not depend on the order of reporting', async () => {
    const files = { 'b.yaml': 'a: 1\n---\nb: [\n---\nc: 2\n', 'a.yaml': 'x\n' };
    await withFiles(files, async (folder) => {
      const { diagnostics, summary, messages } = await load(folder, ['b.yaml', 'a.yaml', 'none.yaml']);
      expect(messages.map((message) => message.split(' ')[0])).toEqual([
        'b.yaml:1:1:',
        'b.yaml:4:1:',
        'b.yaml:5:1:',
        'a.yaml:1:1:',
        'none.yaml:',
      ]);
      const reversed = [...diagnostics].reverse();
      expect(reversed.sort(compareDiagnostics(summary.sources))).toEqual(diagnostics);
    });
  });
});
