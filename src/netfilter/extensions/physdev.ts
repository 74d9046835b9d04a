import { saveWord } from '../words.ts';
import type { MatchExtension } from './extension.ts';
import { byName, saveOption } from './extension.ts';

/** Bridge ports; kube-proxy up to 1.20 writes `! --physdev-is-in`. */
export interface PhysdevMatch {
  readonly kind: 'physdev';
  readonly isIn?: { readonly negated: boolean };
  readonly isOut?: { readonly negated: boolean };
  readonly isBridged?: { readonly negated: boolean };
  readonly in?: { readonly negated: boolean; readonly name: string };
  readonly out?: { readonly negated: boolean; readonly name: string };
}

export const physdev: MatchExtension<PhysdevMatch> = {
  name: 'physdev',
  options: {
    '--physdev-is-in': { values: 0, negatable: true },
    '--physdev-in': { values: 1, negatable: true },
    '--physdev-is-out': { values: 0, negatable: true },
    '--physdev-out': { values: 1, negatable: true },
    '--physdev-is-bridged': { values: 0, negatable: true },
  },
  parse(given) {
    const options = byName(given);
    const flag = (name: string) => {
      const option = options.get(name);
      return option && { negated: option.negated };
    };
    const port = (name: string) => {
      const option = options.get(name);
      return option && { negated: option.negated, name: option.values[0] ?? '' };
    };
    const isIn = flag('--physdev-is-in');
    const isOut = flag('--physdev-is-out');
    const isBridged = flag('--physdev-is-bridged');
    const inPort = port('--physdev-in');
    const outPort = port('--physdev-out');
    return {
      kind: 'physdev',
      ...(isIn && { isIn }),
      ...(isOut && { isOut }),
      ...(isBridged && { isBridged }),
      ...(inPort && { in: inPort }),
      ...(outPort && { out: outPort }),
    };
  },
  save: (match) =>
    saveOption('--physdev-is-in', match.isIn, '') +
    saveOption('--physdev-in', match.in, saveWord(match.in?.name ?? '')) +
    saveOption('--physdev-is-out', match.isOut, '') +
    saveOption('--physdev-out', match.out, saveWord(match.out?.name ?? '')) +
    saveOption('--physdev-is-bridged', match.isBridged, ''),
};
