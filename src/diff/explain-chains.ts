import type { Rule } from '../netfilter/index.ts';
import type { Balancing } from './balancing-chain.ts';
import { sameOrder, sameShare } from './balancing-chain.ts';
import type { RuleLine } from './comparison.ts';
import { type FindingCollector, problem } from './findings.ts';
import type { Names } from './names.ts';
import { without } from './ordinary-chain.ts';
import { behaviourKey, jumpOf } from './rule-key.ts';
import { isEndpointChain, serviceChainParts } from './scope.ts';
import { ruleLine, ruleLines, rulesOf, type View } from './view.ts';

/** Words for what differs in the chains of service ports and endpoints, and in the fixed ones. */

export interface Sides {
  readonly table: string;
  readonly expected: View;
  readonly actual: View;
  readonly names: Names;
  readonly found: FindingCollector;
}

export function explainBalancing(
  chain: string,
  { expected, actual }: { readonly expected: Balancing; readonly actual: Balancing },
  sides: Sides,
): void {
  const { names, found, table } = sides;
  const { family } = sides.expected;
  const owner = names.ownerOfChain(chain);
  const line = (rule: Rule): RuleLine => ruleLine(rule, table, chain, family);
  const endpointLines = (view: View, target: string) =>
    ruleLines(rulesOf(view, table, target), table, target, family);

  for (const [target, { rule }] of expected.shares) {
    if (actual.shares.has(target)) continue;
    const chainIsGone = sides.actual.tables.get(table)?.chains.has(target) !== true;
    // Its rule is there, but those before it leave nothing for it; that of affinity is for those who came before.
    const isShadowed = rulesOf(sides.actual, table, chain).some(
      (other) => jumpOf(other) === target && !other.matches.some(({ kind }) => kind === 'recent'),
    );
    const message = isShadowed
      ? `endpoint ${names.endpoint(target)} gets no traffic: rules before its own take it all`
      : `endpoint ${names.endpoint(target)} is not programmed`;
    found.add(
      owner,
      problem('endpoint-missing', message, [
        line(rule),
        ...(chainIsGone ? endpointLines(sides.expected, target) : []),
      ]),
    );
  }
  for (const [target, { rule }] of actual.shares) {
    if (expected.shares.has(target)) continue;
    found.add(
      owner,
      problem(
        'endpoint-surplus',
        surplusEndpoint(target, sides),
        [],
        [line(rule), ...endpointLines(sides.actual, target)],
      ),
    );
  }
  if (!isEven(actual) || (isEven(expected) && expected.shares.size === actual.shares.size)) {
    explainShares(expected, actual, owner, line, sides);
  }
  if (actual.nowhere > 0 && !sameShare(actual.nowhere, expected.nowhere)) {
    found.add(owner, problem('endpoint-share', `${percent(actual.nowhere)} of new connections go nowhere`));
  }
  explainAffinity(expected, actual, owner, line, sides);

  const missing = [...expected.masquerade]
    .filter(([key]) => !actual.masquerade.has(key))
    .map(([, rule]) => line(rule));
  const surplus = [...actual.masquerade]
    .filter(([key]) => !expected.masquerade.has(key))
    .map(([, rule]) => line(rule));
  if (missing.length > 0 || surplus.length > 0) {
    const message =
      surplus.length === 0
        ? 'traffic is not masqueraded'
        : missing.length === 0
          ? 'traffic is masqueraded that should not be'
          : 'other traffic is masqueraded than should be';
    found.add(owner, problem('masquerade', `${message} (to the cluster IP)`, missing, surplus));
  }
  const strange = actual.strange.filter(
    (rule) => !expected.strange.some((other) => behaviourKey(other, family) === behaviourKey(rule, family)),
  );
  const lost = expected.strange.filter(
    (rule) => !actual.strange.some((other) => behaviourKey(other, family) === behaviourKey(rule, family)),
  );
  if (strange.length > 0 || lost.length > 0) {
    found.add(
      owner,
      problem(
        'rules-differ',
        `${chain} has rules that do not belong there, or stand in the wrong place`,
        lost.map(line),
        strange.map(line),
      ),
    );
  }
}

function surplusEndpoint(target: string, { expected, names, table }: Sides): string {
  const known = expected.tables.get(table)?.chains.has(target) === true;
  if (!isEndpointChain(target)) return `chain ${target}, which is no endpoint's, gets traffic of the Service`;
  const what = `endpoint ${names.endpoint(target)}`;
  return known
    ? `${what} gets traffic that it should not get`
    : `${what} is still programmed, gone from the cluster`;
}

/** All endpoints get the same, and all that there is is given to them. */
function isEven({ shares, nowhere }: Balancing): boolean {
  return nowhere === 0 && [...shares.values()].every(({ share }) => sameShare(share, 1 / shares.size));
}

function explainShares(
  expected: Balancing,
  actual: Balancing,
  owner: string | undefined,
  line: (rule: Rule) => RuleLine,
  { names, found }: Sides,
): void {
  for (const [target, { share, rule }] of expected.shares) {
    const other = actual.shares.get(target);
    if (other === undefined || sameShare(share, other.share)) continue;
    const message = `endpoint ${names.endpoint(target)} gets a share of ${percent(other.share)} instead of ${percent(share)}`;
    found.add(owner, problem('endpoint-share', message, [line(rule)], [line(other.rule)]));
  }
}

function percent(share: number): string {
  return `${Number((share * 100).toFixed(1))}%`;
}

function explainAffinity(
  expected: Balancing,
  actual: Balancing,
  owner: string | undefined,
  line: (rule: Rule) => RuleLine,
  { names, found }: Sides,
): void {
  const shared = [...expected.affinity].filter(([chain]) => actual.shares.has(chain));
  const missing = shared.filter(([chain]) => !actual.affinity.has(chain));
  const surplus = [...actual.affinity].filter(
    ([chain]) => !expected.affinity.has(chain) && expected.shares.has(chain),
  );
  const changed = shared.filter(([chain, { match }]) => {
    const other = actual.affinity.get(chain);
    return other !== undefined && other.match !== match;
  });
  const lines = (pairs: readonly (readonly [string, { rule: Rule }])[]) =>
    pairs.map(([, { rule }]) => line(rule));
  if (missing.length > 0) {
    const which =
      missing.length === shared.length
        ? ''
        : ` for ${missing.map(([chain]) => names.endpoint(chain)).join(', ')}`;
    found.add(owner, problem('session-affinity', `session affinity missing${which}`, lines(missing)));
  }
  if (surplus.length > 0) {
    found.add(
      owner,
      problem('session-affinity', 'session affinity is set, and should not be', [], lines(surplus)),
    );
  }
  if (changed.length > 0) {
    const [chain, { seconds }] = changed[0] ?? ['', { seconds: 0 }];
    const other = actual.affinity.get(chain)?.seconds ?? 0;
    const message =
      seconds === other
        ? 'session affinity works otherwise than it should'
        : `session affinity lasts ${other} s instead of ${seconds} s`;
    const now = changed.flatMap(([each]) => {
      const found = actual.affinity.get(each);
      return found === undefined ? [] : [line(found.rule)];
    });
    found.add(owner, problem('session-affinity', message, lines(changed), now));
  }
  const ordered = missing.length + surplus.length === 0 && expected.affinity.size === actual.affinity.size;
  if (ordered && !sameOrder(expected.affinity, actual.affinity)) {
    const message = 'session affinity: of two endpoints that remember a client, another one gets it';
    found.add(
      owner,
      problem('session-affinity', message, lines([...expected.affinity]), lines([...actual.affinity])),
    );
  }
  // Affinity to an endpoint that has no share any more is part of that endpoint's being surplus or missing.
}

export function explainOrdinary(chain: string, sides: Sides): void {
  const { table, names, found } = sides;
  const { family } = sides.expected;
  const left = rulesOf(sides.expected, table, chain);
  const right = rulesOf(sides.actual, table, chain);
  const owner = table === 'nat' ? names.ownerOfChain(chain) : undefined;
  const missing = without(left, right, family);
  const surplus = without(right, left, family);
  const lines = [ruleLines(missing, table, chain, family), ruleLines(surplus, table, chain, family)] as const;
  const parts = serviceChainParts(chain);
  if (isEndpointChain(chain)) explainEndpoint(chain, missing, surplus, lines, owner, sides);
  else if (parts?.kind === 'FW') explainFirewall(chain, missing, surplus, lines, owner, sides);
  else if (parts?.kind === 'EXT') explainExternal(missing, surplus, lines, owner, sides);
  else if (missing.length === 0 && surplus.length === 0) {
    const all = [ruleLines(left, table, chain, family), ruleLines(right, table, chain, family)] as const;
    found.add(owner, problem('rule-order', `the rules of ${chain} are in another order`, ...all));
  } else found.add(owner, problem('rules-differ', fixedChain(chain, missing, surplus), ...lines));
}

/** What each fixed chain is for, as the consequence of its rules not being right. */
function fixedChain(chain: string, missing: readonly Rule[], surplus: readonly Rule[]): string {
  const effects: Readonly<Record<string, string>> = {
    'KUBE-POSTROUTING': 'marked traffic is not masqueraded as it should be',
    'KUBE-MARK-MASQ': 'traffic is not marked for masquerading as it should be',
    'KUBE-FORWARD': 'forwarded traffic is not let through as it should be',
    'KUBE-FIREWALL': 'the guard of 127.0.0.0/8 is not as it should be',
    'KUBE-LOAD-BALANCER': 'traffic to load-balancer IPs is not masqueraded as it should be',
    'KUBE-NODE-PORT': 'traffic to node ports and health checks is not treated as it should be',
    'KUBE-SOURCE-RANGES-FIREWALL': 'source ranges of load balancers are not enforced as they should be',
    'KUBE-IPVS-FILTER': 'ports of the node itself are not guarded on Service addresses as they should be',
    'KUBE-IPVS-OUT-FILTER': 'the node’s own traffic to load balancers is not refused as it should be',
  };
  const counts = [
    ...(missing.length > 0 ? [`${missing.length} rule${missing.length === 1 ? '' : 's'} missing`] : []),
    ...(surplus.length > 0 ? [`${surplus.length} too many or other`] : []),
  ].join(', ');
  const effect = effects[chain];
  return `${chain} differs${effect === undefined ? '' : `: ${effect}`} (${counts})`;
}

type Lines = readonly [RuleLine[], RuleLine[]];

function explainEndpoint(
  chain: string,
  missing: readonly Rule[],
  surplus: readonly Rule[],
  lines: Lines,
  owner: string | undefined,
  { names, found, expected, actual, table }: Sides,
): void {
  const wanted = destinations(rulesOf(expected, table, chain));
  const have = destinations(rulesOf(actual, table, chain));
  if (wanted !== have) {
    const message =
      have === ''
        ? `endpoint ${wanted} gets no traffic: ${chain} has no DNAT`
        : `endpoint ${wanted} is not programmed: ${chain} sends to ${have}`;
    found.add(owner, problem('endpoint-wrong', message, ...lines));
    return;
  }
  const touches = (test: (rule: Rule) => boolean) => missing.some(test) || surplus.some(test);
  const recent = (rule: Rule) => rule.matches.some(({ kind }) => kind === 'recent');
  if (touches(recent)) {
    const set = missing.some(recent);
    const remembered = ({ tables }: View) =>
      ['SVC', 'SVL'].some((kind) =>
        tables
          .get(table)
          ?.chains.get(`KUBE-${kind}-${owner}`)
          ?.rules.some((rule) => recent(rule) && jumpOf(rule) === chain),
      );
    // Where neither side of it is there, or both, that is one problem: of the service port, told by its own chain.
    const message = set
      ? remembered(actual)
        ? `session affinity missing for ${wanted}: it is not remembered who was sent there`
        : 'session affinity missing'
      : remembered(expected) || !remembered(actual)
        ? `session affinity is set for ${wanted}, and should not be`
        : 'session affinity is set, and should not be';
    found.add(owner, problem('session-affinity', message, ...lines));
  } else if (touches((rule) => jumpOf(rule) === 'KUBE-MARK-MASQ')) {
    found.add(
      owner,
      problem(
        'masquerade',
        `traffic of endpoint ${wanted} to itself is not masqueraded as it should be`,
        ...lines,
      ),
    );
  } else
    found.add(
      owner,
      problem(
        'endpoint-wrong',
        `the rules for endpoint ${names.endpoint(chain)} are not what they should be`,
        ...lines,
      ),
    );
}

/** Of several destinations in one rule (only garbled dumps have such) the last one is where packets go. */
function destinations(rules: readonly Rule[]): string {
  return rules
    .flatMap(({ target }) => (target?.kind === 'DNAT' ? target.destinations.slice(-1) : []))
    .join(', ');
}

function explainFirewall(
  chain: string,
  missing: readonly Rule[],
  surplus: readonly Rule[],
  lines: Lines,
  owner: string | undefined,
  { found }: Sides,
): void {
  const range = ({ source }: Rule) =>
    source === undefined
      ? 'any address'
      : source.address + (source.prefix === undefined ? '' : `/${source.prefix}`);
  const list = (rules: readonly Rule[]) => rules.map(range).join(', ');
  const messages = [
    ...(missing.length > 0 ? [`source range ${list(missing)} is not let in`] : []),
    ...(surplus.length > 0 ? [`source range ${list(surplus)} is let in, and should not be`] : []),
  ];
  found.add(
    owner,
    problem('firewall', messages.join('; ') || `the rules of ${chain} are in another order`, ...lines),
  );
}

function explainExternal(
  missing: readonly Rule[],
  surplus: readonly Rule[],
  lines: Lines,
  owner: string | undefined,
  { found }: Sides,
): void {
  const masquerades = (rule: Rule) => jumpOf(rule) === 'KUBE-MARK-MASQ';
  if (missing.every(masquerades) && surplus.every(masquerades) && missing.length + surplus.length > 0) {
    const message =
      surplus.length === 0
        ? 'external traffic is not masqueraded'
        : 'external traffic is masqueraded otherwise than it should be';
    found.add(owner, problem('masquerade', message, ...lines));
  } else if (surplus.length === 0 && missing.length > 0) {
    found.add(
      owner,
      problem('external-policy', 'external traffic goes nowhere, or not where it should', ...lines),
    );
  } else
    found.add(
      owner,
      problem('external-policy', 'external traffic goes another way than it should', ...lines),
    );
}
