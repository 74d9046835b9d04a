import { Command, InvalidArgumentError, Option } from 'commander';
import type { Family } from '../netfilter/index.ts';
import type { ColorChoice } from './colors.ts';
import { addInputOptions, type InputOptions } from './input-options.ts';
import { addManifestOptions, type ManifestOptions } from './manifest-options.ts';
import {
  addAllKubeProxyFlags,
  addNfacctOptions,
  addNodeOptions,
  collect,
  type NodeOptions,
} from './node-options.ts';
import { packageVersion } from './package-version.ts';
import { UsageError } from './usage-error.ts';

export interface DiffOptions extends NodeOptions, ManifestOptions, InputOptions {
  readonly expected?: readonly string[];
  readonly actual?: readonly string[];
  readonly scope: 'kube-proxy' | 'all';
  readonly family?: Family;
  readonly output?: 'text' | 'unified' | 'json' | 'github';
  readonly context?: number;
  readonly stat?: boolean;
  readonly inventory?: boolean;
  readonly upgrade?: string;
  readonly patch?: string;
  readonly reversePatch?: string;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly color: ColorChoice;
}

/** Lines around a change, as in diff -u. */
export const DEFAULT_CONTEXT = 3;

const EXAMPLES = `Examples:
  On a node, with the manifests of its cluster:
    iptables-save | kp-diff manifests/ - --node node-a

  Both families of a node that nobody can log in to, with the rules under each difference:
    kp-diff cluster.yaml --actual node-a.v4 --actual node-a.v6 --node node-a -v

  In CI, against rules that were committed:
    kp-diff expected/ dump.txt --output github

  What a change of manifests changes on a node:
    kp-diff before/ after/ --node node-a --cluster-cidr 10.244.0.0/16 --output unified

  The patch that mends the node, and the way back:
    kp-diff manifests/ dump.txt --node node-a --patch patch/ --reverse-patch undo/
    patch/apply.sh

  A node in ipvs mode, with its sets and virtual servers:
    kp-diff cluster.yaml node-a.v4 --actual ipset.save --actual ipvsadm.save --node node-a

  What a node’s rules program, and by which version they were written:
    kp-diff --inventory dump.txt

  What an upgrade of kube-proxy changes on a node, and why:
    kp-diff --upgrade 1.23..1.36 manifests/ --node node-a

Each side is one of:
  manifests or a cluster dump   files, folders (.yaml, .yml, .json), archives (.tar, .tgz), plain or .gz; compiled
                                on the spot, with the options above
  rules                         what iptables-save or ip6tables-save prints, or kp-compile, in either format
  a folder with rules.v4, rules.v6 (or save.v4, save.v6); one of them may be missing
  of a node in ipvs mode also what ipset save or list, ipvsadm -Sn or -Ln and ip addr print: further files of
  the side, or in that folder under any name
  -                             any of these files from standard input, on one side
What a file is, is found from what it holds. One iptables-save holds one family: what the dump does not hold is
not compared, and the last line says so.

Addresses that were invented (--service-cidr, --assume-ready; here or for kp-compile) are compared with
invented ones alone, never with a node's, and no patch is made of them. What a dump shows is no invention.

What kube-proxy does not own (CNI, Docker, firewalld …) is left out; --scope all compares that too.
Order that has no meaning, counters, comments and spelling are never a difference.

Exit codes:
  0   no difference
  1   differences
  2   the command was not understood, an input could not be used, or the two cannot be compared
  70  a fault of this program`;

/** The command with its options, its help, and nothing to run yet. */
export function diffCommand(): Command {
  const command = new Command('kp-diff')
    .usage('[options] <expected> <actual>')
    .description(
      'Says what differs between the rules that a node should have and those that it has, in words of Services and endpoints, and writes the patch that mends it.',
    )
    .argument('[sides...]', 'what is expected and what there is: files, folders, - for standard input')
    .option('--actual <file>', 'another file of the same node, or all of them (repeatable)', collect)
    .option('--expected <file>', 'the same for what is expected (repeatable)', collect)
    .addOption(
      new Option('--output <format>', 'how differences are shown; default: text').choices([
        'text',
        'unified',
        'json',
        'github',
      ]),
    )
    .option(
      '-U, --context <lines>',
      `lines around each change; alone the same as --output unified (${DEFAULT_CONTEXT})`,
      parseContext,
    )
    .option('--stat', 'counts of each kind of difference instead')
    .option(
      '--inventory',
      'instead of comparing: what the rules of a node program (text or json), and whether that gives them again',
    )
    .option(
      '--upgrade <A..B>',
      'instead of comparing: what the rules of manifests change from one version of kube-proxy to another, and why (text or json)',
    )
    .option('-v, --verbose', 'the rules under each difference; notes about the input')
    .option('-q, --quiet', 'no report: errors, and the exit code')
    .addOption(
      new Option(
        '--scope <scope>',
        'what is compared; patches touch kube-proxy’s own chains alone, whatever the scope',
      )
        .choices(['kube-proxy', 'all'])
        .default('kube-proxy'),
    )
    .addOption(new Option('--family <family>', 'compare this family alone').choices(['ipv4', 'ipv6']))
    .option(
      '--patch <dir|->',
      'write the smallest iptables-restore --noflush input that turns actual into expected: patch.v4, patch.v6 and apply.sh, in ipvs mode patch.ipset, patch.ipvsadm.sh and patch.addr.batch too; - for stdout, the report then goes to stderr',
    )
    .option('--reverse-patch <dir|->', 'the same the other way: from expected back to actual')
    .addOption(new Option('--color <when>', 'colours').choices(['auto', 'always', 'never']).default('auto'))
    .version(packageVersion(), '--version')
    .helpOption('-h, --help', 'this text')
    .optionsGroup('How manifests are compiled:');
  addNodeOptions(command);
  addManifestOptions(command);
  addInputOptions(command);
  addNfacctOptions(command);
  command.addHelpText('after', `\n${EXAMPLES}`).allowExcessArguments(true).configureHelp({ helpWidth: 110 });
  addAllKubeProxyFlags(command);
  return command;
}

function parseContext(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It is not a number of lines.');
  return Number(text);
}

/** Which inputs make up which side. Throws a UsageError. */
export function sidesOf(
  args: readonly string[],
  { expected = [], actual = [] }: DiffOptions,
): { readonly expected: readonly string[]; readonly actual: readonly string[] } {
  const rest = [...args];
  // A side that has options needs no word of its own.
  const needed = (expected.length === 0 ? 1 : 0) + (actual.length === 0 ? 1 : 0);
  if (rest.length > 2) {
    throw new UsageError(
      `two sides are compared, and ${rest.length} files were named: ${rest.join(', ')}\n${severalFiles(rest)}`,
    );
  }
  if (rest.length < needed) {
    throw new UsageError(
      needed === 2 && rest.length === 1
        ? `what is ${JSON.stringify(rest[0])} to be compared with? name both: kp-diff <expected> <actual>`
        : 'name what is expected and what there is: kp-diff <expected> <actual> (kp-diff --help shows examples)',
    );
  }
  if (rest.length === 1 && needed === 0) {
    throw new UsageError(`on which side is ${JSON.stringify(rest[0])}? say --expected or --actual before it`);
  }
  const first = expected.length === 0 || rest.length === 2 ? rest.splice(0, 1) : [];
  const sides = { expected: [...first, ...expected], actual: [...rest, ...actual] };
  if ([...sides.expected, ...sides.actual].filter((input) => input === '-').length > 1) {
    throw new UsageError('standard input (-) can be read once');
  }
  return sides;
}

/** How to name several files of one side, with those that were named. */
function severalFiles(words: readonly string[]): string {
  const options = words.map((word, index) =>
    index < words.length - 1 ? `--expected ${word}` : `--actual ${word}`,
  );
  return `where a side has several files, say of each which side it is on: kp-diff ${options.join(' ')}`;
}

/** Throws a UsageError where options contradict each other. */
export function checkDiffOptions(options: DiffOptions): void {
  const { output, stat, context, patch, reversePatch } = options;
  if (stat === true && ((output !== undefined && output !== 'text') || context !== undefined)) {
    throw new UsageError('--stat counts, --output and -U show: choose one');
  }
  if (context !== undefined && output !== undefined && output !== 'unified') {
    throw new UsageError(`-U is for --output unified, not for ${output}`);
  }
  if (patch !== undefined && patch === reversePatch) {
    throw new UsageError(
      patch === '-'
        ? '--patch - and --reverse-patch -: stdout holds one of them'
        : '--patch and --reverse-patch write files of the same names: name two folders',
    );
  }
}
