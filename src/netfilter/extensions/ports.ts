import { parsePort } from '../services.ts';
import type { GivenOption, OptionShapes } from './extension.ts';
import { saveOption } from './extension.ts';

/** A source or destination port as `--sport`, `--dport` take it: one port or an inclusive range. */
export interface PortMatch {
  readonly negated: boolean;
  readonly from: number;
  readonly to: number;
}

/** The two options that tcp, udp and sctp share. */
export const portOptions: OptionShapes = {
  '--sport': { values: 1, negatable: true },
  '--dport': { values: 1, negatable: true },
  '--source-port': { values: 1, negatable: true, as: '--sport' },
  '--destination-port': { values: 1, negatable: true, as: '--dport' },
};

/** `80`, `http`, `80:90`, `:90`, `80:`; undefined for what iptables refuses. */
export function parsePortMatch(option: GivenOption): PortMatch | undefined {
  const text = option.values[0] ?? '';
  const colon = text.indexOf(':');
  if (colon < 0) {
    const port = parsePort(text);
    return port === undefined ? undefined : { negated: option.negated, from: port, to: port };
  }
  const from = colon === 0 ? 0 : parsePort(text.slice(0, colon));
  const to = colon === text.length - 1 ? 65535 : parsePort(text.slice(colon + 1));
  if (from === undefined || to === undefined || from > to) return undefined;
  return { negated: option.negated, from, to };
}

/** Reads `--sport` and `--dport` where nothing else may stand. */
export function parsePorts(
  given: readonly GivenOption[],
): { readonly sourcePort?: PortMatch; readonly destinationPort?: PortMatch } | undefined {
  const ports: { sourcePort?: PortMatch; destinationPort?: PortMatch } = {};
  for (const option of given) {
    const port = parsePortMatch(option);
    if (port === undefined) return undefined;
    if (option.name === '--sport') ports.sourcePort = port;
    else ports.destinationPort = port;
  }
  return ports;
}

/**
 * ` --sport 1:2 ! --dport 3`. The tcp and udp matches do not print the range of all ports, negated or not
 * (print_port in libxt_tcp.c tests the bounds alone); a negated one is printed here nonetheless, since leaving
 * it out would turn a rule that never matches into one that always does.
 */
export function savePorts(
  match: { readonly sourcePort?: PortMatch; readonly destinationPort?: PortMatch },
  printsAll: boolean,
): string {
  return (
    savePort('--sport', match.sourcePort, printsAll) + savePort('--dport', match.destinationPort, printsAll)
  );
}

function savePort(name: string, port: PortMatch | undefined, printsAll: boolean): string {
  if (port === undefined) return '';
  if (port.from === 0 && port.to === 65535 && !port.negated && !printsAll) return '';
  return saveOption(name, port, port.from === port.to ? String(port.from) : `${port.from}:${port.to}`);
}
