import { parseCNumber } from '../addresses.ts';
import type { MatchExtension } from './extension.ts';
import { saveOption } from './extension.ts';

export interface MarkMatch {
  readonly kind: 'mark';
  readonly negated: boolean;
  readonly value: number;
  readonly mask: number;
}

export const ALL_BITS = 0xffffffff;

export const mark: MatchExtension<MarkMatch> = {
  name: 'mark',
  options: { '--mark': { values: 1, negatable: true } },
  parse(given) {
    const option = given[0];
    const parsed = option && parseMark(option.values[0] ?? '');
    return parsed && { kind: 'mark', negated: option.negated, ...parsed };
  },
  save(match) {
    const mask = match.mask === ALL_BITS ? '' : `/${savedMark(match.mask)}`;
    return saveOption('--mark', match, savedMark(match.value) + mask);
  },
  restore: (match) => saveOption('--mark', match, `${paddedMark(match.value)}/${paddedMark(match.mask)}`),
};

/** `0x4000/0x4000`, `16384`; without a mask all bits count. */
export function parseMark(text: string): { readonly value: number; readonly mask: number } | undefined {
  const slash = text.indexOf('/');
  const value = parseCNumber(slash < 0 ? text : text.slice(0, slash), ALL_BITS);
  const mask = slash < 0 ? ALL_BITS : parseCNumber(text.slice(slash + 1), ALL_BITS);
  return value === undefined || mask === undefined ? undefined : { value, mask };
}

/** iptables-save prints marks with `%#x`, but zero as `0x0`. */
export function savedMark(value: number): string {
  return `0x${(value >>> 0).toString(16)}`;
}

/** kube-proxy writes marks with Go's `%#08x`, which counts eight digits behind the `0x`. */
export function paddedMark(value: number): string {
  return `0x${(value >>> 0).toString(16).padStart(8, '0')}`;
}
