import type { Family } from '../family.ts';

/** What an option looks like on the command line. */
export interface OptionShape {
  /** How many words follow it. */
  readonly values: 0 | 1 | 2;
  /** `! --option` is allowed; so is the old `--option ! value`. */
  readonly negatable?: boolean;
  /** May be given more than once. */
  readonly repeatable?: boolean;
  /** The option that this is another spelling of. */
  readonly as?: string;
}

export type OptionShapes = Readonly<Record<string, OptionShape>>;

/** An option as it was given, under its main spelling; the parser has checked it against its shape. */
export interface GivenOption {
  readonly name: string;
  readonly negated: boolean;
  readonly values: readonly string[];
}

/**
 * One match: how its options are read, and how they are printed. The printers give the options only, each
 * with a blank before it; `-m NAME` is put before them.
 *
 * The methods are written as methods on purpose: their parameters are then compared bivariantly, so that a list
 * of extensions can be typed by the union of all their matches. The registry gives a match only to its own.
 */
export interface MatchExtension<M> {
  /** What stands behind `-m`; also the `kind` of the match. */
  readonly name: string;
  readonly options: OptionShapes;
  /** undefined: something was not understood, and the match is kept as unknown, word by word. */
  parse(given: readonly GivenOption[]): M | undefined;
  /** The options as iptables-save 1.8.9 prints them. */
  save(match: M, family: Family): string;
  /** The options as kube-proxy writes them for iptables-restore, where that differs. */
  restore?(match: M, family: Family): string;
}

/** One target: the same as a match, behind `-j NAME`. */
export interface TargetExtension<T> extends MatchExtension<T> {}

/** ` --name value`, ` ! --name value`; nothing where there is no such option. */
export function saveOption(
  name: string,
  option: { readonly negated: boolean } | undefined,
  value: string,
): string {
  return option === undefined
    ? ''
    : `${option.negated ? ' !' : ''} ${name}${value === '' ? '' : ` ${value}`}`;
}

/** The options under their main names; for extensions that take each once. */
export function byName(given: readonly GivenOption[]): ReadonlyMap<string, GivenOption> {
  return new Map(given.map((option) => [option.name, option]));
}
