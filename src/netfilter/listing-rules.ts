/*
 * Output of `iptables -S`: the rules as iptables-save prints them, but `-P` and `-N` in the place of chain lines,
 * and neither table nor COMMIT. Each listing is read as the save that it would be.
 */

const POLICY = /^([>\s]*)-P (\S+) ([A-Z]+)(?: -c (\d+) (\d+))?\s*$/;
const NEW_CHAIN = /^([>\s]*)-N (\S+)\s*$/;
const APPEND = /^[>\s]*(?:\[\d+:\d+\] )?-A (\S+) (?:.*\s)?(?:-j|-g) (\S+)/;

/** The chain that a line declares; undefined for any other line. */
export function declaredChain(line: string): string | undefined {
  return POLICY.exec(line)?.[2] ?? NEW_CHAIN.exec(line)?.[2];
}

/** Chain and target of a rule. */
export function appendedRule(line: string): { readonly chain: string; readonly target: string } | undefined {
  const found = APPEND.exec(line);
  return found === null ? undefined : { chain: found[1] ?? '', target: found[2] ?? '' };
}

/** The line of a save that says the same; a line that declares no chain comes back as it was. */
export function asSaveLine(line: string): string {
  const policy = POLICY.exec(line);
  if (policy !== null) {
    const [, prefix = '', name, value, packets = '0', bytes = '0'] = policy;
    return `${prefix}:${name} ${value} [${packets}:${bytes}]`;
  }
  return line.replace(NEW_CHAIN, '$1:$2 - [0:0]');
}
