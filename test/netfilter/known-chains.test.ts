import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { newKnownChains, parseIptablesSave, splitDumps } from '../../src/netfilter/index.ts';

const DUMP = `*nat
:PREROUTING ACCEPT [0:0]
:KUBE-A - [0:0]
:KUBE-B - [0:0]
-A PREROUTING -j KUBE-A
-A KUBE-A -d 10.96.0.1/32 -j KUBE-B
-A KUBE-A -j RETURN
-A KUBE-B -j DNAT --to-destination 10.244.0.1:80
COMMIT
`;

function chainsOf(text: string, known = newKnownChains()) {
  const chains = parseIptablesSave(text, { known }).ruleset.tables[0]?.chains ?? [];
  return new Map(chains.map((chain) => [chain.name, chain]));
}

describe('a chain whose lines are those of a text that was read before', () => {
  test('has the very rules of that one', () => {
    const known = newKnownChains();
    const first = chainsOf(DUMP, known);
    const second = chainsOf(DUMP.replace('10.244.0.1:80', '10.244.0.2:80'), known);
    expect(second.get('KUBE-A')?.rules).toBe(first.get('KUBE-A')?.rules);
    expect(second.get('PREROUTING')?.rules).toBe(first.get('PREROUTING')?.rules);
    expect(second.get('KUBE-B')?.rules).not.toBe(first.get('KUBE-B')?.rules);
  });

  test('gets more rules of its own later on, and the other one does not', () => {
    const known = newKnownChains();
    const first = chainsOf(DUMP, known);
    const more = DUMP.replace('COMMIT', '-A KUBE-A -j ACCEPT\nCOMMIT');
    expect(chainsOf(more, known).get('KUBE-A')?.rules).toHaveLength(3);
    expect(first.get('KUBE-A')?.rules).toHaveLength(2);
    // In this order too: what was noted of the first text must not grow with it.
    const again = newKnownChains();
    expect(chainsOf(more, again).get('KUBE-A')?.rules).toHaveLength(3);
    expect(chainsOf(DUMP, again).get('KUBE-A')?.rules).toHaveLength(2);
  });

  test.each([
    ['one more rule', '-A KUBE-A -j RETURN\n', '-A KUBE-A -j RETURN\n-A KUBE-A -j DROP\n', 3],
    ['one rule less', '-A KUBE-A -j RETURN\n', '', 1],
    ['another rule', '-A KUBE-A -j RETURN\n', '-A KUBE-A -j RETURN -s 10.0.0.1\n', 2],
    ['lines of CRLF', '-A KUBE-A -j RETURN\n', '-A KUBE-A -j RETURN\r\n', 2],
  ])('is read anew with %s', (_title, from, to, count) => {
    const known = newKnownChains();
    const first = chainsOf(DUMP, known);
    const second = chainsOf(DUMP.replace(from, to), known);
    expect(second.get('KUBE-A')?.rules).toHaveLength(count);
    expect(second.get('KUBE-A')?.rules).not.toBe(first.get('KUBE-A')?.rules);
  });

  test('in another table, is another chain', () => {
    const known = newKnownChains();
    chainsOf(DUMP, known);
    const { problems, ruleset } = parseIptablesSave(DUMP.replace('*nat', '*filter'), { known });
    expect({ problems, ruleset }).toEqual({
      problems: [],
      ruleset: parseIptablesSave(DUMP.replace('*nat', '*filter')).ruleset,
    });
  });

  test('with a line that is worth a message, gets its message in both texts', () => {
    const known = newKnownChains();
    const odd = DUMP.replace('-A KUBE-A -j RETURN', '-A KUBE-A -j RETURN # why');
    for (const _ of [1, 2]) {
      expect(parseIptablesSave(odd, { known }).problems.map(({ code, line }) => `${line} ${code}`)).toEqual([
        '7 trailing-comment',
      ]);
    }
  });
});

const SNAPSHOTS = join(import.meta.dirname, '../../snapshots');
const texts = ['hello1', 'node-port-local', 'dual-stack', 'session-affinity'].flatMap((name) =>
  readdirSync(join(SNAPSHOTS, name), { recursive: true, encoding: 'utf8' })
    .filter((file) => /rules\.v[46]$/.test(file))
    .map((file) => readFileSync(join(SNAPSHOTS, name, file), 'utf8')),
);

/** What people and other programs do to a dump, by line. */
const change = fc.record({
  kind: fc.constantFrom('drop', 'double', 'swap', 'move', 'blank', 'quote', 'letter', 'comment', 'rename'),
  at: fc.nat(),
  to: fc.nat(),
});

function changed(text: string, changes: readonly { kind: string; at: number; to: number }[]): string {
  const lines = text.split('\n');
  for (const { kind, at, to } of changes) {
    const from = at % lines.length;
    const other = to % lines.length;
    const line = lines[from] ?? '';
    if (kind === 'drop') lines.splice(from, 1);
    else if (kind === 'double') lines.splice(other, 0, line);
    else if (kind === 'swap') [lines[from], lines[other]] = [lines[other] ?? '', line];
    else if (kind === 'move') lines.splice(other, 0, ...lines.splice(from, 1));
    else if (kind === 'blank') lines.splice(from, 0, '');
    else if (kind === 'quote') lines[from] = `> ${line}`;
    else if (kind === 'letter') lines[from] = `${line.slice(0, -1)}"`;
    else if (kind === 'comment') lines[from] = `${line} # said somebody`;
    else lines[from] = line.replace(/KUBE-S[A-Z]+-[A-Z2-7]+/, 'KUBE-SVC-AAAAAAAAAAAAAAAA');
  }
  return lines.join('\n');
}

test('texts read one after another come out as they do one by one', () => {
  expect(texts.length).toBeGreaterThan(4);
  const variant = fc
    .tuple(fc.constantFrom(...texts), fc.array(change, { maxLength: 6 }))
    .map(([text, changes]) => changed(text, changes));
  fc.assert(
    fc.property(fc.array(variant, { minLength: 2, maxLength: 3 }), (variants) => {
      const known = newKnownChains();
      const together = variants.map((text) => splitDumps(text, { known }));
      expect(together).toEqual(variants.map((text) => splitDumps(text)));
    }),
    { numRuns: 300 },
  );
});
