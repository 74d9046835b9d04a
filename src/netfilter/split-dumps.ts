/*
 * A text that people hand in as "the rules of a node" → what it holds: one or several outputs of iptables-save,
 * `iptables -S` or `iptables -L -v`, of one family or both, of one back end or both.
 */
import type { TextFormat } from './detect.ts';
import { detectFormat } from './detect.ts';
import type { Section } from './dump-sections.ts';
import { cutSections, MOST_SECTIONS } from './dump-sections.ts';
import type { Backend } from './header-comment.ts';
import type { KnownChains } from './known-chains.ts';
import type { ListedChain } from './listing-columns.ts';
import { readColumns } from './listing-columns.ts';
import { appendedRule, asSaveLine, declaredChain } from './listing-rules.ts';
import type { AssumedTable } from './listing-tables.ts';
import { assumeTable } from './listing-tables.ts';
import { parseIptablesSave } from './parse.ts';
import type { ParseProblem, Problems } from './problems.ts';
import { newProblems, report, summarize } from './problems.ts';
import type { Chain, Family, Ruleset, Table } from './ruleset.ts';

/** The rules of one family in one back end, as far as the text tells them apart. */
export interface Dump {
  readonly family: Family;
  /** undefined where nothing says it, as in listings. */
  readonly backend: Backend | undefined;
  readonly format: TextFormat;
  /** Number of the first line, from 1. */
  readonly line: number;
  readonly ruleset: Ruleset;
  /** Lines count from the start of the whole text. */
  readonly problems: readonly ParseProblem[];
  /** Lines inside of tables that could not be read. */
  readonly unread: number;
  /** The tool said that the node has rules in the legacy back end besides these. */
  readonly hasLegacyTables: boolean;
}

export interface SplitOptions {
  /** Whose rules these are, where the text itself does not say. */
  readonly family?: Family;
  /** The table of a listing, where no command line says it; without it, it is told from the chains. */
  readonly table?: string;
  /** Chains of other texts: see ParseOptions. */
  readonly known?: KnownChains;
}

/**
 * Reads a text whatever it holds; always gives back at least one dump, whose problems say why it has no rules.
 * Never throws. Outputs that follow each other and belong together (`iptables -S`, then `iptables -t nat -S`)
 * come back as one dump.
 */
export function splitDumps(text: string, options: SplitOptions = {}): readonly Dump[] {
  const sections = detectFormat(text) === 'kubernetes' ? [] : cutSections(text);
  if (sections.length > MOST_SECTIONS) return [tooMany(options.family ?? 'ipv4')];
  const families = sections.map((section) => section.family ?? toldFamily(section));
  const dumps: Dump[] = [];
  for (const [i, section] of sections.entries()) {
    const before = dumps.at(-1);
    // A listing without an address is of the family of its neighbours: the same command printed it.
    const told = section.kind === 'save' ? section.family : families[i];
    const neighbour = section.kind === 'save' ? undefined : (before?.family ?? families.find(Boolean));
    const dump = readSection(section, options, told ?? options.family ?? neighbour);
    const merged = before && merge(before, dump, section.isNamed);
    if (merged === undefined) dumps.push(dump);
    else dumps[dumps.length - 1] = merged;
  }
  return dumps.length === 0 ? [saved(text, 1, options, undefined)] : dumps;
}

function tooMany(family: Family): Dump {
  const problems = newProblems();
  report(problems, 'input-limit', 'error', `more than ${MOST_SECTIONS} outputs of iptables in one text`);
  return {
    family,
    backend: undefined,
    format: 'unknown',
    line: 1,
    ruleset: { family, tables: [] },
    unread: 0,
    problems: problems.list,
    hasLegacyTables: false,
  };
}

/** An address with two colons that is no hardware address, or a name that IPv6 alone has. */
const IPV6 =
  /\s!?(?!(?:[\da-f]{2}:){5}[\da-f]{2}(?:\s|$))[\da-f]*:[\da-f:]*:[\da-f:.]*(?:\/\S+)?(?:\s|$)|icmp6|ipv6-icmp|--mask ffff:/i;

/** The family of a listing's addresses, comments aside; undefined where it has none. */
function toldFamily(section: Section): Family | undefined {
  if (section.kind === 'save') return undefined;
  let family: Family | undefined;
  for (const line of section.text.split('\n')) {
    const end = line.search(/"|\/\*/);
    const text = end < 0 ? line : line.slice(0, end);
    if (IPV6.test(text)) return 'ipv6';
    if (/\s!?\d+\.\d+\.\d+\.\d+/.test(text)) family = 'ipv4';
  }
  return family;
}

function readSection(section: Section, options: SplitOptions, family: Family | undefined): Dump {
  switch (section.kind) {
    case 'save':
      return saved(section.text, section.line, { ...options, ...(family && { family }) }, section);
    case 'rules':
      return listedRules(section, family, options.table ?? section.table);
    case 'columns':
      return listedColumns(section, family, options.table ?? section.table);
  }
}

function saved(
  text: string,
  line: number,
  options: SplitOptions,
  section: Pick<Section, 'backend'> | undefined,
): Dump {
  const { family, known } = options;
  const { ruleset, problems, format, unread } = parseIptablesSave(text, {
    ...(family && { family }),
    ...(known && { known }),
  });
  return {
    family: ruleset.family,
    backend: section?.backend,
    format,
    line,
    ruleset,
    unread,
    problems:
      line === 1 ? problems : problems.map((problem) => ({ ...problem, line: problem.line + line - 1 })),
    hasLegacyTables: problems.some(({ code }) => code === 'legacy-tables-present'),
  };
}

/** The output of `iptables -S` is read as the save that it would be. */
function listedRules(section: Section, family: Family | undefined, tableName: string | undefined): Dump {
  const { line } = section;
  const lines = section.text.split('\n');
  const problems = newProblems();
  problems.line = line;
  const chains = new Set<string>();
  const targets = new Set<string>();
  for (const text of lines) {
    const rule = appendedRule(text);
    if (rule !== undefined) targets.add(rule.target);
    const chain = rule?.chain ?? declaredChain(text);
    if (chain !== undefined) chains.add(chain);
  }
  const name = tableOf({ chains, targets }, tableName, problems, 'iptables -S');
  const save = lines.map(asSaveLine).join('\n');
  const head = name === undefined ? '' : `*${name}\n`;
  const dump = saved(
    `${head}${save}${name === undefined ? '' : '\nCOMMIT\n'}`,
    name === undefined ? line : line - 1,
    family === undefined ? {} : { family },
    section,
  );
  return { ...dump, format: 'iptables -S', line, problems: [...problems.list, ...dump.problems] };
}

function listedColumns(section: Section, given: Family | undefined, tableName: string | undefined): Dump {
  const problems = newProblems();
  problems.line = section.line;
  const listing = readColumns(section.text.split('\n'), problems);
  const family = given ?? 'ipv4';
  let tables: readonly Table[] = [];
  if (listing.withoutInterfaces === undefined) {
    const { chains } = listing;
    const targets = chains.flatMap(({ rules }) =>
      rules.flatMap(({ target }) => (target === undefined ? [] : [target.kind])),
    );
    problems.line = chains[0]?.line ?? section.line;
    const clues = { chains: chains.map(({ name }) => name), targets };
    const name = tableOf(clues, tableName, problems, 'iptables -L');
    if (name === undefined) {
      const help = 'take iptables-save, or name the table of the listing';
      report(problems, 'no-table-header', 'error', 'a listing whose table cannot be told', help);
    }
    tables = [{ name: name ?? '', chains: chains.map(withoutLine) }];
  } else {
    problems.line = listing.withoutInterfaces;
    const message =
      'this looks like the output of iptables -L without -v, which leaves out the interfaces of each rule';
    report(problems, 'not-iptables-save', 'error', message, 'take iptables-save instead, or iptables -nvL');
  }
  summarize(problems);
  return {
    family,
    backend: section.backend,
    format: 'iptables -L',
    line: section.line,
    ruleset: { family, tables },
    unread: 0,
    problems: problems.list,
    hasLegacyTables: problems.counts.has('legacy-tables-present'),
  };
}

function withoutLine({ line: _line, ...chain }: ListedChain): Chain {
  return chain;
}

function tableOf(
  clues: Parameters<typeof assumeTable>[0],
  given: string | undefined,
  problems: Problems,
  command: string,
): string | undefined {
  if (given !== undefined) return given;
  const assumed: AssumedTable | undefined = assumeTable(clues);
  if (assumed === undefined) return undefined;
  const message = `${command} does not name its table: taken for ${assumed.name}, for ${assumed.reason}`;
  report(problems, 'assumed-table', 'note', message);
  return assumed.name;
}

/** The two as one dump, where nothing in them is of two states; undefined where they have to stay apart. */
function merge(before: Dump, dump: Dump, isNamed: boolean): Dump | undefined {
  if (before.family !== dump.family || before.format !== dump.format) return undefined;
  if (dump.format === 'iptables-save' && !isNamed) return undefined;
  if (before.backend !== dump.backend && before.backend !== undefined && dump.backend !== undefined)
    return undefined;
  const names = new Set(before.ruleset.tables.map(({ name }) => name));
  const tables = [...before.ruleset.tables];
  for (const table of dump.ruleset.tables) {
    const at = tables.findIndex(({ name }) => name === table.name);
    const same = tables[at];
    if (!names.has(table.name) || same === undefined) tables.push(table);
    else if (dump.format === 'iptables-save') return undefined;
    else {
      const known = new Set(same.chains.map(({ name }) => name));
      if (table.chains.some(({ name }) => known.has(name))) return undefined;
      tables[at] = { name: same.name, chains: [...same.chains, ...table.chains] };
    }
  }
  return {
    ...before,
    backend: before.backend ?? dump.backend,
    ruleset: { family: before.family, tables },
    unread: before.unread + dump.unread,
    problems: [...before.problems, ...dump.problems],
    hasLegacyTables: before.hasLegacyTables || dump.hasLegacyTables,
  };
}
