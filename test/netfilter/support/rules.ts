import type { Family, Rule, Ruleset } from '../../../src/netfilter/index.ts';
import { parseIptablesSave, printSave } from '../../../src/netfilter/index.ts';

/** Parses the options of one rule, in a table and chain of its own. */
export function parseRuleText(text: string, family: Family = 'ipv4'): Rule {
  const { ruleset } = parseIptablesSave(`*nat\n:T - [0:0]\n-A T ${text}\nCOMMIT\n`, { family });
  const rules = ruleset.tables.flatMap((table) => table.chains.flatMap((chain) => chain.rules));
  const [rule] = rules;
  if (rule === undefined || rules.length !== 1) throw new Error(`not one rule: ${text}`);
  return rule;
}

export function savedText(ruleset: Ruleset): string {
  return [...printSave(ruleset)].join('');
}
