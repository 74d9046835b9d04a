import { describe, expect, test } from 'vitest';
import { canonicalRule } from '../../src/netfilter/index.ts';
import { parseRuleText } from './support/rules.ts';
import { spellings } from './support/spellings.ts';

describe('iptables-save prints what was loaded in its own spelling', () => {
  test.each(spellings.map(({ family, input, saved }) => [family, input, saved] as const))(
    '%s: %s',
    (family, input, saved) => {
      expect(canonicalRule(parseRuleText(input, family), family)).toBe(saved);
    },
  );

  test.each(spellings.map(({ family, saved }) => [family, saved] as const))(
    'and takes that spelling as it is, %s: %s',
    (family, saved) => {
      expect(canonicalRule(parseRuleText(saved, family), family)).toBe(saved);
    },
  );
});

describe('iptables refuses it or printed it long ago, and it is understood', () => {
  test.each([
    ['-p tcp -m tcp --dport ! 80', '-p tcp -m tcp ! --dport 80'],
    ['-s ! 10.0.0.0/8', '! -s 10.0.0.0/8'],
    ['-p ! tcp', '! -p tcp'],
    ['-i ! eth0 -o ! eth1', '! -i eth0 ! -o eth1'],
    ['-m set --set S4 src,dst', '-m set --match-set S4 src,dst'],
    ['-m recent --rcheck --name A --rsource', '-m recent --rcheck --name A --mask 255.255.255.255 --rsource'],
    ['-m statistic --mode nth --every 3', '-m statistic --mode nth --every 3 --packet 0'],
    ['-s node-a.example', '-s node-a.example'],
    ['-s 10.0.0.1,10.0.0.2', '-s 10.0.0.1,10.0.0.2'],
    ['-s 10.0.0.300', '-s 10.0.0.300'],
    ['-s fd00::1::2', '-s fd00::1::2'],
    ['! -i +', '! -i +'],
    [
      '-j DNAT --to-destination :0 --persistent --to-destination :0 --persistent --to-destination 0.0.0.0:0',
      '-j DNAT --to-destination :0 --to-destination :0 --to-destination 0.0.0.0:0 --persistent',
    ],
  ])('%s', (input, saved) => {
    expect(canonicalRule(parseRuleText(input), 'ipv4')).toBe(saved);
  });
});

test('a negated range of all ports stays, for without it the rule would match everything', () => {
  expect(canonicalRule(parseRuleText('-p tcp -m tcp ! --sport 0:65535'), 'ipv4')).toBe(
    '-p tcp -m tcp ! --sport 0:65535',
  );
});
