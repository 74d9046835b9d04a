import type { GivenOption, MatchExtension } from './extension.ts';
import { saveOption } from './extension.ts';

export interface AddrtypeMatch {
  readonly kind: 'addrtype';
  readonly source?: { readonly negated: boolean; readonly types: readonly string[] };
  readonly destination?: { readonly negated: boolean; readonly types: readonly string[] };
  readonly limitIfaceIn?: boolean;
  readonly limitIfaceOut?: boolean;
}

/** In the order of the kernel's bits, which is the order of iptables-save. */
const TYPES = [
  'UNSPEC',
  'UNICAST',
  'LOCAL',
  'BROADCAST',
  'ANYCAST',
  'MULTICAST',
  'BLACKHOLE',
  'UNREACHABLE',
  'PROHIBIT',
  'THROW',
  'NAT',
  'XRESOLVE',
];

type Types = NonNullable<AddrtypeMatch['source']>;

export const addrtype: MatchExtension<AddrtypeMatch> = {
  name: 'addrtype',
  options: {
    '--src-type': { values: 1, negatable: true },
    '--dst-type': { values: 1, negatable: true },
    '--limit-iface-in': { values: 0 },
    '--limit-iface-out': { values: 0 },
  },
  parse(given) {
    let source: Types | undefined;
    let destination: Types | undefined;
    let limit: { limitIfaceIn?: true; limitIfaceOut?: true } = {};
    for (const option of given) {
      if (option.name === '--limit-iface-in') limit = { ...limit, limitIfaceIn: true };
      else if (option.name === '--limit-iface-out') limit = { ...limit, limitIfaceOut: true };
      else {
        const types = parseTypes(option);
        if (types === undefined) return undefined;
        if (option.name === '--src-type') source = types;
        else destination = types;
      }
    }
    return { kind: 'addrtype', ...(source && { source }), ...(destination && { destination }), ...limit };
  },
  save: (match) => print(match, savedTypes),
  restore: (match) => print(match, (types) => types.join(',')),
};

function parseTypes(option: GivenOption): Types | undefined {
  const types = (option.values[0] ?? '').toUpperCase().split(',');
  return types.every((type) => TYPES.includes(type)) ? { negated: option.negated, types } : undefined;
}

function savedTypes(types: readonly string[]): string {
  return types.length === 1 ? types.join() : TYPES.filter((type) => types.includes(type)).join(',');
}

function print(match: AddrtypeMatch, list: (types: readonly string[]) => string): string {
  return (
    saveOption('--src-type', match.source, list(match.source?.types ?? [])) +
    saveOption('--dst-type', match.destination, list(match.destination?.types ?? [])) +
    (match.limitIfaceIn ? ' --limit-iface-in' : '') +
    (match.limitIfaceOut ? ' --limit-iface-out' : '')
  );
}
