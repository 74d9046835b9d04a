/** What fuzzing found, in its smallest form (docs/fuzzing.md). */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  applyRestore,
  canonicalRule,
  isWritable,
  parseIpAddr,
  parseIpset,
  parseIptablesSave,
  parseIpvsadm,
  printIpsetRestore,
  printIpvsadmRestore,
  printSave,
} from '../../src/netfilter/index.ts';
import { runDiff } from '../support/run.ts';
import { temporaryFolder } from '../support/temporary.ts';

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

test('a chain line whose name is no name is no chain: iptables takes no blanks in one', () => {
  const { ruleset, problems } = parseIptablesSave('*filter\n:"\n:"A B" - [0:0]\nCOMMIT\n');
  expect(ruleset.tables[0]?.chains).toEqual([]);
  expect(problems.map(({ code }) => code)).toEqual(['unreadable-line', 'unreadable-line']);
});

test('a table line ends with the first word, as for iptables-restore (strtok in iptables-restore.c)', () => {
  expect(printed('*nat - [0:0]\n:X - [0:0]\nCOMMIT\n')).toBe('*nat\n:X - [0:0]\nCOMMIT\n');
});

test.each([
  ['the name of a match', '-m ! -p tcp --dport 80 -j ACCEPT', '-p tcp -m "!" -m tcp --dport 80 -j ACCEPT'],
  [
    'a comment',
    '-m comment --comment ! -p tcp --dport 80 -j ACCEPT',
    '-p tcp -m comment --comment "!" -m tcp --dport 80 -j ACCEPT',
  ],
])('an exclamation mark that is %s negates no protocol behind it', (_title, rule, expected) => {
  const once = printed(`*filter\n:X - [0:0]\n-A X ${rule}\nCOMMIT\n`);
  expect(once).toBe(`*filter\n:X - [0:0]\n-A X ${expected}\nCOMMIT\n`);
  expect(printed(once)).toBe(once);
});

test('a rule whose unknown options would be read in another way where they are printed is not written', () => {
  const text = '*nat\n-A X -j MARK --probability -m statistic 0004000\n-A X -m foo --bar -j ACCEPT\nCOMMIT\n';
  const rules = parseIptablesSave(text).ruleset.tables[0]?.chains[0]?.rules ?? [];
  expect(rules.map((rule) => [canonicalRule(rule, 'ipv4'), isWritable(rule, 'ipv4')])).toEqual([
    ['-m statistic 0004000 -j MARK --probability', false],
    ['-m foo --bar -j ACCEPT', true],
  ]);
});

const FILTER = ':INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n';

test('restore input over a table that was read in pieces changes one table', () => {
  const pieces = `*filter\n${FILTER}:X - [0:0]\nCOMMIT\n*filter\n:X - [0:0]\n-A OUTPUT -j X\n-A X -j DROP\nCOMMIT\n`;
  const input = parseIptablesSave('*filter\n-D OUTPUT -j X\nCOMMIT\n', { keepOrder: true });
  const applied = applyRestore(parseIptablesSave(pieces).ruleset, input);
  expect('ruleset' in applied ? [...printSave(applied.ruleset)].join('') : applied.error).toBe(
    `*filter\n${FILTER}:X - [0:0]\n-A X -j DROP\nCOMMIT\n`,
  );
});

test('what iptables-restore would complain of is one line, whatever names it quotes', () => {
  const input = parseIptablesSave('*filter\n-A "X\nY" -j DROP\nCOMMIT\n', { keepOrder: true });
  const applied = applyRestore({ family: 'ipv4', tables: [] }, input);
  expect('error' in applied && applied.error).toBe('No chain/target/match by that name: X\\x0aY');
});

test('what is wrong with the JSON of ip addr is one line, though it quotes the input', () => {
  const [problem] = parseIpAddr('[\n{"ifname":"eth0"\n,,').problems;
  expect(problem?.message).toMatch(/^not the output of ip -j addr\P{Cc}*$/u);
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

test.each(['10.0.0.2 -exist', '10.0.0.2 comment "-exist"', '10.0.0.2 comment "x"-exist timeout -q'])(
  'ipset: a listing loses a line whose words ipset takes for its own options: %s',
  (line) => {
    const { sets } = parseIpset(`Name: A\nType: hash:ip\nHeader: family inet\nMembers:\n10.0.0.1\n${line}\n`);
    expect(sets[0]?.members.map(({ entry }) => entry)).toEqual(['10.0.0.1']);
  },
);

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

describe('kp-diff says what is wrong with an input, which is no fault of its own', () => {
  const folder = temporaryFolder();
  const write = (name: string, text: string): string => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const SERVICES = ':PREROUTING ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n:KUBE-SERVICES - [0:0]\n';
  const RULES = '-A PREROUTING -j KUBE-SERVICES\n-A OUTPUT -j KUBE-SERVICES\n';
  const CHAIN = 'KUBE-SVC-NPX46M4PTMTKRN6Y';
  const JUMP = `-A KUBE-SERVICES -d 10.96.0.1/32 -p tcp -m comment --comment "default/kubernetes:https cluster IP" -m tcp --dport 443 -j ${CHAIN}\n`;
  const NODE = `*nat\n${SERVICES}:${CHAIN} - [0:0]\n${RULES}${JUMP}-A ${CHAIN} -j RETURN\nCOMMIT\n`;

  test.each([
    [
      'jumps to a chain that it lacks',
      `*nat\n${SERVICES}${RULES}${JUMP}COMMIT\n`,
      `*nat\n${SERVICES}${RULES}COMMIT\n`,
      `iptables-restore would refuse what is expected: Chain '${CHAIN}' does not exist`,
    ],
    [
      'is a node without kube-proxy',
      '*nat\n:PREROUTING ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\nCOMMIT\n',
      NODE,
      'what is expected has no chain KUBE-SERVICES, as a node with kube-proxy has it: it is no dump of a whole node',
    ],
  ])('no patch to what %s', async (_title, expected, actual, reason) => {
    const sides = [write('expected.save', expected), write('actual.save', actual)];
    expect((await runDiff(sides)).code).toBe(1);
    const { code, stdout, stderr } = await runDiff([...sides, '--patch', join(folder, 'patch')]);
    expect({ code, stdout, last: stderr.trimEnd().split('\n').at(-1) }).toEqual({
      code: 2,
      stdout: '',
      last: `kp-diff: --patch: no patch for ipv4: ${reason}`,
    });
  });

  test('jumps that go round in a circle, with a match by chance in them, are followed for a while', async () => {
    const comment = '/* cyclinder/hello1-service */';
    const endpoint = `Chain KUBE-SEP-IA4L7KGKOCPR4FES (1 references)\n0 0 DNAT 6 * * 0.0.0.0/0 0.0.0.0/0 ${comment} to:10.244.2.48:8080\n`;
    const expected = `Chain KUBE-SERVICES (2 references)
0 0 KUBE-SVC-2V5PDE3Q62WJ3RNU 6 * * 0.0.0.0/0 10.108.221.226 ${comment} tcp dpt:8080
Chain KUBE-SVC-2V5PDE3Q62WJ3RNU (1 references)
0 0 0 * * 0.0.0.0/0 0.0.0.0/0 ${comment} statistic mode random probability 0.50000000000
0 0 KUBE-SEP-IA4L7KGKOCPR4FES 0 * * 0.0.0.0/0 0.0.0.0/0 ${comment}
${endpoint}`;
    const circle = '0 0 KUBE-SVC-2V5PDE3Q62WJ3RNU 6 * * 0.0.0.0/0 10.108.221.226 tcp dpt:8080\n0 0 DNAT';
    const sides = [
      write('expected.txt', expected),
      write('circle.txt', endpoint.replace('0 0 DNAT', circle)),
    ];
    const { code, stdout } = await runDiff(sides);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^cyclinder\/hello1-service: /);
  });

  test('a patch that gives an effect to a jump which had none mends the chain of that jump too', async () => {
    const endpoint = 'KUBE-SEP-RJGOGV4NTDN5I7T3';
    const marked = `:KUBE-MARK-MASQ - [0:0]\n${RULES}${JUMP}-A KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000\n-A ${CHAIN} ! -s 10.244.0.0/16 -d 10.96.0.1/32 -p tcp -m tcp --dport 443 -j KUBE-MARK-MASQ\n`;
    const node = (last: string) =>
      `*nat\n${SERVICES}:${CHAIN} - [0:0]\n:${endpoint} - [0:0]\n${marked}${last}COMMIT\n`;
    const dnat = `-A ${endpoint} -p tcp -m tcp -j DNAT --to-destination 192.168.0.2:6443\n`;
    const sides = [
      write('expected.save', node(dnat)),
      write('actual.save', node(`-A ${CHAIN} -j ${endpoint}\n`)),
    ];
    expect((await runDiff([...sides, '--patch', join(folder, 'patch')])).code).toBe(1);
    expect(readFileSync(join(folder, 'patch', 'patch.v4'), 'utf8')).toBe(
      `*nat\n:${endpoint} - [0:0]\n:${CHAIN} - [0:0]\n${dnat}-A ${CHAIN} ! -s 10.244.0.0/16 -d 10.96.0.1/32 -p tcp -m tcp --dport 443 -j KUBE-MARK-MASQ\nCOMMIT\n`,
    );
  });

  test('no patch to sets that no line creates', async () => {
    const sides = ['create KUBE-CLUSTER-IP hash:ip,port\n', ''].map((create, index) =>
      dirname(write(`${index}/ipset.save`, `${create}add KUBE-CLUSTER-IP 10.96.0.1,tcp:443\n`)),
    );
    const [actual = '', expected = ''] = sides;
    const { code, stderr } = await runDiff([expected, actual, '--patch', join(folder, 'patch')]);
    expect({ code, last: stderr.trimEnd().split('\n').at(-1) }).toEqual({
      code: 2,
      last: 'kp-diff: --patch: no patch for sets: no line of what is expected creates KUBE-CLUSTER-IP, so its type is not known',
    });
  });

  test.each([
    ['text', 'default/kubernetes\\x9b:https'],
    ['json', 'default/kubernetes\\u009b:https'],
  ])('an inventory holds nothing that a terminal obeys: %s', async (output, name) => {
    const file = write('names.save', NODE.replace('default/kubernetes', 'default/kubernetes\u009b'));
    const { stdout } = await runDiff(['--inventory', file, '--output', output]);
    expect(stdout).toContain(name);
    expect(stdout).not.toContain('\u009b');
  });
});
