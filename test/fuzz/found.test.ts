/** What fuzzing found, in its smallest form (docs/fuzzing.md). */
import { expect, test } from 'vitest';
import {
  parseIpset,
  parseIptablesSave,
  parseIpvsadm,
  printIpsetRestore,
  printIpvsadmRestore,
  printSave,
} from '../../src/netfilter/index.ts';

const printed = (text: string) => [...printSave(parseIptablesSave(text).ruleset)].join('');

test('rules of a chain that no line declares are printed behind the others, as they are read again', () => {
  const once = printed('*nat\n-A X -j ACCEPT\n:Y - [0:0]\n-A Y -j DROP\nCOMMIT\n');
  expect(once).toBe('*nat\n:Y - [0:0]\n-A Y -j DROP\n-A X -j ACCEPT\nCOMMIT\n');
  expect(printed(once)).toBe(once);
});

test('a policy in quotes gets no line of its own into what is printed', () => {
  const { ruleset, problems } = parseIptablesSave('*nat\n:INPUT "ACCEPT\n-A INPUT -j DROP" [0:0]\nCOMMIT\n');
  expect(ruleset.tables[0]?.chains.map(({ declared, policy }) => [declared, policy])).toEqual([
    [false, undefined],
  ]);
  expect(problems.map(({ code }) => code)).toContain('unreadable-line');
});

test('a line of a chain with the end of a rule behind its name is no chain', () => {
  expect(parseIptablesSave('*nat\n:INPUTx 80 -j\nCOMMIT\n').ruleset.tables[0]?.chains).toEqual([]);
});

test.each([
  ['a set whose name has blanks', 'create "Name: A" hash:ip\n', 'create "Name: A" hash:ip -exist\n'],
  ['a type that is several words', 'create B hash:ip\ncreate A "hash:ip x"\n', 'create B hash:ip -exist\n'],
])('ipset: %s', (_title, text, expected) => {
  const once = printIpsetRestore(parseIpset(text).sets);
  expect(once).toBe(expected);
  expect(printIpsetRestore(parseIpset(once).sets)).toBe(once);
});

test('ipset: a member with a control character is no member', () => {
  const text = 'Name: A\nType: hash:ip\nHeader: family inet\nMembers:\n10.0.0.1\n\f10.0.0.2\n';
  const { sets, problems } = parseIpset(text);
  expect(sets[0]?.members.map(({ entry }) => entry)).toEqual(['10.0.0.1']);
  expect(problems).toHaveLength(1);
});

test('ipset: a listing that holds -exist, which is no option of a set, loses that line', () => {
  const { sets } = parseIpset(
    'Name: A\nType: hash:ip\nHeader: family inet\nMembers:\n10.0.0.1\n10.0.0.2 -exist\n',
  );
  expect(sets[0]?.members.map(({ entry }) => entry)).toEqual(['10.0.0.1']);
});

const LISTING = `Prot LocalAddress:Port Scheduler Flags
  -> RemoteAddress:Port           Forward Weight ActiveConn InActConn
TCP  10.96.0.1:443 rr PERSISTENT
  -> 192.168.0.2:6443             Masq    WEIGHT      0          0
`;

test.each([
  [
    'a weight that ipvsadm does not take',
    LISTING.replace(' PERSISTENT', '').replace('WEIGHT', '165536'),
    '-A -t 10.96.0.1:443 -s rr\n',
  ],
  [
    'a persistence that ipvsadm does not take',
    LISTING.replace('PERSISTENT', 'persistent 6553600').replace('WEIGHT', '1'),
    '',
  ],
  [
    'a mask of the other family',
    '-A -t 10.96.0.1:443 -s rr -p 10 -M 2::37.255.255.0\n-A -t 10.96.0.2:80 -s rr\n',
    '-A -t 10.96.0.2:80 -s rr\n',
  ],
])('ipvsadm: %s is a problem, not data', (_title, text, expected) => {
  const { virtualServers, problems } = parseIpvsadm(text);
  expect(printIpvsadmRestore(virtualServers)).toBe(expected);
  expect(problems.length).toBeGreaterThan(0);
});
