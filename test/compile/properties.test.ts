/** What holds for the rules of any cluster, under any configuration and for any version. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Diagnostic } from '../../src/diagnostics.ts';
import {
  canonicalRule,
  compile,
  type IPFamily,
  type IptablesRules,
  kubeProxyVersion,
  printRestore,
  printSave,
  type Rule,
  type Ruleset,
} from '../../src/index.ts';
import { collect, ORIGIN } from '../kube/support.ts';
import { parseSave } from '../support/parse-save.ts';
import { type Scenario, scenario } from './arbitraries.ts';

const RUNS = { numRuns: 300 };
const FAMILIES: readonly IPFamily[] = ['IPv4', 'IPv6'];

function rulesOf({
  objects,
  configuration,
  node,
  minor,
  nfacct,
}: Scenario): Readonly<Record<IPFamily, IptablesRules>> {
  const errors: Diagnostic[] = [];
  const report = (diagnostic: Diagnostic) => {
    if (diagnostic.severity === 'error') errors.push(diagnostic);
  };
  const cluster = collect(objects, report);
  const [found] = collect([configuration], report).configurations;
  if (found === undefined) throw new Error('no configuration');
  const options = {
    node,
    nfacct,
    version: kubeProxyVersion(minor),
    configuration: { configuration: found.configuration, origin: ORIGIN },
  };
  const compilation = compile(cluster, options, report);
  if (compilation === undefined || errors.length > 0) throw new Error(JSON.stringify(errors));
  return compilation.rules;
}

const textOf = (lines: Iterable<string>) => [...lines].join('');

/** Checks something for both families of any scenario. */
function forAll(check: (rules: IptablesRules, given: Scenario, family: IPFamily) => void): void {
  fc.assert(
    fc.property(scenario, (given) => {
      const rules = rulesOf(given);
      for (const family of FAMILIES) check(rules[family], given, family);
    }),
    RUNS,
  );
}

/** `nat KUBE-SVC-…` → its rules. */
function chainsOf(ruleset: Ruleset): ReadonlyMap<string, readonly Rule[]> {
  return new Map(
    ruleset.tables.flatMap((table) =>
      table.chains.map((chain): [string, readonly Rule[]] => [`${table.name} ${chain.name}`, chain.rules]),
    ),
  );
}

const jumpTarget = ({ target }: Rule) => (target?.kind === 'jump' ? target.chain : undefined);

test('the order of the objects does not matter, to the byte', () => {
  fc.assert(
    fc.property(
      scenario.chain((given) =>
        fc.tuple(
          fc.constant(given),
          fc.shuffledSubarray([...given.objects], { minLength: given.objects.length }),
        ),
      ),
      ([given, objects]) => {
        const [rules, others] = [rulesOf(given), rulesOf({ ...given, objects })];
        for (const family of FAMILIES) {
          expect(textOf(printSave(others[family].kernel))).toBe(textOf(printSave(rules[family].kernel)));
          expect(textOf(printRestore(others[family].payload))).toBe(
            textOf(printRestore(rules[family].payload)),
          );
        }
      },
    ),
    RUNS,
  );
});

describe('chains:', () => {
  test('every jump has its chain in the same table, and no chain is there twice', () => {
    forAll(({ kernel, payload }) => {
      for (const ruleset of [kernel, payload]) {
        for (const table of ruleset.tables) {
          const names = table.chains.map(({ name }) => name);
          expect(new Set(names).size).toBe(names.length);
          for (const rule of table.chains.flatMap(({ rules }) => rules)) {
            const target = jumpTarget(rule);
            if (target !== undefined) expect(names).toContain(target);
          }
        }
      }
    });
  });

  /**
   * Chains that kube-proxy makes although nothing leads to them: the canaries; what is always there (KUBE-MARK-MASQ
   * without Services, KUBE-NODEPORTS where nodePortAddresses match no address), with all that only node ports lead
   * to; KUBE-EXT and what it alone leads to where the gate takes its external IPs away.
   */
  function rootsOf(table: Ruleset['tables'][number], given: Scenario): string[] {
    const builtIn = table.chains.filter(({ policy }) => policy !== undefined).map(({ name }) => name);
    const roots = [...builtIn, 'KUBE-PROXY-CANARY'];
    if (table.name !== 'nat') return roots;
    const gates = given.configuration.featureGates as Readonly<Record<string, boolean>>;
    const withoutExternalIPs = given.minor >= 36 && gates.AllowServiceExternalIPs === false;
    const external = withoutExternalIPs
      ? table.chains.map(({ name }) => name).filter((name) => name.startsWith('KUBE-EXT-'))
      : [];
    return [...roots, 'KUBE-MARK-MASQ', 'KUBE-NODEPORTS', ...external];
  }

  test('every chain is reached from a built-in one, but for those that always are there', () => {
    forAll(({ kernel }, given) => {
      for (const table of kernel.tables) {
        const rules = new Map(table.chains.map((chain) => [chain.name, chain.rules]));
        const reached = new Set<string>();
        const pending = rootsOf(table, given);
        for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
          if (reached.has(name)) continue;
          reached.add(name);
          for (const rule of rules.get(name) ?? []) pending.push(jumpTarget(rule) ?? name);
        }
        expect([...rules.keys()].filter((name) => !reached.has(name))).toEqual([]);
      }
    });
  });

  test('a chain of a service or an endpoint is never empty', () => {
    forAll(({ kernel }) => {
      for (const [name, rules] of chainsOf(kernel)) {
        if (/ KUBE-(?:SVC|SVL|EXT|FW|SEP)-/.test(name)) expect(rules.length, name).toBeGreaterThan(0);
      }
    });
  });

  test('an endpoint chain ends in a DNAT to an address of its family', () => {
    forAll(({ kernel }, _given, family) => {
      for (const [name, rules] of chainsOf(kernel)) {
        if (!name.startsWith('nat KUBE-SEP-')) continue;
        expect(rules).toHaveLength(2);
        const target = rules[1]?.target;
        expect(target?.kind).toBe('DNAT');
        expect(canonicalRule(rules[1] ?? { matches: [] }, family === 'IPv4' ? 'ipv4' : 'ipv6')).toMatch(
          family === 'IPv4' ? /--to-destination [\d.]+:\d+$/ : /--to-destination \[[\da-f:]+\]:\d+$/,
        );
      }
    });
  });
});

/** The chance that a new connection which enters the chain is sent to each endpoint chain, after rounding to 31 bits. */
function shares(rules: readonly Rule[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  let left = 1;
  for (const rule of rules) {
    const target = jumpTarget(rule) ?? '';
    const sticky = rule.matches.some((match) => match.kind === 'recent');
    if (!target.startsWith('KUBE-SEP-') || sticky) continue;
    const statistic = rule.matches.find((match) => match.kind === 'statistic');
    const chance = statistic?.kind === 'statistic' && statistic.mode === 'random' ? statistic.probability : 1;
    const share = left * (Math.round(chance * 2 ** 31) / 2 ** 31);
    found.set(target, (found.get(target) ?? 0) + share);
    left -= share;
  }
  return found;
}

test('the endpoints of a chain have equal shares, to 1e-8', () => {
  forAll(({ kernel }) => {
    for (const [name, rules] of chainsOf(kernel)) {
      if (!/ KUBE-SV[CL]-/.test(name)) continue;
      const found = shares(rules);
      expect(found.size).toBeGreaterThan(0);
      for (const share of found.values()) expect(Math.abs(share - 1 / found.size)).toBeLessThan(1e-8);
    }
  });
});

test('an endpoint that is remembered is one of those that are balanced over', () => {
  forAll(({ kernel }) => {
    for (const [name, rules] of chainsOf(kernel)) {
      if (!/ KUBE-SV[CL]-/.test(name)) continue;
      const sticky = rules.filter(({ matches }) => matches.some(({ kind }) => kind === 'recent'));
      if (sticky.length > 0) expect(sticky.map(jumpTarget)).toEqual([...shares(rules).keys()]);
    }
  });
});

describe('texts:', () => {
  test('what is printed is read back and printed again as it was', () => {
    forAll(({ kernel, payload }) => {
      const save = textOf(printSave(kernel));
      expect(textOf(printSave(parseSave(save, kernel.family)))).toBe(save);
      const restore = textOf(printRestore(payload));
      expect(textOf(printRestore(parseSave(restore, payload.family)))).toBe(restore);
    });
  });

  test('the payload says what the kernel holds afterwards, rule by rule', () => {
    forAll(({ kernel, payload }) => {
      const held = chainsOf(kernel);
      const fed = chainsOf(parseSave(textOf(printRestore(payload)), payload.family));
      const saved = chainsOf(parseSave(textOf(printSave(kernel)), kernel.family));
      for (const [name, rules] of fed) {
        const canonical = rules.map((rule) => canonicalRule(rule, payload.family));
        expect(canonical, name).toEqual(
          (held.get(name) ?? []).map((rule) => canonicalRule(rule, kernel.family)),
        );
        expect(canonical, name).toEqual(
          (saved.get(name) ?? []).map((rule) => canonicalRule(rule, kernel.family)),
        );
      }
      const others = [...held.keys()].filter((name) => !fed.has(name) && / KUBE-/.test(name));
      const alone = [
        'filter KUBE-FIREWALL',
        'filter KUBE-PROXY-CANARY',
        'mangle KUBE-PROXY-CANARY',
        'nat KUBE-PROXY-CANARY',
      ];
      expect(alone).toEqual(expect.arrayContaining(others));
      for (const name of others) expect(held.get(name)).toEqual([]);
    });
  });

  test('each line is a chain line, a rule, a table or its end', () => {
    forAll(({ kernel, payload }) => {
      for (const text of [textOf(printSave(kernel)), textOf(printRestore(payload))]) {
        for (const line of text.split('\n').slice(0, -1)) {
          expect(line).toMatch(
            /^(?:\*(?:filter|mangle|nat)|:[A-Z0-9-]+ (?:ACCEPT|-) \[0:0\]|-A [A-Z0-9-]+ .+|COMMIT)$/,
          );
        }
      }
    });
  });
});

test('the same input gives the same rules, whatever was compiled before', () => {
  fc.assert(
    fc.property(scenario, scenario, (given, other) => {
      const first = textOf(printSave(rulesOf(given).IPv4.kernel));
      rulesOf(other);
      expect(textOf(printSave(rulesOf(given).IPv4.kernel))).toBe(first);
    }),
    { numRuns: 50 },
  );
});
