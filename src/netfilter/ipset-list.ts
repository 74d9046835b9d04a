/*
 * The listing of `ipset list` (ipset 5 to 7), and of ipset 4, whose headers look a little different:
 *
 *     Name: KUBE-CLUSTER-IP
 *     Type: hash:ip,port
 *     Revision: 6
 *     Header: family inet hashsize 1024 maxelem 65536 bucketsize 12 initval 0xd0575982
 *     Size in memory: 720
 *     References: 1
 *     Number of entries: 1
 *     Members:
 *     10.96.0.1,tcp:443
 */
import { createSet, type SetDraft, type SetDrafts } from './ipset-draft.ts';
import { createOptions, memberOptions, setType } from './ipset-options.ts';
import type { IpSetOption } from './ipset-types.ts';
import { ipsetWords, isIpsetWord } from './ipset-words.ts';
import { report } from './problems.ts';

/** The set whose lines are being read. */
export interface Listing {
  name?: string;
  type?: string;
  options: readonly IpSetOption[];
  references?: number;
  entries?: number;
  /** There once its `Members:` line was read; members follow. */
  draft?: SetDraft;
  membersLeftOut: boolean;
}

export function newListing(): Listing {
  return { options: [], membersLeftOut: false };
}

/** `Bindings:` and the like are of ipset 4. */
const FIELD =
  /^(Name|Type|Revision|Header|Size in memory|References|Number of entries|Members|Bindings|Default binding):\s*(.*)$/;

/** Whether a line is one of a listing, wherever it stands. */
export function isListingLine(line: string): boolean {
  return FIELD.test(line);
}

/** Reads one line; false where it says nothing. */
export function readListingLine(line: string, listing: Listing, drafts: SetDrafts): boolean {
  const field = FIELD.exec(line);
  if (field?.[1] !== undefined) return readField(field[1], field[2] ?? '', listing, drafts);
  if (line.trim() === '') {
    endSet(listing, drafts);
    return true;
  }
  const [entry, ...words] = ipsetWords(line) ?? [];
  if (listing.draft === undefined || entry === undefined || !isIpsetWord(entry)) return false;
  const options = memberOptions(words);
  if (options === undefined) return false;
  listing.draft.members.set(entry, { entry, options });
  return true;
}

/** The kernel counts in 32 bits. */
const COUNT = /^\d{1,10}$/;

function readField(field: string, value: string, listing: Listing, drafts: SetDrafts): boolean {
  switch (field) {
    case 'Name':
      endSet(listing, drafts);
      if (!isIpsetWord(value)) return false;
      listing.name = value;
      return true;
    case 'Type':
      if (!isIpsetWord(value)) return false;
      listing.type = setType(value);
      return true;
    case 'Header': {
      const options = createOptions(ipsetWords(value) ?? []);
      if (options !== undefined) listing.options = options;
      return options !== undefined;
    }
    case 'References':
      if (!COUNT.test(value)) return false;
      listing.references = Number(value);
      return true;
    case 'Number of entries':
      if (!COUNT.test(value)) return false;
      listing.entries = Number(value);
      return true;
    case 'Members':
      startMembers(listing, drafts);
      return listing.draft !== undefined;
    default:
      return true;
  }
}

function startMembers(listing: Listing, drafts: SetDrafts): void {
  const { name, type, options, references } = listing;
  if (name === undefined || type === undefined || /\s/.test(type)) return;
  const draft = createSet(drafts, name, type, options, false);
  if (references !== undefined) draft.references = references;
  listing.draft = draft;
}

/** Ends the set that was being read, and says where members are missing. */
export function endSet(listing: Listing, drafts: SetDrafts): void {
  const { name, entries } = listing;
  const hadMembers = listing.draft !== undefined;
  if (name !== undefined && !hadMembers) startMembers(listing, drafts);
  const { draft } = listing;
  if (name !== undefined && draft === undefined) {
    report(drafts.problems, 'unreadable-line', 'warning', `the set ${name} has no type: it is left out`);
  } else if (draft !== undefined && entries !== undefined && entries !== draft.members.size) {
    const terse = hadMembers ? '' : ' (ipset list -t leaves them out)';
    report(
      drafts.problems,
      'members-missing',
      'warning',
      `${draft.name} has ${entries} members, of which ${draft.members.size} are listed${terse}`,
      'take them with: ipset save',
    );
  }
  Object.assign(listing, newListing());
  delete listing.name;
  delete listing.type;
  delete listing.references;
  delete listing.entries;
  delete listing.draft;
}
