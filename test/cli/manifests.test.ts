/** Manifests that were not applied yet: what is invented for them, and what must not become of that. */
import { beforeAll, describe, expect, test } from 'vitest';
import { runDiff } from '../support/run.ts';
import { documents, KUBE_PROXY, NODE_A, WEB } from './support/manifests.ts';
import { linesOf, workspace } from './support/workspace.ts';

const space = workspace();

/** WEB as it stands in a repository: no cluster IP, no node port, no slice. */
const MANIFEST = WEB.slice(0, WEB.indexOf('---'))
  .replace('  clusterIP: 10.96.0.50\n', '')
  .replace('\n      nodePort: 30080', '');
const INVENT = ['--service-cidr', '10.96.0.0/12'];

beforeAll(async () => {
  space.write('manifests.yaml', documents(NODE_A, KUBE_PROXY, MANIFEST));
  space.write('live.yaml', documents(NODE_A, KUBE_PROXY, WEB));
  space.write('invented.txt', (await space.kpCompile(['@manifests.yaml', ...INVENT])).stdout);
  space.write('live.txt', (await space.kpCompile(['@live.yaml'])).stdout);
});

const kpDiff = (words: readonly string[]) =>
  runDiff(words.map((word) => (word.startsWith('@') ? space.path(word.slice(1)) : word)));

describe('kp-compile', () => {
  test('warns of Services that need an address, and says what to pass', async () => {
    const { code, stdout, stderr } = await space.kpCompile(['@manifests.yaml']);
    expect(code).toBe(0);
    expect(stderr.replace(/:\d+:\d+:/, ':L:C:')).toBe(
      'manifests.yaml:L:C: warning: Service shop/web: spec.clusterIP: the Service has no cluster IP yet and gets no rules\n' +
        '  help: compile what the cluster holds (kubectl get services,endpointslices,nodes -A -o yaml), or invent addresses with --service-cidr\n',
    );
    expect(stdout).not.toContain('shop/web');
    expect(stdout).not.toContain('invented');
  });

  test('invents addresses when asked to, and says so in the first line', async () => {
    const { code, stdout, stderr } = await space.kpCompile(['@manifests.yaml', ...INVENT, '-v']);
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^manifests\.yaml:\d+:3: note: Service shop\/web: spec: invented: cluster IP 10\.101\.121\.207, node port 32631 for 80\/TCP\n$/,
    );
    expect(linesOf(stdout)[0]).toBe(
      '# invented addresses: those of 1 Service (shop/web), out of 10.96.0.0/12, 30000-32767',
    );
    expect(stdout).toContain('-d 10.101.121.207/32 -p tcp -m comment --comment "shop/web has no endpoints"');
  });

  test('a node port alone', async () => {
    space.write(
      'addressed.yaml',
      documents(NODE_A, KUBE_PROXY, MANIFEST.replace('spec:', 'spec:\n  clusterIP: 10.96.0.50')),
    );
    const open = await space.kpCompile(['@addressed.yaml']);
    expect(open.stderr).toContain('spec.ports[0]: the port of a NodePort Service has no node port yet');
    const range = ['--service-node-port-range', '31000-31099'];
    const { stderr, stdout } = await space.kpCompile(['@addressed.yaml', ...range]);
    expect(stderr).toBe('');
    expect(linesOf(stdout)[0]).toBe(
      '# invented addresses: those of 1 Service (shop/web), out of 31000-31099',
    );
    expect(stdout).toMatch(/--dport 310\d\d /);
  });

  test.each([
    [['--service-cidr', '10.96.0.0'], '--service-cidr: "10.96.0.0" is not a CIDR such as 10.96.0.0/12'],
    [['--service-cidr', '10.0.0.0/12,10.96.0.0/12'], '--service-cidr: give one CIDR, or one of each family'],
    [['--service-cidr', '10.96.0.1/32'], '--service-cidr: 10.96.0.1/32 has no room for Services'],
    [['--service-cidr='], '--service-cidr: found nothing, expected a CIDR such as 10.96.0.0/12'],
    [
      ['--service-node-port-range', '32767-30000'],
      '--service-node-port-range: "32767-30000" is not a range of ports such as 30000-32767',
    ],
    [
      ['--service-node-port-range', '0-70000'],
      '--service-node-port-range: "0-70000" is not a range of ports such as 30000-32767',
    ],
  ])('%j is refused', async (words, message) => {
    expect(await space.kpCompile(['@manifests.yaml', ...words])).toEqual({
      code: 2,
      stdout: '',
      stderr: `kp-compile: ${message}\n`,
    });
  });

  const CIDR = ['--service-cidr', '10.96.0.0/16'];

  test.each(['31000-31003', '31000+3'])('--service-node-port-range %s is a range', async (range) => {
    const { stdout } = await space.kpCompile([
      '@manifests.yaml',
      ...CIDR,
      '--service-node-port-range',
      range,
    ]);
    expect(stdout).toContain('out of 10.96.0.0/16, 31000-31003\n');
  });

  test('--service-node-port-range of one port is that port', async () => {
    const { stdout } = await space.kpCompile([
      '@manifests.yaml',
      ...CIDR,
      '--service-node-port-range',
      '31000',
    ]);
    expect(stdout).toContain('out of 10.96.0.0/16, 31000-31000\n');
  });
});

test('--assume-ready invents no address that an EndpointSlice has', async () => {
  const others = ['10.244.0.2', '10.244.0.3', '10.244.0.4'].map((address) => ({ addresses: [address] }));
  space.write(
    'few.json',
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'List',
      items: [
        service('a', '10.96.0.10', {}),
        {
          apiVersion: 'discovery.k8s.io/v1',
          kind: 'EndpointSlice',
          metadata: { name: 'a-1', namespace: 'shop', labels: { 'kubernetes.io/service-name': 'a' } },
          addressType: 'IPv4',
          ports: [{ name: '', port: 80, protocol: 'TCP' }],
          endpoints: others,
        },
        service('b', '10.96.0.11', { selector: { app: 'b' } }),
        {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          metadata: { name: 'b', namespace: 'shop' },
          spec: {
            replicas: 3,
            selector: { matchLabels: { app: 'b' } },
            template: { metadata: { labels: { app: 'b' } }, spec: { containers: [{ name: 'c' }] } },
          },
        },
      ],
    }),
  );
  const words = ['@few.json', '--assume-ready', '--cluster-cidr', '10.244.0.0/29', '-q'];
  const { stdout } = await space.kpCompile(words);
  // A /29 has six addresses for Pods, of which three are taken.
  expect([...stdout.matchAll(/--to-destination (\S+)/g)].map(([, to]) => to).sort()).toEqual(
    [1, 2, 3, 4, 5, 6].map((host) => `10.244.0.${host}:80`),
  );
});

function service(name: string, clusterIP: string, spec: object) {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'shop' },
    spec: { clusterIP, ports: [{ port: 80 }], ...spec },
  };
}

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
spec:
  replicas: 2
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
        - name: web
          ports:
            - name: http
              containerPort: 8080
`;

describe('--assume-ready', () => {
  const selecting = MANIFEST.replace('  ports:', '  selector:\n    app: web\n  ports:').replace(
    'port: 80\n',
    'port: 80\n      targetPort: http\n',
  );

  test('invents endpoints, and says so in the first lines', async () => {
    space.write('repository.yaml', documents(NODE_A, KUBE_PROXY, selecting, DEPLOYMENT));
    const { code, stdout, stderr } = await space.kpCompile(['@repository.yaml', ...INVENT, '--assume-ready']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(linesOf(stdout).slice(0, 2)).toEqual([
      '# invented addresses: endpoints of 1 Service (shop/web), out of 10.244.0.0/16, taken for ready',
      '# invented addresses: those of 1 Service (shop/web), out of 10.96.0.0/12, 30000-32767',
    ]);
    expect(stdout.match(/--to-destination \S+/g)).toEqual([
      '--to-destination 10.244.141.104:8080',
      '--to-destination 10.244.201.217:8080',
    ]);
  });

  test('is what the warning about missing endpoints names', async () => {
    const { stderr } = await space.kpCompile(['@repository.yaml', ...INVENT]);
    expect(stderr).toBe(
      'warning: no endpoints are known of 1 Service (shop/web), though the input has what would make their Pods\n' +
        '  help: compile what the cluster holds, or invent their addresses with --assume-ready\n',
    );
  });

  test('kp-diff refuses endpoints that are invented', async () => {
    space.write('half.yaml', documents(NODE_A, KUBE_PROXY, selecting, DEPLOYMENT));
    const { code, stderr } = await kpDiff(['@half.yaml', '@live.txt', '--assume-ready', '--node', 'node-a']);
    expect(code).toBe(2);
    expect(stderr).toContain(
      'kp-diff: what is expected has invented addresses (endpoints of 1 Service (shop/web), out of 10.244.0.0/16, taken for ready): it cannot be compared with what a node has',
    );
  });
});

describe('the same object twice', () => {
  beforeAll(() => {
    space.write('one.yaml', WEB);
    space.write('two.yaml', `# later\n${WEB.replace('10.96.0.50', '10.96.0.51')}`);
  });

  test('is fine where both say the same', async () => {
    space.write('same.yaml', WEB);
    const { code, stderr } = await space.kpCompile([
      '@one.yaml',
      '@same.yaml',
      '--cluster-cidr',
      '10.244.0.0/16',
    ]);
    expect({ code, stderr: stderr.replace(/warning: .*\n {2}help: .*\n/g, '') }).toEqual({
      code: 0,
      stderr: '',
    });
  });

  test('is an error that names both places, unless the later one is to count', async () => {
    const words = ['@one.yaml', '@two.yaml', '--node', 'node-a', '--cluster-cidr', '10.244.0.0/16'];
    const { code, stdout, stderr } = await space.kpCompile(words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toBe(
      'two.yaml:5:9: error: Service shop/web: metadata.name: the same object was read before with other contents (one.yaml)\n' +
        '  other: one.yaml:4:9\n' +
        '  help: leave one of them out: the input has to be one cluster at one time; or let the later one count with --last-wins\n',
    );
    const last = await space.kpCompile([...words, '--last-wins']);
    expect({ code: last.code, stderr: last.stderr }).toEqual({ code: 0, stderr: '' });
    expect(last.stdout).toContain('10.96.0.51');
    expect(last.stdout).not.toContain('10.96.0.50');
  });
});

describe('kp-diff', () => {
  test('refuses to compare invented addresses with those of a node, whichever side has them', async () => {
    for (const sides of [
      ['@invented.txt', '@live.txt'],
      ['@live.txt', '@invented.txt'],
    ]) {
      const { code, stdout, stderr } = await kpDiff(sides);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(
        /^kp-diff: what is (?:expected|actual) has invented addresses \(a line of it says so\): it cannot be compared with what a node has\n/,
      );
    }
  });

  test.each<[string, (text: string) => string]>([
    ['messages before it', (text) => `a.yaml:2:1: warning: Service shop/web: no endpoints\n${text}`],
    ['a blank line before it', (text) => `\n${text}`],
    ['quotation marks', (text) => text.replace(/^/gm, '> ')],
    ['CRLF', (text) => text.replaceAll('\n', '\r\n')],
    ['another dump before it', (text) => `*mangle\n:PREROUTING ACCEPT [0:0]\nCOMMIT\n${text}`],
  ])('knows invented addresses again with %s', async (_title, around) => {
    const { stdout } = await space.kpCompile(['@manifests.yaml', ...INVENT, '--node', 'node-a']);
    space.write('around.txt', around(stdout));
    const { code, stderr } = await kpDiff(['@around.txt', '@live.txt']);
    expect(code).toBe(2);
    expect(stderr).toContain('a line of it says so');
  });

  test('knows invented virtual servers again', async () => {
    const folder = space.path('invented-ipvs');
    const words = [
      '@manifests.yaml',
      ...INVENT,
      '--node',
      'node-a',
      '--proxy-mode',
      'ipvs',
      '--out-dir',
      folder,
    ];
    expect((await space.kpCompile(words)).code).toBe(0);
    space.write('live.ipvsadm', '-A -t 10.96.0.50:80 -s rr\n');
    const { code, stderr } = await kpDiff([`${folder}/ipvsadm.restore`, '@live.ipvsadm']);
    expect(code).toBe(2);
    expect(stderr).toContain('a line of it says so');
  });

  test('takes what a dump shows for no invention, and refuses what remains', async () => {
    const { code, stderr } = await kpDiff(['@manifests.yaml', '@live.txt', ...INVENT, '--node', 'node-a']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    space.write('more.yaml', documents(NODE_A, KUBE_PROXY, MANIFEST, MANIFEST.replace('web', 'other')));
    const more = await kpDiff(['@more.yaml', '@live.txt', ...INVENT, '--node', 'node-a']);
    expect(more.code).toBe(2);
    expect(more.stderr).toContain('those of 1 Service (shop/other), out of 10.96.0.0/12');
  });

  test('compares two sides that are both invented, and makes no patch of them', async () => {
    space.write('changed.yaml', documents(NODE_A, KUBE_PROXY, MANIFEST.replace('port: 80', 'port: 81')));
    const words = ['@manifests.yaml', '@changed.yaml', ...INVENT];
    expect((await kpDiff([...words, '-q'])).code).toBe(1);
    const { code, stdout, stderr } = await kpDiff([...words, '--patch', '-']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('no patch is made of them');
  });
});
