/** kp-compile and kp-diff as a whole: whatever their inputs and flags, they answer or say what is wrong. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import type { Io } from '../../src/cli/io.ts';
import { spellOutBooleans } from '../../src/cli/kube-proxy-flags.ts';
import { addAllKubeProxyFlags, addNodeOptions, compileRequest } from '../../src/cli/node-options.ts';
import { progressOf } from '../../src/cli/progress.ts';
import { readSide } from '../../src/cli/read-side.ts';
import { UsageError } from '../../src/cli/usage-error.ts';
import { compile } from '../../src/compile/index.ts';
import type { NodeState } from '../../src/diff/index.ts';
import { clusterCollector } from '../../src/kube/index.ts';
import {
  applyRestore,
  parseIptablesSave,
  printIpsetRestore,
  printIpvsadmRestore,
} from '../../src/netfilter/index.ts';
import { schemaErrors } from '../support/json-schema.ts';
import { type Run, run, runDiff } from '../support/run.ts';
import { temporaryFolder } from '../support/temporary.ts';
import type { FuzzTarget, Round } from './engine.ts';
import { check, filesIn, readAll, root, saved } from './laws.ts';
import {
  ADDRESS_PIECES,
  CONFIGURATION_PIECES,
  FLAG_PIECES,
  IPSET_PIECES,
  IPVSADM_PIECES,
  RULE_PIECES,
  YAML_PIECES,
} from './pieces.ts';

const folder = temporaryFolder();
const at = (...names: string[]): string => join(folder, ...names);
const fixture = (...names: string[]): Buffer => readFileSync(join(root, ...names));
const SCHEMA = JSON.parse(fixture('schema', 'kp-diff-1.schema.json').toString()) as Record<string, unknown>;

/** What terminals obey: nothing of it comes through from an input. */
const OBEYED = /[^\P{Cc}\n]|[\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;

/** Neither crashed nor printed anything but lines of text. */
function answered({ code, stdout, stderr }: Run, words: readonly string[]): Run {
  const command = words.map((word) => word.replace(folder, '')).join(' ');
  check([0, 1, 2].includes(code), `exit code ${code} of ${command}: ${stderr}`);
  for (const text of [stdout, stderr])
    check(!OBEYED.test(text), `control characters from ${command}: ${JSON.stringify(OBEYED.exec(text))}`);
  check(code !== 2 || stderr !== '', `nothing is said of what is wrong: ${command}`);
  return { code, stdout, stderr };
}

const diff = async (words: readonly string[]): Promise<Run> => answered(await runDiff(words), words);
const kpCompile = async (words: readonly string[]): Promise<Run> => answered(await run(words), words);

interface Report {
  readonly result: string;
  readonly findings: readonly {
    readonly servicePort: string | null;
    readonly problems: readonly { readonly code: string; readonly message: string }[];
  }[];
}

/** The report for programs, in the form that is published; it says what the exit code says. */
async function jsonOf(
  words: readonly string[],
): Promise<{ readonly code: number; readonly report: Report | undefined; readonly stderr: string }> {
  const { code, stdout, stderr } = await diff([...words, '--output', 'json']);
  if (stdout === '') {
    check(code === 2, `no report with exit code ${code}`);
    return { code, report: undefined, stderr };
  }
  const report = JSON.parse(stdout) as Report;
  const errors = schemaErrors(report, SCHEMA, true);
  check(errors.length === 0, `a report that the schema does not know: ${errors.join('; ')}`);
  const result = ['same', 'different', 'incomparable'][code];
  check(report.result === result, `${report.result} with exit code ${code}`);
  check(
    (code === 1) === report.findings.length > 0,
    `${report.findings.length} findings with exit code ${code}`,
  );
  return { code, report, stderr };
}

/** What no patch can mend: it is not in the rules that were compared. */
const UNMENDED = new Set(['both-backends', 'another-mode', 'mode-leftover']);

function checkMended(
  { report, stderr }: { readonly report: Report | undefined; readonly stderr: string },
  what: string,
): void {
  const left = (report?.findings ?? []).flatMap(({ servicePort, problems }) =>
    problems
      .filter(({ code }) => !UNMENDED.has(code))
      .map(({ code, message }) => `${servicePort ?? 'node'}: [${code}] ${message}`),
  );
  check(report !== undefined && left.length === 0, `${what}: ${left.slice(0, 5).join('; ') || stderr}`);
}

const OTHER_OUTPUTS: readonly (readonly string[])[] = [
  [],
  ['-v'],
  ['-v', '--scope', 'all'],
  ['--output', 'github'],
  ['--output', 'unified', '--scope', 'all'],
  ['-U', '0'],
  ['--stat'],
  ['--family', 'ipv6'],
];

/**
 * Both sides by name, through reports, patches and back. True where they could be compared.
 */
async function compareBoth(
  expected: readonly string[],
  actual: readonly string[],
  round: Round,
  options: readonly string[] = [],
): Promise<boolean> {
  const sides = [
    ...expected.flatMap((file) => ['--expected', file]),
    ...actual.flatMap((file) => ['--actual', file]),
    ...options,
  ];
  const { code } = await jsonOf(sides);
  const output = OTHER_OUTPUTS[round.below(OTHER_OUTPUTS.length)] ?? [];
  const other = await diff([...sides, ...output]);
  if (code === 2) return false;
  // Taken for one family, files may give a table twice, or nothing.
  check(other.code !== 2 || output.includes('--family'), `another output is refused: ${other.stderr}`);
  if (code === 1) await mends(expected, actual, sides, options);
  return true;
}

/** The patch, carried out on what the actual side holds, leads to the expected side. */
async function mends(
  expected: readonly string[],
  actual: readonly string[],
  sides: readonly string[],
  options: readonly string[],
): Promise<void> {
  rmSync(at('patch'), { recursive: true, force: true });
  const { code } = await diff([...sides, '--patch', at('patch'), '-q']);
  // A dump that is cut off, or a rule that no input can hold: said, and nothing was written.
  if (code === 2) return;
  const state = await stateOf(actual);
  if (state === undefined || state.kind !== 'rules') return;
  rmSync(at('mended'), { recursive: true, force: true });
  mkdirSync(at('mended'));
  for (const [family, version] of FAMILIES) {
    const ruleset = state.rulesets[family];
    if (ruleset === undefined) continue;
    const patch = patchFile(`patch.${version}`);
    const applied = applyRestore(ruleset, parseIptablesSave(patch, { family, keepOrder: true }));
    const refused = 'error' in applied && patch !== '';
    check(!refused, `the patch is refused: ${'error' in applied ? applied.error : ''}`);
    const after = saved('ruleset' in applied ? applied.ruleset : ruleset);
    // A NUL at the beginning of a file makes it no text, and a header in a comment begins another dump.
    if (/\0|\n# Generated by/.test(after)) return;
    writeFileSync(at('mended', `rules.${version}`), after);
  }
  const mended = await jsonOf([
    ...expected.flatMap((file) => ['--expected', file]),
    ...['--actual', at('mended')],
    ...options,
  ]);
  checkMended(mended, 'the patch leaves');
}

const FAMILIES = [
  ['ipv4', 'v4'],
  ['ipv6', 'v6'],
] as const;

function patchFile(name: string): string {
  try {
    return readFileSync(at('patch', name), 'utf8');
  } catch {
    return '';
  }
}

const SILENT: Io = {
  stdin: async function* () {},
  writeOut: async () => {},
  writeError: () => {},
  outIsTerminal: false,
  errorIsTerminal: false,
  env: {},
};

/** What kp-diff makes of files that hold what a node has. */
async function stateOf(files: readonly string[]): Promise<NodeState | undefined> {
  const side = await readSide(files, {}, SILENT, progressOf(SILENT, true), () => {});
  return side?.kind === 'rules' ? side.state : undefined;
}

const SNAPSHOTS = [
  'drift',
  'dual-stack',
  'hello1',
  'node-port-local',
  'session-affinity',
  'load-balancer-local',
];
const MANIFESTS = new Map(
  SNAPSHOTS.map((name) => [fixture('fixtures', name, 'cluster.yaml').toString('latin1'), name]),
);
const header = (tool: string): string => `# Generated by ${tool}-save v1.8.9 (nf_tables) on x\n`;
/** Both families of a node, as one text. */
const bothFamilies = (name: string, version: string): Buffer =>
  Buffer.from(
    header('iptables') +
      fixture('snapshots', name, version, 'rules.v4').toString() +
      header('ip6tables') +
      fixture('snapshots', name, version, 'rules.v6').toString(),
  );
const DUMPS = [
  fixture('fixtures', 'drift', 'node.save'),
  ...SNAPSHOTS.map((name) => fixture('snapshots', name, '1.36', 'rules.v4')),
  fixture('snapshots', 'hello1', '1.28', 'rules.v4'),
  fixture('snapshots', 'dual-stack', '1.36', 'rules.v6'),
  fixture('snapshots', 'hello1', '1.36', 'restore.v4'),
  bothFamilies('dual-stack', '1.28'),
  fixture('test', 'diff', 'dumps', 'hello1-1.23-listing.txt'),
];

/** Two dumps of a node, one or both of them changed. */
async function diffDumps(input: Buffer, round: Round): Promise<boolean> {
  const other = round.below(3) === 0 ? round.mutate(round.seed) : round.seed;
  const [expected, actual] = round.below(2) === 0 ? [other, input] : [input, other];
  writeFileSync(at('expected.save'), expected);
  writeFileSync(at('actual.save'), actual);
  if (round.below(4) === 0)
    await diff(['--inventory', at('actual.save'), '--output', round.below(2) === 0 ? 'json' : 'text']);
  const self = await jsonOf(['--expected', at('actual.save'), '--actual', at('actual.save')]);
  if (self.report !== undefined) checkMended(self, 'differs from itself');
  return compareBoth([at('expected.save')], [at('actual.save')], round);
}

/** Manifests beside a dump, one or both of them changed. */
async function diffManifests(input: Buffer, round: Round): Promise<boolean> {
  const name = MANIFESTS.get(round.seed.toString('latin1')) ?? 'hello1';
  const dump = bothFamilies(name, '1.36');
  const way = round.below(4);
  writeFileSync(at('cluster.yaml'), way === 0 ? round.seed : input);
  writeFileSync(at('actual.save'), way < 2 ? round.mutate(dump, RULE_PIECES) : dump);
  if (round.below(8) === 0) {
    const output = round.below(2) === 0 ? 'json' : 'text';
    await diff([at('cluster.yaml'), '--upgrade', '1.24..1.36', '--output', output, '-v']);
  }
  const sides = [[at('cluster.yaml')], [at('actual.save')]] as const;
  const [expected, actual] = round.below(4) === 0 ? sides.toReversed() : sides;
  return compareBoth(expected ?? [], actual ?? [], round, ['--node', 'node-a']);
}

const IPVS_PARTS = ['ipset.restore', 'ipvsadm.restore', 'kube-ipvs0.batch', 'rules.v4', 'rules.v6'] as const;
const IPVS = new Map(IPVS_PARTS.map((name) => [name, fixture('snapshots', 'ipvs', '1.36', name)] as const));
const IPVS_PIECES: Readonly<Record<(typeof IPVS_PARTS)[number], readonly string[]>> = {
  'ipset.restore': IPSET_PIECES,
  'ipvsadm.restore': IPVSADM_PIECES,
  'kube-ipvs0.batch': ADDRESS_PIECES,
  'rules.v4': RULE_PIECES,
  'rules.v6': RULE_PIECES,
};

/** A node in ipvs mode beside what it should have: its folder, or manifests. */
async function diffIpvs(input: Buffer, round: Round): Promise<boolean> {
  rmSync(at('node'), { recursive: true, force: true });
  mkdirSync(at('node'));
  const second = IPVS_PARTS[round.below(2 * IPVS_PARTS.length)];
  for (const [name, good] of IPVS) {
    const isInput = good.equals(round.seed);
    const changed = isInput ? input : name === second ? round.mutate(good, IPVS_PIECES[name]) : good;
    writeFileSync(at('node', name), changed);
  }
  const isReversed = round.below(4) === 0;
  const other =
    round.below(2) === 0 ? join(root, 'fixtures', 'ipvs') : join(root, 'snapshots', 'ipvs', '1.36');
  const [expected, actual] = isReversed ? [at('node'), other] : [other, at('node')];
  const sides = ['--expected', expected, '--actual', actual, '--node', 'node-a'];
  const { code } = await jsonOf(sides);
  await diff([...sides, ...(OTHER_OUTPUTS[round.below(OTHER_OUTPUTS.length)] ?? [])]);
  if (code !== 1 || actual.endsWith('fixtures/ipvs')) return code !== 2;
  rmSync(at('patch'), { recursive: true, force: true });
  const patched = await diff([...sides, '--patch', at('patch'), '-q']);
  if (patched.code === 2) return true;
  await mendIpvs(actual);
  const mended = await jsonOf(['--expected', expected, '--actual', at('mended'), '--node', 'node-a']);
  checkMended(mended, 'the patches leave');
  return true;
}

/** Carries out all patches on what a folder holds; what it does not list stays unlisted. */
async function mendIpvs(actual: string): Promise<void> {
  rmSync(at('mended'), { recursive: true, force: true });
  mkdirSync(at('mended'));
  const state = await stateOf([actual]);
  const { sets, virtualServers, addresses } = state?.ipvs ?? {};
  const write = (name: string, text: string) => writeFileSync(at('mended', name), text);
  if (sets !== undefined) write('ipset.restore', printIpsetRestore(sets) + patchFile('patch.ipset'));
  const commands = patchFile('patch.ipvsadm.sh')
    .split('\n')
    .filter((line) => line.startsWith('ipvsadm '))
    .map((line) => `${line.replace('ipvsadm ', '')}\n`);
  if (virtualServers !== undefined)
    write('ipvsadm.restore', printIpvsadmRestore(virtualServers) + commands.join(''));
  const lines = (addresses ?? []).map(
    (address) => `addr replace ${address}/${address.includes(':') ? 128 : 32} dev kube-ipvs0\n`,
  );
  if (addresses !== undefined)
    write(
      'kube-ipvs0.batch',
      `link add kube-ipvs0 type dummy\n${lines.join('')}${patchFile('patch.addr.batch')}`,
    );
  for (const [family, version] of FAMILIES) {
    const ruleset = state?.rulesets[family];
    if (ruleset === undefined) continue;
    const patch = parseIptablesSave(patchFile(`patch.${version}`), { family, keepOrder: true });
    const applied = applyRestore(ruleset, patch);
    write(`rules.${version}`, saved('ruleset' in applied ? applied.ruleset : ruleset));
  }
}

const RULES = /^(?:#[^\n]*\n|\*[a-z]+\n|:[A-Z0-9-]+ (?:ACCEPT|-) \[0:0\]\n|COMMIT\n|-[AX] [\x20-\x7e]+\n)*$/;
const CLUSTER = join(root, 'fixtures', 'dual-stack', 'cluster.yaml');

/** A configuration, for a cluster that has all kinds of Services. */
async function compileConfigured(input: Buffer): Promise<boolean> {
  writeFileSync(at('kube-proxy.yaml'), input);
  const { code, stdout } = await kpCompile([CLUSTER, '--config', at('kube-proxy.yaml'), '--node', 'node-a']);
  check(code === 0 ? stdout !== '' : stdout === '', `rules with exit code ${code}`);
  check(RULES.test(stdout), 'what is printed is no rules');
  return code === 0;
}

const COMPILED: readonly (readonly string[])[] = [
  ['--format', 'restore', '-v'],
  ['--emit', 'script'],
  ['--emit', 'script', '--proxy-mode', 'ipvs'],
  ['--emit', 'ipset', '--proxy-mode', 'ipvs'],
  ['--emit', 'ipvsadm', '--proxy-mode', 'ipvs'],
  ['--emit', 'addr', '--proxy-mode', 'ipvs'],
  ['--strict', '--last-wins', '--kube-version', '1.19'],
  ['--interface', 'eth0=192.168.0.2/24,fd00::2/64', '--nodeport-addresses', '192.168.0.0/16,fd00::/16'],
];
const INVENTED = [
  '--service-cidr',
  '10.96.0.0/12,fd00:1::/108',
  '--assume-ready',
  '--cluster-cidr',
  '10.244.0.0/16',
];

/** kp-compile on manifests: all or nothing, and nothing in it that another program would take for more than data. */
async function compileManifests(input: Buffer, round: Round): Promise<boolean> {
  writeFileSync(at('cluster.yaml'), input);
  const options = COMPILED[round.below(COMPILED.length)] ?? [];
  const { code, stdout } = await kpCompile([
    ...[at('cluster.yaml'), '--node', 'node-a', ...options],
    ...(round.below(2) === 0 ? INVENTED : []),
    ...(round.below(2) === 0 ? ['--keep-going'] : []),
  ]);
  check(code !== 2 || stdout === '', 'something is printed with exit code 2');
  if (stdout === '') return false;
  if (options.includes('script')) {
    const shell = round.below(4) === 0 ? spawnSync('sh', ['-n'], { input: stdout }) : undefined;
    check(shell === undefined || shell.status === 0, `no script: ${shell?.stderr}`);
    check(/^[\x20-\x7e\n]*$/.test(stdout.replace(/^#.*/gm, '')), 'a script that is more than ASCII');
  } else if (!options.includes('--emit')) check(RULES.test(stdout), 'what is printed is no rules');
  else check(EMITTED_LINES.test(stdout), 'what is printed is no input of these tools');
  return true;
}

const EMITTED_LINES =
  /^(?:#[^\n]*\n|(?:create|add) [A-Z0-9-]+ [\x21-\x7e ]+\n|-[Aa] -[tu] [\x21-\x7e ]+\n|-[Aa] --sctp-service [\x21-\x7e ]+\n|(?:link add|addr replace) [\x21-\x7e ]+\n)*$/;

const objects = (await readAll(CLUSTER, fixture('fixtures', 'dual-stack', 'cluster.yaml'))).objects;

/** Words of a command line: understood, or refused in plain words. */
function readFlags(input: Buffer): boolean {
  // A file or a folder that happens to have such a name is none of this target's business.
  const words = input
    .toString('utf8')
    .split('\n')
    .filter((word) => !/^--(?:interfaces|config)(?:=|$)/.test(word) && word !== '');
  const command = new Command('kp-compile').exitOverride().configureOutput({ writeErr: () => {} });
  addNodeOptions(command);
  addAllKubeProxyFlags(command);
  let request: ReturnType<typeof compileRequest>;
  try {
    command.allowExcessArguments(true).parse(spellOutBooleans(words), { from: 'user' });
    request = compileRequest(command.opts());
  } catch (error) {
    if (error instanceof CommanderError || error instanceof UsageError) return false;
    throw error;
  }
  const collector = clusterCollector(
    () => {},
    () => undefined,
  );
  for (const object of objects) collector.add(object);
  const compilation = compile(collector.cluster(), request, () => {});
  for (const family of ['IPv4', 'IPv6'] as const) {
    if (compilation === undefined) return false;
    check(RULES.test(saved(compilation.rules[family].kernel)), 'what comes out is no rules');
  }
  return true;
}

const CONFIGURATIONS = [
  fixture('fixtures', 'ipvs', 'kube-proxy.yaml'),
  fixture('fixtures', 'dual-stack', 'kube-proxy.yaml'),
  Buffer.from(
    `apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n${CONFIGURATION_PIECES.filter(
      (each) => /^(?:mode: ip|clusterCIDR|iptables|ipvs: {s|feature|conn|nodePortAddresses: \[1)/.test(each),
    )
      .join('')
      .replace('mode: iptables\n', '')}`,
  ),
];
const FLAGS = [
  '--proxy-mode\nipvs\n--ipvs-scheduler\nwrr\n--ipvs-exclude-cidrs\n10.0.0.0/8,fd00::/8\n--ipvs-tcp-timeout=15m0s\n--node\nnode-a\n',
  '--proxy-mode=iptables\n--cluster-cidr\n10.244.0.0/16,fd00::/64\n--masquerade-all\n--iptables-masquerade-bit\n15\n--node\nnode-a\n',
  '--detect-local-mode\nInterfaceNamePrefix\n--pod-interface-name-prefix\nveth\n--feature-gates\nA=true,B=false\n--kube-version\n1.30\n--node\nnode-a\n',
  '--interface\neth0=192.168.0.2/24,fd00::2/64\n--nodeport-addresses\n192.168.0.0/16\n--bind-address\n0.0.0.0\n--hostname-override\nnode-a\n',
].map((words) => Buffer.from(words));

export const COMMANDS: readonly FuzzTarget[] = [
  {
    name: 'configuration',
    seeds: CONFIGURATIONS,
    pieces: CONFIGURATION_PIECES,
    run: compileConfigured,
  },
  {
    name: 'kp-compile',
    seeds: filesIn('fixtures', 'cluster.yaml'),
    pieces: YAML_PIECES,
    run: compileManifests,
  },
  { name: 'flags', seeds: FLAGS, pieces: FLAG_PIECES, run: (input) => readFlags(input) },
  { name: 'kp-diff: two dumps', seeds: DUMPS, pieces: RULE_PIECES, run: diffDumps },
  {
    name: 'kp-diff: manifests and a dump',
    seeds: [...MANIFESTS.keys()].map((each) => Buffer.from(each, 'latin1')),
    pieces: YAML_PIECES,
    run: diffManifests,
  },
  {
    name: 'kp-diff: ipvs',
    seeds: [...IPVS.values()],
    pieces: [...IPSET_PIECES, ...IPVSADM_PIECES, ...ADDRESS_PIECES],
    run: diffIpvs,
  },
];
