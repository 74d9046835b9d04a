import { Command, Option } from 'commander';
import { compile } from '../compile/index.ts';
import type { Diagnostic } from '../diagnostics.ts';
import type { IPFamily } from '../kube/index.ts';
import { type Format, RULES_FILES } from './artefacts.ts';
import { checkGolden } from './check.ts';
import { type ColorChoice, colorsFor } from './colors.ts';
import { EXIT_CODES_HELP, EXIT_NO, EXIT_OK, EXIT_TROUBLE } from './exit-codes.ts';
import { addInputOptions, type InputOptions, inputLimits } from './input-options.ts';
import type { Io } from './io.ts';
import { IPVS_FILES } from './ipvs-artefacts.ts';
import {
  addManifestOptions,
  answeredBy,
  deriveEndpoints,
  inventAddresses,
  type ManifestOptions,
  manifestRequest,
} from './manifest-options.ts';
import { renderDiagnostics, type Verbosity } from './messages.ts';
import {
  addAllKubeProxyFlags,
  addNfacctOptions,
  addNodeOptions,
  collect,
  type NodeOptions,
  readCompileRequest,
} from './node-options.ts';
import { EMITTED, type Emitted, emittedText, outputFiles, writeOutputs } from './outputs.ts';
import { packageVersion } from './package-version.ts';
import { progressOf } from './progress.ts';
import { type ReadCluster, readCluster } from './read-cluster.ts';
import { runCommand } from './run-command.ts';
import { UsageError } from './usage-error.ts';

interface Options extends NodeOptions, ManifestOptions, InputOptions {
  readonly family?: 'ipv4' | 'ipv6';
  readonly format: Format;
  readonly emit?: Emitted;
  readonly outDir?: string;
  readonly check?: string;
  readonly keepGoing?: boolean;
  readonly filename?: readonly string[];
  readonly strict?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly color: ColorChoice;
}

const EXAMPLES = `Examples:
  What node-a should have, from a cluster's dump:
    kubectl get nodes,services,endpointslices -A -o yaml > cluster.yaml
    kp-compile cluster.yaml --node node-a --cluster-cidr 10.244.0.0/16 > rules.txt

  With the node's own configuration, both families into a folder:
    kubectl get cm -n kube-system kube-proxy -o yaml > kube-proxy.yaml
    kp-compile cluster.yaml --config kube-proxy.yaml --node node-a --out-dir node-a/

  In CI, against rules that were committed:
    kp-compile manifests/ --node node-a --check node-a/

  A node in ipvs mode: everything into a folder, or one script that makes it so:
    kp-compile cluster.yaml --node node-a --proxy-mode ipvs --out-dir node-a/
    kp-compile cluster.yaml --node node-a --proxy-mode ipvs --emit script > node-a.sh

  Manifests that were not applied yet, with invented addresses:
    kp-compile manifests/ --service-cidr 10.96.0.0/12 --assume-ready --cluster-cidr 10.244.0.0/16

  From a pipe, for another version, as kube-proxy writes it:
    kubectl get nodes,svc,endpointslices -A -o json | kp-compile - --node node-a --kube-version 1.30 --format restore

Formats:
  save     what iptables-save prints on a node that has kube-proxy's rules alone
  restore  what kube-proxy feeds to iptables-restore --noflush: its own chains. The jumps to them from built-in
           chains are not part of it: kube-proxy inserts each one that is missing with a command of its own
           (iptables -I), and the save format shows them.

Emitted:
  rules    in the format that was asked for
  ipset    input of ipset restore     } ipvs mode alone has these, and
  ipvsadm  input of ipvsadm -R        } --out-dir writes them too: ${Object.values(IPVS_FILES).join(', ')}
  addr     input of ip -batch         }
  sysctl   input of sysctl -p         }
  script   a file for sh that applies all of it with these tools, in the right order, leaving alone what
           is not kube-proxy's; it stops at the first failure and may be run again

Order between Services, which kube-proxy leaves to chance, is by namespace, name, port name and protocol.
Since 1.31 rules have nfacct counters: before such rules load, nfacct add has to make their objects
(ct_state_invalid_dropped_pkts, localhost_nps_accepted_pkts); --no-nfacct leaves them out.

${EXIT_CODES_HELP}`;

function buildCommand(): Command {
  const command = new Command('kp-compile')
    .usage('[options] <file|dir|->...')
    .description(
      'Compiles Services and EndpointSlices into the iptables rules and IPVS state that kube-proxy programs on one node, without a cluster and without root.',
    )
    .argument(
      '[input...]',
      'manifests or cluster dumps: files, directories (.yaml, .yml, .json), .gz, .tar, .tgz, - for standard input',
    );
  addNodeOptions(command);
  command
    .addOption(
      new Option(
        '--family <family>',
        'which family goes to stdout; default: of rules that of the node’s first address, of all else both',
      ).choices(['ipv4', 'ipv6']),
    )
    .addOption(
      new Option('--format <format>', 'see Formats below').choices(['save', 'restore']).default('save'),
    )
    .addOption(
      new Option('--emit <what>', 'what goes to stdout, see Emitted below; default: rules').choices(EMITTED),
    )
    .option(
      '--out-dir <dir>',
      `write ${RULES_FILES.IPv4} and ${RULES_FILES.IPv6} (in ipvs mode all the rest too) there instead of stdout`,
    )
    .option(
      '--check <file|dir>',
      'compare with golden files (comment lines apart) instead of writing; exit 1 and a unified diff if they differ',
    )
    .option('--keep-going', 'leave out what cannot be used, name it, exit 1');
  addManifestOptions(command);
  addInputOptions(command);
  addNfacctOptions(command);
  command
    .option('-f, --filename <path>', 'another input, as kubectl users type it (repeatable)', collect)
    .option('--strict', 'warnings are failures: exit 1, nothing written')
    .option('-q, --quiet', 'errors only')
    .option('-v, --verbose', 'notes too: what was skipped, and why')
    .addOption(
      new Option('--color <when>', 'colours in messages')
        .choices(['auto', 'always', 'never'])
        .default('auto'),
    )
    .version(packageVersion(), '--version')
    .helpOption('-h, --help', 'this text')
    .addHelpText('after', `\n${EXAMPLES}`)
    .allowExcessArguments(true)
    .configureHelp({ helpWidth: 110 });
  addAllKubeProxyFlags(command);
  return command;
}

/** Runs kp-compile with the words after the command's name. Resolves to the exit code. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  const command = buildCommand();
  return runCommand(command, argv, io, () =>
    run(command.args, command.opts<Options & Record<string, unknown>>(), io),
  );
}

async function run(
  args: readonly string[],
  options: Options & Readonly<Record<string, unknown>>,
  io: Io,
): Promise<number> {
  const inputs = [...args, ...(options.filename ?? [])];
  if (inputs.length === 0) {
    throw new UsageError(
      'nothing to compile: name files, directories or - (kp-compile --help shows examples)',
    );
  }
  if (options.outDir !== undefined && options.check !== undefined) {
    throw new UsageError('--out-dir writes and --check compares: choose one');
  }
  if (options.outDir !== undefined && options.emit !== undefined) {
    throw new UsageError('--out-dir writes all there is, --emit chooses what goes to stdout: choose one');
  }
  const verbosity: Verbosity = options.quiet ? 'quiet' : options.verbose ? 'verbose' : 'normal';
  const request = await readCompileRequest(options);
  const manifests = manifestRequest(options);

  const said: Diagnostic[] = [];
  const report = (diagnostic: Diagnostic) => void said.push(diagnostic);
  const progress = progressOf(io, options.quiet === true);
  const read: ReadCluster = await readCluster(inputs, options.config, io, progress, report, {
    lastWins: options.lastWins === true,
    limits: inputLimits(options),
  });
  const settings = {
    ...request,
    ...(read.configuration === undefined ? {} : { configuration: read.configuration }),
  };
  progress.phase('compiling');
  const served = deriveEndpoints(read.cluster, manifests, settings, report);
  const cluster = inventAddresses(served, manifests, report);
  const compilation = compile(cluster, settings, report);

  progress.done();
  const isAnswered = answeredBy(cluster);
  const diagnostics = said.filter((diagnostic) => !isAnswered(diagnostic));
  const errorColors = colorsFor(io.errorIsTerminal, options.color, io.env);
  io.writeError(renderDiagnostics(diagnostics, read.sources, verbosity, errorColors));
  const failed = diagnostics.some(({ severity }) => severity === 'error');
  if (compilation === undefined || read.isEmpty) return EXIT_TROUBLE;
  if (failed && options.keepGoing !== true) return EXIT_TROUBLE;
  if (options.strict === true && diagnostics.some(({ severity }) => severity === 'warning')) return EXIT_NO;

  const family: IPFamily | undefined = options.family && (options.family === 'ipv4' ? 'IPv4' : 'IPv6');
  const single = () => emittedText(compilation, options.emit ?? 'rules', { format: options.format, family });
  const files = () => outputFiles(compilation, options.format);
  if (options.check !== undefined) {
    const difference = await checkGolden(
      options.check,
      { single, files },
      inputLimits(options),
      colorsFor(io.outIsTerminal, options.color, io.env),
    );
    if (difference === '') return failed ? EXIT_NO : EXIT_OK;
    await io.writeOut(difference);
    return EXIT_NO;
  }
  if (options.outDir !== undefined) writeOutputs(options.outDir, files());
  else for (const chunk of single()) await io.writeOut(chunk);
  return failed ? EXIT_NO : EXIT_OK;
}
