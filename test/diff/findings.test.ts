/** What is said of each kind of difference, word for word, on a small cluster with a Service of each kind. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Comparison, compareStates, type NodeState, patchOf } from '../../src/diff/index.ts';
import { kubeProxyVersion } from '../../src/kube/index.ts';
import { printSave } from '../../src/netfilter/index.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { SHOP } from './support/shop.ts';
import { compileFiles, dumped } from './support/states.ts';

const folder = temporaryFolder();
let expected: NodeState;
let dump: string;

beforeAll(async () => {
  const path = join(folder, 'shop.yaml');
  writeFileSync(path, SHOP);
  expected = await compileFiles([path], {
    node: 'node-a',
    version: kubeProxyVersion(36),
    flags: { clusterCIDRs: ['10.244.0.0/16'] },
  });
  const { ipv4 } = expected.rulesets;
  if (ipv4 === undefined) throw new Error('no rules');
  dump = [...printSave(ipv4)].join('');
});

/** A change to a dump; it has to change something. */
type Edit = (text: string) => string;

/** Takes out all lines that hold one of the texts. */
const drop =
  (...texts: readonly string[]): Edit =>
  (text) =>
    text
      .split('\n')
      .filter((line) => !texts.some((each) => line.includes(each)))
      .join('\n');

const replace =
  (from: string | RegExp, to: string): Edit =>
  (text) =>
    text.replace(from, to);

/** Puts a rule behind the first line that holds the text. */
const addBehind =
  (text: string, line: string): Edit =>
  (whole) => {
    const lines = whole.split('\n');
    const at = lines.findIndex((each) => each.includes(text));
    return at < 0 ? whole : lines.toSpliced(at + 1, 0, line).join('\n');
  };

function edited(edits: readonly Edit[]): string {
  return edits.reduce((text, edit) => {
    const changed = edit(text);
    if (changed === text) throw new Error(`the edit ${edit} changes nothing`);
    return changed;
  }, dump);
}

function compare(text: string, options: { readonly scope?: 'all' } = {}): Comparison {
  return compareStates(expected, dumped({ ipv4: text }), { scope: options.scope ?? 'kube-proxy' });
}

function told({ findings }: Comparison): string[] {
  return findings.map(
    ({ servicePort, problems }) =>
      `${servicePort ?? 'node'}: ${problems.map(({ code, message }) => `[${code}] ${message}`).join('; ')}`,
  );
}

function noted({ notes }: Comparison): string[] {
  return notes.flatMap(({ problems }) => problems.map(({ code, message }) => `[${code}] ${message}`));
}

/** All that shop/cart has. */
const CART = ['shop/cart', 'N5W5PH5NLY2BP4HG', 'CAAYBCG2DXAC5ULR', 'XT2YUEZ32EIO52VA'];
const WEB = 'KUBE-SVC-67NZLRHBNDSAWJRO';

const TABLE: readonly (readonly [title: string, edits: readonly Edit[], findings: readonly string[]])[] = [
  [
    'an endpoint is missing from the balancing',
    [
      drop('-> 10.244.3.12:8080', '-A KUBE-SEP-VUPUHKXHY2PEPYE3', ':KUBE-SEP-VUPUHKXHY2PEPYE3'),
      replace(
        ' -m statistic --mode random --probability 0.50000000000 -j KUBE-SEP-BTZNBNILETY57XCS',
        ' -j KUBE-SEP-BTZNBNILETY57XCS',
      ),
      replace('--probability 0.33333333349 -j', '--probability 0.50000000000 -j'),
    ],
    ['shop/web:http: [endpoint-missing] endpoint 10.244.3.12:8080 is not programmed'],
  ],
  [
    'the last rule of the balancing is missing',
    [drop('-> 10.244.3.12:8080')],
    [
      'shop/web:http: [endpoint-missing] endpoint 10.244.3.12:8080 is not programmed; [endpoint-share] 33.3% of new connections go nowhere',
    ],
  ],
  [
    'an endpoint that is gone is still there',
    [
      addBehind(':KUBE-SERVICES', ':KUBE-SEP-AAAAAAAAAAAAAAAA - [0:0]'),
      replace(/(:KUBE-SVL)/, ':KUBE-SEP-BBBBBBBBBBBBBBBB - [0:0]\n$1'),
      addBehind(
        '-> 10.244.1.10:8080',
        `-A ${WEB} -m comment --comment "shop/web:http -> 10.244.9.9:8080" -m statistic --mode random --probability 0.33333333349 -j KUBE-SEP-BBBBBBBBBBBBBBBB\n-A KUBE-SEP-BBBBBBBBBBBBBBBB -p tcp -m tcp -j DNAT --to-destination 10.244.9.9:8080`,
      ),
      replace('--probability 0.33333333349 -j KUBE-SEP-FZQ', '--probability 0.25000000000 -j KUBE-SEP-FZQ'),
    ],
    ['shop/web:http: [endpoint-surplus] endpoint 10.244.9.9:8080 is still programmed, gone from the cluster'],
  ],
  [
    'shares are uneven',
    [replace('--probability 0.33333333349', '--probability 0.50000000000')],
    [
      'shop/web:http: [endpoint-share] endpoint 10.244.1.10:8080 gets a share of 50% instead of 33.3%; [endpoint-share] endpoint 10.244.2.11:8080 gets a share of 25% instead of 33.3%; [endpoint-share] endpoint 10.244.3.12:8080 gets a share of 25% instead of 33.3%',
    ],
  ],
  [
    'a chain of an endpoint sends elsewhere',
    [replace('--to-destination 10.244.2.11:8080', '--to-destination 10.244.2.99:8080')],
    [
      'shop/web:http: [endpoint-wrong] endpoint 10.244.2.11:8080 is not programmed: KUBE-SEP-BTZNBNILETY57XCS sends to 10.244.2.99:8080',
    ],
  ],
  [
    'a chain of an endpoint is empty',
    [drop('--to-destination 10.244.2.11:8080')],
    [
      'shop/web:http: [endpoint-wrong] endpoint 10.244.2.11:8080 gets no traffic: KUBE-SEP-BTZNBNILETY57XCS has no DNAT',
    ],
  ],
  [
    'the cluster IP leads nowhere',
    [drop('shop/web:http cluster IP" -m tcp --dport 80 -j KUBE-SVC')],
    ['shop/web:http: [cluster-ip-missing] cluster IP 10.96.0.50:80 goes nowhere'],
  ],
  [
    'the cluster IP leads to another Service',
    [replace('-j KUBE-SVC-67NZLRHBNDSAWJRO', '-j KUBE-SVC-N5W5PH5NLY2BP4HG')],
    [
      'shop/web:http: [cluster-ip-wrong] cluster IP 10.96.0.50:80 goes to shop/cart instead of KUBE-SVC-67NZLRHBNDSAWJRO',
    ],
  ],
  [
    'the rule of a cluster IP is for another port',
    [
      replace(
        '10.96.0.50/32 -p tcp -m comment --comment "shop/web:http cluster IP" -m tcp --dport 80 -j KUBE-SVC',
        '10.96.0.50/32 -p tcp -m comment --comment "shop/web:http cluster IP" -m tcp --dport 81 -j KUBE-SVC',
      ),
    ],
    [
      'shop/web:http: [cluster-ip-missing] cluster IP 10.96.0.50:80 goes nowhere; [dispatch-surplus] cluster IP 10.96.0.50:81 is still programmed',
    ],
  ],
  [
    'the rule of a cluster IP is for more ports',
    [
      replace(
        '10.96.0.50/32 -p tcp -m comment --comment "shop/web:http cluster IP" -m tcp --dport 80 -j KUBE-SVC',
        '10.96.0.50/32 -p tcp -m comment --comment "shop/web:http cluster IP" -m tcp --dport 80:90 -j KUBE-SVC',
      ),
    ],
    [
      'shop/web:http: [cluster-ip-missing] cluster IP 10.96.0.50:80 goes nowhere; [rules-differ] a rule for it in KUBE-SERVICES takes other traffic than it should',
    ],
  ],
  [
    'an external IP leads nowhere',
    [drop('shop/front:https external IP')],
    ['shop/front:https: [dispatch-missing] external IP 198.51.100.60:443 goes nowhere'],
  ],
  [
    'a load-balancer IP leads nowhere',
    [drop('agent:grpc loadbalancer IP')],
    ['shop/agent:grpc: [dispatch-missing] load-balancer IP 203.0.113.80:9000 goes nowhere'],
  ],
  [
    'a node port is missing',
    [drop('--dport 30443')],
    ['shop/front:https: [node-port-missing] node port 30443 missing'],
  ],
  [
    'a node port is open that nobody has',
    [
      addBehind(
        '--dport 30443 -j',
        '-A KUBE-NODEPORTS -p tcp -m comment --comment "shop/front:https" -m tcp --dport 30555 -j KUBE-EXT-VPWLIZ4UCZR3AVHA',
      ),
    ],
    ['shop/front:https: [node-port-surplus] node port 30555 is still open'],
  ],
  [
    'no node port is reached',
    [drop('-j KUBE-NODEPORTS\n', 'must be the last rule')],
    ['node: [node-port-missing] no node port is reached: KUBE-SERVICES has no jump to KUBE-NODEPORTS'],
  ],
  [
    'node ports come first',
    [
      drop('must be the last rule'),
      addBehind(
        '-A KUBE-POSTROUTING -m comment',
        '-A KUBE-SERVICES -m addrtype --dst-type LOCAL -j KUBE-NODEPORTS',
      ),
    ],
    [
      'node: [rule-order] the jump from KUBE-SERVICES to KUBE-NODEPORTS is not the last rule: rules behind it may not be reached',
    ],
  ],
  [
    'node ports are open on one address only',
    [replace('-m addrtype --dst-type LOCAL -j KUBE-NODEPORTS', '-d 192.168.0.2/32 -j KUBE-NODEPORTS')],
    ['node: [rules-differ] node ports are open on 192.168.0.2 instead of all addresses of the node'],
  ],
  [
    'session affinity is missing',
    [drop('--rcheck'), replace(/ -m recent --set \S+ \S+ \S+ \S+ --rsource/g, '')],
    ['shop/cart: [session-affinity] session affinity missing'],
  ],
  [
    'new connections to an endpoint, but not those of clients that came before',
    [replace(/^-A KUBE-SVC-.*"shop\/cart -> .* --mode random .*\n/m, '')],
    ['shop/cart: [endpoint-missing] endpoint 10.244.1.30:8080 is not programmed'],
  ],
  [
    'session affinity lasts shorter',
    [replace(/--seconds 10800/g, '--seconds 600')],
    ['shop/cart: [session-affinity] session affinity lasts 600 s instead of 10800 s'],
  ],
  [
    'traffic to the cluster IP is not masqueraded',
    [drop('shop/web:http cluster IP" -m tcp --dport 80 -j KUBE-MARK-MASQ')],
    ['shop/web:http: [masquerade] traffic is not masqueraded (to the cluster IP)'],
  ],
  [
    'traffic of another network is masqueraded',
    [replace('! -s 10.244.0.0/16 -d 10.96.0.50/32', '! -s 10.0.0.0/8 -d 10.96.0.50/32')],
    ['shop/web:http: [masquerade] other traffic is masqueraded than should be (to the cluster IP)'],
  ],
  [
    'traffic from outside is not masqueraded',
    [drop('masquerade traffic for shop/front:https')],
    ['shop/front:https: [masquerade] external traffic is not masqueraded'],
  ],
  [
    'an endpoint cannot reach itself',
    [drop('-s 10.244.1.10/32')],
    [
      'shop/web:http: [masquerade] traffic of endpoint 10.244.1.10:8080 to itself is not masqueraded as it should be',
    ],
  ],
  [
    'nothing is masqueraded',
    [drop('-j MASQUERADE')],
    [
      'node: [rules-differ] KUBE-POSTROUTING differs: marked traffic is not masqueraded as it should be (1 rule missing)',
    ],
  ],
  [
    'traffic from outside goes to all nodes',
    [replace('-j KUBE-SVL-F3FZM6KWP74DII3H', '-j KUBE-SVC-F3FZM6KWP74DII3H')],
    ['shop/agent:grpc: [external-policy] external traffic goes another way than it should'],
  ],
  [
    'traffic from outside ends',
    [drop('-j KUBE-SVL-F3FZM6KWP74DII3H')],
    ['shop/agent:grpc: [external-policy] external traffic goes nowhere, or not where it should'],
  ],
  [
    'a source range is missing',
    [drop('-s 192.0.2.0/24')],
    ['shop/front:https: [firewall] source range 192.0.2.0/24 is not let in'],
  ],
  [
    'a source range is too many',
    [
      addBehind(
        '-s 192.0.2.0/24',
        '-A KUBE-FW-VPWLIZ4UCZR3AVHA -s 203.0.113.0/24 -j KUBE-EXT-VPWLIZ4UCZR3AVHA',
      ),
    ],
    ['shop/front:https: [firewall] source range 203.0.113.0/24 is let in, and should not be'],
  ],
  [
    'what is outside of the source ranges is not dropped',
    [drop('traffic not accepted by')],
    [
      'shop/front:https: [firewall] load-balancer IP 203.0.113.60:443: traffic from outside of its source ranges is not dropped',
    ],
  ],
  [
    'a health check port is closed',
    [drop('--dport 32000')],
    ['shop/agent:grpc: [health-check-port] health check node port 32000 is not let in'],
  ],
  [
    'a Service without endpoints is not refused',
    [drop('-A KUBE-SERVICES -d 10.96.0.90/32')],
    ['shop/idle:http: [refusal] cluster IP 10.96.0.90:80 is not refused, though it has no endpoints'],
  ],
  [
    'a Service with endpoints is refused',
    [
      addBehind(
        '-A KUBE-SERVICES -d 10.96.0.90/32',
        '-A KUBE-SERVICES -d 10.96.0.50/32 -p tcp -m comment --comment "shop/web:http has no endpoints" -m tcp --dport 80 -j REJECT',
      ),
    ],
    ['shop/web:http: [refusal] cluster IP 10.96.0.50:80 is refused, as if it had no endpoints'],
  ],
  [
    'a jump is missing',
    [drop('-A PREROUTING -m comment')],
    ['node: [jump-missing] no jump from nat/PREROUTING to KUBE-SERVICES'],
  ],
  [
    'a jump takes other packets',
    [
      replace(
        '-A INPUT -m conntrack --ctstate NEW -m comment --comment "kubernetes load balancer firewall"',
        '-A INPUT -m comment --comment "kubernetes load balancer firewall"',
      ),
    ],
    [
      'node: [jump-missing] no jump from filter/INPUT to KUBE-PROXY-FIREWALL; [jump-surplus] the jump from filter/INPUT to KUBE-PROXY-FIREWALL is another one than it should be',
    ],
  ],
  [
    'one port of two of the same name',
    [drop('-p udp -m comment --comment "kube-system/dns:dns cluster IP" -m udp --dport 53 -j KUBE-SVC')],
    ['kube-system/dns:dns/udp: [cluster-ip-missing] cluster IP 10.96.0.10:53/udp goes nowhere'],
  ],
  [
    'several problems of one service port, and one of another',
    [drop('-> 10.244.3.12:8080'), drop('shop/web:http cluster IP'), drop('--dport 32000')],
    [
      'shop/agent:grpc: [health-check-port] health check node port 32000 is not let in',
      'shop/web:http: [cluster-ip-missing] cluster IP 10.96.0.50:80 goes nowhere; [endpoint-missing] endpoint 10.244.3.12:8080 is not programmed; [endpoint-share] 33.3% of new connections go nowhere; [masquerade] traffic is not masqueraded (to the cluster IP)',
    ],
  ],
  [
    'a Service is missing as a whole',
    [drop(...CART)],
    ['shop/cart: [cluster-ip-missing] cluster IP 10.96.0.70:80 goes nowhere'],
  ],
];

describe('what is said', () => {
  test.each(TABLE)('%s', (_title, edits, findings) => {
    const text = edited(edits);
    expect(told(compare(text))).toEqual(findings);
    // patchOf looks for itself whether that mends it.
    expect(Object.keys(patchOf(expected, dumped({ ipv4: text })))).toEqual(['ipv4']);
  });
});

describe('what is one cause', () => {
  test('a Service that is gone from the cluster is stale', () => {
    const without = dumped({ ipv4: edited([drop(...CART)]) });
    const comparison = compareStates(without, dumped({ ipv4: dump }), { scope: 'kube-proxy' });
    expect(told(comparison)).toEqual([
      'shop/cart: [service-stale] stale service: still programmed, gone from the cluster; ' +
        '[dispatch-surplus] cluster IP 10.96.0.70:80 is still programmed',
    ]);
  });

  test('nothing of kube-proxy is there', () => {
    const empty = '*nat\n:PREROUTING ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\nCOMMIT\n';
    expect(told(compare(empty))).toEqual([
      'node: [node-flushed] no kube-proxy rules in the IPv4 nat table (KUBE-SERVICES is missing from PREROUTING ' +
        'and OUTPUT); 7 service ports have none: the node was flushed, kube-proxy does not run, or it runs in nftables mode',
    ]);
  });

  test.each([
    ['ipvs', 'KUBE-LOAD-BALANCER'],
    ['userspace', 'KUBE-PORTALS-HOST'],
  ])('the node is one of %s mode', (mode, chain) => {
    const text = edited([replace(':KUBE-SERVICES', `:${chain} - [0:0]\n:KUBE-SERVICES`), drop('shop/')]);
    expect(told(compare(text))).toEqual([
      `node: [another-mode] this node runs kube-proxy in ${mode} mode (chain ${chain}), or has leftovers of it`,
    ]);
  });

  test('both back ends have rules', () => {
    const actual = dumped({ ipv4: dump });
    const both = { ...actual, otherBackend: actual.rulesets };
    expect(told(compareStates(expected, both, { scope: 'kube-proxy' }))).toEqual([
      'node: [both-backends] KUBE-SERVICES exists in both back ends, iptables-legacy and nft: which of the two ' +
        'decides is a matter of which was loaded first',
    ]);
    // What the other back end holds beside kube-proxy's rules is nobody's business.
    const docker = dumped({
      ipv4: '*nat\n:DOCKER - [0:0]\n-A DOCKER -i docker0 -j RETURN\nCOMMIT\n',
    }).rulesets;
    const other = compareStates(expected, { ...actual, otherBackend: docker }, { scope: 'kube-proxy' });
    expect(told(other)).toEqual([]);
  });

  test('the dump hides matches', () => {
    const comparison = compare(
      edited([
        replace(/ -m (?:tcp|udp) --dport \d+/g, ''),
        replace(' -m mark --mark 0x4000/0x4000 -j ACCEPT', ' -j ACCEPT'),
      ]),
    );
    expect(told(comparison)).toEqual([]);
    expect(comparison.incomparable).toMatch(
      /^the dump looks printed by an iptables older than the one that wrote the rules: port and mark matches are not shown \(KUBE-SERVICES has rules without --dport: /,
    );
  });

  test('a table is not in the dump', () => {
    const comparison = compare(edited([replace(/\*filter[\s\S]*?COMMIT\n/, '')]));
    expect(told(comparison)).toEqual([]);
    expect(comparison.families[0]).toMatchObject({
      tables: ['nat', 'mangle'],
      left: ['the dump holds no IPv4 filter table'],
    });
    expect(comparison.families[1]?.left).toEqual(['the dump holds no IPv6 rules']);
  });
});

describe('what is no difference', () => {
  test.each<readonly [string, readonly Edit[], readonly string[]]>([
    [
      'chains of another version are missing, with all that leads there',
      [drop('KUBE-PROXY-FIREWALL')],
      [
        '[partial-dump] the dump is partial or from another version: filter/KUBE-PROXY-FIREWALL and all jumps to it are not there',
      ],
    ],
    [
      'chains that nothing leads to',
      [replace(':KUBE-SVC-2KK', ':KUBE-SEP-BBBBBBBBBBBBBBBB - [0:0]\n:KUBE-SVC-2KK')],
      [
        '[unreferenced-chains] 1 unreferenced chain (not reachable from any hook; kube-proxy deletes them in a while): KUBE-SEP-BBBBBBBBBBBBBBBB',
      ],
    ],
    [
      'rules of kubelet in KUBE-FIREWALL',
      [
        addBehind(
          '-A KUBE-EXTERNAL',
          '-A KUBE-FIREWALL -m comment --comment "kubernetes firewall for dropping marked packets" -m mark --mark 0x8000/0x8000 -j DROP',
        ),
      ],
      [],
    ],
    [
      'chains of kubelet',
      [
        replace(
          ':KUBE-MARK-MASQ',
          ':KUBE-KUBELET-CANARY - [0:0]\n:KUBE-IPTABLES-HINT - [0:0]\n:KUBE-MARK-DROP - [0:0]\n:KUBE-MARK-MASQ',
        ),
        addBehind('-A KUBE-MARK-MASQ', '-A KUBE-MARK-DROP -j MARK --set-xmark 0x8000/0x8000'),
      ],
      [],
    ],
    ['no canary', [drop('KUBE-PROXY-CANARY')], []],
    ['policies', [replace(':FORWARD ACCEPT', ':FORWARD DROP')], []],
    [
      'chains and rules of others',
      [
        replace(':INPUT ACCEPT', ':DOCKER - [0:0]\n:INPUT ACCEPT'),
        addBehind('-A INPUT -j KUBE-FIREWALL', '-A INPUT -j DOCKER\n-A DOCKER -s 192.0.2.1/32 -j DROP'),
      ],
      [],
    ],
    [
      'counters and comments',
      [replace(/^-A KUBE-SVC/gm, '[12:720] -A KUBE-SVC'), replace(/shop\/web:http cluster IP/g, 'web')],
      [],
    ],
    ['no nfacct', [replace(/ -m nfacct --nfacct-name {2}\S+/g, '')], []],
    [
      'another order of Services',
      [(text) => text.replace(/^(-A KUBE-SERVICES -d .*\n)(-A KUBE-SERVICES -d .*\n)/m, '$2$1')],
      [],
    ],
  ])('%s', (_title, edits, notes) => {
    const text = edited(edits);
    expect(told(compare(text))).toEqual([]);
    expect(noted(compare(text))).toEqual(notes);
    expect(patchOf(expected, dumped({ ipv4: text }))).toEqual({});
  });

  test('a large cluster without comments: names come from the manifests', () => {
    const bare = edited([replace(/ -m comment --comment (?:"[^"]*"|\S+)/g, '')]);
    expect(told(compare(bare))).toEqual([]);
    const owners = [
      { servicePortName: 'shop/web:http', protocol: 'tcp' },
      { servicePortName: 'kube-system/dns:dns', protocol: 'tcp' },
      { servicePortName: 'kube-system/dns:dns', protocol: 'udp' },
    ];
    const one = { ...dumped({ ipv4: bare }), owners };
    const other = dumped({
      ipv4: bare
        .split('\n')
        .filter(
          (line) =>
            !line.endsWith('KUBE-SEP-VUPUHKXHY2PEPYE3') && !line.includes('-j KUBE-SVC-2KKYJRIGYGQNRODB'),
        )
        .join('\n'),
    });
    expect(told(compareStates(one, other, { scope: 'kube-proxy' }))).toEqual([
      'kube-system/dns:dns/udp: [dispatch-missing] cluster IP 10.96.0.10:53/udp goes nowhere',
      'shop/web:http: [endpoint-missing] endpoint 10.244.3.12:8080 is not programmed; [endpoint-share] 33.3% of new connections go nowhere',
    ]);
  });

  test('--scope all compares what others wrote', () => {
    const text = edited([addBehind('-A INPUT -j KUBE-FIREWALL', '-A INPUT -s 192.0.2.1/32 -j DROP')]);
    expect(told(compare(text))).toEqual([]);
    expect(told(compare(text, { scope: 'all' }))).toEqual([
      'node: [rules-differ] INPUT differs (1 too many or other)',
    ]);
  });
});
