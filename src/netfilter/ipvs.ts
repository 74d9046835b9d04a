/* IPVS virtual servers as text: what `ipvsadm -Sn` and `ipvsadm -Ln` print, what `ipvsadm -R` takes. */
import { describeFormat, detectFormat } from './detect.ts';
import { finishedVirtualServers, type VirtualServerDrafts } from './ipvs-draft.ts';
import { isListingLine, readListingLine, type VirtualServerListing } from './ipvs-listing.ts';
import { dumpLines, type IpvsProblem, type IpvsProblemCode, noteUnreadable } from './ipvs-problems.ts';
import { readRestoreLine } from './ipvs-restore.ts';
import type { VirtualServer } from './ipvs-types.ts';
import { newProblems, report, summarize } from './problems.ts';

export interface ParsedIpvsadm {
  /** In the order in which they were added. */
  readonly virtualServers: readonly VirtualServer[];
  readonly problems: readonly IpvsProblem[];
}

const INSTEAD = 'take the virtual servers with: ipvsadm -Sn';

/**
 * Reads virtual servers from the output of `ipvsadm -Sn` or `ipvsadm -Ln` (`-S` and `-L` too, where they name no
 * hosts), or from input of `ipvsadm -R`, whose commands are carried out one after the other on nothing. Prompts and
 * quotation marks around a dump are passed over, lines of other kinds too, with a problem. Addresses are canonical.
 * Listings without schedulers, methods or weights (`--stats`, `--rate`, `-Lc` …) are refused by name. Never throws.
 */
export function parseIpvsadm(text: string): ParsedIpvsadm {
  const problems = newProblems<IpvsProblemCode>();
  const refusal = refusedAs(text);
  if (refusal !== undefined) {
    report(problems, refusal === EMPTY ? 'empty-dump' : 'not-ipvsadm-save', 'error', refusal, INSTEAD);
    return { virtualServers: [], problems: problems.list };
  }
  const drafts: VirtualServerDrafts = { byKey: new Map(), problems };
  const listing: VirtualServerListing = { hasTunnelColumn: false };
  for (const line of dumpLines(text, problems)) {
    if (isListingLine(line)) {
      if (!readListingLine(line, listing, drafts)) noteUnreadable(problems, line, 'ipvsadm -Ln');
    } else if (line.trim() !== '' && !line.startsWith('#') && !readRestoreLine(line, drafts)) {
      noteUnreadable(problems, line, 'ipvsadm -Sn');
    }
  }
  const virtualServers = finishedVirtualServers(drafts);
  summarize(problems);
  return { virtualServers, problems: problems.list };
}

const EMPTY = 'the dump is empty';

/** Lines that only ipvsadm has: one is enough, whatever stands around it. */
const OWN_LINES =
  /^[> \t]*(?:Prot LocalAddress:Port |(?:TCP|UDP|SCTP) +\S+:\w+ +[a-z]+\b|FWM +\d+ |(?:(?:sudo )?ipvsadm )?(?:-[AEDaed]|--(?:add|edit|delete)-serv(?:ice|er)) +(?:-[tuf]|--(?:tcp|udp|sctp|fwmark)-service)[ =]?\S|-C\s*$)/m;

/** Listings that leave out what a virtual server is, by a line of theirs. */
const OTHER_LISTINGS: readonly (readonly [RegExp, string])[] = [
  [/^Prot LocalAddress:Port +Conns +InPkts/m, 'ipvsadm -L --stats'],
  [/^Prot LocalAddress:Port +CPS +InPPS/m, 'ipvsadm -L --rate'],
  [/^Prot LocalAddress:Port +Weight +PersistConn/m, 'ipvsadm -L --persistent-conn'],
  [/^Prot LocalAddress:Port +Uthreshold/m, 'ipvsadm -L --thresholds'],
  [/^IPVS connection entries\b|^pro +expire +state +source/m, 'ipvsadm -L -c'],
  [/^Timeout \(tcp tcpfin udp\):/m, 'ipvsadm -L --timeout'],
  [/^(?:TCP|UDP|SCTP) +(?:[0-9A-F]{8}|\[[0-9a-f:]{39}\]):[0-9A-F]{4} /m, '/proc/net/ip_vs'],
];

/** What the text is, where it is none of ours. */
function refusedAs(text: string): string | undefined {
  const other = OTHER_LISTINGS.find(([pattern]) => pattern.test(text))?.[1];
  if (other !== undefined)
    return `this is the output of ${other}, which leaves out schedulers, methods or weights`;
  if (OWN_LINES.test(text)) return undefined;
  const format = detectFormat(text);
  if (format === 'empty') return EMPTY;
  return format === 'unknown'
    ? 'this is not the output of ipvsadm -Sn'
    : `this looks like ${describeFormat(format)}, not like the output of ipvsadm -Sn`;
}
