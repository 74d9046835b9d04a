/** Files of rules → the state of a node. */
import type { Diagnostic, Report } from '../diagnostics.ts';
import type { NodeState } from '../diff/index.ts';
import { escapeText } from '../escape.ts';
import {
  type Backend,
  type Chain,
  type Dump,
  type Family,
  type KnownChains,
  printSave,
  type Ruleset,
  splitDumps,
  type Table,
  undeclaredJumps,
} from '../netfilter/index.ts';
import { type CutTable, cutTable, describeCut, excerptTables } from './cut-off.ts';
import type { RulesFile } from './detect-input.ts';

export interface ReadRules {
  readonly state: NodeState;
  /** Tables in which a file ends. */
  readonly cuts: readonly CutTable[];
  /** Lines inside of tables that could not be read. */
  readonly unread: number;
}

interface ParsedDump {
  readonly file: string;
  readonly family: Family;
  readonly backend: Backend | undefined;
  readonly tables: readonly Table[];
}

/** Problems after which nothing that a dump says can be used. */
const REFUSED: ReadonlySet<string> = new Set([
  'not-iptables-save',
  'empty-dump',
  'mixed-families',
  'no-table-header',
  'input-limit',
]);

interface Found {
  readonly file: string;
  readonly dump: Dump;
  /** undefined where nothing shows it. */
  readonly family: Family | undefined;
}

/**
 * Parses files of one node into one state; undefined, after an error, where one of them cannot be used. A file may
 * hold several dumps. Those of the same family add their tables; the same tables from both back ends are kept apart.
 */
export function readRules(
  files: readonly RulesFile[],
  wanted: Family | undefined,
  report: Report,
  known?: KnownChains,
): ReadRules | undefined {
  const found: Found[] = [];
  let refused = false;
  for (const rules of files) {
    const { family } = rules;
    const dumps = splitDumps(rules.text, { ...(family && { family }), ...(known && { known }) });
    const usable = dumps.filter(({ problems }) => !problems.some(({ code }) => REFUSED.has(code)));
    if (usable.length === 0) refused = true;
    for (const { problems } of dumps) reportProblems(problems, rules.file, usable.length > 0, report);
    const lineOfJump = jumpLines(rules.text);
    let header: boolean | undefined;
    const hasHeader = () => {
      header ??= HEADER.test(rules.text);
      return header;
    };
    for (const dump of usable) {
      for (const table of dump.ruleset.tables) reportUndeclared(table, rules.file, lineOfJump, report);
      found.push({ file: rules.file, dump, family: rules.family ?? shownFamily(hasHeader, dump) });
    }
  }
  if (refused) return undefined;
  const cuts: CutTable[] = [];
  const taken = new Set(
    found.flatMap(({ family, dump }) => dump.ruleset.tables.map(({ name }) => `${family} ${name}`)),
  );
  const complete = found.map(({ file, dump, family: shown }): ParsedDump => {
    const family = shown ?? assumedFamily(file, wanted, dump, taken, report);
    const cut = cutTable(dump, family);
    if (cut !== undefined) {
      cuts.push(cut);
      const message = describeCut(cut);
      report({ code: 'cut-off', severity: 'warning', message, place: { file }, help: 'take the dump again' });
    }
    for (const excerpt of excerptTables(dump, family)) cuts.push(excerpt);
    return { file, family, backend: dump.backend, tables: dump.ruleset.tables };
  });
  const merged = merge(complete, report);
  if (merged === undefined) return undefined;
  const { rulesets, otherBackend } = merged;
  return {
    state: {
      kind:
        found.length > 0 &&
        !cuts.some(({ isExcerpt }) => isExcerpt) &&
        Object.values(rulesets).every(isPayload)
          ? 'payload'
          : 'rules',
      rulesets,
      owners: [],
      assumptions: [],
      ...(Object.keys(otherBackend).length > 0 && { otherBackend }),
      ...(found.some(({ dump }) => dump.hasLegacyTables) && { legacyTablesPresent: true }),
    },
    cuts,
    unread: found.reduce((sum, { dump }) => sum + dump.unread, 0),
  };
}

/** What makes a dump useless is an error only where the file holds no other one. */
function reportProblems(problems: Dump['problems'], file: string, hasOther: boolean, report: Report): void {
  for (const { code, severity, message, line, help } of problems) {
    report({
      code,
      severity: hasOther && REFUSED.has(code) ? 'warning' : severity,
      message,
      place: { file, line },
      ...(help === undefined ? {} : { help }),
    });
  }
}

/** An excerpt has no declarations at all, and says so by itself. */
function reportUndeclared(
  table: Table,
  file: string,
  lineOfJump: (chain: string) => number | undefined,
  report: Report,
): void {
  if (table.name === '') return;
  for (const chain of undeclaredJumps(table)) {
    const line = lineOfJump(chain);
    report({
      code: 'undeclared-chain',
      severity: 'error',
      message: `a rule jumps to ${escapeText(chain)}, which the ${escapeText(table.name)} table does not declare`,
      place: { file, ...(line === undefined ? {} : { line }) },
      help: 'iptables-restore refuses the whole table, unless the kernel has the chain already',
    });
  }
}

/** The line of the first rule that jumps to a chain; the text is gone through once, when somebody asks. */
function jumpLines(text: string): (chain: string) => number | undefined {
  let lines: Map<string, number> | undefined;
  return (chain) => {
    if (lines === undefined) {
      lines = new Map();
      let line = 0;
      for (let from = 0; from <= text.length; ) {
        line++;
        const feed = text.indexOf('\n', from);
        const end = feed < 0 ? text.length : feed;
        for (const [, target = ''] of text.slice(from, end).matchAll(/ -[jg] (\S+)/g)) {
          if (!lines.has(target)) lines.set(target, line);
        }
        from = end + 1;
      }
    }
    return lines.get(chain);
  };
}

const HEADER = /^[> \t]*#[ \t]*Generated by ip6?tables/m;

/** The family that a header or an address shows; a flushed node's dump without its header shows none. */
function shownFamily(hasHeader: () => boolean, { ruleset }: Dump): Family | undefined {
  const hasAddress = ruleset.tables.some(({ chains }) =>
    chains.some(({ rules }) =>
      rules.some(({ source, destination }) => source !== undefined || destination !== undefined),
    ),
  );
  return hasAddress || hasHeader() ? ruleset.family : undefined;
}

function assumedFamily(
  file: string,
  wanted: Family | undefined,
  dump: Dump,
  taken: Set<string>,
  report: Report,
): Family {
  const name = /(?:^|[^0-9])6(?:[^0-9][^/]*)?$/.test(file.replace(/^.*\//, '')) ? 'ipv6' : undefined;
  // A node's listings come table by table: one that IPv4 has already can only be the other family's.
  const tables = dump.ruleset.tables.map((table) => table.name);
  const isTaken = (family: Family) => tables.some((table) => taken.has(`${family} ${table}`));
  const family = wanted ?? name ?? (isTaken('ipv4') && !isTaken('ipv6') ? 'ipv6' : 'ipv4');
  for (const table of tables) taken.add(`${family} ${table}`);
  report({
    code: 'family-assumed',
    severity: 'note',
    message: `nothing in the text shows its family; taken as ${family}`,
    place: { file },
    help: 'keep the first line, # Generated by ip6tables-save, or pass --family ipv4 or --family ipv6',
  });
  return family;
}

type Rulesets = Partial<Record<Family, Ruleset>>;

function merge(
  files: readonly ParsedDump[],
  report: Report,
): { readonly rulesets: Rulesets; readonly otherBackend: Rulesets } | undefined {
  const rulesets: Rulesets = {};
  const otherBackend: Rulesets = {};
  const backends = new Map<Family, Backend | undefined>();
  for (const { file, family, backend, tables } of files) {
    const before = rulesets[family];
    const clash = clashOf(before, tables);
    const known = backends.get(family);
    const same = backend === undefined || known === undefined ? clash === undefined : backend === known;
    const target = same ? rulesets : otherBackend;
    if (clash !== undefined && backend === undefined && known === undefined && before !== undefined) {
      // Nothing shows two back ends: the same text twice is one dump, anything else a mistake.
      if (tables.every((table) => isAmong(table, before, family))) continue;
      report(twoFiles(file, family, clash));
      return undefined;
    }
    const twice = clashOf(target[family], tables);
    if (twice !== undefined) {
      report(twoFiles(file, family, twice));
      return undefined;
    }
    target[family] = { family, tables: [...(target[family]?.tables ?? []), ...tables] };
    if (same) backends.set(family, known ?? backend);
  }
  return { rulesets, otherBackend };
}

/** Whether a table is there with the same chains and rules. */
function isAmong(table: Table, { tables }: Ruleset, family: Family): boolean {
  const text = (each: Table) =>
    [...printSave({ family, tables: [{ ...each, chains: each.chains.map(withoutCounters) }] })].join('');
  const wanted = text(table);
  return tables.some((other) => other.name === table.name && text(other) === wanted);
}

function withoutCounters({ name, policy, rules }: Chain): Chain {
  return {
    name,
    policy,
    rules: rules.map(({ counters: _, ...rule }) => rule),
  };
}

/** A table that both hold. */
function clashOf(before: Ruleset | undefined, tables: readonly Table[]): string | undefined {
  return tables.find(({ name }) => before?.tables.some((table) => table.name === name))?.name;
}

function twoFiles(file: string, family: Family, table: string): Diagnostic {
  return {
    code: 'table-given-twice',
    severity: 'error',
    message: `the table ${table} of ${family} was given already`,
    place: { file },
    help: 'the files of one side are one node: give each table once, or once for each back end',
  };
}

/**
 * What kube-proxy feeds to iptables-restore declares its own chains alone; a dump of the kernel always has the
 * built-in ones, and an excerpt of it the jumps from them.
 */
function isPayload({ tables }: Ruleset): boolean {
  return (
    tables.length > 0 &&
    tables.every(({ chains }) =>
      chains.every(
        ({ name, policy, declared }) => policy === undefined && declared !== false && name !== 'PREROUTING',
      ),
    ) &&
    tables.some(({ chains }) => chains.some(({ name }) => name.startsWith('KUBE-')))
  );
}
