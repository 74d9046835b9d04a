/* IP sets as text: what `ipset save` and `ipset list` print, what `ipset restore` takes. */
import { describeFormat, detectFormat } from './detect.ts';
import { finishedSets, type SetDrafts } from './ipset-draft.ts';
import { endSet, isListingLine, newListing, readListingLine } from './ipset-list.ts';
import { readRestoreLine } from './ipset-restore.ts';
import type { IpSet } from './ipset-types.ts';
import { dumpLines, type IpvsProblem, type IpvsProblemCode, noteUnreadable } from './ipvs-problems.ts';
import { newProblems, report, summarize } from './problems.ts';

export interface ParsedIpset {
  /** In the order in which they were created. */
  readonly sets: readonly IpSet[];
  readonly problems: readonly IpvsProblem[];
}

const INSTEAD = 'take the sets with: ipset save';

/**
 * Reads sets from the output of `ipset save` or `ipset list`, or from input of `ipset restore`, whose commands are
 * carried out one after the other on nothing. Prompts, quotation marks and lines of other kinds around a dump are
 * passed over, the latter with a problem. Entries and options stay as they are written, so what was read prints
 * again without loss. XML, JSON and texts of other tools are refused by name. Never throws.
 */
export function parseIpset(text: string): ParsedIpset {
  const problems = newProblems<IpvsProblemCode>();
  const drafts: SetDrafts = { byName: new Map(), problems };
  const refusal = refusedAs(text);
  if (refusal !== undefined) {
    report(problems, text.trim() === '' ? 'empty-dump' : 'not-ipset-save', 'error', refusal, INSTEAD);
    return { sets: [], problems: problems.list };
  }
  const listing = newListing();
  let inListing = false;
  for (const line of dumpLines(text, problems)) {
    if (isListingLine(line)) inListing = true;
    else if (inListing && line.trim() === '') inListing = false;
    if (inListing || line.trim() === '') {
      if (line.trim() === '') endSet(listing, drafts);
      else if (NO_LISTING.test(line) || !readListingLine(line, listing, drafts)) {
        noteUnreadable(problems, line, 'ipset list');
      }
    } else if (!line.startsWith('#') && !readRestoreLine(line, drafts)) {
      noteUnreadable(problems, line, 'ipset save');
    }
  }
  endSet(listing, drafts);
  const sets = finishedSets(drafts);
  summarize(problems);
  return { sets, problems: problems.list };
}

/** No listing has control characters, of which some count as blanks. */
const NO_LISTING = /[^\P{Cc}\t]/u;

/** Lines that only ipset has: one is enough, whatever stands around it. */
const OWN_LINES =
  /^[> \t]*(?:Name: \S|Type: (?:hash|bitmap|list):|(?:(?:sudo )?ipset (?:-!|-exist)? ?)?(?:(?:create|n|-N|--create)\s+(?:"[^"\n]*"|\S+)\s+(?:(?:hash|bitmap|list):\S|(?:ip|net|ipport|ipportip|ipportnet)hash\b|(?:macip|ip|port)map\b|iptree|setlist\b)|(?:add|del|swap|rename)\s+(?:"[^"\n]*"|\S+)\s+\S|(?:flush|destroy)\s+\S))/m;

/** What the text is, where it is none of ours. */
function refusedAs(text: string): string | undefined {
  const start = text
    .slice(0, 2000)
    .replace(/^\ufeff/, '')
    .trimStart();
  if (/^(?:<\?xml[^>]*>\s*)?<ipsets>/.test(start)) return 'this is the output of ipset list -o xml';
  if (/^\[\s*\{\s*"name"\s*:/.test(start)) return 'this is the output of ipset list -o json';
  if (OWN_LINES.test(text)) return undefined;
  const format = detectFormat(text);
  if (format === 'empty') return 'the dump is empty';
  return format === 'unknown'
    ? 'this is not the output of ipset save'
    : `this looks like ${describeFormat(format)}, not like the output of ipset save`;
}
