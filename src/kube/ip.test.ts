import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cidrContains, type IPAddress, isLoopback, joinHostPort, parseCIDR, parseIP } from './ip.ts';

// Expected texts: ParseIPSloppy of k8s.io/utils/net (the parser of Go 1.16, which took leading zeros) and
// net.IP.String; the IPv6 rule is RFC 5952 but for IPv4-mapped addresses, which Go takes for IPv4.
describe('an address is read as kube-proxy reads it:', () => {
  test.each([
    ['10.96.0.1', 'IPv4 10.96.0.1'],
    ['0.0.0.0', 'IPv4 0.0.0.0'],
    ['255.255.255.255', 'IPv4 255.255.255.255'],
    ['010.001.00.09', 'IPv4 10.1.0.9'],
    ['0000000010.0.0.1', 'IPv4 10.0.0.1'],
    ['::ffff:10.0.0.1', 'IPv4 10.0.0.1'],
    ['::FFFF:0a00:0001', 'IPv4 10.0.0.1'],
    ['0:0:0:0:0:ffff:a00:1', 'IPv4 10.0.0.1'],
    ['::ffff:010.0.0.1', 'IPv4 10.0.0.1'],
    ['::', 'IPv6 ::'],
    ['::1', 'IPv6 ::1'],
    ['2001:DB8:0:0::00AA', 'IPv6 2001:db8::aa'],
    ['2001:db8:0:0:1:0:0:1', 'IPv6 2001:db8::1:0:0:1'],
    ['2001:db8:0:1:1:1:1:1', 'IPv6 2001:db8:0:1:1:1:1:1'],
    ['0:0:1:1:0:0:1:1', 'IPv6 ::1:1:0:0:1:1'],
    ['1:0:0:2:0:0:0:3', 'IPv6 1:0:0:2::3'],
    ['1:2:3:4:5:6:7::', 'IPv6 1:2:3:4:5:6:7:0'],
    ['00001:0000002::', 'IPv6 1:2::'],
    ['64:ff9b::1.2.3.4', 'IPv6 64:ff9b::102:304'],
    ['::1.2.3.4', 'IPv6 ::102:304'],
    ['1:2:3:4:5:6:1.2.3.4', 'IPv6 1:2:3:4:5:6:102:304'],
  ])('%s is %s', (text, expected) => {
    const ip = parseIP(text);
    expect(ip && `${ip.family} ${ip.text}`).toBe(expected);
  });

  test.each([
    '',
    ' ',
    '10.0.0.1 ',
    ' 10.0.0.1',
    '10.0.0.1\n',
    '10.0.0',
    '10.0.0.1.2',
    '10.0.0.256',
    '10.0.0.-1',
    '10.0.0.1:80',
    '10.0.0.1/32',
    '10..0.1',
    '0x0a.0.0.1',
    '1e1.0.0.1',
    '167772161',
    'localhost',
    '10.0.0.1,10.0.0.2',
    ':::',
    '1::2::3',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '12345::',
    'g::',
    '[::1]',
    'fe80::1%eth0',
    '::1.2.3.256',
    '1:2:3:4:5:6:7:1.2.3.4',
    '１０.0.0.1',
  ])('%j is none', (text) => {
    expect(parseIP(text)).toBeUndefined();
  });

  test('the text of any IPv6 address shortens the first of its longest runs of zeros', () => {
    const group = fc.oneof(fc.constant(0), fc.constant(0), fc.integer({ min: 0, max: 0xffff }));
    fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
        const written = groups.map((value) => value.toString(16).padStart(4, '0').toUpperCase()).join(':');
        expect(parseIP(written)?.text).toBe(goText(groups));
      }),
      { numRuns: 2000 },
    );
  });

  test('reading what was printed changes nothing', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), fc.ipV4Extended()), (text) => {
        const ip = parseIP(text);
        if (ip !== undefined) expect(parseIP(ip.text)).toEqual(ip);
      }),
    );
  });
});

/** net.IP.String, written again: the longest run of at least two zero groups, the first of equal ones. */
function goText(groups: readonly number[]): string {
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) {
    return groups
      .slice(6)
      .flatMap((group) => [group >> 8, group & 255])
      .join('.');
  }
  let best = { start: -1, length: 1 };
  for (let start = 0; start < 8; start++) {
    let length = 0;
    while (groups[start + length] === 0) length++;
    if (length > best.length) best = { start, length };
  }
  const hex = (from: number, to: number) =>
    groups
      .slice(from, to)
      .map((group) => group.toString(16))
      .join(':');
  return best.start < 0 ? hex(0, 8) : `${hex(0, best.start)}::${hex(best.start + best.length, 8)}`;
}

// ParseCIDRSloppy, and net.IPNet.String of the network it gives.
describe('a network is read as kube-proxy reads it:', () => {
  test.each([
    ['10.244.0.0/16', '10.244.0.0/16'],
    ['10.244.7.9/16', '10.244.0.0/16'],
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['192.0.2.77/26', '192.0.2.64/26'],
    ['192.0.2.77/32', '192.0.2.77/32'],
    ['192.0.2.77/0', '0.0.0.0/0'],
    ['010.001.0.0/08', '10.0.0.0/8'],
    ['FD00:10:244::1/56', 'fd00:10:244::/56'],
    ['2001:db8::ffff/127', '2001:db8::fffe/127'],
    ['::1/128', '::1/128'],
    ['::1/0', '::/0'],
  ])('%s is %s', (text, expected) => {
    expect(parseCIDR(text)?.text).toBe(expected);
  });

  test.each([
    '10.0.0.0',
    '10.0.0.0/',
    '/8',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/+8',
    '10.0.0.0/8.',
    '10.0.0.0/ 8',
    ' 10.0.0.0/8',
    '10.0.0.0/255.0.0.0',
    '10.0.0.0/8/8',
    'fd00::/129',
    '10.0/8',
    '::ffff:10.0.0.0/104',
  ])('%j is none', (text) => {
    expect(parseCIDR(text)).toBeUndefined();
  });

  test.each([
    ['10.244.0.0/16', '10.244.255.255', true],
    ['10.244.0.0/16', '10.245.0.0', false],
    ['192.0.2.64/26', '192.0.2.127', true],
    ['192.0.2.64/26', '192.0.2.128', false],
    ['0.0.0.0/0', '255.1.2.3', true],
    ['0.0.0.0/0', '::1', false],
    ['::/0', '10.0.0.1', false],
    ['::/0', 'fd00::1', true],
    ['2001:db8::/33', '2001:db8:7fff::1', true],
    ['2001:db8::/33', '2001:db8:8000::1', false],
    ['10.0.0.1/32', '10.0.0.1', true],
    ['10.0.0.1/32', '10.0.0.0', false],
  ])('%s and %s: %s', (network, address, expected) => {
    const cidr = parseCIDR(network);
    const ip = parseIP(address);
    expect(cidr && ip && cidrContains(cidr, ip)).toBe(expected);
  });
});

describe('Go calls an address loopback:', () => {
  test.each([
    ['127.0.0.1', true],
    ['127.255.0.9', true],
    ['128.0.0.1', false],
    ['12.7.0.1', false],
    ['::1', true],
    ['::2', false],
  ])('%s: %s', (text, expected) => {
    expect(isLoopback(parseIP(text) as IPAddress)).toBe(expected);
  });
});

test('a port is joined to an IPv6 address with brackets', () => {
  expect(joinHostPort('10.0.0.1', 80)).toBe('10.0.0.1:80');
  expect(joinHostPort('fd00::1', 80)).toBe('[fd00::1]:80');
});
