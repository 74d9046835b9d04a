import type { Family } from '../netfilter/index.ts';
import type { Finding, Problem, ProblemCode, RuleLine } from './comparison.ts';
import type { Names } from './names.ts';

/** Gathers problems by service port, and those of the node, and makes findings of them. */
export interface FindingCollector {
  /** `owner` is the suffix of a service port's chains; undefined for the node. */
  add(owner: string | undefined, problem: Problem): void;
  /** Puts what explains the others before them. */
  lead(owner: string, problem: Problem): void;
  has(owner: string | undefined): boolean;
  findings(): Finding[];
}

export function collectFindings(family: Family, names: Names): FindingCollector {
  const ofNode: Problem[] = [];
  const ofOwners = new Map<string, Problem[]>();
  return {
    add: (owner, problem) => {
      if (owner === undefined) {
        ofNode.push(problem);
        return;
      }
      const problems = ofOwners.get(owner) ?? [];
      ofOwners.set(owner, problems);
      const same = problems.findIndex(
        ({ code, message }) => code === problem.code && message === problem.message,
      );
      const before = problems[same];
      // KUBE-SVC and KUBE-SVL of one service port often lack the same endpoint: that is one problem.
      if (before === undefined) problems.push(problem);
      else {
        problems[same] = {
          ...before,
          expected: [...before.expected, ...problem.expected],
          actual: [...before.actual, ...problem.actual],
        };
      }
    },
    lead: (owner, problem) => {
      ofOwners.set(owner, [problem, ...(ofOwners.get(owner) ?? [])]);
    },
    has: (owner) => (owner === undefined ? ofNode.length > 0 : ofOwners.has(owner)),
    findings: () => {
      const labelled = [...ofOwners]
        .map(([suffix, problems]) => ({
          family,
          servicePort: names.label(suffix),
          problems: withoutRepeats(problems),
        }))
        .sort((a, b) => (a.servicePort < b.servicePort ? -1 : a.servicePort > b.servicePort ? 1 : 0));
      const node = ofNode.length === 0 ? [] : [{ family, problems: ofNode }];
      return [...node, ...labelled];
    },
  };
}

/** A rule is shown under the first problem that it is part of. */
function withoutRepeats(problems: readonly Problem[]): Problem[] {
  const seen = { expected: new Set<string>(), actual: new Set<string>() };
  const fresh = (side: 'expected' | 'actual', lines: readonly RuleLine[]) =>
    lines.filter(({ table, line }) => {
      const key = `${table} ${line}`;
      if (seen[side].has(key)) return false;
      seen[side].add(key);
      return true;
    });
  return problems.map((problem) => ({
    ...problem,
    expected: fresh('expected', problem.expected),
    actual: fresh('actual', problem.actual),
  }));
}

export function problem(
  code: ProblemCode,
  message: string,
  expected: readonly RuleLine[] = [],
  actual: readonly RuleLine[] = [],
): Problem {
  return { code, message, expected, actual };
}
