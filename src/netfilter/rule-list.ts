/*
 * The rules of one chain while commands are applied to it: rules are put in and taken out by number, or found by
 * what they say. An array would move all later rules each time, which a chain of KUBE-SERVICES feels; so the
 * rules lie in blocks, and each block knows the forms of its rules once somebody asks for one.
 */
import { canonicalRule } from './print-save.ts';
import type { Family, Rule } from './ruleset.ts';

interface Block {
  readonly rules: Rule[];
  forms: Forms | undefined;
}

interface Forms {
  /** Canonical form of each rule of the block. */
  readonly texts: string[];
  readonly counts: Map<string, number>;
}

export interface RuleList {
  readonly family: Family;
  readonly blocks: Block[];
  size: number;
}

const FILLED = 256;
const MOST = 2 * FILLED;

export function newRuleList(rules: readonly Rule[], family: Family): RuleList {
  const list: RuleList = { family, blocks: [], size: rules.length };
  for (let i = 0; i < rules.length; i += FILLED) {
    list.blocks.push({ rules: rules.slice(i, i + FILLED), forms: undefined });
  }
  return list;
}

export function listedRules(list: RuleList): Rule[] {
  return list.blocks.flatMap(({ rules }) => rules);
}

export function appendRule(list: RuleList, rule: Rule): void {
  const last = list.blocks.at(-1);
  if (last === undefined || last.rules.length >= FILLED) {
    list.blocks.push({ rules: [rule], forms: undefined });
  } else put(list, last, last.rules.length, rule);
  list.size++;
}

/** Puts a rule where it will have the given number, counted from 1; false where there are too few rules before. */
export function insertRule(list: RuleList, number: number, rule: Rule): boolean {
  if (number < 1 || number > list.size + 1) return false;
  if (number === list.size + 1) {
    appendRule(list, rule);
    return true;
  }
  const { index, block, offset } = find(list, number);
  if (block === undefined) return false;
  put(list, block, offset, rule);
  list.size++;
  if (block.rules.length > MOST) {
    list.blocks.splice(index + 1, 0, { rules: block.rules.splice(FILLED), forms: undefined });
    block.forms = undefined;
  }
  return true;
}

/** Takes the rule with that number out and returns it; undefined where there is none. */
export function removeRule(list: RuleList, number: number): Rule | undefined {
  const { index, block, offset } = find(list, number);
  return block && take(list, index, block, offset);
}

/** Takes the first rule out that has this canonical form; undefined where there is none. */
export function removeEqualRule(list: RuleList, form: string): Rule | undefined {
  for (const [index, block] of list.blocks.entries()) {
    const { texts, counts } = formsOf(list, block);
    if (counts.has(form)) return take(list, index, block, texts.indexOf(form));
  }
  return undefined;
}

export function ruleAt(list: RuleList, number: number): Rule | undefined {
  const { block, offset } = find(list, number);
  return block?.rules[offset];
}

/** Puts a rule in the place of another, which comes back; undefined where there is none. */
export function replaceRule(list: RuleList, number: number, rule: Rule): Rule | undefined {
  const { block, offset } = find(list, number);
  const before = block?.rules[offset];
  if (block === undefined || before === undefined) return undefined;
  block.rules[offset] = rule;
  block.forms = undefined;
  return before;
}

interface Place {
  readonly index: number;
  readonly block: Block | undefined;
  readonly offset: number;
}

function find(list: RuleList, number: number): Place {
  let offset = number - 1;
  if (offset >= 0) {
    for (const [index, block] of list.blocks.entries()) {
      if (offset < block.rules.length) return { index, block, offset };
      offset -= block.rules.length;
    }
  }
  return { index: -1, block: undefined, offset: -1 };
}

function put(list: RuleList, block: Block, offset: number, rule: Rule): void {
  block.rules.splice(offset, 0, rule);
  if (block.forms === undefined) return;
  const form = canonicalRule(rule, list.family);
  block.forms.texts.splice(offset, 0, form);
  count(block.forms, form);
}

function take(list: RuleList, index: number, block: Block, offset: number): Rule | undefined {
  const [rule] = block.rules.splice(offset, 1);
  if (block.rules.length === 0) list.blocks.splice(index, 1);
  list.size--;
  if (block.forms !== undefined) {
    const [form = ''] = block.forms.texts.splice(offset, 1);
    const rest = (block.forms.counts.get(form) ?? 1) - 1;
    if (rest === 0) block.forms.counts.delete(form);
    else block.forms.counts.set(form, rest);
  }
  return rule;
}

function formsOf(list: RuleList, block: Block): Forms {
  if (block.forms !== undefined) return block.forms;
  const forms: Forms = { texts: [], counts: new Map() };
  for (const rule of block.rules) {
    const form = canonicalRule(rule, list.family);
    forms.texts.push(form);
    count(forms, form);
  }
  block.forms = forms;
  return forms;
}

function count(forms: Forms, form: string): void {
  forms.counts.set(form, (forms.counts.get(form) ?? 0) + 1);
}
