/* Input of `ip -batch` that puts addresses on interfaces, read as what `ip addr` would print afterwards. */
import { type InterfaceAddresses, type IpAddr, problemList } from './ip-addr.ts';

const LINK = /^link\s+add\s+(?:dev\s+)?(\S+)(?:\s+type\s+\S+)?$/;
const ADDRESS = /^a(?:ddr(?:ess)?)?\s+(add|replace|change|del|delete)\s+(\S+)\s+dev\s+(\S+)$/;

/** Whether a text is such input: a line of it is enough. */
export function isAddrBatch(text: string): boolean {
  return text
    .slice(0, 100_000)
    .split('\n')
    .some((line) => LINK.test(line.trim()) || ADDRESS.test(line.trim()));
}

/** Carries out its lines on nothing; lines that do something else are problems. Addresses stay as written. */
export function parseAddrBatch(text: string): IpAddr {
  const interfaces = new Map<string, Set<string>>();
  const problems = problemList();
  const addressesOf = (name: string) => {
    const known = interfaces.get(name) ?? new Set<string>();
    interfaces.set(name, known);
    return known;
  };
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.replace(/#.*/, '').trim();
    if (line === '') continue;
    const link = LINK.exec(line)?.[1];
    const [, verb = '', address = '', name = ''] = ADDRESS.exec(line) ?? [];
    if (link !== undefined) addressesOf(link);
    else if (verb === '')
      problems.add({ line: index + 1, message: 'not a line that adds an interface or an address' });
    else if (verb.startsWith('del')) addressesOf(name).delete(address);
    else addressesOf(name).add(address);
  }
  return {
    interfaces: [...interfaces].map(
      ([name, addresses]): InterfaceAddresses => ({ name, addresses: [...addresses] }),
    ),
    problems: problems.all(),
  };
}
