import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addLine,
  canonicalMember,
  delLine,
  describeFormat,
  detectFormat,
  type IpSet,
  parseIpset,
  printIpsetRestore,
} from '../../src/netfilter/index.ts';
import { hasConformance } from '../support/shared.ts';
import { ipvsStates } from '../support/uml-state.ts';
import { sharedFiles } from './support/shared.ts';

const CLUSTER_IP: IpSet = {
  name: 'KUBE-CLUSTER-IP',
  type: 'hash:ip,port',
  options: [
    { name: 'family', value: 'inet' },
    { name: 'hashsize', value: '1024' },
    { name: 'maxelem', value: '65536' },
  ],
  members: [
    { entry: '10.96.0.1,tcp:443', options: [] },
    { entry: '10.96.0.10,udp:53', options: [] },
  ],
};

const KERNEL = [
  { name: 'bucketsize', value: '12' },
  { name: 'initval', value: '0xd0575982' },
];

const RESTORE = `create KUBE-CLUSTER-IP hash:ip,port family inet hashsize 1024 maxelem 65536 -exist
add KUBE-CLUSTER-IP 10.96.0.1,tcp:443 -exist
add KUBE-CLUSTER-IP 10.96.0.10,udp:53 -exist
`;

const HEADER = 'family inet hashsize 1024 maxelem 65536 bucketsize 12 initval 0xd0575982';

const SAVE = `create KUBE-CLUSTER-IP hash:ip,port ${HEADER}
add KUBE-CLUSTER-IP 10.96.0.1,tcp:443
add KUBE-CLUSTER-IP 10.96.0.10,udp:53
`;

const LIST = `Name: KUBE-CLUSTER-IP
Type: hash:ip,port
Revision: 6
Header: ${HEADER}
Size in memory: 360
References: 3
Number of entries: 2
Members:
10.96.0.1,tcp:443
10.96.0.10,udp:53
`;

describe('sets are read from', () => {
  test.each([
    ['ipset save', SAVE, { kernel: KERNEL }],
    ['input of ipset restore', RESTORE, {}],
    ['CRLF', SAVE.replaceAll('\n', '\r\n'), { kernel: KERNEL }],
    ['a quotation', SAVE.replaceAll(/^/gm, '> ').slice(0, -2), { kernel: KERNEL }],
    ['behind a byte order mark', `\ufeff${SAVE}`, { kernel: KERNEL }],
    ['behind a prompt', `root@node-a:~# ipset save\n${SAVE}root@node-a:~# ipset list\n`, { kernel: KERNEL }],
    ['a block of code', `\`\`\`\n${SAVE}\`\`\`\n`, { kernel: KERNEL }],
    ['ipset list', LIST, { kernel: KERNEL, references: 3 }],
    ['ipset list, CRLF', LIST.replaceAll('\n', '\r\n'), { kernel: KERNEL, references: 3 }],
    [
      'ipset list of ipset 6.2, without counts',
      LIST.replace(/Number of entries.*\n/, '').replace('Revision: 6', 'Revision: 1'),
      { kernel: KERNEL, references: 3 },
    ],
    [
      'commands of a script',
      '#!/bin/sh\nipset -exist create KUBE-CLUSTER-IP hash:ip,port family inet hashsize 1024 maxelem 65536\n' +
        'sudo ipset add KUBE-CLUSTER-IP 10.96.0.1,tcp:443 -exist\nipset -A KUBE-CLUSTER-IP 10.96.0.10,udp:53\n',
      {},
    ],
    [
      'the short and old words',
      '-N KUBE-CLUSTER-IP ipporthash --family inet --hashsize 1024 --maxelem 65536\n' +
        '-A KUBE-CLUSTER-IP 10.96.0.1,tcp:443\n-! add KUBE-CLUSTER-IP 10.96.0.10,udp:53\nCOMMIT\n',
      {},
    ],
    [
      'changes, one after the other',
      `create OLD hash:ip\nadd OLD 10.0.0.1\nflush OLD\ncreate NEW hash:ip,port family inet hashsize 1024 maxelem 65536
add NEW 10.96.0.1,tcp:443\nadd NEW 10.96.0.9,tcp:80\nadd NEW 10.96.0.10,udp:53\ndel NEW 10.96.0.9,tcp:80
swap OLD NEW\ndestroy NEW\nrename OLD KUBE-CLUSTER-IP\n`,
      {},
    ],
  ])('%s', (_name, text, more) => {
    expect(parseIpset(text)).toEqual({ sets: [{ ...CLUSTER_IP, ...more }], problems: [] });
    expect(printIpsetRestore(parseIpset(text).sets)).toBe(RESTORE);
  });

  test('members with options', () => {
    const text = `create D hash:ip family inet hashsize 1024 maxelem 65536 netmask 24 timeout 100 counters comment skbinfo
add D 10.1.0.0 timeout 98 packets 3 bytes 5 comment "it's a comment" skbmark 0x1/0xff skbprio 1:2 skbqueue 3
add D 10.2.0.0 timeout 0 comment "-exist-like"
create M hash:net family inet hashsize 1024 maxelem 65536
add M 10.0.0.0/8 nomatch
create E list:set size 8
add E D
add E M before D
`;
    const { sets, problems } = parseIpset(text);
    expect(problems).toEqual([]);
    expect(sets.map(({ name, members }) => [name, members.length])).toEqual([
      ['D', 2],
      ['M', 1],
      ['E', 2],
    ]);
    expect(sets[0]?.members[0]?.options.slice(0, 4)).toEqual([
      { name: 'timeout', value: '98' },
      { name: 'packets', value: '3' },
      { name: 'bytes', value: '5' },
      { name: 'comment', value: "it's a comment" },
    ]);
    expect(printIpsetRestore(sets)).toBe(text.replaceAll(/$/gm, ' -exist').slice(0, -7));
  });

  test('sets of types that nobody knows yet, without loss', () => {
    const text =
      'create X hash:ip,vlan,colour family inet shade 7 wildcard -exist\nadd X 10.0.0.1,4,red hue 3 -exist\n';
    expect(parseIpset(text).problems).toEqual([]);
    expect(printIpsetRestore(parseIpset(text).sets)).toBe(text);
  });

  test('the listing of ipset 4', () => {
    const text =
      'Name: banned\nType: iphash\nReferences: 1\nDefault binding:\nHeader: hashsize: 1024 probes: 8 resize: 50\n' +
      'Members:\n192.0.2.1\n192.0.2.2\nBindings:\n\n';
    expect(parseIpset(text)).toMatchObject({
      sets: [{ name: 'banned', type: 'hash:ip', references: 1, members: [{}, {}] }],
      problems: [],
    });
  });
});

describe('what is wrong with a text is told with its line:', () => {
  test.each([
    ['create A hash:ip\nnonsense here\n', 2, 'unreadable-line', 'not a line of ipset save: "nonsense here"'],
    ['create A hash:ip\nadd A\n', 2, 'unreadable-line', 'not a line of ipset save: "add A"'],
    ['create A hash:ip\nadd A 1.2.3.4 comment "x\n', 2, 'unreadable-line', 'not a line of'],
    [
      'create A hash:ip\nadd B 1.2.3.4\nadd B 1.2.3.5\n',
      2,
      'undeclared-set',
      'the set B is used and not created',
    ],
    ['create A hash:ip\ncreate A hash:ip\n', 2, 'duplicate-set', 'the set A is created twice'],
    [
      'create A hash:ip -exist\ncreate A hash:net -exist\n',
      2,
      'duplicate-set',
      'the set A is created twice, first as hash:ip, then as hash:net',
    ],
    ['create A hash:ip\ndel A 1.2.3.4\n', 2, 'member-not-there', 'A has no member 1.2.3.4 to delete'],
    [LIST.replace('10.96.0.10,udp:53\n', ''), 10, 'members-missing', 'has 2 members, of which 1 are listed'],
    [LIST.replace(/Members:[\s\S]*/, ''), 8, 'members-missing', 'ipset list -t leaves them out'],
    ['Name: A\nRevision: 1\n\n', 3, 'unreadable-line', 'the set A has no type: it is left out'],
  ])('%j', (text, line, code, message) => {
    const { problems } = parseIpset(text);
    expect(problems).toEqual([
      expect.objectContaining({ code, line, severity: 'warning', message: expect.stringContaining(message) }),
    ]);
  });

  test('what is there already may be created and deleted with -exist', () => {
    expect(parseIpset('create A hash:ip\ncreate A hash:ip -exist\ndel A 1.2.3.4 -exist\n').problems).toEqual(
      [],
    );
  });

  test('a kind of which there are many is told fifty times', () => {
    const { problems } = parseIpset(`create A hash:ip\n${'nonsense\n'.repeat(1000)}`);
    expect(problems).toHaveLength(51);
    expect(problems.at(-1)).toMatchObject({
      code: 'more-problems',
      message: '950 more problems of the kind unreadable-line',
    });
  });
});

describe('what is no dump of sets is refused by name:', () => {
  test.each([
    ['', 'the dump is empty'],
    [' \n', 'the dump is empty'],
    ['<ipsets>\n<ipset name="A">\n', 'this is the output of ipset list -o xml'],
    ['[ {"name" : "A", "type" : "hash:ip"} ]', 'this is the output of ipset list -o json'],
    ['Hello, world\n', 'this is not the output of ipset save'],
    ['*nat\n:PREROUTING ACCEPT [0:0]\nCOMMIT\n', 'this looks like the output of iptables-save, not'],
    ['-A -t 10.0.0.1:80 -s rr\n', 'this looks like the output of ipvsadm -Sn, not'],
  ])('%j', (text, message) => {
    const { sets, problems } = parseIpset(text);
    expect(sets).toEqual([]);
    expect(problems).toMatchObject([
      {
        severity: 'error',
        message: expect.stringContaining(message),
        help: 'take the sets with: ipset save',
      },
    ]);
  });
});

describe('texts are known for sets:', () => {
  test.each([
    ['ipset save', SAVE],
    ['ipset save', RESTORE],
    ['ipset save', 'add KUBE-CLUSTER-IP 10.96.0.1,tcp:443 -exist\n'],
    ['ipset save', 'del KUBE-CLUSTER-IP 10.96.0.1,tcp:443\n'],
    ['ipset save', 'add A 10.0.0.1 timeout 3 comment "x"\n'],
    ['ipset save', '-N A iphash --hashsize 1024\n-A A 10.0.0.1\n'],
    ['ipset list', LIST],
  ])('%s: %j', (format, text) => {
    expect(detectFormat(text)).toBe(format);
    expect(describeFormat(format as ReturnType<typeof detectFormat>)).toBe(`the output of ${format}`);
  });
});

describe('a member has one text:', () => {
  test.each([
    ['hash:ip', '10.0.0.1', '10.0.0.1'],
    ['hash:ip', '10.0.0.1/32', '10.0.0.1'],
    ['hash:ip', '010.0.0.1', '8.0.0.1'],
    ['hash:ip', 'FD00:0::1', 'fd00::1'],
    ['hash:ip', 'fd00::1/128', 'fd00::1'],
    ['hash:ip', '[fd00::1]', 'fd00::1'],
    ['hash:ip', '10.0.0.0/24', '10.0.0.0/24'],
    ['hash:ip', '10.0.0.1-10.0.0.9', '10.0.0.1-10.0.0.9'],
    ['hash:ip', '10.0.0.1-10.0.0.1', '10.0.0.1'],
    ['hash:ip', 'node.example', 'node.example'],
    ['hash:ip,port', '10.0.0.1,443', '10.0.0.1,tcp:443'],
    ['hash:ip,port', '10.0.0.1,TCP:https', '10.0.0.1,tcp:443'],
    ['hash:ip,port', '10.0.0.1,17:domain', '10.0.0.1,udp:53'],
    ['hash:ip,port', '10.0.0.1,132:3868', '10.0.0.1,sctp:3868'],
    ['hash:ip,port', '10.0.0.1,icmp:echo-request', '10.0.0.1,icmp:echo-request'],
    ['hash:ip,port', 'fd00::1,icmpv6:echo-request', 'fd00::1,ipv6-icmp:echo-request'],
    ['hash:ip,port', '10.0.0.1,tcp:80-82', '10.0.0.1,tcp:80-82'],
    ['hash:ip,port', '10.0.0.1,tcp:no-such-name', '10.0.0.1,tcp:no-such-name'],
    ['hash:ip,port,ip', '10.0.0.1,tcp:80,010.0.0.1', '10.0.0.1,tcp:80,8.0.0.1'],
    ['hash:ip,port,net', '10.0.0.1,tcp:80,10.1.2.3/8', '10.0.0.1,tcp:80,10.0.0.0/8'],
    ['hash:ip,port,net', '10.0.0.1,tcp:80,10.1.2.3/32', '10.0.0.1,tcp:80,10.1.2.3'],
    ['hash:ip,port,net', 'fd00::1,tcp:80,fd00:1::5/64', 'fd00::1,tcp:80,fd00:1::/64'],
    ['hash:ip,port,net', '10.0.0.1,tcp:80,0.0.0.0/0', '10.0.0.1,tcp:80,0.0.0.0/0'],
    ['hash:net,iface', '10.1.0.0/8,physdev:eth0', '10.0.0.0/8,physdev:eth0'],
    ['bitmap:port', '30080', '30080'],
    ['bitmap:port', 'http', '80'],
    ['bitmap:port', 'udp:53', '53'],
    ['bitmap:port', '30000-30010', '30000-30010'],
    ['bitmap:port', '30010-30000', '30000-30010'],
    ['bitmap:port', '80-http', '80'],
    ['hash:mac', '01:02:03:aa:bb:0c', '01:02:03:AA:BB:0C'],
    ['hash:ip,mark', '10.0.0.1,0x123', '10.0.0.1,0x00000123'],
    ['list:set', 'KUBE-CLUSTER-IP', 'KUBE-CLUSTER-IP'],
    ['hash:ip', '10.0.0.1,tcp:80', '10.0.0.1,tcp:80'],
    ['', '10.0.0.1/32', '10.0.0.1/32'],
  ])('%s: %s → %s', (type, entry, text) => {
    expect(canonicalMember(type, entry)).toBe(text);
    expect(canonicalMember(type, text)).toBe(text);
  });
});

describe('printing', () => {
  test('gives the lines of a change', () => {
    expect(addLine('A', { entry: '10.0.0.1', options: [{ name: 'comment', value: 'a b' }] })).toBe(
      'add A 10.0.0.1 comment "a b" -exist',
    );
    expect(delLine('A', '10.0.0.1')).toBe('del A 10.0.0.1 -exist');
  });

  test.each(['', '-exist', 'A\nflush', 'A"', 'A\r', 'A\u0000'])(
    'refuses what would be another word: %j',
    (name) => {
      expect(() => printIpsetRestore([{ ...CLUSTER_IP, name }])).toThrow(RangeError);
      expect(() => delLine('A', name)).toThrow(RangeError);
    },
  );
});

describe('laws', () => {
  const word = fc.oneof(
    fc.constantFrom(
      'create',
      'add',
      'del',
      'swap',
      'flush',
      '-N',
      '-A',
      'hash:ip',
      '-exist',
      '"',
      'A',
      'Name: A',
    ),
    fc.constantFrom(
      'Type: hash:ip',
      'Header: a b',
      'Members:',
      'Number of entries: 3',
      '\r',
      '\t',
      'timeout 3',
    ),
    fc.string({ unit: 'binary', maxLength: 6 }),
  );
  const line = fc.array(word, { maxLength: 6 }).map((words) => words.join(' '));

  test('any text is read without an exception, and what was read prints and reads the same', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
        const { sets } = parseIpset(`create A hash:ip\n${lines.join('\n')}`);
        const plain = sets.map(({ kernel, references, ...set }) => set);
        const again = parseIpset(printIpsetRestore(sets)).sets;
        if (plain.some(({ type, members }) => type !== '' || members.length > 0))
          expect(again).toEqual(plain.filter(({ type, members }) => type !== '' || members.length > 0));
      }),
      { numRuns: 2000 },
    );
  });

  test('the text of a member is its own text', () => {
    const part = fc.oneof(
      fc.ipV4(),
      fc.ipV6(),
      fc.constantFrom('tcp:80', '80', 'udp:1-2', '10.1.2.3/8', 'a-b'),
    );
    const types = fc.constantFrom(
      'hash:ip,port',
      'hash:ip,port,net',
      'hash:ip,port,ip',
      'hash:net',
      'bitmap:port',
    );
    fc.assert(
      fc.property(types, fc.array(part, { minLength: 1, maxLength: 3 }), (type, parts) => {
        const once = canonicalMember(type, parts.join(','));
        expect(canonicalMember(type, once)).toBe(once);
      }),
    );
  });
});

describe.skipIf(!hasConformance())('what kube-proxy left', () => {
  test.each(ipvsStates().map(({ name, files }) => [name, files['ipset.save'] ?? ''] as const))(
    '%s',
    (_name, text) => {
      const { sets, problems } = parseIpset(text);
      expect(problems).toEqual([]);
      const printed = printIpsetRestore(sets);
      expect(parseIpset(printed)).toEqual({ sets: sets.map(({ kernel, ...set }) => set), problems: [] });
      expect(printed.replaceAll(' -exist\n', '\n')).toBe(
        text.replaceAll(/ bucketsize \d+ initval 0x[0-9a-f]+$/gm, ''),
      );
      for (const { type, members } of sets)
        for (const { entry } of members) expect(canonicalMember(type, entry)).toBe(entry);
    },
  );
});

const dumps = [
  'field/cases/R39-hostport-steals-cluster-ip-in-ipvs',
  'field/cases/R41-ipvs-filter-rejects-health-checks',
].flatMap((folder) => sharedFiles(folder).filter(({ name }) => name.startsWith('ipset')));

describe.skipIf(dumps.length === 0)('a dump of a real node is read whole:', () => {
  test.each(dumps)('$path', ({ path }) => {
    const text = readFileSync(path, 'utf8');
    const { sets, problems } = parseIpset(text);
    expect(problems).toEqual([]);
    expect(printIpsetRestore(sets).split(' -exist\n').sort()).toEqual(text.split('\n').sort());
  });
});

test('a line that no tool prints is an error, and the others are read', () => {
  const { sets, problems } = parseIpset(
    `create A hash:ip\nadd A 10.0.0.1 comment "${'x'.repeat(70_000)}"\nadd A 10.0.0.2\n`,
  );
  expect(sets.map(({ name, members }) => [name, members.map(({ entry }) => entry)])).toEqual([
    ['A', ['10.0.0.2']],
  ]);
  expect(problems).toEqual([
    {
      code: 'input-limit',
      severity: 'error',
      message: 'a line of 70025 characters; at most 65536 are read',
      line: 2,
    },
  ]);
});
