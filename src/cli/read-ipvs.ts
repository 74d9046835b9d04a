/** Listings of IP sets, virtual servers and addresses → the IPVS side of a node's state. */
import type { Diagnostic, Report } from '../diagnostics.ts';
import type { IpvsState } from '../diff/index.ts';
import { escapeText } from '../escape.ts';
import { type NetworkInterface, parseIP } from '../kube/index.ts';
import {
  canonicalAddress,
  canonicalMember,
  canonicalVirtualServer,
  detectFormat,
  type IpSet,
  type IpvsProblem,
  isAddrBatch,
  parseAddrBatch,
  parseIpAddr,
  parseIpset,
  parseIpvsadm,
  serviceKey,
  type VirtualServer,
} from '../netfilter/index.ts';
import { DUMMY_INTERFACE } from './ipvs-artefacts.ts';

/** A text that lists one of them, not yet parsed. */
export interface IpvsListing {
  readonly kind: 'sets' | 'servers' | 'addresses' | 'batch';
  readonly file: string;
  readonly text: string;
}

export interface ReadIpvs {
  readonly state: IpvsState;
  /** All interfaces of the node but the dummy one, where a listing shows them. */
  readonly interfaces?: readonly NetworkInterface[];
}

/** What a text lists; undefined where it is none of these. */
export function listingKind(text: string): IpvsListing['kind'] | undefined {
  switch (detectFormat(text)) {
    case 'ipset save':
    case 'ipset list':
      return 'sets';
    case 'ipvsadm -Sn':
    case 'ipvsadm -Ln':
      return 'servers';
    case 'ip addr':
      return 'addresses';
    case 'unknown':
      return isAddrBatch(text) ? 'batch' : undefined;
    default:
      return undefined;
  }
}

/** A tool that has nothing to list prints nothing: then the name of the file is all that tells what it was. */
export function emptyListingKind(file: string): IpvsListing['kind'] | undefined {
  const name = file.replace(/^.*\//, '');
  if (/ipvsadm/i.test(name)) return 'servers';
  if (/ipset/i.test(name)) return 'sets';
  return /^kube-ipvs0/.test(name) ? 'batch' : undefined;
}

/** Parses the listings of one node; undefined, after an error, where one cannot be used. */
export function readIpvs(listings: readonly IpvsListing[], report: Report): ReadIpvs | undefined {
  let sets: readonly IpSet[] | undefined;
  let virtualServers: readonly VirtualServer[] | undefined;
  const addresses: AddressesFound = { dummy: undefined, interfaces: undefined };
  let failed = false;
  const fail = (
    file: string,
    { code, message, line, help }: Omit<Diagnostic, 'severity'> & { line?: number },
  ) => {
    const place = { file, ...(line === undefined ? {} : { line }) };
    report({ code, severity: 'error', message, place, ...(help === undefined ? {} : { help }) });
    failed = true;
  };
  for (const { kind, file, text } of listings) {
    const empty = text.trim() === '';
    switch (kind) {
      case 'sets': {
        const parsed = empty ? { sets: [], problems: [] } : parseIpset(text);
        if (tell(parsed.problems, file, report)) failed = true;
        const twice = firstTwice(sets ?? [], parsed.sets, ({ name }) => name);
        if (twice !== undefined) fail(file, givenTwice(`the set ${twice}`));
        sets = [...(sets ?? []), ...parsed.sets];
        break;
      }
      case 'servers': {
        const parsed = empty ? { virtualServers: [], problems: [] } : parseIpvsadm(text);
        if (tell(parsed.problems, file, report)) failed = true;
        const key = ({ service }: VirtualServer) => serviceKey(service);
        const twice = firstTwice(virtualServers ?? [], parsed.virtualServers, key);
        if (twice !== undefined) fail(file, givenTwice(`the virtual server ${twice}`));
        virtualServers = [...(virtualServers ?? []), ...parsed.virtualServers];
        break;
      }
      case 'addresses':
      case 'batch': {
        const { interfaces, problems } = kind === 'batch' ? parseAddrBatch(text) : parseIpAddr(text);
        for (const problem of empty ? [] : problems) fail(file, { code: 'not-ip-addr', ...problem });
        if (!empty && problems.length > 0) break;
        addAddresses(addresses, interfaces, kind === 'batch', {
          incomplete: () =>
            report({
              code: 'no-dummy-interface',
              severity: 'warning',
              message: `this lists neither ${DUMMY_INTERFACE} nor all interfaces: addresses of Services are not compared`,
              place: { file },
              help: 'take all of it: ip -o addr',
            }),
          wrong: (text) => {
            const message = `${JSON.stringify(escapeText(text))} on ${DUMMY_INTERFACE} is not an IP address`;
            if (!failed) fail(file, { code: 'not-ip-addr', message });
          },
        });
        break;
      }
    }
  }
  if (failed) return undefined;
  return {
    state: canonicalState({
      ...(sets && { sets }),
      ...(virtualServers && { virtualServers }),
      ...(addresses.dummy && { addresses: [...addresses.dummy] }),
    }),
    ...(addresses.interfaces && { interfaces: addresses.interfaces }),
  };
}

/** Addresses and members in the text that the kernel prints, so that equal ones are equal texts. */
export function canonicalState(state: IpvsState): IpvsState {
  const { sets, virtualServers, addresses } = state;
  return {
    ...state,
    ...(sets && {
      sets: sets.map((set) => ({
        ...set,
        members: set.members.map((member) => ({ ...member, entry: canonicalMember(set.type, member.entry) })),
      })),
    }),
    ...(virtualServers && { virtualServers: virtualServers.map(withCounts) }),
    ...(addresses && { addresses: addresses.map((text) => canonicalAddress(text) ?? text) }),
  };
}

/** How many connections a real server has says whether it can be taken away at once. */
function withCounts(server: VirtualServer): VirtualServer {
  const canonical = canonicalVirtualServer(server);
  return {
    ...canonical,
    realServers: canonical.realServers.map((real, index) => {
      const { activeConnections, inactiveConnections } = server.realServers[index] ?? real;
      return {
        ...real,
        ...(activeConnections === undefined ? {} : { activeConnections }),
        ...(inactiveConnections === undefined ? {} : { inactiveConnections }),
      };
    }),
  };
}

interface AddressesFound {
  dummy: Set<string> | undefined;
  interfaces: NetworkInterface[] | undefined;
}

function addAddresses(
  found: AddressesFound,
  interfaces: readonly { readonly name: string; readonly addresses: readonly string[] }[],
  isBatch: boolean,
  { incomplete, wrong }: { readonly incomplete: () => void; readonly wrong: (text: string) => void },
): void {
  const dummy = interfaces.find(({ name }) => name === DUMMY_INTERFACE);
  // `ip -o addr` leaves out what has no address, so a listing that has lo is one of all interfaces.
  const isWhole = isBatch || interfaces.some(({ name }) => name === 'lo');
  if (dummy === undefined && !isWhole) incomplete();
  if (dummy !== undefined || isWhole) {
    found.dummy ??= new Set();
    for (const text of dummy?.addresses ?? []) {
      const address = text.replace(/\/\d+$/, '');
      if (canonicalAddress(address) === undefined) wrong(text);
      else found.dummy.add(address);
    }
  }
  if (isBatch || !isWhole) return;
  found.interfaces ??= [];
  for (const { name, addresses } of interfaces) {
    if (name === DUMMY_INTERFACE || name === 'lo') continue;
    const ips = addresses.flatMap((text) => parseIP(text.replace(/\/\d+$/, '')) ?? []);
    if (ips.length > 0) found.interfaces.push({ name, addresses: ips });
  }
}

/** Reports what a parser said; true where the text is not what it should be. */
function tell(problems: readonly IpvsProblem[], file: string, report: Report): boolean {
  for (const { code, severity, message, line, help } of problems) {
    report({ code, severity, message, place: { file, line }, ...(help === undefined ? {} : { help }) });
  }
  return problems.some(({ severity }) => severity === 'error');
}

function firstTwice<T>(
  before: readonly T[],
  more: readonly T[],
  key: (item: T) => string,
): string | undefined {
  const known = new Set(before.map(key));
  return more.map(key).find((each) => known.has(each));
}

function givenTwice(what: string): Omit<Diagnostic, 'severity'> {
  return {
    code: 'listing-given-twice',
    message: `${what} was given already`,
    help: 'the files of one side are one node: give each listing once',
  };
}
