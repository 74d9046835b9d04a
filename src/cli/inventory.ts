/** `kp-diff --inventory`: what a node's rules program. */
import type { Diagnostic } from '../diagnostics.ts';
import { takeInventory } from '../diff/index.ts';
import type { KubeProxyVersion } from '../kube/index.ts';
import { inventoryJson, inventoryText } from '../report/index.ts';
import { colorsFor } from './colors.ts';
import { detectInput, type RulesFile } from './detect-input.ts';
import type { DiffOptions } from './diff-options.ts';
import { EXIT_OK, EXIT_TROUBLE } from './exit-codes.ts';
import { inputLimits } from './input-options.ts';
import type { Io } from './io.ts';
import { renderDiagnostics, type Verbosity } from './messages.ts';
import { readRules } from './read-rules.ts';
import { UsageError } from './usage-error.ts';

/** Prints it; resolves to the exit code. */
export async function runInventory(
  inputs: readonly string[],
  options: DiffOptions,
  version: KubeProxyVersion | undefined,
  io: Io,
): Promise<number> {
  if (inputs.length === 0) throw new UsageError('--inventory of what? name what iptables-save prints');
  if (options.output !== undefined && options.output !== 'text' && options.output !== 'json')
    throw new UsageError(`--inventory is text or json, not ${options.output}`);
  const messages: Diagnostic[] = [];
  const report = (message: Diagnostic) => void messages.push(message);
  const rules: RulesFile[] = [];
  for (const input of inputs) {
    const found = await detectInput(input, io, inputLimits(options));
    if (found.kind === 'rules') rules.push(...found.files);
    else if (found.kind === 'unusable') report(found.problem);
    else throw new UsageError(`--inventory reads rules, and ${input} holds none`);
  }
  const failed = messages.length > 0;
  const read = failed ? undefined : readRules(rules, options.family, report);
  const verbosity: Verbosity = options.quiet ? 'quiet' : options.verbose ? 'verbose' : 'normal';
  io.writeError(
    renderDiagnostics(messages, undefined, verbosity, colorsFor(io.errorIsTerminal, options.color, io.env)),
  );
  if (read === undefined) return EXIT_TROUBLE;
  const inventory = takeInventory(read.state.rulesets, version);
  if (
    inventory.equalChains + inventory.otherChains.length === 0 &&
    inventory.recognised.mode === 'iptables'
  ) {
    throw new UsageError(
      '--inventory: there is no chain of kube-proxy in it; take what iptables-save prints on the node',
    );
  }
  await io.writeOut(options.output === 'json' ? inventoryJson(inventory) : inventoryText(inventory));
  return EXIT_OK;
}
