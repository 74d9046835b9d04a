import { parsePort } from '../services.ts';
import type { MatchExtension } from './extension.ts';
import { saveOption } from './extension.ts';

export interface MultiportMatch {
  readonly kind: 'multiport';
  readonly side: 'source' | 'destination' | 'either';
  readonly negated: boolean;
  /** `80`, `8080:8090`, as written but with service names resolved. */
  readonly ports: readonly string[];
}

const OPTION_OF = { source: '--sports', destination: '--dports', either: '--ports' } as const;

export const multiport: MatchExtension<MultiportMatch> = {
  name: 'multiport',
  options: {
    '--sports': { values: 1, negatable: true },
    '--dports': { values: 1, negatable: true },
    '--ports': { values: 1, negatable: true },
    '--source-ports': { values: 1, negatable: true, as: '--sports' },
    '--destination-ports': { values: 1, negatable: true, as: '--dports' },
  },
  parse(given) {
    const option = given.length === 1 ? given[0] : undefined;
    if (option === undefined) return undefined;
    const ports: string[] = [];
    for (const text of (option.values[0] ?? '').split(',')) {
      const bounds = text.split(':').map(parsePort);
      if (bounds.length > 2 || bounds.includes(undefined)) return undefined;
      ports.push(bounds.join(':'));
    }
    const side =
      option.name === '--sports' ? 'source' : option.name === '--dports' ? 'destination' : 'either';
    return { kind: 'multiport', side, negated: option.negated, ports };
  },
  save: (match) => saveOption(OPTION_OF[match.side], match, match.ports.join(',')),
};
