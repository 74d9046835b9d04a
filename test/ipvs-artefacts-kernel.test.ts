/**
 * A real kernel with IPVS (User-Mode Linux) takes what kp-compile writes in ipvs mode, with the stock tools, and
 * kp-diff finds no difference between that and what the kernel then lists: the files of every case, the script twice
 * in a row, and patches from one case to another.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { caseArguments, compileFiles, printed } from './support/kp-compile.ts';
import { runDiff } from './support/run.ts';
import { type ConformanceCase, conformanceCases, hasConformance } from './support/shared.ts';
import { temporaryFolder } from './support/temporary.ts';
import { canRunUml, runInUml, type UmlCase, type UmlOutputs } from './support/uml.ts';

const ROOT = join(import.meta.dirname, '..');
const VERSION = '1.36';
/** The script starts a hundred processes, at 40 ms each: every case would take minutes. */
const EVERY_SCRIPT = 8;
const PAIRS = 20;

const hasUml = canRunUml();
const cases =
  hasUml && hasConformance() ? conformanceCases('ipvs').filter((item) => !item.nondeterministic) : [];
const scripted = cases.filter((_item, index) => index % EVERY_SCRIPT === 0);
const pairs = seededPairs(cases, PAIRS);

/** iptables as the machine has it may be the nft one, which that kernel has not. */
const TOOLS = `set -e
mkdir bin
for tool in iptables ip6tables; do
  for end in '' -restore -save; do ln -s "$(command -v xtables-legacy-multi)" "bin/$tool$end"; done
done
PATH=$PWD/bin:$PATH
`;
const LOAD = `ipset restore <ipset.restore
iptables-restore <rules.v4
ip6tables-restore <rules.v6
[ ! -s ipvsadm.restore ] || ipvsadm -R <ipvsadm.restore
ip -batch kube-ipvs0.batch
sysctl -q -p sysctl.conf
`;
const DUMP = `iptables-save >dump.v4
ip6tables-save >dump.v6
ipset save >dump.ipset
ipvsadm -Sn >dump.ipvsadm
ip -o addr show dev kube-ipvs0 >dump.addr
`;
/** The names under which kp-diff finds them in a folder; some of them may be empty. */
const DUMPED = [
  ['dump.v4', 'save.v4'],
  ['dump.v6', 'save.v6'],
  ['dump.ipset', 'ipset.save'],
  ['dump.ipvsadm', 'ipvsadm.save'],
  ['dump.addr', 'kube-ipvs0.addr'],
] as const;

describe.skipIf(!hasUml)('a kernel with IPVS takes', () => {
  const folder = temporaryFolder();
  let outputs: ReadonlyMap<string, UmlOutputs>;

  beforeAll(async () => {
    const jobs: UmlCase[] = [await hello()];
    for (const item of cases) {
      const files = await compileFiles(argumentsOf(item), 'save');
      jobs.push({ name: `files ${item.name}`, files, script: `${TOOLS}${LOAD}${DUMP}` });
    }
    for (const item of scripted) {
      const text = await printed([...argumentsOf(item), '--emit', 'script']);
      const script = `${TOOLS}sh ./node.sh\nipvsadm -Sn >once.ipvsadm\nsh ./node.sh\n${DUMP}`;
      jobs.push({ name: `script ${item.name}`, files: { 'node.sh': text }, script });
    }
    for (const [from, to] of pairs) {
      const before = await compileFiles(argumentsOf(from), 'save');
      const patch = await patchFiles(join(folder, `${from.name} ${to.name}`), before, to);
      jobs.push({
        name: `patch ${from.name} ${to.name}`,
        files: { ...before, ...patch },
        script: `${TOOLS}${LOAD}sh ./apply.sh\n${DUMP}`,
      });
    }
    outputs = await runInUml(jobs);
  }, 600_000);

  /** Whether the job ended well, and what kp-diff says of what the kernel then had. */
  async function differences(name: string, item: ConformanceCase): Promise<string> {
    const output = outputs.get(name);
    if (output === undefined || output.code !== 0) return `ended with ${output?.code}: ${output?.stderr}`;
    const place = join(folder, name);
    mkdirSync(place);
    for (const [dumped, saved] of DUMPED) writeFileSync(join(place, saved), output.files.get(dumped) ?? '');
    const { code, stdout, stderr } = await runDiff([
      item.cluster,
      place,
      ...argumentsOf(item).slice(1),
      '-v',
    ]);
    return code === 0 ? '' : stdout + stderr;
  }

  test.skipIf(cases.length === 0).each(cases.map((item) => [item.name, item] as const))(
    'the files of %s, and kp-diff says the same',
    async (name, item) => {
      expect(await differences(`files ${name}`, item)).toBe('');
    },
  );

  test.skipIf(scripted.length === 0).each(scripted.map((item) => [item.name, item] as const))(
    'the script of %s twice',
    async (name, item) => {
      expect(await differences(`script ${name}`, item)).toBe('');
      const files = outputs.get(`script ${name}`)?.files;
      expect(files?.get('once.ipvsadm')).toBe(files?.get('dump.ipvsadm'));
    },
  );

  test.skipIf(pairs.length === 0).each(pairs.map(([from, to]) => [from.name, to.name, to] as const))(
    'the patch from %s to %s',
    async (from, to, item) => {
      expect(await differences(`patch ${from} ${to}`, item)).toBe('');
    },
  );

  test('hello1, and lists it as the README shows', () => {
    const output = outputs.get('hello1');
    expect(output?.code, output?.stderr).toBe(0);
    const readme = withoutChance(readFileSync(join(ROOT, 'README.md'), 'utf8'));
    const servers = withoutChance(output?.files.get('servers') ?? '');
    expect(servers).toMatch(/^TCP {2}10\.108\.221\.226:8080 rr\n(?: {2}-> \S+:8080 +Masq +1 +0 +0\n){3}/m);
    expect(readme.includes(`\`\`\`console\n$ ipvsadm -ln\n${servers}\`\`\`\n`), servers).toBe(true);
    const set = withoutChance(output?.files.get('set') ?? '');
    expect(
      readme.includes(`\`\`\`console
$ ipset list KUBE-CLUSTER-IP
${set}\`\`\`
`),
      set,
    ).toBe(true);
  });
});

async function hello(): Promise<UmlCase> {
  const args = [join(ROOT, 'fixtures', 'hello1'), '--node', 'node-a', '--proxy-mode', 'ipvs'];
  return {
    name: 'hello1',
    files: await compileFiles(args, 'save'),
    script: `${TOOLS}${LOAD}ipvsadm -ln >servers\nipset list KUBE-CLUSTER-IP >set\n`,
  };
}

/** The seed of a hash's function, its size in memory and the order of its members are the kernel's. */
function withoutChance(listing: string): string {
  return listing
    .replace(/ +$/gm, '')
    .replace(/initval 0x[0-9a-f]{8}/g, 'initval 0x…')
    .replace(/^Size in memory: \d+$/gm, 'Size in memory: …')
    .replace(/(?<=^Members:\n)(?:[\d.]+,\w+:\d+\n)+/gm, (members) =>
      members
        .split(/(?<=\n)/)
        .sort()
        .join(''),
    );
}

function argumentsOf(item: ConformanceCase): readonly string[] {
  return caseArguments(item, VERSION, [item.cluster], 'ipvs');
}

async function patchFiles(
  place: string,
  before: Readonly<Record<string, string>>,
  to: ConformanceCase,
): Promise<Readonly<Record<string, string>>> {
  mkdirSync(place);
  for (const [name, text] of Object.entries(before)) writeFileSync(join(place, name), text);
  const patch = join(place, 'patch');
  const { code, stderr } = await runDiff([
    ...[to.cluster, place, ...argumentsOf(to).slice(1), '--patch', patch, '-q'],
  ]);
  if (code > 1) throw new Error(`kp-diff ended with ${code}: ${stderr}`);
  const names = ['apply.sh', 'patch.v4', 'patch.v6', 'patch.ipset', 'patch.ipvsadm.sh', 'patch.addr.batch'];
  return Object.fromEntries(
    names.flatMap((name) => {
      try {
        return [[name, readFileSync(join(patch, name), 'utf8')] as const];
      } catch {
        return [];
      }
    }),
  );
}

/** Pairs of different cases, the same ones on every run. */
function seededPairs(items: readonly ConformanceCase[], count: number): [ConformanceCase, ConformanceCase][] {
  const found: [ConformanceCase, ConformanceCase][] = [];
  let state = 1;
  const next = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return items[Math.floor((state / 2 ** 32) * items.length)];
  };
  const known = new Set<string>();
  while (items.length > 1 && found.length < count) {
    const [from, to] = [next(), next()];
    if (from === undefined || to === undefined || from === to || known.has(`${from.name} ${to.name}`))
      continue;
    known.add(`${from.name} ${to.name}`);
    found.push([from, to]);
  }
  return found;
}
