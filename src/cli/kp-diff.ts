import type { ChalkInstance } from 'chalk';
import type { CompileOptions } from '../compile/index.ts';
import type { Diagnostic } from '../diagnostics.ts';
import {
  type ComparedFamily,
  type Comparison,
  changedChains,
  compareStates,
  type IpvsPatch,
  ipvsPatchOf,
  type NodeState,
  patchOf,
  UnwritablePatchError,
} from '../diff/index.ts';
import { type Family, inChunks, newKnownChains } from '../netfilter/index.ts';
import {
  githubReport,
  jsonReport,
  type PlaceOf,
  statReport,
  summaryLine,
  textReport,
  unifiedReport,
} from '../report/index.ts';
import { colorsFor } from './colors.ts';
import { type CutTable, describeCut, unknownPorts, withoutUnknown } from './cut-off.ts';
import { checkDiffOptions, DEFAULT_CONTEXT, type DiffOptions, diffCommand, sidesOf } from './diff-options.ts';
import { EXIT_NO, EXIT_OK, EXIT_TROUBLE } from './exit-codes.ts';
import { runInventory } from './inventory.ts';
import { type Io, isBrokenPipe } from './io.ts';
import { type ManifestRequest, manifestRequest } from './manifest-options.ts';
import { renderDiagnostics, type Verbosity } from './messages.ts';
import { compileRequest, readCompileRequest } from './node-options.ts';
import { type Patches, singlePatch, writePatches } from './patches.ts';
import { progressOf } from './progress.ts';
import { compileSide, type ManifestsSide, placesIn, readSide, type Side } from './read-side.ts';
import { runCommand } from './run-command.ts';
import { runUpgrade } from './upgrade.ts';
import { UsageError } from './usage-error.ts';

/** Runs kp-diff with the words after the command's name. Resolves to the exit code. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  const command = diffCommand();
  return runCommand(command, argv, io, () =>
    run(command.args, command.opts<DiffOptions & Record<string, unknown>>(), io),
  );
}

interface Named<T> {
  readonly expected: T;
  readonly actual: T;
}

async function run(
  args: readonly string[],
  options: DiffOptions & Readonly<Record<string, unknown>>,
  io: Io,
): Promise<number> {
  if (options.inventory === true) return runInventory(args, options, compileRequest(options).version, io);
  if (options.upgrade !== undefined)
    return runUpgrade(args, options.upgrade, options, await readCompileRequest(options), io);
  const inputs = sidesOf(args, options);
  checkDiffOptions(options);
  const request = await readCompileRequest(options);
  const manifests = manifestRequest(options);
  const sides = await readSides(inputs, request, manifests, options, io);
  if (sides === undefined) return EXIT_TROUBLE;
  const { expected, actual } = sides.states;

  const comparison = withCuts(compareStates(expected, actual, options), sides);
  const nothing = comparison.families.every(({ tables }) => tables.length === 0);
  if (nothing && comparison.findings.length === 0 && comparison.incomparable === undefined) {
    throw new UsageError(`nothing can be compared: ${summaryLine(comparison)}`);
  }
  const code =
    comparison.incomparable !== undefined ? EXIT_TROUBLE : comparison.findings.length > 0 ? EXIT_NO : EXIT_OK;
  const toError = options.patch === '-' || options.reversePatch === '-';
  const report = reportOf(comparison, inputs, sides, options, (error) =>
    colorsFor(error || toError ? io.errorIsTerminal : io.outIsTerminal, options.color, io.env),
  );
  // Patches before anything is printed: where one cannot be made, nothing is.
  const patch = comparison.incomparable === undefined ? patchesOf(sides, options) : '';
  try {
    // Reports come line by line; a node may differ in a hundred thousand of them.
    for (const chunk of inChunks(report.chunks)) {
      if (toError) io.writeError(chunk);
      else await io.writeOut(chunk);
    }
    io.writeError(report.toError);
    if (patch !== '') await io.writeOut(patch);
  } catch (error) {
    // The reader has seen enough, and what differs still does.
    if (!isBrokenPipe(error)) throw error;
  }
  return code;
}

interface ReadSides {
  readonly sides: Named<Side>;
  readonly states: Named<NodeState>;
  /** Of the service ports of a family, those of which one side lacks rules since a dump is cut off. */
  readonly uncompared: ReadonlyMap<Family, number>;
}

/** Both sides as states; undefined, after messages, where one cannot be used. */
async function readSides(
  inputs: Named<readonly string[]>,
  request: CompileOptions,
  manifests: ManifestRequest,
  options: DiffOptions,
  io: Io,
): Promise<ReadSides | undefined> {
  const verbosity: Verbosity = options.quiet ? 'quiet' : options.verbose ? 'verbose' : 'normal';
  const messages = { expected: [] as Diagnostic[], actual: [] as Diagnostic[] };
  const progress = progressOf(io, options.quiet === true);
  const known = newKnownChains();
  const read = async (name: 'expected' | 'actual') =>
    readSide(
      inputs[name],
      { ...options, known },
      io,
      progress,
      (message) => void messages[name].push(message),
    );
  const sides = { expected: await read('expected'), actual: await read('actual') };
  const invented: { expected: readonly string[]; actual: readonly string[] } = { expected: [], actual: [] };
  const state = (name: 'expected' | 'actual') => {
    const side = sides[name];
    if (side?.kind === 'rules' && side.invented) invented[name] = ['a line of it says so'];
    if (side?.kind !== 'manifests') return side?.state;
    const other = sides[name === 'expected' ? 'actual' : 'expected'];
    const compiled = compileSide(
      side,
      request,
      manifests,
      other,
      (message) => void messages[name].push(message),
    );
    if (compiled !== undefined) {
      messages[name] = messages[name].filter((message) => !compiled.isAnswered(message));
    }
    if (compiled !== undefined) invented[name] = compiled.invented;
    return compiled?.state;
  };
  const states = { expected: state('expected'), actual: state('actual') };

  const colors = colorsFor(io.errorIsTerminal, options.color, io.env);
  for (const name of ['expected', 'actual'] as const) {
    const side = sides[name];
    const sources = side?.kind === 'manifests' ? side.sources : undefined;
    io.writeError(renderDiagnostics(messages[name], sources, verbosity, colors));
    // Manifests of which something was left out would make differences of their own.
    const failed = messages[name].some(({ severity }) => severity === 'error');
    if (side?.kind === 'manifests' && failed) return undefined;
  }
  if (sides.expected === undefined || sides.actual === undefined) return undefined;
  if (states.expected === undefined || states.actual === undefined) return undefined;
  refuseInvented(sides, invented, options);
  const expected = withoutUnknown(states.expected, states.actual, cutsOf(sides.expected));
  const actual = withoutUnknown(states.actual, expected, cutsOf(sides.actual));
  const missing = [
    unknownPorts(states.expected, states.actual, cutsOf(sides.expected)),
    unknownPorts(states.actual, expected, cutsOf(sides.actual)),
  ];
  const uncompared = new Map(
    missing.flatMap((ofSide) =>
      [...ofSide.keys()].map((family) => [
        family,
        new Set(missing.flatMap((each) => [...(each.get(family) ?? [])])).size,
      ]),
    ),
  );
  return {
    sides: { expected: sides.expected, actual: sides.actual },
    states: { expected, actual },
    uncompared,
  };
}

/** Rules with invented addresses say nothing of a node, and must never get onto one. Throws a UsageError. */
function refuseInvented(
  sides: Named<Side | undefined>,
  invented: Named<readonly string[]>,
  options: DiffOptions,
): void {
  for (const name of ['expected', 'actual'] as const) {
    const other = name === 'expected' ? 'actual' : 'expected';
    const [words] = invented[name];
    if (words === undefined) continue;
    const isNode = sides[other]?.kind === 'rules' && invented[other].length === 0;
    if (isNode || options.patch !== undefined || options.reversePatch !== undefined) {
      throw new UsageError(
        `what is ${name} has invented addresses (${words}): ${isNode ? 'it cannot be compared with what a node has' : 'no patch is made of them'}\ntake the addresses from the cluster: kubectl get services,endpointslices,nodes -A -o yaml`,
      );
    }
  }
}

function cutsOf(side: Side): readonly CutTable[] {
  return side.kind === 'rules' ? side.cuts : [];
}

/** Says what was not compared since a dump is cut off. */
function withCuts(comparison: Comparison, { sides, uncompared }: ReadSides): Comparison {
  const cuts = [...cutsOf(sides.expected), ...cutsOf(sides.actual)];
  const families = comparison.families.map((compared) => ({
    ...compared,
    ...uncomparedOf(compared, uncompared.get(compared.family)),
    left: withCutTables(
      compared.left,
      cuts.filter(({ family }) => family === compared.family),
    ),
  }));
  return { ...comparison, families };
}

/** A table of which nothing can be used is not there for the comparison; that it is cut off says more. */
function withCutTables(left: readonly string[], cuts: readonly CutTable[]): string[] {
  const isCut = (reason: string) =>
    cuts.some(({ table }) => reason.startsWith('the dump holds no ') && reason.endsWith(` ${table} table`));
  return [...left.filter((reason) => !isCut(reason)), ...cuts.map(describeCut)];
}

function uncomparedOf(
  { servicePorts }: ComparedFamily,
  count: number | undefined,
): Pick<ComparedFamily, 'uncompared'> {
  return count === undefined ? {} : { uncompared: Math.min(count, servicePorts) };
}

interface ReportTexts {
  readonly chunks: Iterable<string>;
  /** What goes to stderr besides. */
  readonly toError: string;
}

function reportOf(
  comparison: Comparison,
  inputs: Named<readonly string[]>,
  { sides, states }: ReadSides,
  options: DiffOptions,
  colorsOf: (error: boolean) => ChalkInstance,
): ReportTexts {
  const { incomparable } = comparison;
  const reason = incomparable === undefined ? '' : `kp-diff: ${summaryLine(comparison)}\n`;
  if (options.quiet === true) {
    const isPartial = comparison.families.some(({ uncompared }) => uncompared !== undefined);
    const partial = isPartial ? `kp-diff: the answer is partial: ${summaryLine(comparison)}\n` : '';
    return { chunks: [], toError: reason === '' ? partial : reason };
  }
  const colors = colorsOf(false);
  const verbose = options.verbose === true;
  const placeOf = placeIn([sides.expected, sides.actual]);
  const output = options.output ?? (options.context === undefined ? 'text' : 'unified');
  switch (output) {
    case 'json': {
      const side = (name: 'expected' | 'actual') => ({ kind: states[name].kind, sources: inputs[name] });
      const described = { expected: side('expected'), actual: side('actual') };
      return { chunks: jsonReport(comparison, { ...described, placeOf }), toError: reason };
    }
    case 'github':
      return { chunks: githubReport(comparison, { placeOf, verbose }), toError: reason };
    case 'unified': {
      if (incomparable !== undefined) return { chunks: [], toError: reason };
      const chains = changedChains(states.expected, states.actual, options);
      const context = options.context ?? DEFAULT_CONTEXT;
      return {
        chunks: unifiedReport(chains, { context, colors }),
        toError: `${colorsOf(true).bold(summaryLine(comparison))}\n`,
      };
    }
    case 'text':
      if (incomparable !== undefined) return { chunks: [], toError: reason };
      return {
        chunks: options.stat ? statReport(comparison, colors) : textReport(comparison, { colors, verbose }),
        toError: '',
      };
  }
}

function placeIn(sides: readonly Side[]): PlaceOf {
  const places = sides
    .filter((side): side is ManifestsSide => side.kind === 'manifests')
    .map((side) => placesIn(side));
  return (servicePort) => {
    for (const place of places) {
      const find = place.get(servicePort);
      if (find !== undefined) return find();
    }
    return undefined;
  };
}

/** Writes the patches that were asked for into their folders; returns the one that goes to stdout. */
function patchesOf({ sides, states }: ReadSides, options: DiffOptions): string {
  const { expected, actual } = states;
  const wanted = [
    {
      option: '--patch',
      to: options.patch,
      make: () => patchOf(expected, actual, options),
      ipvs: () => ipvsPatchOf(expected, actual, options),
    },
    {
      option: '--reverse-patch',
      to: options.reversePatch,
      make: () => patchOf(actual, expected, options),
      ipvs: () => ipvsPatchOf(actual, expected, options),
    },
  ];
  let text = '';
  const made: { readonly directory: string; readonly patches: Patches; readonly ipvs: IpvsPatch }[] = [];
  for (const { option, to, make, ipvs } of wanted) {
    if (to === undefined) continue;
    for (const side of [sides.expected, sides.actual]) {
      if (side.kind === 'rules' && side.cuts.length > 0) {
        throw new UsageError(
          `${option}: the table ${side.cuts[0]?.table} is cut off, and no patch can be trusted to fit it`,
        );
      }
      if (side.kind === 'rules' && side.unread > 0) {
        const lines = side.unread === 1 ? 'a line' : `${side.unread} lines`;
        throw new UsageError(
          `${option}: ${lines} inside of tables could not be read, and no patch can be trusted to fit what stands there`,
        );
      }
    }
    const patches = unlessUnwritable(option, make);
    if (to === '-') text = singlePatch(option, patches);
    else made.push({ directory: to, patches, ipvs: unlessUnwritable(option, ipvs) });
  }
  for (const { directory, patches, ipvs } of made) writePatches(directory, patches, ipvs);
  return text;
}

/** That the input holds a rule which no patch can is nothing that this program could do better. */
function unlessUnwritable<T>(option: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof UnwritablePatchError) throw new UsageError(`${option}: ${error.message}`);
    throw error;
  }
}
