import { describe, expect, test } from 'vitest';
import { detectFormat, parseIpAddr, printAddrBatch } from '../../src/netfilter/index.ts';
import { hasConformance } from '../support/shared.ts';
import { ipvsStates } from '../support/uml-state.ts';

/** As iproute2 6.1 printed the same node. */
const ONE_LINE = `1: lo    inet 127.0.0.1/8 scope host lo\\       valid_lft forever preferred_lft forever
1: lo    inet6 ::1/128 scope host \\       valid_lft forever preferred_lft forever
2: eth0    inet 192.168.0.2/24 brd 192.168.0.255 scope global eth0\\       valid_lft forever preferred_lft forever
3: kube-ipvs0    inet 10.96.0.1/32 scope global kube-ipvs0\\       valid_lft forever preferred_lft forever
3: kube-ipvs0    inet6 fd00::1/128 scope global \\       valid_lft forever preferred_lft forever
`;

const PLAIN = `1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN group default qlen 1000
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
    inet 127.0.0.1/8 scope host lo
       valid_lft forever preferred_lft forever
    inet6 ::1/128 scope host 
       valid_lft forever preferred_lft forever
2: eth0@if9: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP group default qlen 1000
    link/ether 1a:c5:ab:c9:6b:df brd ff:ff:ff:ff:ff:ff link-netnsid 0
    altname enp0s3
    inet 192.168.0.2/24 brd 192.168.0.255 scope global eth0
       valid_lft forever preferred_lft forever
3: kube-ipvs0: <BROADCAST,NOARP> mtu 1500 qdisc noop state DOWN group default qlen 1000
    link/ether 1a:c5:ab:c9:6b:df brd ff:ff:ff:ff:ff:ff
    inet 10.96.0.1/32 scope global kube-ipvs0
       valid_lft forever preferred_lft forever
    inet6 fd00::1/128 scope global 
       valid_lft forever preferred_lft forever
`;

const DETAILS = PLAIN.replaceAll(
  /(link\/ether.*)$/gm,
  '$1 promiscuity 0  allmulti 0 minmtu 0 maxmtu 0 \n    dummy numtxqueues 1 gso_max_size 65536 ',
);

const STATISTICS = `${PLAIN}    RX:  bytes packets errors dropped  missed   mcast           
             0       0      0       0       0       0 
    TX:  bytes packets errors dropped carrier collsns           
             0       0      0       0       0       0 
`;

const BRIEF = `lo               UNKNOWN        127.0.0.1/8 ::1/128 
eth0@if9         UP             192.168.0.2/24 metric 100 
kube-ipvs0       DOWN           10.96.0.1/32 fd00::1/128 
`;

const OBJECTS = [
  { ifindex: 1, ifname: 'lo', addr_info: [address('127.0.0.1', 8), address('::1', 128)] },
  { ifindex: 2, ifname: 'eth0', addr_info: [address('192.168.0.2', 24)] },
  { ifindex: 3, ifname: 'kube-ipvs0', addr_info: [address('10.96.0.1', 32), address('fd00::1', 128)] },
];

function address(local: string, prefixlen: number) {
  return { family: local.includes(':') ? 'inet6' : 'inet', local, prefixlen, scope: 'global' };
}

const INTERFACES = [
  { name: 'lo', addresses: ['127.0.0.1/8', '::1/128'] },
  { name: 'eth0', addresses: ['192.168.0.2/24'] },
  { name: 'kube-ipvs0', addresses: ['10.96.0.1/32', 'fd00::1/128'] },
];

describe('addresses are read from', () => {
  test.each([
    ['ip -o addr', ONE_LINE],
    ['ip addr', PLAIN],
    ['ip -d addr', DETAILS],
    ['ip -s addr', STATISTICS],
    ['ip -br addr', BRIEF],
    ['ip -j addr', JSON.stringify(OBJECTS)],
    ['ip -j -p addr', JSON.stringify(OBJECTS, undefined, 4)],
    ['CRLF', PLAIN.replaceAll('\n', '\r\n')],
    ['behind a byte order mark', `\ufeff${ONE_LINE}`],
    ['behind a prompt', `root@node-a:~# ip addr\n${PLAIN}`],
  ])('%s', (_name, text) => {
    expect(parseIpAddr(text)).toEqual({ interfaces: INTERFACES, problems: [] });
  });

  test.each([
    ['ip -o addr', ONE_LINE.replaceAll(/^[12].*\n/gm, '')],
    ['ip addr', PLAIN.slice(PLAIN.indexOf('3: '))],
    ['ip -j addr', JSON.stringify([{}, {}, OBJECTS[2]])],
    ['ip -br addr', BRIEF.split('\n').slice(2).join('\n')],
  ])('%s show dev kube-ipvs0', (_name, text) => {
    expect(parseIpAddr(text)).toEqual({ interfaces: INTERFACES.slice(2), problems: [] });
  });

  test.each([
    ['', undefined, 'no interface in this text'],
    ['[]', undefined, 'no interface in the output of ip -j addr'],
    ['[{', undefined, 'not the output of ip -j addr'],
    ['Device "kube-ipvs0" does not exist.\n', 1, 'no interface kube-ipvs0'],
    [`${ONE_LINE}nonsense\n`, 6, 'not a line of ip -o addr or ip addr'],
  ])('%j, or it is said what is wrong', (text, line, message) => {
    expect(parseIpAddr(text).problems).toEqual([
      { ...(line !== undefined && { line }), message: expect.stringContaining(message) },
    ]);
  });

  test.each([
    ONE_LINE,
    PLAIN,
    JSON.stringify(OBJECTS),
    JSON.stringify(OBJECTS, undefined, 4).replace('[\n    {', '[ {'),
    JSON.stringify([{}, {}, OBJECTS[2]]),
  ])('a text that is known: %j', (text) => {
    expect(detectFormat(text)).toBe('ip addr');
  });
});

describe('addresses are printed for ip -batch', () => {
  test('behind the interface', () => {
    expect(printAddrBatch('kube-ipvs0', ['10.96.0.1', 'FD00:0::1', '10.0.0.0/24'])).toBe(
      'link add kube-ipvs0 type dummy\n' +
        'addr replace 10.96.0.1/32 dev kube-ipvs0\n' +
        'addr replace fd00::1/128 dev kube-ipvs0\n' +
        'addr replace 10.0.0.0/24 dev kube-ipvs0\n',
    );
  });

  test('without it, and with addresses to take away', () => {
    expect(printAddrBatch('kube-ipvs0', ['10.96.0.1'], { create: false, remove: ['10.96.0.9/32'] })).toBe(
      'addr del 10.96.0.9/32 dev kube-ipvs0\naddr replace 10.96.0.1/32 dev kube-ipvs0\n',
    );
  });

  test.each([
    '10.0.0.1 dev lo',
    '10.0.0.1/33',
    'fd00::/129',
    '10.0.0.1/',
    'x',
    '',
    '10.0.0.1/8/8',
    '10.0.0.1\nlink',
  ])('but not what is no address: %j', (text) => {
    expect(() => printAddrBatch('kube-ipvs0', [text])).toThrow(RangeError);
    expect(() => printAddrBatch('kube-ipvs0', [], { remove: [text] })).toThrow(RangeError);
  });

  test.each(['', '-x', 'a b', 'sixteen-letters-', 'a\nb', 'a/b', '#a'])('nor for %j', (name) => {
    expect(() => printAddrBatch(name, [])).toThrow(RangeError);
  });
});

describe.skipIf(!hasConformance())('what kube-proxy left', () => {
  test.each(ipvsStates().map(({ name, files }) => [name, files['kube-ipvs0.addr'] ?? ''] as const))(
    '%s',
    (_name, text) => {
      const { interfaces, problems } = parseIpAddr(text);
      expect(problems.length).toBe(text === '' ? 1 : 0);
      for (const { name, addresses } of interfaces) {
        expect(name).toBe('kube-ipvs0');
        expect(addresses).toHaveLength(text.trimEnd().split('\n').length);
        expect(printAddrBatch(name, addresses, { create: false })).toBe(
          addresses.map((item) => `addr replace ${item} dev kube-ipvs0\n`).join(''),
        );
      }
    },
  );
});
