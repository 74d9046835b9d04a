import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { run, runDiff } from '../support/run.ts';
import { temporaryFolder } from '../support/temporary.ts';

const folder = temporaryFolder();
const manifests = join(import.meta.dirname, '..', '..', 'fixtures', 'hello1');
const at = (...names: string[]) => join(folder, ...names);
const NODE = ['--node', 'node-a'];
const SAME4 = 'no difference in 5 service ports (IPv4)';
const NO_IPV6 = 'IPv6: not compared (the dump holds no IPv6 rules)';

let v4 = '';
let v6 = '';

beforeAll(async () => {
  const compiled = async (...options: string[]) => {
    const { code, stdout, stderr } = await run([manifests, ...NODE, ...options]);
    expect(code, stderr).toBe(0);
    return stdout;
  };
  v4 = await compiled();
  v6 = await compiled('--family', 'ipv6');
  const files: Record<string, string> = {
    'dump.txt': v4,
    'dump6.txt': v6,
    'payload.txt': await compiled('--format', 'restore'),
    'tables/nat.txt': `*nat${v4.split('*nat')[1]}`,
    'tables/rest.txt': v4.split('*nat')[0] ?? '',
    'both/rules.v4': v4,
    'both/rules.v6': v6,
    'one/save.v4': v4,
    'six/rules.v6': v6,
    'twice/rules.v4': v4,
    'twice/save.v4': v4,
    'flushed6.txt': '*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\nCOMMIT\n',
    'listing.txt': 'table ip nat {\n\tchain PREROUTING {\n\t}\n}\n',
    'empty.txt': '',
    'empty.yaml': '# nothing yet\n',
    'note.txt': 'to whom it may concern\n',
    'crlf.txt': v4.replaceAll('\n', '\r\n'),
    'quoted.txt': v4.replaceAll(/^/gm, '> '),
    'around.txt': `$ iptables-save\n${v4}$ exit`,
    'latin1.txt': v4.replace('*nat', '*nat\n:X - [0:0]\n-A X -m comment --comment "caf\xe9" -j RETURN'),
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(at(name), '..'), { recursive: true });
    writeFileSync(at(name), text, name === 'latin1.txt' ? 'latin1' : 'utf8');
  }
  writeFileSync(at('dump.gz'), Buffer.from([0x1f, 0x8b, 8, 0]));
});

describe('what an input is, is found from what it holds', () => {
  test.each([
    ['a dump', ['dump.txt'], `${SAME4}; ${NO_IPV6}`],
    ['a dump with CRLF', ['crlf.txt'], `${SAME4}; ${NO_IPV6}`],
    ['a dump quoted in a mail', ['quoted.txt'], `${SAME4}; ${NO_IPV6}`],
    ['a dump with the shell around it', ['around.txt'], `${SAME4}; ${NO_IPV6}`],
    ['a dump with a comment that is no UTF-8', ['latin1.txt'], `${SAME4}; ${NO_IPV6}`],
    ['what kube-proxy feeds to iptables-restore', ['payload.txt'], `${SAME4}; ${NO_IPV6}`],
    ['an IPv6 dump', ['dump6.txt'], 'IPv4: not compared (the dump holds no IPv4 rules)'],
    ['a folder of rules', ['both'], `${SAME4}; no difference in `],
    ['a folder with one family', ['one'], `${SAME4}; ${NO_IPV6}`],
    ['a folder with the other', ['six'], 'IPv4: not compared (the dump holds no IPv4 rules)'],
    ['two files of a node', ['dump.txt', 'dump6.txt'], `${SAME4}; no difference in `],
    ['a file a table', ['tables/nat.txt', 'tables/rest.txt'], `${SAME4}; ${NO_IPV6}`],
  ])('%s', async (_, names, summary) => {
    const files = names.flatMap((name) => ['--actual', at(name)]);
    const { code, stdout, stderr } = await runDiff([manifests, ...NODE, ...files]);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stdout).toContain(summary);
  });

  test('standard input, on either side', async () => {
    const stdin = { stdin: v4 };
    const actual = await runDiff([manifests, '-', ...NODE], stdin);
    expect([actual.code, actual.stdout]).toEqual([0, expect.stringContaining(SAME4)]);
    const expected = await runDiff(['-', manifests, ...NODE], stdin);
    expect([expected.code, expected.stdout]).toEqual([0, expect.stringContaining(SAME4)]);
  });

  test('manifests from standard input', async () => {
    const yaml =
      'apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec:\n  clusterIP: 10.96.0.50\n  ports: [{port: 80}]\n';
    const { code, stdout } = await runDiff(['-', at('dump.txt'), ...NODE], { stdin: yaml });
    expect(code).toBe(1);
    expect(stdout).toContain('shop/web: ');
  });

  test('both sides may be rules, or manifests', async () => {
    const rules = await runDiff([at('dump.txt'), at('one')]);
    expect([rules.code, rules.stdout]).toEqual([0, `${SAME4}; ${NO_IPV6}\n`]);
    const both = await runDiff([manifests, manifests, ...NODE]);
    expect([both.code, both.stdout]).toEqual([0, expect.stringContaining(`${SAME4}; no difference in `)]);
  });

  test('--family leaves the other one out', async () => {
    const { code, stdout } = await runDiff([at('both'), at('both'), '--family', 'ipv4']);
    expect([code, stdout]).toEqual([0, `${SAME4}\n`]);
  });

  test('a flushed dump shows no family: the other file, the name or --family says it', async () => {
    const flushed = ['--actual', at('flushed6.txt')];
    const beside = await runDiff([manifests, '--actual', at('dump.txt'), ...flushed, ...NODE, '-v']);
    expect(beside.stderr).toContain(
      'flushed6.txt: note: nothing in the text shows its family; taken as ipv6',
    );
    const named = await runDiff([manifests, ...flushed, ...NODE, '--family', 'ipv4', '-v']);
    expect(named.stderr).toContain('taken as ipv4');
  });
});

describe('one file may hold more than one dump', () => {
  const header = (tool: string) => `# Generated by ${tool} on Mon Jun  2 09:00:00 2025\n`;
  const bare = (text: string) => text.replace(/^#.*\n/gm, '');

  test('of both families', async () => {
    const stdin = `${header('iptables-save v1.8.9')}${bare(v4)}${header('ip6tables-save v1.8.9')}${bare(v6)}`;
    const { code, stdout } = await runDiff([at('both'), '-'], { stdin });
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^no difference in 5 .*; no difference in \d+ .*\(IPv6\)\n$/),
    ]);
  });

  test('of both back ends', async () => {
    const stdin = `${header('iptables-save v1.8.9 (nf_tables)')}${bare(v4)}${header('iptables-save v1.8.9')}${bare(v4)}`;
    const { code, stdout } = await runDiff([at('dump.txt'), '-'], { stdin });
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(/^node: KUBE-SERVICES exists in both back ends/),
    ]);
  });

  test('a listing: iptables -t nat -S', async () => {
    const nat = bare(v4.slice(v4.indexOf('*nat')));
    const stdin = nat
      .replace(/^(?:\*nat|COMMIT)\n/gm, '')
      .replace(/^:(\S+) ([A-Z]+) .*$/gm, '-P $1 $2')
      .replace(/^:(\S+) - .*$/gm, '-N $1');
    const { code, stdout } = await runDiff([at('dump.txt'), '-'], { stdin });
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining('no difference in 5 service ports (IPv4, compared in part: '),
    ]);
  });
});

describe('what manifests leave open is taken from the dump, without a warning', () => {
  test('no word of configuration is needed', async () => {
    const { code, stdout, stderr } = await runDiff([join(manifests, 'cluster.yaml'), '-', ...NODE], {
      stdin: v4,
    });
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('assumed: cluster CIDR 10.244.0.0/16 (as in the dump)\n');
  });

  test('nfacct counters', async () => {
    const { stdout: without } = await run([manifests, ...NODE, '--no-nfacct']);
    const found = await runDiff([manifests, '-', ...NODE], { stdin: without });
    expect([found.code, found.stderr]).toEqual([0, '']);
  });

  test('addresses and endpoints of a Service that was never applied', async () => {
    const service =
      'apiVersion: v1\nkind: Service\nmetadata: {name: hello1-service, namespace: cyclinder}\nspec:\n  ports: [{port: 8080}]\n';
    const { stdout, stderr } = await runDiff(['-', at('dump.txt')], { stdin: service });
    expect(stderr).toBe('');
    expect(stdout).toContain(
      'assumed: addresses and node ports of cyclinder/hello1-service (as in the dump)\n',
    );
    expect(stdout).toContain('assumed: endpoints of cyclinder/hello1-service: ');
    expect(stdout).not.toMatch(/^cyclinder\/hello1-service: /m);
  });
});

describe('what cannot be used ends with 2 and says why', () => {
  const refused = async (args: readonly string[], stdin = '') => {
    const { code, stdout, stderr } = await runDiff(args, { stdin });
    expect([code, stdout]).toEqual([2, '']);
    return stderr.replaceAll(`${folder}/`, '');
  };

  test.each([
    [
      'listing.txt',
      'listing.txt:1: error: this looks like the output of nft list ruleset, not like the output of iptables-save\n  help: ',
    ],
    ['empty.txt', 'empty.txt:1: error: the dump is empty\n  help: take it with: iptables-save\n'],
    ['note.txt', 'note.txt:1: error: this is not the output of iptables-save'],
    ['missing.txt', 'missing.txt: error: cannot be read: no such file or directory\n'],
    ['dump.gz', 'dump.gz: error: cannot be unpacked: '],
    ['empty.yaml', 'error: nothing to compile was read: no Service, EndpointSlice or Node in the input'],
    ['twice', 'twice/save.v4: error: the folder holds rules of ipv4 under two names\n'],
  ])('%s', async (name, message) => {
    expect(await refused([at('dump.txt'), at(name)])).toContain(message);
    expect(await refused([at(name), at('dump.txt')])).toContain(message);
  });

  test('manifests and rules on one side', async () => {
    expect(await refused([at('dump.txt'), at('dump.txt'), '--actual', manifests])).toContain(
      'holds manifests\n  help: each side is one or the other\n',
    );
  });

  test('one table from two files of the same back end', async () => {
    writeFileSync(
      at('header.txt'),
      `# Generated by iptables-save v1.8.9 on Mon Jun  2 09:00:00 2025\n${v4.replace(/^#.*\n/gm, '')}`,
    );
    expect(await refused([at('dump.txt'), at('header.txt'), '--actual', at('header.txt')])).toContain(
      'was given already',
    );
  });

  test('nothing that both hold', async () => {
    expect(await refused([at('dump.txt'), at('dump6.txt')])).toContain('kp-diff: nothing can be compared: ');
  });

  test('manifests with errors', async () => {
    const yaml =
      'apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: {clusterIP: nowhere}\n';
    expect(await refused(['-', at('dump.txt')], yaml)).toContain('<stdin>:4:');
  });
});

describe('a dump that is cut off', () => {
  const cutAt = async (end: number, text = v4, ...options: string[]) => {
    writeFileSync(at('cut.txt'), text.slice(0, end));
    return runDiff([at('dump.txt'), at('cut.txt'), ...options]);
  };

  test('what is missing is no difference, wherever the text ends', async () => {
    for (let end = 0; end < v4.length; end += 97) {
      const { code, stdout, stderr } = await cutAt(end);
      expect([0, 2], `${v4.slice(0, end).slice(-80)}\n${stdout}${stderr}`).toContain(code);
    }
  });

  test('what is whole is compared, and what is missing is named', async () => {
    const drift = v4.replace(/^-A KUBE-MARK-MASQ .*\n/m, '');
    const { code, stdout, stderr } = await cutAt(drift.lastIndexOf('-A KUBE-SVC-'), drift);
    expect(code).toBe(1);
    expect(stdout).toContain('(IPv4, compared in part: the table nat is cut off: one chain is not compared)');
    expect(stderr).toContain('cut.txt: warning: the table nat is cut off: one chain is not compared');
  });

  test('the last line says of how many service ports something is not known, with -q too', async () => {
    const end = v4.indexOf('-A KUBE-SERVICES', v4.indexOf('*nat'));
    const { code, stdout, stderr } = await cutAt(end);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^none of 5 service ports was compared in full \(IPv4, compared in part: /m);
    expect(stderr).not.toContain('kp-diff: ');
    const quiet = await cutAt(end, v4, '-q');
    expect([quiet.code, quiet.stdout]).toEqual([0, '']);
    expect(quiet.stderr).toBe(`kp-diff: the answer is partial: ${stdout.trimEnd().split('\n').at(-1)}\n`);
    const json = await cutAt(end, v4, '--output', 'json');
    expect(JSON.parse(json.stdout).families[0]).toMatchObject({ servicePorts: 5, comparedInPart: 5 });
  });

  test('service ports of which all is there are not among them', async () => {
    // The chains of services come last, in the order of their names.
    const last = v4.lastIndexOf('-A KUBE-SVC-');
    const { code, stdout } = await cutAt(last);
    expect(code).toBe(0);
    expect(stdout).toContain(
      'no difference in 4 service ports, and 1 more was not compared in full (IPv4, compared in part: ',
    );
    expect((await runDiff([at('dump.txt'), at('dump.txt'), '-q'])).stderr).toBe('');
  });

  test('a table that is cut off is not said to be missing', async () => {
    const { stdout } = await cutAt(v4.indexOf('-A ', v4.indexOf('*nat')) + 3);
    expect(stdout).toContain('the table nat is cut off');
    expect(stdout).not.toContain('the dump holds no IPv4 nat table');
  });

  test('a name that is cut off is no chain', async () => {
    const { code } = await cutAt(v4.lastIndexOf('-A KUBE-SVC-') + '-A KUBE-SVC-X'.length);
    expect(code).toBe(0);
  });

  test('no patch is made from it', async () => {
    const { code, stdout, stderr } = await cutAt(v4.indexOf('*nat') + 4000, v4, '--patch', '-');
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('--patch: the table nat is cut off, and no patch can be trusted to fit it');
  });
});

describe('a dump with lines inside of its tables that nobody can read', () => {
  test.each([
    ['colours', v4ish('-A KUBE-MARK-MASQ', '\x1b[32m-A KUBE-MARK-MASQ'), 'a line inside of tables'],
    [
      'other words',
      v4ish('-A KUBE-MARK-MASQ', 'hello\nworld\n-A KUBE-MARK-MASQ'),
      '2 lines inside of tables',
    ],
  ])('gives no patch: %s', async (_title, changed, what) => {
    writeFileSync(at('odd.txt'), changed(v4));
    const { code, stdout, stderr } = await runDiff([at('dump.txt'), at('odd.txt'), '--patch', '-', '-q']);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toBe(
      `kp-diff: --patch: ${what} could not be read, and no patch can be trusted to fit what stands there\n`,
    );
  });

  test('before and behind its tables, any lines may stand', async () => {
    writeFileSync(at('odd.txt'), `$ sudo iptables-save\n${v4}logout\n`);
    const { code } = await runDiff([at('dump.txt'), at('odd.txt'), '--patch', '-', '-q']);
    expect(code).toBe(0);
  });
});

function v4ish(from: string, to: string): (text: string) => string {
  return (text) => text.replace(from, to);
}
