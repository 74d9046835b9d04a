import type { Rule } from './ruleset.ts';

/**
 * Chains as they stood in texts that were read before. The two sides of a comparison are nearly the same: where a
 * chain's lines are the same characters, its rules need not be read again, nor compared. By table, in the order of the
 * texts, for nearly always the one that is asked for is the one behind the last; looking up a name among a hundred
 * thousand takes as long as reading two lines.
 */
export type KnownChains = Map<string, KnownTable>;

interface KnownTable {
  readonly chains: KnownChain[];
  /** Places in the list by name, as far as they were needed. */
  readonly places: Map<string, number>;
  placed: number;
}

export interface KnownChain {
  readonly name: string;
  /** Its `-A` lines, one behind the other, with their ends. */
  readonly text: string;
  readonly lines: number;
  readonly rules: Rule[];
  /** The one of the same name in the text before. */
  earlier?: KnownChain | undefined;
}

export function newKnownChains(): KnownChains {
  return new Map();
}

/** The chains of one table for the reader of one text, who may ask for one once in a text. */
export interface KnownTableReader {
  /** The chain, if it is known from another text with the very lines that stand at `position` of the text. */
  readonly find: (name: string, text: string, position: number) => KnownChain | undefined;
  readonly add: (chain: KnownChain) => void;
  /** Whether a list of rules is a known one, which nobody may add to. */
  readonly owns: (name: string, rules: readonly Rule[]) => boolean;
}

export function readerOf(known: KnownChains, tableName: string): KnownTableReader {
  const table: KnownTable = known.get(tableName) ?? { chains: [], places: new Map(), placed: 0 };
  known.set(tableName, table);
  const { chains } = table;
  const before = chains.length;
  let next = 0;
  return {
    find: (name, text, position) => {
      if (before === 0) return undefined;
      let place: number | undefined = next;
      if (chains[place]?.name !== name) place = placeOf(table, name);
      const chain = place === undefined || place >= before ? undefined : chains[place];
      if (chain === undefined || place === undefined) return undefined;
      next = place + 1;
      return text.startsWith(chain.text, position) ? chain : undefined;
    },
    add: (chain) => void chains.push(chain),
    owns: (name, rules) => {
      let chain = chains[placeOf(table, name) ?? -1];
      while (chain !== undefined && chain.rules !== rules) chain = chain.earlier;
      return chain !== undefined;
    },
  };
}

/** The latest place of a name. */
function placeOf(table: KnownTable, name: string): number | undefined {
  const { chains, places } = table;
  for (const chain of chains.slice(table.placed)) {
    const before = places.get(chain.name);
    chain.earlier = before === undefined ? undefined : chains[before];
    places.set(chain.name, table.placed++);
  }
  return places.get(name);
}
