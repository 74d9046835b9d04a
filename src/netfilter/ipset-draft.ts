/* Sets while they are being read: commands change them one after the other, as `ipset restore` does. */

import { withoutKernelOptions } from './ipset-options.ts';
import type { IpSet, IpSetMember, IpSetOption } from './ipset-types.ts';
import type { IpvsProblems } from './ipvs-problems.ts';
import { report } from './problems.ts';

export interface SetDraft {
  name: string;
  type: string;
  options: readonly IpSetOption[];
  kernel?: readonly IpSetOption[];
  references?: number;
  /** By entry, as written. */
  readonly members: Map<string, IpSetMember>;
}

export interface SetDrafts {
  /** In the order they were created. */
  readonly byName: Map<string, SetDraft>;
  readonly problems: IpvsProblems;
}

/** Creates a set; one that is there already is kept, with its members. */
export function createSet(
  drafts: SetDrafts,
  name: string,
  type: string,
  options: readonly IpSetOption[],
  exist: boolean,
): SetDraft {
  const known = drafts.byName.get(name);
  if (known !== undefined && known.type !== '') {
    if (!exist || known.type !== type) {
      const how = known.type === type ? '' : `, first as ${known.type}, then as ${type}`;
      report(drafts.problems, 'duplicate-set', 'warning', `the set ${name} is created twice${how}`);
    }
    return known;
  }
  const draft = known ?? { name, type, options, members: new Map<string, IpSetMember>() };
  draft.type = type;
  Object.assign(draft, withoutKernelOptions(options));
  drafts.byName.set(name, draft);
  return draft;
}

/** The set of that name; where the text did not create it, one without a type, which is told once. */
export function setNamed(drafts: SetDrafts, name: string): SetDraft {
  const known = drafts.byName.get(name);
  if (known !== undefined) return known;
  report(
    drafts.problems,
    'undeclared-set',
    'warning',
    `the set ${name} is used and not created here`,
    'take all of it with: ipset save',
  );
  const draft: SetDraft = { name, type: '', options: [], members: new Map() };
  drafts.byName.set(name, draft);
  return draft;
}

export function finishedSets(drafts: SetDrafts): readonly IpSet[] {
  return [...drafts.byName.values()].map(({ name, type, options, kernel, references, members }) => ({
    name,
    type,
    options,
    members: [...members.values()],
    ...(kernel !== undefined && { kernel }),
    ...(references !== undefined && { references }),
  }));
}
