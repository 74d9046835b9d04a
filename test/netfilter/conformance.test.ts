/**
 * What the real kube-proxy wrote and what a real kernel printed, byte for byte: the two printers are the inverse
 * of the parser.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Family } from '../../src/netfilter/index.ts';
import { parseIptablesSave, printRestore } from '../../src/netfilter/index.ts';
import { savedText } from './support/rules.ts';
import { sharedFiles } from './support/shared.ts';

const files = sharedFiles('conformance/expected');
const saves = files.filter(({ name }) => /save\.v[46]$/.test(name));
const restores = files.filter(({ name }) => /restore\.v[46]$/.test(name));

/** kube-proxy 1.23 declares the firewall chain of a load balancer once for each of its addresses. */
const DECLARES_TWICE = '1.23/iptables/lb-ipmode-vip/restore.v4';

function familyOf(name: string): Family {
  return name.endsWith('6') ? 'ipv6' : 'ipv4';
}

describe.skipIf(saves.length === 0)('a save of a real kernel is printed as it was', () => {
  test.each(saves)('$name', ({ name, path }) => {
    const text = readFileSync(path, 'utf8');
    const { ruleset, problems } = parseIptablesSave(text, { family: familyOf(name) });
    expect(problems).toEqual([]);
    expect(savedText(ruleset)).toBe(text);
  });
});

describe.skipIf(restores.length === 0)(
  'the input of iptables-restore is printed as kube-proxy wrote it',
  () => {
    test.each(restores)('$name', ({ name, path }) => {
      const text = readFileSync(path, 'utf8');
      const family = familyOf(name);
      const { ruleset, problems } = parseIptablesSave(text, { family, keepOrder: true });
      const printed = [...printRestore(ruleset)].join('');
      if (name === DECLARES_TWICE) {
        expect(problems.map(({ code }) => code)).toEqual(['duplicate-chain']);
        expect(printed.split('\n')).toHaveLength(text.split('\n').length - 1);
        return;
      }
      expect(problems).toEqual([]);
      expect(printed).toBe(text);
    });
  },
);

describe.skipIf(saves.length === 0)('the family is told from the rules themselves', () => {
  const telling = [...saves, ...restores].filter(({ name }) => !/empty-cluster/.test(name));
  test.each(telling.slice(0, 400))('$name', ({ name, path }) => {
    const text = readFileSync(path, 'utf8');
    // A table may hold nothing that differs between the families.
    if (!/::|icmp6|ffff:|\d+\.\d+\.\d+\.\d+/.test(text.replace(/"[^"]*"/g, ''))) return;
    expect(parseIptablesSave(text).ruleset.family).toBe(familyOf(name));
  });
});
