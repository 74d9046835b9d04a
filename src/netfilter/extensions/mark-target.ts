import { parseCNumber } from '../addresses.ts';
import type { GivenOption, TargetExtension } from './extension.ts';
import { ALL_BITS, paddedMark, parseMark, savedMark } from './mark.ts';

/** `-j MARK`; `--or-mark`, `--xor-mark`, `--and-mark`, `--set-mark` all come down to value and mask. */
export interface MarkTarget {
  readonly kind: 'MARK';
  /** XORed into the mark after the bits of `mask` were cleared. */
  readonly value: number;
  readonly mask: number;
}

export const markTarget: TargetExtension<MarkTarget> = {
  name: 'MARK',
  options: {
    '--set-xmark': { values: 1 },
    '--set-mark': { values: 1 },
    '--or-mark': { values: 1 },
    '--xor-mark': { values: 1 },
    '--and-mark': { values: 1 },
  },
  parse(given) {
    const option = given.length === 1 ? given[0] : undefined;
    const bits = option && parseBits(option);
    return bits && { kind: 'MARK', ...bits };
  },
  save: (target) => ` --set-xmark ${savedMark(target.value)}/${savedMark(target.mask)}`,
  restore(target) {
    if (target.mask === 0) return ` --xor-mark ${paddedMark(target.value)}`;
    if (target.mask === target.value) return ` --or-mark ${paddedMark(target.value)}`;
    return ` --set-xmark ${paddedMark(target.value)}/${paddedMark(target.mask)}`;
  },
};

/** As libxt_MARK.c turns each option into value and mask. */
function parseBits(option: GivenOption): { value: number; mask: number } | undefined {
  const text = option.values[0] ?? '';
  if (option.name === '--set-xmark' || option.name === '--set-mark') {
    const mark = parseMark(text);
    if (mark === undefined) return undefined;
    return option.name === '--set-xmark' ? mark : { value: mark.value, mask: (mark.value | mark.mask) >>> 0 };
  }
  const bits = parseCNumber(text, ALL_BITS);
  if (bits === undefined) return undefined;
  if (option.name === '--or-mark') return { value: bits, mask: bits };
  if (option.name === '--xor-mark') return { value: bits, mask: 0 };
  return { value: 0, mask: ~bits >>> 0 };
}
