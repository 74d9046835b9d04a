import { saveWord } from '../words.ts';
import { canonicalPorts } from './dnat.ts';
import type { TargetExtension } from './extension.ts';
import { byName } from './extension.ts';

export interface MasqueradeTarget {
  readonly kind: 'MASQUERADE';
  readonly toPorts?: string;
  readonly random: boolean;
  readonly randomFully: boolean;
}

export const masquerade: TargetExtension<MasqueradeTarget> = {
  name: 'MASQUERADE',
  options: { '--to-ports': { values: 1 }, '--random': { values: 0 }, '--random-fully': { values: 0 } },
  parse(given) {
    const options = byName(given);
    const toPorts = options.get('--to-ports')?.values[0];
    return {
      kind: 'MASQUERADE',
      ...(toPorts !== undefined && { toPorts }),
      random: options.has('--random'),
      randomFully: options.has('--random-fully'),
    };
  },
  save(target) {
    const ports = target.toPorts;
    return (
      (ports === undefined ? '' : ` --to-ports ${canonicalPorts(ports) ?? saveWord(ports)}`) +
      (target.random ? ' --random' : '') +
      (target.randomFully ? ' --random-fully' : '')
    );
  },
};
