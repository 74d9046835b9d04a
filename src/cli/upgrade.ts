/** `kp-diff --upgrade A..B`: what an upgrade of kube-proxy changes in a node's rules. */
import type { CompileOptions } from '../compile/index.ts';
import type { Diagnostic } from '../diagnostics.ts';
import { previewUpgrade } from '../diff/index.ts';
import { KNOWN_VERSIONS, kubeProxyVersion, parseMinor, placeOfMinor } from '../kube/index.ts';
import { upgradeJson, upgradeText } from '../report/index.ts';
import { colorsFor } from './colors.ts';
import type { DiffOptions } from './diff-options.ts';
import { EXIT_NO, EXIT_OK, EXIT_TROUBLE } from './exit-codes.ts';
import type { Io } from './io.ts';
import { renderDiagnostics, type Verbosity } from './messages.ts';
import { progressOf } from './progress.ts';
import { readSide } from './read-side.ts';
import { UsageError } from './usage-error.ts';

/** Prints it; resolves to the exit code. */
export async function runUpgrade(
  inputs: readonly string[],
  range: string,
  options: DiffOptions,
  request: CompileOptions,
  io: Io,
): Promise<number> {
  const versions = versionsOf(range);
  if (inputs.length === 0) throw new UsageError('--upgrade of what? name manifests or a cluster dump');
  if (options.output !== undefined && options.output !== 'text' && options.output !== 'json')
    throw new UsageError(`--upgrade is told as text or json, not ${options.output}`);
  const messages: Diagnostic[] = [];
  const report = (message: Diagnostic) => void messages.push(message);
  const side = await readSide(inputs, options, io, progressOf(io, options.quiet === true), report);
  if (side?.kind === 'rules') throw new UsageError('--upgrade reads manifests, not rules');
  const upgrade =
    side === undefined
      ? undefined
      : previewUpgrade(
          side.cluster,
          {
            ...request,
            ...(side.configuration === undefined ? {} : { configuration: side.configuration }),
          },
          versions,
          report,
        );
  const verbosity: Verbosity = options.quiet ? 'quiet' : options.verbose ? 'verbose' : 'normal';
  const colors = colorsFor(io.errorIsTerminal, options.color, io.env);
  // Both versions say much the same of the input.
  const seen = new Set<string>();
  const once = messages.filter((message) => {
    const key = JSON.stringify(message);
    return !seen.has(key) && seen.add(key);
  });
  io.writeError(renderDiagnostics(once, side?.sources, verbosity, colors));
  if (upgrade === undefined || once.some(({ severity }) => severity === 'error')) return EXIT_TROUBLE;
  if (options.quiet !== true)
    await io.writeOut(
      options.output === 'json' ? upgradeJson(upgrade) : upgradeText(upgrade, options.verbose === true),
    );
  return upgrade.groups.length > 0 ? EXIT_NO : EXIT_OK;
}

function versionsOf(range: string) {
  const [from, to, ...rest] = range.split('..').map((text) => parseMinor(text));
  const isKnown = (minor: number | undefined) => minor !== undefined && placeOfMinor(minor) === 'known';
  if (from === undefined || to === undefined || rest.length > 0 || !isKnown(from) || !isKnown(to)) {
    throw new UsageError(
      `--upgrade: ${JSON.stringify(range)} is not a range such as 1.23..1.36 (versions known here: ${KNOWN_VERSIONS})`,
    );
  }
  if (from >= to) throw new UsageError(`--upgrade: 1.${to} does not come after 1.${from}`);
  return { from: kubeProxyVersion(from), to: kubeProxyVersion(to) };
}
