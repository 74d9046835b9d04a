/**
 * A real kernel with IPVS (User-Mode Linux) takes the sets, virtual servers and addresses that are printed, and
 * prints back what was parsed: everything that the real kube-proxy left in each case of ../shared/conformance, and
 * a table of spellings.
 */
import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  canonicalMember,
  canonicalVirtualServer,
  parseIpAddr,
  parseIpset,
  parseIpvsadm,
  printAddrBatch,
  printIpsetRestore,
  printIpvsadmRestore,
} from '../src/netfilter/index.ts';
import { hasConformance } from './support/shared.ts';
import { canRunUml, runInUml, type UmlCase, type UmlOutputs } from './support/uml.ts';
import {
  canonicalAddresses,
  canonicalSets,
  canonicalTables,
  canonicalVirtualServers,
  type IpvsState,
  ipvsStates,
} from './support/uml-state.ts';

/** Entries as people write them, in sets that take them. */
const ENTRIES: readonly (readonly [type: string, entry: string])[] = [
  ['hash:ip', '10.0.0.1'],
  ['hash:ip', '010.0.0.2'],
  ['hash:ip', '10.0.0.3/32'],
  ['hash:ip,port', '10.0.0.1,80'],
  ['hash:ip,port', '10.0.0.1,udp:domain'],
  ['hash:ip,port', '10.0.0.2,6:http'],
  ['hash:ip,port', '10.0.0.2,sctp:0x50'],
  ['hash:ip,port', '10.0.0.3,icmp:echo-request'],
  ['hash:ip,port', '10.0.0.4,gre:0'],
  ['hash:ip,port family inet6', '2001:DB8:0::1,tcp:443'],
  ['hash:ip,port family inet6', '[2001:db8::2],udp:53'],
  ['hash:ip,port family inet6', '::ffff:1.2.3.4,tcp:80'],
  ['hash:ip,port family inet6', 'fd00::1,icmpv6:echo-request'],
  ['hash:ip,port,ip', '10.0.0.1,tcp:012,10.0.0.1'],
  ['hash:ip,port,net', '10.0.0.1,tcp:80,10.1.2.3/8'],
  ['hash:ip,port,net', '10.0.0.1,tcp:80,10.1.2.3/32'],
  ['hash:ip,port,net', '10.0.0.1,443,10.1.2.3'],
  ['hash:ip,port,net family inet6', 'fd00::1,tcp:80,FD00:1:2:3::4/32'],
  ['hash:ip,port,net family inet6', 'fd00::1,tcp:80,fd00::5/128'],
  ['hash:net', '192.168.1.1/16'],
  ['hash:net,port', '10.0.0.1/24,tcp:53'],
  ['hash:net,net', '10.0.0.0/8,192.168.0.1/32'],
  ['hash:net,iface', '10.1.0.0/8,eth0'],
  ['hash:ip,mark', '10.0.0.1,0x123'],
  ['hash:ip,mark', '10.0.0.1,010'],
  ['hash:mac', '01:02:03:aa:BB:0c'],
  ['bitmap:port range 0-65535', '80'],
  ['bitmap:port range 0-65535', 'https'],
  ['bitmap:port range 0-65535', 'tcp:8080'],
  ['bitmap:port range 0-65535', 'udp:53'],
  ['bitmap:ip range 10.0.0.0/16', '10.0.1.0'],
];

/** Lines that `ipvsadm -R` takes in many spellings. */
const SERVERS = `-A -t 10.0.0.1:80 -s rr
-a -t 10.0.0.1:80 -r 10.1.0.1:8080 -m -w 1
-a -t 10.0.0.1:80 -r 10.1.0.2:80 -g -w 0
-a -t 10.0.0.1:80 -r 10.1.0.3 -i -w 5
-a -t 10.0.0.1:80 -r 10.1.0.4:80 -i --tun-type gue --tun-port 6080 --tun-nocsum
-A -t 10.0.0.2:80 -s rr -p
-A -t 10.0.0.3:80 -s rr -p 10800 -M 255.255.255.255
-A -t 10.0.0.4:80 -s rr -p 10800 -M 255.255.255.0
-A -u 10.0.0.5:80 -s mh -b mh-port
-A -u 10.0.0.6:80 -s mh -b mh-port,mh-fallback -p 30
-A -u 10.0.0.7:80 -s sh -b flag-2 -o
-A -u 10.0.0.8:80 -s sh -b flag-1,flag-3
-A -t 10.0.0.9:80 -s rr -b flag-2
--add-service --tcp-service 10.0.0.10:http --scheduler=wrr --persistent=20 --netmask 255.255.0.0
--add-server --tcp-service 10.0.0.10:80 --real-server 10.1.0.1:http-alt --masquerading --weight 0
-A -t10.0.0.11:080 -ssed

-A --sctp-service 10.0.0.12:80
-A -t 010.0.0.13:80 -s nq
-A -f 7 -s dh
-a -f 7 -r 10.1.0.1 -m
-A -f 8 -6 -s rr -p 30 -M 64
-a -f 8 -6 -r [fd00::5]:0 -m
-A -t [FD00:0::1]:80 -s lc -p 10800
-a -t [fd00::1]:80 -r [fd00::2]:8080 -m -w 100
-A -u [::ffff:1.2.3.4]:53 -s lblc
-A -u 10.0.0.14:0 -s lblcr -p 30
-A -t 10.0.0.15:80 -s rr
-E -t 10.0.0.15:80 -s fo -p 60
-a -t 10.0.0.15:80 -r 10.1.0.1:80 -m
-a -t 10.0.0.15:80 -r 10.1.0.2:80 -m
-e -t 10.0.0.15:80 -r 10.1.0.1:80 -m -w 7
-d -t 10.0.0.15:80 -r 10.1.0.2:80
-A -t 10.0.0.16:80 -s ovf
-D -t 10.0.0.16:80
`;

const ADDRESSES = ['10.96.0.1', '10.96.0.1/32', 'FD00:0::1', '192.0.2.1/24', 'fd00:1::/64'];

const hasUml = canRunUml();
const states = hasUml && hasConformance() ? ipvsStates() : [];
/** Many cases leave the same in several versions: a kernel takes it once. */
const firstOf = new Map(states.map((state) => [likeness(state), state.name] as const).reverse());

describe.skipIf(!hasUml)('a kernel with IPVS', () => {
  let outputs: ReadonlyMap<string, UmlOutputs>;
  const outputsOf = (name: string): UmlOutputs => {
    const found = outputs.get(name);
    if (found === undefined) throw new Error(`${name} did not run`);
    return found;
  };
  const fileOf = (name: string, file: string): string => outputsOf(name).files.get(file) ?? '';

  beforeAll(async () => {
    outputs = await runInUml([
      entriesCase(),
      serversCase(),
      twiceCase(),
      ...differentStates().map(stateCase),
    ]);
  }, 600_000);

  test.each(ENTRIES.map((entry, index) => [...entry, index] as const))(
    'keeps of %s what canonicalMember makes of %s',
    (type, entry, index) => {
      expect(outputsOf('entries').stderr).toBe('');
      const { sets, problems } = parseIpset(fileOf('entries', 'sets'));
      expect(problems).toEqual([]);
      const set = sets.find(({ name }) => name === `S${index}`);
      expect(set?.members.map((member) => member.entry)).toEqual([
        canonicalMember(type.split(' ')[0] ?? '', entry),
      ]);
    },
  );

  test('lists sets as it saves them', () => {
    const saved = parseIpset(fileOf('entries', 'sets'));
    const listed = parseIpset(fileOf('entries', 'list'));
    expect(listed.problems).toEqual([]);
    expect(listed.sets.map(({ references, ...set }) => set)).toEqual(saved.sets);
    expect(listed.sets.every(({ references }) => references === 0)).toBe(true);
    expect(parseIpset(fileOf('entries', 'terse')).problems.map(({ code }) => code)).toContain(
      'members-missing',
    );
    expect(parseIpset(fileOf('entries', 'xml')).problems[0]?.message).toContain('ipset list -o xml');
  });

  test('takes the lines of ipvsadm -R as they are parsed, and saves them as they are printed', () => {
    const parsed = parseIpvsadm(SERVERS);
    expect(parsed.problems).toEqual([]);
    expect(outputsOf('servers').stderr).toBe('');
    const saved = fileOf('servers', 'saved');
    expect(parseIpvsadm(saved).problems).toEqual([]);
    expect(printIpvsadmRestore(parseIpvsadm(saved).virtualServers)).toBe(saved);
    expect(canonicalVirtualServers(parseIpvsadm(saved))).toEqual(canonicalVirtualServers(parsed));
    expect(canonicalVirtualServers(parseIpvsadm(fileOf('servers', 'names')))).toEqual(
      canonicalVirtualServers(parsed),
    );
  });

  test.each(['listed', 'listed-names', 'listed-tunnels'])(
    'lists virtual servers as it saves them: %s',
    (file) => {
      const saved = parseIpvsadm(fileOf('servers', 'saved')).virtualServers;
      const listed = parseIpvsadm(fileOf('servers', file));
      expect(listed.problems).toEqual([]);
      const withoutTunnels = saved.map((server) => ({
        ...canonicalVirtualServer(server),
        realServers: server.realServers.map(({ tunnel, ...realServer }) => realServer),
      }));
      expect(listed.virtualServers.map(canonicalVirtualServer)).toEqual(withoutTunnels);
      for (const { realServers } of listed.virtualServers)
        for (const realServer of realServers)
          expect(realServer).toMatchObject({ activeConnections: 0, inactiveConnections: 0 });
    },
  );

  test.each([
    ['stats', 'ipvsadm -L --stats'],
    ['rate', 'ipvsadm -L --rate'],
    ['thresholds', 'ipvsadm -L --thresholds'],
    ['persistent-conn', 'ipvsadm -L --persistent-conn'],
    ['connections', 'ipvsadm -L -c'],
    ['timeouts', 'ipvsadm -L --timeout'],
    ['proc', '/proc/net/ip_vs'],
  ])('prints other listings, which are refused by name: %s', (file, name) => {
    const { virtualServers, problems } = parseIpvsadm(fileOf('servers', file));
    expect(virtualServers).toEqual([]);
    expect(problems).toMatchObject([{ severity: 'error', message: expect.stringContaining(name) }]);
  });

  test('takes sets and addresses twice', () => {
    const { code, stderr } = outputsOf('twice');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const wanted = ['10.96.0.1/32', '192.0.2.1/24', 'fd00:1::/64', 'fd00::1/128'];
    for (const file of ['one-line', 'plain', 'json', 'details', 'brief', 'statistics']) {
      const { interfaces, problems } = parseIpAddr(fileOf('twice', file));
      expect(problems, file).toEqual([]);
      const addresses = interfaces.find(({ name }) => name === 'kube-ipvs0')?.addresses ?? [];
      expect([...addresses].sort(), file).toEqual(wanted);
    }
    expect(fileOf('twice', 'plain')).toMatch(/kube-ipvs0: <BROADCAST,NOARP>.* state DOWN /);
    expect(fileOf('twice', 'left')).not.toContain('192.0.2.1/24');
  });

  test.each(states.map((state) => [state.name, state] as const))('%s', (_name, state) => {
    const { code, stderr, files } = outputsOf(firstOf.get(likeness(state)) ?? '');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const wanted = (file: string) => state.files[file] ?? '';
    const held = (file: string) => files.get(`${file}.held`) ?? '';
    expect(canonicalSets(held('ipset.save'))).toEqual(canonicalSets(wanted('ipset.save')));
    expect(canonicalVirtualServers(parseIpvsadm(held('ipvsadm.save')))).toEqual(
      canonicalVirtualServers(parseIpvsadm(wanted('ipvsadm.save'))),
    );
    expect(canonicalAddresses(held('kube-ipvs0.addr'))).toEqual(
      canonicalAddresses(wanted('kube-ipvs0.addr')),
    );
    for (const file of ['save.v4', 'save.v6']) {
      const family = file === 'save.v4' ? 'ipv4' : 'ipv6';
      if (wanted(file) !== '')
        expect(canonicalTables(held(file), family), file).toEqual(canonicalTables(wanted(file), family));
    }
  });
});

function differentStates(): readonly IpvsState[] {
  const names = new Set(firstOf.values());
  return states.filter(({ name }) => names.has(name));
}

/** Equal for states that differ only in their order and in what the kernel chooses itself. */
function likeness({ files }: IpvsState): string {
  const texts = ['ipset.save', 'ipvsadm.save', 'kube-ipvs0.addr', 'save.v4', 'save.v6'].map((file) =>
    (files[file] ?? `${files['restore.v4']}${files['restore.v6']}`)
      .replaceAll(/ initval 0x[0-9a-f]+$|^\d+: /gm, '')
      .split('\n')
      .sort()
      .join('\n'),
  );
  return createHash('sha256').update(JSON.stringify(texts)).digest('hex');
}

function entriesCase(): UmlCase {
  const sets = ENTRIES.map(([type, entry], index) => `create S${index} ${type}\nadd S${index} ${entry}\n`);
  return {
    name: 'entries',
    files: { input: sets.join('') },
    script: `set -e
ipset restore <input
ipset save >sets
ipset list >list
ipset list -t >terse
ipset list -o xml >xml
`,
  };
}

function serversCase(): UmlCase {
  return {
    name: 'servers',
    files: { input: SERVERS },
    script: `set -e
ipvsadm -R <input
ipvsadm -Sn >saved
ipvsadm -S >names
ipvsadm -Ln >listed
ipvsadm -L --exact >listed-names
ipvsadm -Ln --tun-info >listed-tunnels
ipvsadm -Ln --stats >stats
ipvsadm -Ln --rate >rate
ipvsadm -Ln --thresholds >thresholds
ipvsadm -Ln --persistent-conn >persistent-conn
ipvsadm -Lnc >connections
ipvsadm -L --timeout >timeouts
cat /proc/net/ip_vs >proc
`,
  };
}

function twiceCase(): UmlCase {
  const { sets } = parseIpset(
    'create A hash:ip,port family inet hashsize 1024 maxelem 65536\nadd A 10.96.0.1,tcp:443\n' +
      'create B bitmap:port range 0-65535\nadd B 80\ncreate C hash:ip timeout 0 comment\nadd C 10.0.0.1 comment "a b"\n',
  );
  return {
    name: 'twice',
    files: {
      sets: printIpsetRestore(sets),
      create: printAddrBatch('kube-ipvs0', ADDRESSES),
      again: printAddrBatch('kube-ipvs0', ADDRESSES, { create: false }),
      remove: printAddrBatch('kube-ipvs0', [], { create: false, remove: ['192.0.2.1/24'] }),
    },
    script: `set -e
ipset restore <sets
ipset restore <sets
ip -batch create
ip -batch again
ip -o addr >one-line
ip addr >plain
ip -j addr show dev kube-ipvs0 >json
ip -d addr >details
ip -br addr >brief
ip -s addr show dev kube-ipvs0 >statistics
ip -batch remove
ip -o addr >left
`,
  };
}

/** Sets, servers and addresses as we print them; rules as they were saved, or as kube-proxy restored them. */
function stateCase({ name, files }: IpvsState): UmlCase {
  const addresses = parseIpAddr(files['kube-ipvs0.addr'] ?? '').interfaces.flatMap((item) => item.addresses);
  const rules = (version: 'v4' | 'v6') => files[`save.${version}`] ?? files[`restore.${version}`] ?? '';
  return {
    name,
    files: {
      sets: printIpsetRestore(parseIpset(files['ipset.save'] ?? '').sets),
      servers: printIpvsadmRestore(parseIpvsadm(files['ipvsadm.save'] ?? '').virtualServers),
      addresses: printAddrBatch('kube-ipvs0', addresses),
      'rules.v4': rules('v4'),
      'rules.v6': rules('v6'),
    },
    script: `set -e
ipset restore <sets
ipvsadm -R <servers
ip -batch addresses
iptables-legacy-restore --noflush <rules.v4
ip6tables-legacy-restore --noflush <rules.v6
ipset save >ipset.save.held
ipvsadm -Sn >ipvsadm.save.held
ip -o addr show dev kube-ipvs0 >kube-ipvs0.addr.held
iptables-legacy-save >save.v4.held
ip6tables-legacy-save >save.v6.held
`,
  };
}
