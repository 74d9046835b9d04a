import type { Family, Ruleset } from '../netfilter/index.ts';
import type { ComparedFamily, Comparison, Finding, Problem, RuleLine } from './comparison.ts';
import { explainBalancing, explainOrdinary, type Sides } from './explain-chains.ts';
import { explainShared } from './explain-dispatch.ts';
import { explainIpvs } from './explain-ipvs.ts';
import { collectFindings, type FindingCollector, problem } from './findings.ts';
import { compareIpvs, type IpvsDifference, type IpvsState } from './ipvs-difference.ts';
import { expectedMode, isOfIptablesMode, leftoversOf } from './leftovers.ts';
import { gatherNames, type Names, type ServicePortOwner } from './names.ts';
import { isServiceChain } from './scope.ts';
import { compareTable, type TableDifference } from './table-difference.ts';
import { SHARED_CHAINS } from './uncompared.ts';
import { ruleLine, ruleLines, rulesOf, type View, viewOf } from './view.ts';
import { flushedNode, hiddenMatches, otherMode } from './whole-causes.ts';

/** What one side says of a node. */
export interface NodeState {
  /**
   * `manifests`: compiled; `rules`: a dump, or a file in the save format; `payload`: the restore format, which
   * has kube-proxy's own chains alone.
   */
  readonly kind: 'manifests' | 'rules' | 'payload';
  readonly rulesets: Readonly<Partial<Record<Family, Ruleset>>>;
  /** The other back end's rules, where both were dumped. */
  readonly otherBackend?: Readonly<Partial<Record<Family, Ruleset>>>;
  /** `# Warning: iptables-legacy tables present` was printed. */
  readonly legacyTablesPresent?: boolean;
  /** Service ports that manifests name; chains are known again by them where comments are gone. */
  readonly owners: readonly ServicePortOwner[];
  /** What was assumed to make this state. */
  readonly assumptions: readonly string[];
  /** Virtual servers, sets and addresses, where this side has any of them. */
  readonly ipvs?: IpvsState;
}

export interface CompareOptions {
  readonly scope: 'kube-proxy' | 'all';
  /** Compare this family alone. */
  readonly family?: Family;
}

const FAMILIES: readonly Family[] = ['ipv4', 'ipv6'];
const TABLES = ['nat', 'filter', 'mangle', 'raw', 'security'];

/** What differs between what a node should have and what it has. Complexity: linear in the number of rules. */
export function compareStates(expected: NodeState, actual: NodeState, options: CompareOptions): Comparison {
  const findings: Finding[] = [];
  const notes: Finding[] = [];
  const families: ComparedFamily[] = [];
  let incomparable: string | undefined;
  for (const family of FAMILIES) {
    if (options.family !== undefined && options.family !== family) continue;
    const result = compareFamily(family, expected, actual, options);
    for (const finding of result.findings) findings.push(finding);
    for (const note of result.notes) notes.push(note);
    families.push(result.compared);
    incomparable ??= result.incomparable;
  }
  const assumptions = [...expected.assumptions, ...actual.assumptions];
  if (incomparable !== undefined) return { findings: [], notes, assumptions, families, incomparable };
  return { findings, notes, assumptions, families };
}

interface FamilyResult {
  readonly findings: readonly Finding[];
  readonly notes: readonly Finding[];
  readonly compared: ComparedFamily;
  readonly incomparable?: string;
}

function compareFamily(
  family: Family,
  expected: NodeState,
  actual: NodeState,
  options: CompareOptions,
): FamilyResult {
  const differences = familyDifferences(family, expected, actual, options);
  const ipvs = compareIpvs(family, expected.ipvs, actual.ipvs);
  if (typeof differences === 'string') {
    if (ipvs !== undefined && ipvs.compared.length > 0)
      return compareIpvsAlone(differences, ipvs, expected, actual);
    const leftovers = expected.ipvs === undefined ? leftoversWithoutRules(family, expected, actual) : [];
    if (leftovers.length > 0) {
      return {
        findings: [{ family, problems: leftovers }],
        notes: [],
        compared: { family, tables: partsOf(actual.ipvs), servicePorts: 0, left: [differences] },
      };
    }
    return {
      findings: [],
      notes: [],
      compared: { family, tables: [], servicePorts: 0, left: [differences] },
    };
  }
  const { left, right, compared, names } = differences;
  // On an ipvs node, chains of iptables mode are told as one thing.
  const tables =
    expectedMode(left, expected.ipvs) === 'ipvs'
      ? differences.tables.map(withoutIptablesMode)
      : differences.tables;
  const notes: Finding[] = [];
  const note = (code: Finding['problems'][number]['code'], message: string) =>
    notes.push({ family, problems: [problem(code, message)] });

  const owners = { left: ownersOf(left, names), right: ownersOf(right, names) };
  const servicePorts =
    expected.ipvs?.owners === undefined
      ? new Set([...owners.left, ...owners.right]).size
      : portsOf(expected.ipvs, family);
  const summary = {
    family,
    tables: [...tables.map(({ table }) => table), ...(ipvs?.compared ?? [])],
    servicePorts,
    left: [...compared, ...partsNotCompared(expected.ipvs, actual.ipvs)],
  };
  const hidden = hiddenMatches(right);
  if (hidden !== undefined && hiddenMatches(left) === undefined) {
    return { findings: [], notes, compared: summary, incomparable: hidden };
  }
  const findings: Finding[] = [];
  const other = actual.otherBackend?.[family];
  if (other !== undefined && hasProxyRules(viewOf(other)) && hasProxyRules(right)) {
    findings.push({
      family,
      problems: [
        problem(
          'both-backends',
          'KUBE-SERVICES exists in both back ends, iptables-legacy and nft: which of the two decides is a matter of which was loaded first',
        ),
      ],
    });
  }
  if (actual.legacyTablesPresent === true && other === undefined) {
    note(
      'legacy-tables',
      'iptables-legacy has tables as well; they are not in this dump and may hold rules of kube-proxy',
    );
  }
  const whole = otherMode(left, right) ?? flushedNode(left, right, owners.left.size);
  if (whole !== undefined) return { findings: [whole, ...findings], notes, compared: summary };

  const found = collectFindings(family, names);
  const mode = expectedMode(left, expected.ipvs);
  for (const leftover of leftoversOf(family, left, right, actual.ipvs, mode)) found.add(undefined, leftover);
  for (const difference of tables) explainTable(difference, left, right, names, found);
  explainLifecycle(left, right, names, tables, owners, found);
  if (ipvs !== undefined)
    explainIpvs(ipvs, expected.ipvs ?? {}, found, (message) => note('draining', message));
  const partial = tables.flatMap((table) => [...table.partial].map((chain) => `${table.table}/${chain}`));
  if (partial.length > 0) {
    note(
      'partial-dump',
      `the dump is partial or from another version: ${partial.join(', ')} and all jumps to ${partial.length === 1 ? 'it' : 'them'} are not there`,
    );
  }
  const unreferenced = tables.flatMap(({ unreferenced: chains }) => [...chains]);
  if (unreferenced.length > 0) {
    const shown = unreferenced.slice(0, 5).join(', ') + (unreferenced.length > 5 ? ', …' : '');
    note(
      'unreferenced-chains',
      `${unreferenced.length} unreferenced chain${unreferenced.length === 1 ? '' : 's'} (not reachable from any hook; kube-proxy deletes them in a while): ${shown}`,
    );
  }
  return { findings: [...findings, ...found.findings()], notes, compared: summary };
}

/** A family of which only virtual servers, sets or addresses were dumped. */
function compareIpvsAlone(
  reason: string,
  ipvs: IpvsDifference,
  expected: NodeState,
  actual: NodeState,
): FamilyResult {
  const { family } = ipvs;
  const names = gatherNames([], [...expected.owners, ...actual.owners]);
  const found = collectFindings(family, names);
  const notes: Finding[] = [];
  explainIpvs(ipvs, expected.ipvs ?? {}, found, (message) =>
    notes.push({ family, problems: [problem('draining', message)] }),
  );
  return {
    findings: found.findings(),
    notes,
    compared: {
      family,
      tables: ipvs.compared,
      servicePorts: portsOf(expected.ipvs, family),
      left: [reason, ...partsNotCompared(expected.ipvs, actual.ipvs)],
    },
  };
}

/** How many service ports have a virtual server of the family. */
function portsOf(ipvs: IpvsState | undefined, family: Family): number {
  const isOf = (key: string) => key.includes(':') === (family === 'ipv6');
  return new Set(
    [...(ipvs?.owners ?? [])].flatMap(([key, owner]) =>
      isOf(key) ? [`${key.split(' ')[0]} ${owner.servicePortName}`] : [],
    ),
  ).size;
}

const PARTS = [
  ['virtualServers', 'ipvs', 'virtual servers'],
  ['sets', 'ipset', 'IP sets'],
  ['addresses', 'kube-ipvs0', 'addresses of kube-ipvs0'],
] as const;

function partsOf(ipvs: IpvsState | undefined): string[] {
  return PARTS.flatMap(([part, name]) => (ipvs?.[part] === undefined ? [] : [name]));
}

/** What is expected and was not dumped: `no listing of IP sets`. */
function partsNotCompared(expected: IpvsState | undefined, actual: IpvsState | undefined): string[] {
  const left = PARTS.filter(([part]) => expected?.[part] !== undefined && actual?.[part] === undefined);
  return left.length === 0 ? [] : [`no listing of ${left.map(([, , words]) => words).join(', ')}`];
}

function leftoversWithoutRules(family: Family, expected: NodeState, actual: NodeState): Problem[] {
  const from = expected.rulesets[family];
  return leftoversOf(family, from && viewOf(from), undefined, actual.ipvs, 'iptables');
}

function withoutIptablesMode(difference: TableDifference): TableDifference {
  const others = (chains: ReadonlySet<string>) =>
    new Set([...chains].filter((chain) => !isOfIptablesMode(chain)));
  return {
    ...difference,
    surplus: others(difference.surplus),
    unreferenced: others(difference.unreferenced),
  };
}

export interface FamilyDifferences {
  readonly left: View;
  readonly right: View;
  readonly names: Names;
  readonly tables: readonly TableDifference[];
  /** Which tables were left out, and why. */
  readonly compared: readonly string[];
}

/** The differences of one family, or the reason why it is not compared. */
export function familyDifferences(
  family: Family,
  expected: NodeState,
  actual: NodeState,
  options: CompareOptions,
): FamilyDifferences | string {
  const name = family === 'ipv4' ? 'IPv4' : 'IPv6';
  const [from, to] = [expected.rulesets[family], actual.rulesets[family]];
  if (to === undefined) return `the dump holds no ${name} rules`;
  if (from === undefined) return `nothing is expected for ${name}`;
  const left = viewOf(from);
  const right = viewOf(to, left);
  const present = (view: View) => TABLES.filter((table) => view.tables.has(table));
  const both = present(left).filter((table) => right.tables.has(table));
  const names = gatherNames([left, right], [...expected.owners, ...actual.owners]);
  const compared = present(left)
    .filter((table) => !right.tables.has(table) && (options.scope === 'all' || table !== 'mangle'))
    .map((table) => `the dump holds no ${name} ${table} table`);
  const withoutJumps = expected.kind === 'payload' || actual.kind === 'payload';
  const flushed = flushedNode(left, right, 0) !== undefined;
  const tables = both.map((table) =>
    compareTable(table, left, right, { scope: options.scope, withoutJumps, flushed }),
  );
  return { left, right, names, tables, compared };
}

function hasProxyRules(view: View): boolean {
  return rulesOf(view, 'nat', 'KUBE-SERVICES').length > 0;
}

function explainTable(
  difference: TableDifference,
  left: View,
  right: View,
  names: Names,
  found: FindingCollector,
): void {
  const { table } = difference;
  const { family } = left;
  for (const { from, to, rule } of difference.jumps.missing) {
    found.add(
      undefined,
      problem('jump-missing', `no jump from ${table}/${from} to ${to}`, [
        ruleLine(rule, table, from, family),
      ]),
    );
  }
  for (const { from, to, rule } of difference.jumps.surplus) {
    found.add(
      undefined,
      problem(
        'jump-surplus',
        `the jump from ${table}/${from} to ${to} is another one than it should be`,
        [],
        [ruleLine(rule, table, from, family)],
      ),
    );
  }
  for (const [chain, shared] of difference.shared)
    explainShared({ table, chain }, shared, left, right, names, found);
  const sides: Sides = { table, expected: left, actual: right, names, found };
  for (const [chain, pair] of difference.balancing) explainBalancing(chain, pair, sides);
  for (const chain of difference.ordinary) explainOrdinary(chain, sides);
  for (const chain of difference.missing) {
    if (isServiceChain(chain)) continue;
    found.add(
      undefined,
      problem(
        'chain-missing',
        `chain ${chain} is missing from the ${table} table`,
        ruleLines(rulesOf(left, table, chain).slice(0, 20), table, chain, family),
      ),
    );
  }
  for (const chain of difference.surplus) {
    if (isServiceChain(chain)) continue;
    found.add(
      undefined,
      problem(
        'rules-differ',
        `chain ${chain} should not be in the ${table} table`,
        [],
        ruleLines(rulesOf(right, table, chain).slice(0, 20), table, chain, family),
      ),
    );
  }
}

/**
 * Service ports that came or went as a whole are told as such; chains that are missing or too many without
 * any rule elsewhere that tells so (a dump that was cut, or edited) are told by themselves.
 */
function explainLifecycle(
  left: View,
  right: View,
  names: Names,
  tables: readonly TableDifference[],
  owners: { readonly left: ReadonlySet<string>; readonly right: ReadonlySet<string> },
  found: FindingCollector,
): void {
  const nat = tables.find(({ table }) => table === 'nat');
  if (nat === undefined) return;
  for (const [chains, view, code] of [
    [nat.missing, left, 'chain-missing'],
    [nat.surplus, right, 'service-stale'],
  ] as const) {
    for (const chain of chains) {
      if (!isServiceChain(chain)) continue;
      const owner = names.ownerOfChain(chain);
      if (found.has(owner ?? `?${chain}`) || (owner === undefined && found.has(undefined))) continue;
      const lines = ruleLines(rulesOf(view, 'nat', chain), 'nat', chain, view.family);
      if (code === 'chain-missing') found.add(owner, problem(code, `chain ${chain} is missing`, lines));
      else found.add(owner, problem(code, `chain ${chain} should not be there`, [], lines));
    }
  }
  const stale = new Map<string, RuleLine[]>();
  for (const owner of owners.right) {
    if (found.has(owner) && !owners.left.has(owner)) stale.set(owner, []);
  }
  if (stale.size === 0) return;
  for (const chain of nat.surplus) {
    const lines = stale.get(names.ownerOfChain(chain) ?? '');
    for (const line of ruleLines(rulesOf(right, 'nat', chain), 'nat', chain, right.family)) lines?.push(line);
  }
  for (const [owner, lines] of stale) {
    found.lead(
      owner,
      problem('service-stale', 'stale service: still programmed, gone from the cluster', [], lines),
    );
  }
}

/** The service ports that a side programs: those that something leads to. */
function ownersOf(view: View, names: Names): Set<string> {
  const owners = new Set<string>();
  for (const [table, chain] of SHARED_CHAINS) {
    for (const rule of rulesOf(view, table, chain)) {
      const owner = names.ownerOfRule(rule);
      if (owner !== undefined) owners.add(owner);
    }
  }
  return owners;
}
