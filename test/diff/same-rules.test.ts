import { describe, expect, test } from 'vitest';
import { sameRules } from '../../src/diff/same-rules.ts';
import { parseIptablesSave, printSave, type Rule } from '../../src/netfilter/index.ts';
import { fixtures } from '../support/fixtures.ts';
import { compileFixture } from './support/states.ts';

/**
 * Compiled rules and those of a dump are spelled in two ways: hosts with and without `/32`, probabilities as kube-proxy
 * writes them and as the kernel keeps them. A whole cluster compares fast only if none of that looks like a difference.
 */
describe('the rules of each compiled chain are the same as those of its dump:', () => {
  test.each(fixtures().map((fixture) => [fixture.name, fixture] as const))('%s', async (_name, fixture) => {
    const { rulesets } = await compileFixture(fixture, '1.36');
    let compared = 0;
    for (const family of ['ipv4', 'ipv6'] as const) {
      const ruleset = rulesets[family];
      if (ruleset === undefined) continue;
      const dump = parseIptablesSave([...printSave(ruleset)].join(''), { family }).ruleset;
      for (const table of ruleset.tables) {
        const read = dump.tables.find(({ name }) => name === table.name)?.chains ?? [];
        expect(read.map(({ name }) => name)).toEqual(table.chains.map(({ name }) => name));
        const others = table.chains.filter(({ rules }, at) => !sameRules(rules, read[at]?.rules ?? []));
        expect(others.map(({ name }) => name)).toEqual([]);
        compared += read.length;
      }
    }
    expect(compared).toBeGreaterThan(20);
  });
});

function rulesOf(...lines: string[]): readonly Rule[] {
  const text = `*nat\n:A - [0:0]\n${lines.map((line) => `-A A ${line}\n`).join('')}COMMIT\n`;
  return parseIptablesSave(text, { family: 'ipv4' }).ruleset.tables[0]?.chains[0]?.rules ?? [];
}

describe('rules are the same', () => {
  test.each([
    ['a host with and without its prefix', '-s 10.0.0.1 -j RETURN', '-s 10.0.0.1/32 -j RETURN', true],
    ['a host and a network', '-s 10.0.0.1 -j RETURN', '-s 10.0.0.1/31 -j RETURN', false],
    ['an IPv6 host with and without its prefix', '-s fd00::1 -j RETURN', '-s fd00::1/128 -j RETURN', true],
    ['an address and any', '-s 10.0.0.1 -j RETURN', '-j RETURN', false],
    ['an address and all but it', '-d 10.0.0.1 -j RETURN', '! -d 10.0.0.1 -j RETURN', false],
    [
      // round(0.3333333333 × 2^31) / 2^31 = 0.33333333349
      'a third as kube-proxy writes it, and as it is dumped',
      '-m statistic --mode random --probability 0.3333333333 -j B',
      '-m statistic --mode random --probability 0.33333333349 -j B',
      true,
    ],
    [
      'a third and nearly that',
      '-m statistic --mode random --probability 0.3333333333 -j B',
      '-m statistic --mode random --probability 0.33333334 -j B',
      false,
    ],
    [
      'a chance and all but it',
      '-m statistic --mode random --probability 0.5 -j B',
      '-m statistic --mode random ! --probability 0.5 -j B',
      false,
    ],
    ['a jump and a goto', '-j B', '-g B', false],
    ['a comment and another', '-m comment --comment a -j B', '-m comment --comment b -j B', false],
  ])('%s: %s, %s: %s', (_title, a, b, same) => {
    expect(sameRules(rulesOf(a), rulesOf(b))).toBe(same);
    expect(sameRules(rulesOf(b), rulesOf(a))).toBe(same);
    expect(sameRules(rulesOf(a), rulesOf(a, a))).toBe(false);
  });
});
