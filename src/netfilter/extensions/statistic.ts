import { parseCNumber } from '../addresses.ts';
import { fixedDecimals } from '../decimals.ts';
import type { MatchExtension } from './extension.ts';
import { byName, saveOption } from './extension.ts';

/**
 * `probability` is what was written. kube-proxy writes ten digits, and it is those that the kernel rounds: give
 * 0.3333333333 rather than 1 / 3, or the last bit may differ.
 */
export type StatisticMatch =
  | {
      readonly kind: 'statistic';
      readonly mode: 'random';
      readonly negated: boolean;
      readonly probability: number;
    }
  | {
      readonly kind: 'statistic';
      readonly mode: 'nth';
      readonly negated: boolean;
      readonly every: number;
      readonly packet: number;
    };

const FULL = 2 ** 31;

export const statistic: MatchExtension<StatisticMatch> = {
  name: 'statistic',
  options: {
    '--mode': { values: 1 },
    '--probability': { values: 1, negatable: true },
    '--every': { values: 1, negatable: true },
    '--packet': { values: 1 },
  },
  parse(given) {
    const options = byName(given);
    const mode = options.get('--mode')?.values[0];
    const probability = options.get('--probability');
    const every = options.get('--every');
    const packet = options.get('--packet')?.values[0];
    if (mode === 'random' && probability !== undefined && given.length === 2) {
      return randomMatch(probability.values[0] ?? '', probability.negated);
    }
    if (mode === 'nth' && every !== undefined && probability === undefined) {
      const period = parseCNumber(every.values[0] ?? '', 0xffffffff);
      const offset = packet === undefined ? 0 : parseCNumber(packet, 0xffffffff);
      if (period === undefined || offset === undefined) return undefined;
      return { kind: 'statistic', mode, negated: every.negated, every: period, packet: offset };
    }
    return undefined;
  },
  save: (match) =>
    match.mode === 'random' ? random(match, savedProbability(match.probability)) : nth(match),
  restore: (match) =>
    match.mode === 'random' ? random(match, restoredProbability(match.probability)) : nth(match),
};

/** Texts of probabilities: a ruleset has few different ones, and each takes as long as the rest of its line. */
const savedTexts = new Map<number, string>();
const MAX_KEPT_TEXTS = 10_000;

/** The kernel keeps a probability in 31 bits, and iptables-save prints it with eleven digits: 0.33333333349. */
function savedProbability(probability: number): string {
  let text = savedTexts.get(probability);
  if (text === undefined) {
    text = fixedDecimals(kernelProbability(probability) / FULL, 11);
    if (savedTexts.size >= MAX_KEPT_TEXTS) savedTexts.clear();
    savedTexts.set(probability, text);
  }
  return text;
}

/** kube-proxy writes a probability with Go's `%0.10f`: 0.3333333333. */
function restoredProbability(probability: number): string {
  return fixedDecimals(probability, 10);
}

/** The number that the kernel compares 31 random bits with; lround(probability × 2^31) in libxt_statistic.c. */
function kernelProbability(probability: number): number {
  return Math.round(probability * FULL);
}

/** Whether the kernel cannot tell the two apart. */
export function sameProbability(a: number, b: number): boolean {
  return a === b || kernelProbability(a) === kernelProbability(b);
}

/** What texts of probabilities come to: one match for all rules that have the same. */
const parsedTexts = new Map<string, StatisticMatch>();

function randomMatch(text: string, negated: boolean): StatisticMatch | undefined {
  const known = negated ? undefined : parsedTexts.get(text);
  if (known !== undefined) return known;
  const probability = parseProbability(text);
  if (probability === undefined) return undefined;
  const match: StatisticMatch = { kind: 'statistic', mode: 'random', negated, probability };
  if (negated) return match;
  if (parsedTexts.size >= MAX_KEPT_TEXTS) parsedTexts.clear();
  parsedTexts.set(text, match);
  return match;
}

function parseProbability(text: string): number | undefined {
  if (!/^(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/.test(text)) return undefined;
  const value = Number(text);
  return value <= 1 ? value : undefined;
}

function random(match: StatisticMatch, probability: string): string {
  return ` --mode random${saveOption('--probability', match, probability)}`;
}

function nth(match: StatisticMatch & { readonly mode: 'nth' }): string {
  return ` --mode nth${saveOption('--every', match, String(match.every))} --packet ${match.packet}`;
}
