import type { Family, Rule } from '../netfilter/index.ts';
import type { Problem, ProblemCode } from './comparison.ts';
import { type FindingCollector, problem } from './findings.ts';
import { type CommentWords, type Names, readComment } from './names.ts';
import { differsInOrderOnly, sameBehaviour, without } from './ordinary-chain.ts';
import { setOf } from './proxy-mode.ts';
import { jumpOf } from './rule-key.ts';
import { type GroupDifference, type SharedDifference, type Traffic, trafficOf } from './shared-chain.ts';
import { ruleLines, rulesOf, type View } from './view.ts';

/** Words for what differs in the chains that lead to service ports or refuse their traffic. */

interface Place {
  readonly table: string;
  readonly chain: string;
}

export function explainShared(
  place: Place,
  difference: SharedDifference,
  expected: View,
  actual: View,
  names: Names,
  found: FindingCollector,
): void {
  for (const group of difference.groups) {
    const ownerOf = (rules: readonly Rule[]) =>
      rules.map((rule) => names.ownerOfRule(rule)).find((owner) => owner !== undefined);
    const owner = ownerOf(group.expected) ?? ownerOf(group.actual);
    found.add(owner, explainGroup(place, group, expected.family, names, owner));
  }
  if (difference.wide !== 'same') explainWide(place, difference, expected, actual, names, found);
}

function explainGroup(
  { table, chain }: Place,
  group: GroupDifference,
  family: Family,
  names: Names,
  owner: string | undefined,
): Problem {
  const left = ruleLines(group.expected, table, chain, family);
  const right = ruleLines(group.actual, table, chain, family);
  const rule = group.expected[0] ?? group.actual[0];
  const what = subject(chain, group.traffic, group.expected[0], group.actual[0]);
  const tell = (code: ProblemCode, message: string) => problem(code, message, left, right);

  if (group.expected.length > 0 && group.actual.length > 0) {
    if (differsInOrderOnly(group.expected, group.actual, family)) {
      const first = names.ownerOfRule(group.actual[0] ?? { matches: [] });
      return tell(
        'rule-order',
        `${what}: the rules for it are in another order, and ${first === undefined || first === owner ? 'another one' : names.label(first)} wins`,
      );
    }
    const added = group.actual.length > group.expected.length;
    return tell(wrongCode(chain, rule), `${what} ${wrong(table, chain, group, names, owner, added)}`);
  }
  const missing = group.actual.length === 0;
  const words = missing ? MISSING : SURPLUS;
  switch (`${table}/${chain}`) {
    case 'nat/KUBE-NODEPORTS':
      return missing
        ? tell('node-port-missing', `${what} missing`)
        : tell('node-port-surplus', `${what} is still open`);
    case 'filter/KUBE-NODEPORTS':
      return tell('health-check-port', `${what} ${words.allowed}`);
    case 'filter/KUBE-PROXY-FIREWALL':
      return tell('firewall', `${what}: ${words.firewall}`);
    case 'filter/KUBE-SERVICES':
    case 'filter/KUBE-EXTERNAL-SERVICES':
      return tell('refusal', `${what} ${refusal(rule, missing)}`);
    default: {
      const clusterIP = kindOf(group.expected[0], group.actual[0]) === 'cluster IP';
      if (missing) return tell(clusterIP ? 'cluster-ip-missing' : 'dispatch-missing', `${what} goes nowhere`);
      return tell('dispatch-surplus', `${what} is still programmed`);
    }
  }
}

const MISSING = {
  allowed: 'is not let in',
  firewall: 'traffic from outside of its source ranges is not dropped',
};
const SURPLUS = { allowed: 'is still let in', firewall: 'traffic is dropped, and should not be' };

function refusal(rule: Rule | undefined, missing: boolean): string {
  const verb = rule?.target?.kind === 'DROP' ? 'dropped' : 'refused';
  const reason =
    rule && readComment(rule)?.kind === 'no local endpoints' ? 'no endpoint on this node' : 'no endpoints';
  return missing ? `is not ${verb}, though it has ${reason}` : `is ${verb}, as if it had ${reason}`;
}

function wrongCode(chain: string, rule: Rule | undefined): ProblemCode {
  if (chain === 'KUBE-NODEPORTS') return 'node-port-wrong';
  if (chain === 'KUBE-PROXY-FIREWALL') return 'firewall';
  if (chain === 'KUBE-EXTERNAL-SERVICES') return 'refusal';
  return rule && readComment(rule)?.kind === 'cluster IP' ? 'cluster-ip-wrong' : 'dispatch-wrong';
}

function wrong(
  table: string,
  chain: string,
  group: GroupDifference,
  names: Names,
  owner: string | undefined,
  added: boolean,
): string {
  const target = (rules: readonly Rule[]) => {
    const rule = rules[0];
    const jump = rule && jumpOf(rule);
    if (jump === undefined) return rule?.target?.kind ?? 'nowhere';
    const of = names.ownerOfChain(jump);
    return of === undefined || of === owner ? jump : names.label(of);
  };
  const [left, right] = [target(group.expected), target(group.actual)];
  if (left !== right) {
    return table === 'filter' || chain === 'KUBE-PROXY-FIREWALL'
      ? `is answered with ${right} instead of ${left}`
      : `goes to ${right} instead of ${left}`;
  }
  return added ? 'has more rules than it should' : 'has other rules than it should';
}

/** `cluster IP 10.96.0.50:80`, `node port 30080`. */
function subject(
  chain: string,
  traffic: Traffic,
  expected: Rule | undefined,
  actual: Rule | undefined,
): string {
  const { address, port, protocol } = traffic;
  const suffix = protocol === 'tcp' ? '' : `/${protocol}`;
  if (chain === 'KUBE-NODEPORTS') {
    const health = [expected, actual].some((rule) => rule?.target?.kind === 'ACCEPT');
    return `${health ? 'health check node port' : 'node port'} ${port}${suffix}`;
  }
  if (address === 'LOCAL') return `node port ${port}${suffix}`;
  const where =
    address === '*' ? `port ${port}` : address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
  const kind = kindOf(expected, actual);
  const words: Partial<Record<CommentWords['kind'], string>> = {
    'cluster IP': 'cluster IP',
    'external IP': 'external IP',
    'load-balancer IP': 'load-balancer IP',
    firewall: 'load-balancer IP',
  };
  const noun = (kind && words[kind]) ?? (chain === 'KUBE-SERVICES' ? 'cluster IP' : 'external address');
  return `${noun} ${where}${suffix}`;
}

function kindOf(expected: Rule | undefined, actual: Rule | undefined): CommentWords['kind'] | undefined {
  const first = expected && readComment(expected)?.kind;
  return first ?? (actual && readComment(actual)?.kind);
}

/** Chains of node ports: KUBE-NODEPORTS in iptables mode, KUBE-NODE-PORT in ipvs mode. */
const NODE_PORT_CHAINS = new Set(['KUBE-NODEPORTS', 'KUBE-NODE-PORT']);

/** What the sets of ipvs mode hold that rules of shared chains match. */
const SETS: Readonly<Record<string, string>> = {
  'KUBE-CLUSTER-IP': 'cluster IPs',
  'KUBE-EXTERNAL-IP': 'external IPs',
  'KUBE-EXTERNAL-IP-LOCAL': 'external IPs under policy Local',
  'KUBE-LOAD-BALANCER': 'load-balancer IPs',
  'KUBE-LOAD-BALANCER-FW': 'load-balancer IPs with source ranges',
};

/** `KUBE-SERVICES lacks a rule`, with the traffic that the rule is for where it matches a set. */
function wideWords(chain: string, verb: 'lacks' | 'has', rule: Rule): string {
  const set = setOf(rule);
  const what = verb === 'lacks' ? 'lacks a rule' : 'has a rule that does not belong there';
  if (set === undefined) return `${chain} ${what}`;
  const traffic = SETS[set] ?? `the set ${set}`;
  const target = rule.target === undefined ? 'nothing' : (jumpOf(rule) ?? rule.target.kind);
  return verb === 'lacks'
    ? `${chain} lacks the rule for ${traffic}: they should go to ${target}`
    : `${chain} has a rule for ${traffic} that does not belong there: it sends them to ${target}`;
}

/** Rules that are not for one destination and port: the jump to KUBE-NODEPORTS, and what should not be there. */
function explainWide(
  { table, chain }: Place,
  difference: SharedDifference,
  expected: View,
  actual: View,
  names: Names,
  found: FindingCollector,
): void {
  const { family } = expected;
  const isJump = (rule: Rule) => NODE_PORT_CHAINS.has(jumpOf(rule) ?? '');
  const isOther = (rule: Rule) => !isJump(rule) && trafficOf(rule) === undefined && rule.target !== undefined;
  const [left, right] = [rulesOf(expected, table, chain), rulesOf(actual, table, chain)];
  const jumps = [left.filter(isJump), right.filter(isJump)] as const;
  if (difference.wide === 'order' || !sameBehaviour(...jumps, family)) {
    found.add(undefined, explainJumps({ table, chain }, difference, ...jumps, family));
  }
  const others = [left.filter(isOther), right.filter(isOther)] as const;
  const missing = without(others[0], others[1], family);
  const surplus = without(others[1], others[0], family);
  for (const rule of surplus) {
    const owner = names.ownerOfRule(rule);
    const message =
      owner === undefined
        ? setOf(rule) === undefined && shadows(rule, right)
          ? `${chain} has a rule that does not belong there and comes before others: what it matches reaches no Service`
          : wideWords(chain, 'has', rule)
        : `a rule for it in ${chain} takes other traffic than it should`;
    found.add(owner, problem('rules-differ', message, [], ruleLines([rule], table, chain, family)));
  }
  for (const rule of missing) {
    found.add(
      names.ownerOfRule(rule),
      problem('rules-differ', wideWords(chain, 'lacks', rule), ruleLines([rule], table, chain, family)),
    );
  }
  if (missing.length + surplus.length === 0 && !sameBehaviour(...others, family)) {
    const lines = others.map((rules) => ruleLines(rules, table, chain, family));
    found.add(undefined, problem('rule-order', `the rules of ${chain} are in another order`, ...lines));
  }
}

/** Whether rules for Services stand behind the rule, and it takes packets away from them. */
function shadows(rule: Rule, rules: readonly Rule[]): boolean {
  const ends = rule.target !== undefined && jumpOf(rule) !== 'KUBE-MARK-MASQ' && rule.target.kind !== 'MARK';
  return ends && rules.slice(rules.indexOf(rule) + 1).some((other) => trafficOf(other) !== undefined);
}

function explainJumps(
  { table, chain }: Place,
  difference: SharedDifference,
  left: readonly Rule[],
  right: readonly Rule[],
  family: Family,
): Problem {
  const lines = [ruleLines(left, table, chain, family), ruleLines(right, table, chain, family)] as const;
  const target = [...left, ...right].map(jumpOf).find((name) => name !== undefined) ?? 'KUBE-NODEPORTS';
  if (difference.wide === 'order') {
    return problem(
      'rule-order',
      `the jump from ${chain} to ${target} is not the last rule: rules behind it may not be reached`,
      ...lines,
    );
  }
  if (left.length > 0 && right.length === 0) {
    return problem(
      'node-port-missing',
      `no node port is reached: ${chain} has no jump to ${target}`,
      ...lines,
    );
  }
  const addresses = (rules: readonly Rule[]) =>
    rules.some(({ destination }) => destination === undefined || destination.negated)
      ? 'all addresses of the node'
      : rules.map(({ destination }) => destination?.address ?? '').join(', ') || 'no address';
  const [wanted, have] = [addresses(left), addresses(right)];
  return problem(
    'rules-differ',
    wanted === have
      ? `the jumps from ${chain} to ${target} differ`
      : `node ports are open on ${have} instead of ${wanted}`,
    ...lines,
  );
}
