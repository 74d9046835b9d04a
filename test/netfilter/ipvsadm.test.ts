import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  canonicalVirtualServer,
  detectFormat,
  parseIpvsadm,
  printIpvsadmRestore,
  realServerWords,
  serviceKey,
  serviceWords,
  type VirtualServer,
  virtualServerWords,
} from '../../src/netfilter/index.ts';
import { hasConformance } from '../support/shared.ts';
import { ipvsStates } from '../support/uml-state.ts';
import { sharedFiles } from './support/shared.ts';

const HEADINGS = `IP Virtual Server version 1.2.1 (size=4096)
Prot LocalAddress:Port Scheduler Flags
  -> RemoteAddress:Port           Forward Weight ActiveConn InActConn
`;

/** As ipvsadm 1.31 printed it. */
const SAVE = `-A -t 10.96.0.1:443 -s rr -p 10800
-a -t 10.96.0.1:443 -r 192.168.0.2:6443 -m -w 1
-a -t 10.96.0.1:443 -r 192.168.0.3:6443 -m -w 0
-A -t 10.96.0.2:80 -s rr -p 10800 -M 255.255.255.0
-A -u 10.96.0.10:53 -s mh -p 30 -b mh-fallback,mh-port
-a -u 10.96.0.10:53 -r 10.244.0.2:53 -g -w 1
-a -u 10.96.0.10:53 -r 10.244.0.3:53 -i -w 65535
-A -u 10.96.0.11:53 -s sh -o -b sh-port
-A --sctp-service 10.96.0.12:3868 -s wlc
-A -t [fd00:10:96::1]:443 -s rr -p 10800 -M 64
-a -t [fd00:10:96::1]:443 -r [fd00::2]:6443 -m -w 1
-A -f 7 -s rr
-a -f 7 -r 10.244.0.2:0 -m -w 1
-A -f 8 -6 -s rr
-a -f 8 -6 -r [fd00::5]:0 -m -w 1
`;

const LISTING = `${HEADINGS}TCP  10.96.0.1:443 rr persistent 10800
  -> 192.168.0.2:6443             Masq    1      3          12        
  -> 192.168.0.3:6443             Masq    0      0          4294967295
TCP  10.96.0.2:80 rr persistent 10800 mask 255.255.255.0
UDP  10.96.0.10:53 mh (mh-fallback,mh-port) persistent 30
  -> 10.244.0.2:53                Route   1      0          0         
  -> 10.244.0.3:53                Tunnel  65535  0          0         
UDP  10.96.0.11:53 sh (sh-port) ops
SCTP 10.96.0.12:3868 wlc
TCP  [fd00:10:96::1]:443 rr persistent 10800 mask 64
  -> [fd00::2]:6443               Masq    1      0          0         
FWM  7 rr
  -> 10.244.0.2:0                 Masq    1      0          0         
FWM  8 IPv6 rr
  -> [fd00::5]:0                  Masq    1      0          0         
`;

const WEB: VirtualServer = {
  service: { by: 'address', protocol: 'tcp', address: '10.96.0.50', port: 80 },
  scheduler: 'rr',
  flags: [],
  realServers: [{ address: '10.244.1.10', port: 8080, method: 'masquerade', weight: 1 }],
};

describe('virtual servers are read from', () => {
  test.each([
    ['ipvsadm -Sn', SAVE],
    ['CRLF', SAVE.replaceAll('\n', '\r\n')],
    ['a quotation', SAVE.replaceAll(/^(?=.)/gm, '> ')],
    ['behind a prompt', `root@node-a:~# ipvsadm -Sn\n${SAVE}`],
    ['a script', SAVE.replaceAll(/^(?=.)/gm, 'ipvsadm ')],
    ['ipvsadm -Ln', LISTING],
    ['ipvsadm -Ln without the blanks behind', LISTING.replaceAll(/ +$/gm, '')],
    ['ipvsadm -Ln, CRLF', LISTING.replaceAll('\n', '\r\n')],
    ['ipvsadm -Ln without headings', LISTING.slice(HEADINGS.length)],
    ['ipvsadm -Ln behind a prompt', `$ sudo ipvsadm -Ln\n${LISTING}`],
    [
      'ipvsadm -Ln --tun-info',
      LISTING.replace('Forward Weight', 'Forward TunnelInfo    Weight').replaceAll(
        /(Masq |Route|Tunnel) +(?=\d)/g,
        '$1 n/a           ',
      ),
    ],
    ['ipvsadm -Ln of an old kernel', LISTING.replaceAll('Route ', 'Local ')],
  ])('%s', (_name, text) => {
    const { virtualServers, problems } = parseIpvsadm(text);
    expect(problems).toEqual([]);
    expect(printIpvsadmRestore(virtualServers)).toBe(SAVE);
  });

  test('the names of ipvsadm -S and -L', () => {
    const names = '-A -t 10.96.0.50:http -s rr\n-a -t 10.96.0.50:http -r 10.244.1.10:http-alt -m -w 1\n';
    const listed = `${HEADINGS}TCP  10.96.0.50:http rr\n  -> 10.244.1.10:http-alt         Masq    1      0          0         \n`;
    expect(parseIpvsadm(names)).toEqual({ virtualServers: [WEB], problems: [] });
    expect(parseIpvsadm(listed).virtualServers.map(canonicalVirtualServer)).toEqual([WEB]);
  });

  test('a listing, with its connections', () => {
    expect(parseIpvsadm(LISTING).virtualServers[0]?.realServers).toEqual([
      {
        address: '192.168.0.2',
        port: 6443,
        method: 'masquerade',
        weight: 1,
        activeConnections: 3,
        inactiveConnections: 12,
      },
      {
        address: '192.168.0.3',
        port: 6443,
        method: 'masquerade',
        weight: 0,
        activeConnections: 0,
        inactiveConnections: 4294967295,
      },
    ]);
  });

  test.each([
    ['-A -t 10.96.0.50:80', '-A -t 10.96.0.50:80 -s wlc'],
    ['-A -t 010.96.0.50:080 -s rr', '-A -t 8.96.0.50:80 -s rr'],
    ['-A -t10.96.0.50:http -srr -p', '-A -t 10.96.0.50:80 -s rr -p 360'],
    ['-A -t 10.96.0.50:80 -s rr -p 60 -M 255.255.255.255', '-A -t 10.96.0.50:80 -s rr -p 60'],
    ['-A -t [FD00:0::1]:80 -s rr -p 60 -M 128', '-A -t [fd00::1]:80 -s rr -p 60'],
    ['-A -u 10.96.0.50:80 -b mh-port -o -s mh', '-A -u 10.96.0.50:80 -s mh -o -b mh-port'],
    [
      '--add-service --udp-service=10.96.0.50:80 --scheduler rr --pe sip --persistent 9',
      '-A -u 10.96.0.50:80 -s rr -p 9 --pe sip',
    ],
    ['-A -f 0x10 -s rr', '-A -f 16 -s rr'],
    ['-A -t 10.0.0.1:80 -s rr\n-E -t 10.0.0.1:80 -s wrr', '-A -t 10.0.0.1:80 -s wrr'],
    ['-A -t 10.0.0.1:80 -s rr -p 60\n-E -t 10.0.0.1:80', '-A -t 10.0.0.1:80 -s wlc'],
    ['-A -t 10.0.0.1:80 -s rr\n-A -t 10.0.0.2:80 -s rr\n-D -t 10.0.0.1:80', '-A -t 10.0.0.2:80 -s rr'],
    ['-A -t 10.0.0.1:80 -s rr\n-C\n-A -t 10.0.0.2:80 -s rr\n-Z', '-A -t 10.0.0.2:80 -s rr'],
    [
      '-A -t 10.0.0.1:80 -s rr\n-a -t 10.0.0.1:80 -r 10.1.0.1\n-a -t 10.0.0.1:80 -r 10.1.0.2:90 -i --tun-type gue --tun-port 6080 --tun-nocsum',
      '-A -t 10.0.0.1:80 -s rr\n-a -t 10.0.0.1:80 -r 10.1.0.1:80 -g -w 1\n-a -t 10.0.0.1:80 -r 10.1.0.2:90 -i -w 1 --tun-type gue --tun-port 6080 --tun-nocsum',
    ],
    [
      '-A -t 10.0.0.1:80 -s rr\n-a -t 10.0.0.1:80 -r 10.1.0.1:8 -m -x 10 -y 3\n-e -t 10.0.0.1:80 -r 10.1.0.1:8 -m -w 0 -x 5',
      '-A -t 10.0.0.1:80 -s rr\n-a -t 10.0.0.1:80 -r 10.1.0.1:8 -m -w 0 -x 5',
    ],
    [
      '-A -t 10.0.0.1:80 -s rr\n-a -t 10.0.0.1:80 -r 10.1.0.1:8 -m\n-d -t 10.0.0.1:80 -r 10.1.0.1:8',
      '-A -t 10.0.0.1:80 -s rr',
    ],
  ])('input of ipvsadm -R: %j', (text, saved) => {
    const { virtualServers, problems } = parseIpvsadm(`\n# a note\n${text}\n`);
    expect(problems).toEqual([]);
    expect(printIpvsadmRestore(virtualServers)).toBe(`${saved}\n`);
  });
});

describe('what is wrong with a text is told with its line:', () => {
  test.each([
    ['-A -t 10.0.0.1:80 -s rr\nnonsense\n', 2, 'unreadable-line', 'not a line of ipvsadm -Sn: "nonsense"'],
    ['-A -t 10.0.0.1:80 -s rr\n-A -t 10.0.0.2:80 --frobnicate\n', 2, 'unreadable-line', '--frobnicate'],
    ['-A -t 10.0.0.1:80 -s rr\n-A -t 10.0.0.2:99999 -s rr\n', 2, 'unreadable-line', ':99999'],
    ['-A -t 10.0.0.1:80 -s rr\n-a -t 10.0.0.1:80 -r 10.0.0.9:80 -w x\n', 2, 'unreadable-line', '-w x'],
    [
      '-A -t 10.0.0.1:80 -s rr\n-A -t 10.0.0.1:80 -s rr\n',
      2,
      'duplicate-virtual-server',
      '10.0.0.1:80/tcp is added twice',
    ],
    [
      '-A -t 10.0.0.1:80 -s rr\n-a -t 10.0.0.2:80 -r 10.1.0.1:80 -m\n',
      2,
      'undeclared-virtual-server',
      '10.0.0.2:80/tcp is used and not added here',
    ],
    [
      '-A -t 10.0.0.1:80 -s rr\n-a -t 10.0.0.1:80 -r 10.1.0.1:80 -m\n-a -t 10.0.0.1:80 -r 10.1.0.1:80 -m\n',
      3,
      'duplicate-real-server',
      '10.0.0.1:80/tcp -> 10.1.0.1:80 is added twice',
    ],
    ['-A -t node-a.example:http -s rr\n', 1, 'host-name', 'node-a.example is a name'],
    [
      `${HEADINGS}TCP  10.0.0.1:80 rr\n  -> 10.1.0.1:80                  Ma`,
      5,
      'unreadable-line',
      'not a line of ipvsadm -Ln',
    ],
    [`${HEADINGS}TCP  10.0.0.1:80 rr persis\n`, 4, 'unreadable-line', 'not a line of ipvsadm -Ln'],
    [
      `${HEADINGS}TCP  10.0.0.1:80 rr\nTCP  10.0.0.1:80 rr\n`,
      5,
      'duplicate-virtual-server',
      'is added twice',
    ],
  ])('%j', (text, line, code, message) => {
    expect(parseIpvsadm(text).problems).toEqual([
      expect.objectContaining({ code, line, severity: 'warning', message: expect.stringContaining(message) }),
    ]);
  });

  test('real servers of a virtual server that cannot be read are not given to another', () => {
    const { virtualServers, problems } = parseIpvsadm(
      `${HEADINGS}TCP  10.0.0.1:80 rr\nTCP  10.0.0.2:eighty rr\n  -> 10.1.0.1:80   Masq    1      0    0\n`,
    );
    expect(virtualServers).toMatchObject([{ realServers: [] }]);
    expect(problems.map(({ line }) => line)).toEqual([5, 6]);
  });
});

describe('what is no dump of virtual servers is refused by name:', () => {
  test.each([
    ['', 'the dump is empty'],
    [
      'IP Virtual Server version 1.2.1 (size=4096)\nProt LocalAddress:Port               Conns   InPkts  OutPkts  InBytes OutBytes\n',
      'this is the output of ipvsadm -L --stats, which leaves out schedulers, methods or weights',
    ],
    ['Prot LocalAddress:Port                 CPS    InPPS   OutPPS    InBPS   OutBPS\n', 'ipvsadm -L --rate'],
    ['Prot LocalAddress:Port            Weight    PersistConn ActiveConn InActConn \n', '--persistent-conn'],
    ['Prot LocalAddress:Port            Uthreshold Lthreshold ActiveConn InActConn \n', '--thresholds'],
    [
      'IPVS connection entries\npro expire state       source             virtual            destination\n',
      'ipvsadm -L -c',
    ],
    ['Timeout (tcp tcpfin udp): 900 120 300\n', 'ipvsadm -L --timeout'],
    [
      'IP Virtual Server version 1.2.1 (size=4096)\nProt LocalAddress:Port Scheduler Flags\n  -> RemoteAddress:Port Forward Weight ActiveConn InActConn\nTCP  0A600001:01BB rr \n',
      '/proc/net/ip_vs',
    ],
    ['*nat\nCOMMIT\n', 'this looks like the output of iptables-save, not'],
    ['create A hash:ip family inet\n', 'this looks like the output of ipset save, not'],
    ['Hello\n', 'this is not the output of ipvsadm -Sn'],
  ])('%j', (text, message) => {
    const { virtualServers, problems } = parseIpvsadm(text);
    expect(virtualServers).toEqual([]);
    expect(problems).toMatchObject([
      {
        severity: 'error',
        message: expect.stringContaining(message),
        help: 'take the virtual servers with: ipvsadm -Sn',
      },
    ]);
  });
});

describe('texts are known for virtual servers:', () => {
  test.each([
    ['ipvsadm -Sn', SAVE],
    ['ipvsadm -Sn', '-a -u [fd00::1]:53 -r [fd00::2]:53 -m -w 1\n'],
    ['ipvsadm -Sn', '-E -t 10.0.0.1:80 -s rr\n'],
    ['ipvsadm -Sn', '-A --sctp-service 10.0.0.1:80 -s rr\n'],
    ['ipvsadm -Sn', 'ipvsadm -D -t 10.0.0.1:80\n'],
    ['ipvsadm -Ln', LISTING],
    ['ipvsadm -Ln', LISTING.slice(HEADINGS.length)],
    ['ipvsadm -Ln', 'FWM  8 IPv6 rr\n'],
  ])('%s: %j', (format, text) => {
    expect(detectFormat(text)).toBe(format);
  });
});

describe('a virtual server has one form and one name', () => {
  test('spellings of the same are equal', () => {
    const one = parseIpvsadm(
      '-A -u 10.0.0.1:80 -s mh -p 60 -M 255.255.255.255 -b flag-2,mh-fallback -o\n-a -u 10.0.0.1:80 -r 10.1.0.1:80 -i --tun-type ipip\n',
    );
    const other = parseIpvsadm(
      `${HEADINGS}UDP  10.0.0.1:80 mh (mh-fallback,mh-port) persistent 60 ops\n  -> 10.1.0.1:80  Tunnel  1  5  6\n`,
    );
    expect(one.virtualServers.map(canonicalVirtualServer)).toEqual(
      other.virtualServers.map(canonicalVirtualServer),
    );
  });

  test.each([
    [{ by: 'address', protocol: 'tcp', address: '10.0.0.1', port: 80 }, '10.0.0.1:80/tcp'],
    [{ by: 'address', protocol: 'sctp', address: 'fd00::1', port: 80 }, '[fd00::1]:80/sctp'],
    [{ by: 'mark', mark: 7, ipv6: false }, 'mark 7'],
    [{ by: 'mark', mark: 7, ipv6: true }, 'mark 7 (IPv6)'],
  ] as const)('%j: %s', (service, key) => {
    expect(serviceKey(service)).toBe(key);
  });
});

describe('printing', () => {
  test('gives the words of a change', () => {
    expect(`ipvsadm -E ${virtualServerWords({ ...WEB, persistentSeconds: 60 })}`).toBe(
      'ipvsadm -E -t 10.96.0.50:80 -s rr -p 60',
    );
    expect(`ipvsadm -D ${serviceWords(WEB.service)}`).toBe('ipvsadm -D -t 10.96.0.50:80');
    expect(serviceWords({ by: 'mark', mark: 8, ipv6: true })).toBe('-f 8 -6');
    for (const server of WEB.realServers)
      expect(realServerWords(WEB.service, server)).toBe('-t 10.96.0.50:80 -r 10.244.1.10:8080 -m -w 1');
  });

  test.each(['', 'rr -p 3', 'rr\n-C', '"rr"'])('refuses what would be another word: %j', (scheduler) => {
    expect(() => printIpvsadmRestore([{ ...WEB, scheduler }])).toThrow(RangeError);
  });
});

describe('laws', () => {
  const word = fc.oneof(
    fc.constantFrom(
      '-A',
      '-a',
      '-E',
      '-e',
      '-D',
      '-d',
      '-t',
      '-u',
      '-f',
      '-s',
      'rr',
      '-r',
      '-p',
      '-M',
      '-m',
      '-w',
      '1',
    ),
    fc.constantFrom(
      '10.0.0.1:80',
      '[fd00::1]:80',
      'a.b:http',
      '255.0.0.0',
      '-b',
      'mh-port',
      '-6',
      '7',
      '->',
      'TCP',
      'FWM',
    ),
    fc.constantFrom(
      'Masq',
      'persistent',
      'mask',
      '(mh-port)',
      'ops',
      'pe',
      'Prot LocalAddress:Port Scheduler',
    ),
    fc.string({ unit: 'binary', maxLength: 6 }),
  );
  const line = fc.array(word, { maxLength: 10 }).map((words) => words.join(' '));

  test('any text is read without an exception, and what was read prints and reads the same', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
        const { virtualServers } = parseIpvsadm(`-A -t 10.0.0.1:80 -s rr\n${lines.join('\n')}`);
        const again = parseIpvsadm(printIpvsadmRestore(virtualServers)).virtualServers;
        expect(again.map(canonicalVirtualServer)).toEqual(virtualServers.map(canonicalVirtualServer));
      }),
      { numRuns: 3000 },
    );
  });
});

describe.skipIf(!hasConformance())('what kube-proxy left', () => {
  test.each(ipvsStates().map(({ name, files }) => [name, files['ipvsadm.save'] ?? ''] as const))(
    '%s',
    (_name, text) => {
      const { virtualServers, problems } = parseIpvsadm(text);
      expect(problems.map(({ code }) => code)).toEqual(text === '' ? ['empty-dump'] : []);
      expect(printIpvsadmRestore(virtualServers)).toBe(text);
    },
  );
});

const dumps = [
  'field/dumps',
  'field/cases/R33-ipvs-weight-zero-but-ready',
  'field/cases/R35-ipvs-foreign-virtual-server',
  'field/cases/R37-ipvs-etp-local-lb-has-all-endpoints',
].flatMap((folder) =>
  sharedFiles(folder).filter(({ name }) => /ipvs.*\.txt$/.test(name) && !/save/.test(name)),
);

describe.skipIf(dumps.length === 0)('a listing of a real node is read whole:', () => {
  test.each(dumps)('$name', ({ path }) => {
    const text = readFileSync(path, 'utf8');
    const { virtualServers, problems } = parseIpvsadm(text);
    expect(problems).toEqual([]);
    expect(virtualServers).toHaveLength(text.match(/^(?:TCP|UDP|SCTP|FWM) /gm)?.length ?? 0);
    expect(virtualServers.flatMap(({ realServers }) => realServers)).toHaveLength(
      (text.match(/^ *-> /gm)?.length ?? 0) - 1,
    );
  });
});
