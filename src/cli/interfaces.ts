import { escapeText } from '../escape.ts';
import { type NetworkInterface, parseIP } from '../kube/index.ts';
import type { LoadLimits } from '../load/index.ts';
import { parseIpAddr } from '../netfilter/index.ts';
import { readOptionFile } from './read-option-file.ts';
import { UsageError } from './usage-error.ts';

/** Reads `--interface NAME=ADDRESS/LENGTH[,…]`. Throws a UsageError. */
export function parseInterfaceOption(text: string): NetworkInterface {
  const equals = text.indexOf('=');
  const name = text.slice(0, Math.max(equals, 0));
  if (name === '')
    throw new UsageError(`--interface: ${JSON.stringify(text)} is not NAME=ADDRESS/LENGTH[,…]`);
  return networkInterface(
    '--interface',
    name,
    text
      .slice(equals + 1)
      .split(',')
      .filter((item) => item !== ''),
  );
}

/** Reads a file that `ip -j addr` or `ip -o addr` printed. Throws a UsageError. */
export async function readInterfacesFile(
  file: string,
  limits: Partial<LoadLimits>,
): Promise<NetworkInterface[]> {
  const text = await readOptionFile('--interfaces', file, limits);
  const { interfaces, problems } = parseIpAddr(text);
  const [problem] = problems;
  if (problem !== undefined) {
    throw new UsageError(
      `--interfaces: ${file}${problem.line === undefined ? '' : `:${problem.line}`}: ${problem.message}`,
    );
  }
  return interfaces.map(({ name, addresses }) => networkInterface(file, name, addresses));
}

function networkInterface(source: string, name: string, texts: readonly string[]): NetworkInterface {
  return {
    name,
    addresses: texts.map((text) => {
      const [address = '', length, ...rest] = text.split('/');
      const ip = parseIP(address);
      const bits = ip?.family === 'IPv6' ? 128 : 32;
      if (
        ip === undefined ||
        rest.length > 0 ||
        (length !== undefined && !(/^\d{1,3}$/.test(length) && Number(length) <= bits))
      ) {
        throw new UsageError(
          `${source}: interface ${escapeText(name)}: ${JSON.stringify(escapeText(text))} is not ADDRESS/LENGTH`,
        );
      }
      return ip;
    }),
  };
}
