/*
 * The listing of `ipvsadm -Ln` (and of -L, with names of ports):
 *
 *     IP Virtual Server version 1.2.1 (size=4096)
 *     Prot LocalAddress:Port Scheduler Flags
 *       -> RemoteAddress:Port           Forward Weight ActiveConn InActConn
 *     TCP  10.96.0.1:443 rr persistent 10800 mask 255.255.255.0
 *       -> 192.168.0.2:6443             Masq    1      0          0
 *     UDP  10.96.0.10:53 mh (mh-fallback,mh-port)
 *     FWM  8 IPv6 rr
 *
 * With --tun-info a column more. It says nothing of thresholds.
 */
import { parseCNumber } from './addresses.ts';
import { parseAddressAndPort } from './ipvs-addresses.ts';
import {
  putRealServer,
  putVirtualServer,
  type VirtualServerDraft,
  type VirtualServerDrafts,
} from './ipvs-draft.ts';
import { isWholeMask, MOST_SECONDS, MOST_WEIGHT, maskOf, NAME, noteHostName } from './ipvs-restore.ts';
import type { IpvsService, RealServer, VirtualServer } from './ipvs-types.ts';

export interface VirtualServerListing {
  /** Whose real servers follow. */
  current?: VirtualServerDraft;
  hasTunnelColumn: boolean;
}

const HEADINGS = /^(?:IP Virtual Server version |Prot\s+LocalAddress:Port\s)/;
const REAL_HEADING = /^\s*->\s+RemoteAddress:Port(?:\s|$)/;
const SERVICE = /^(?:TCP|UDP|SCTP|FWM)\s+\S/;
const REAL = /^\s*->\s+\S/;

/** Whether a line is one of a listing, wherever it stands. */
export function isListingLine(line: string): boolean {
  return HEADINGS.test(line) || SERVICE.test(line) || REAL.test(line);
}

/** Reads one line; false where it says nothing. */
export function readListingLine(
  line: string,
  listing: VirtualServerListing,
  drafts: VirtualServerDrafts,
): boolean {
  if (HEADINGS.test(line)) return true;
  if (REAL_HEADING.test(line)) {
    listing.hasTunnelColumn = /\sTunnelInfo\s/.test(line);
    return true;
  }
  if (SERVICE.test(line)) {
    const head = headOf(line, drafts);
    if (head === undefined) delete listing.current;
    else listing.current = putVirtualServer(drafts, head, false);
    return head !== undefined;
  }
  const server = realServerOf(line, listing.hasTunnelColumn, drafts);
  if (server === undefined || listing.current === undefined) return false;
  putRealServer(drafts, listing.current, server, false);
  return true;
}

function headOf(line: string, drafts: VirtualServerDrafts): VirtualServerDraft['head'] | undefined {
  const words = line.trim().split(/\s+/);
  const ipv6 = words[0] === 'FWM' && words[2] === 'IPv6';
  const service = serviceOf(words[0] ?? '', words[1] ?? '', ipv6, drafts);
  const [scheduler, ...rest] = words.slice(ipv6 ? 3 : 2);
  if (service === undefined || scheduler === undefined || !NAME.test(scheduler)) return undefined;
  return withFlags({ service, scheduler, flags: [] }, rest);
}

function serviceOf(
  protocol: string,
  text: string,
  ipv6: boolean,
  drafts: VirtualServerDrafts,
): IpvsService | undefined {
  if (protocol === 'FWM') {
    const mark = parseCNumber(text, 0xffffffff);
    return mark === undefined ? undefined : { by: 'mark', mark, ipv6 };
  }
  const found = parseAddressAndPort(text);
  if (found === undefined) return undefined;
  if (found.isName) noteHostName(found.address, drafts);
  const name = protocol === 'TCP' ? 'tcp' : protocol === 'UDP' ? 'udp' : 'sctp';
  return { by: 'address', protocol: name, address: found.address, port: found.port };
}

/** `(mh-port) persistent 10800 mask 255.255.255.0 pe sip ops` */
function withFlags(
  head: VirtualServerDraft['head'],
  words: readonly string[],
): VirtualServerDraft['head'] | undefined {
  const found: { -readonly [K in keyof Omit<VirtualServer, 'realServers'>]: VirtualServer[K] } = { ...head };
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? '';
    const list = /^\(([^()]+)\)$/.exec(word)?.[1]?.split(',') ?? [];
    const value = words[i + 1] ?? '';
    if (list.length > 0 && list.every((flag) => NAME.test(flag))) found.flags = [...found.flags, ...list];
    else if (word === 'ops') found.flags = ['ops', ...found.flags];
    else if (word === 'persistent' && /^\d{1,9}$/.test(value) && Number(value) <= MOST_SECONDS) {
      found.persistentSeconds = Number(value);
      i++;
    } else if (word === 'mask' && maskOf(value) !== undefined) {
      const mask = maskOf(value);
      if (mask !== undefined && !isWholeMask(mask)) found.persistentMask = mask;
      i++;
    } else if (word === 'pe' && NAME.test(value)) {
      found.persistenceEngine = value;
      i++;
    } else return undefined;
  }
  return found;
}

/** `Local`, which old kernels show, is what `ipvsadm -S` writes as -g. */
const METHODS = new Map<string, RealServer['method']>([
  ['Masq', 'masquerade'],
  ['Route', 'gatewaying'],
  ['Local', 'gatewaying'],
  ['Tunnel', 'tunneling'],
]);

function realServerOf(
  line: string,
  hasTunnelColumn: boolean,
  drafts: VirtualServerDrafts,
): RealServer | undefined {
  const [, text = '', forward = '', ...columns] = line.trim().split(/\s+/);
  const found = parseAddressAndPort(text);
  const method = METHODS.get(forward);
  const counts = hasTunnelColumn ? columns.slice(1) : columns;
  const numbers = counts.map((count) => (/^\d{1,10}$/.test(count) ? Number(count) : undefined));
  const [weight, active, inactive] = numbers;
  if (found === undefined || method === undefined || weight === undefined) return undefined;
  if (weight > MOST_WEIGHT || numbers.length > 3 || numbers.includes(undefined)) return undefined;
  if (found.isName) noteHostName(found.address, drafts);
  return {
    address: found.address,
    port: found.port,
    method,
    weight,
    ...(active !== undefined && { activeConnections: active }),
    ...(inactive !== undefined && { inactiveConnections: inactive }),
  };
}
