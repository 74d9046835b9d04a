import { parseCNumber } from '../addresses.ts';
import type { GivenOption, MatchExtension } from './extension.ts';
import { saveOption } from './extension.ts';
import type { PortMatch } from './ports.ts';
import { parsePortMatch, portOptions, savePorts } from './ports.ts';

export interface TcpMatch {
  readonly kind: 'tcp';
  readonly sourcePort?: PortMatch;
  readonly destinationPort?: PortMatch;
  readonly flags?: { readonly negated: boolean; readonly mask: string; readonly set: string };
  readonly option?: { readonly negated: boolean; readonly number: number };
}

const FLAGS = ['FIN', 'SYN', 'RST', 'PSH', 'ACK', 'URG'];

export const tcp: MatchExtension<TcpMatch> = {
  name: 'tcp',
  options: {
    ...portOptions,
    '--tcp-flags': { values: 2, negatable: true },
    '--syn': { values: 0, negatable: true },
    '--tcp-option': { values: 1, negatable: true },
  },
  parse(given) {
    const match: { -readonly [K in keyof TcpMatch]: TcpMatch[K] } = { kind: 'tcp' };
    for (const option of given) {
      if (option.name === '--sport' || option.name === '--dport') {
        const port = parsePortMatch(option);
        if (port === undefined) return undefined;
        if (option.name === '--sport') match.sourcePort = port;
        else match.destinationPort = port;
      } else if (option.name === '--tcp-option') {
        const number = parseCNumber(option.values[0] ?? '', 255);
        if (number === undefined) return undefined;
        match.option = { negated: option.negated, number };
      } else {
        const flags = option.name === '--syn' ? synFlags(option.negated) : parseFlags(option);
        if (flags === undefined || match.flags !== undefined) return undefined;
        match.flags = flags;
      }
    }
    return match;
  },
  save(match) {
    const { option, flags } = match;
    if (option === undefined && flags === undefined) return savePorts(match, false);
    return (
      savePorts(match, false) +
      saveOption('--tcp-option', option, String(option?.number)) +
      saveOption('--tcp-flags', flags, `${savedFlags(flags?.mask ?? '')} ${savedFlags(flags?.set ?? '')}`)
    );
  },
};

/** `--syn`: the SYN of a new connection. */
function synFlags(negated: boolean): NonNullable<TcpMatch['flags']> {
  return { negated, mask: 'FIN,SYN,RST,ACK', set: 'SYN' };
}

function parseFlags(option: GivenOption): TcpMatch['flags'] {
  const mask = (option.values[0] ?? '').toUpperCase();
  const set = (option.values[1] ?? '').toUpperCase();
  return isFlags(mask) && isFlags(set) ? { negated: option.negated, mask, set } : undefined;
}

function isFlags(text: string): boolean {
  return text.split(',').every((flag) => flag === 'ALL' || flag === 'NONE' || FLAGS.includes(flag));
}

function savedFlags(text: string): string {
  const given = text.split(',');
  const flags = FLAGS.filter((flag) => given.includes(flag) || given.includes('ALL'));
  return flags.length === 0 ? 'NONE' : flags.join(',');
}
