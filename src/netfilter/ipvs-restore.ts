/* The lines of `ipvsadm -S` and `ipvsadm -R`: commands that are carried out one after the other. */
import { canonicalAddress, parseCNumber } from './addresses.ts';
import { type AddressAndPort, parseAddressAndPort } from './ipvs-addresses.ts';
import {
  putRealServer,
  putVirtualServer,
  removeRealServer,
  removeVirtualServer,
  type VirtualServerDraft,
  type VirtualServerDrafts,
  virtualServerOf,
} from './ipvs-draft.ts';
import { type IpvsadmOptions, readOptions } from './ipvs-options.ts';
import type { IpvsService, RealServer } from './ipvs-types.ts';
import { report } from './problems.ts';

const COMMANDS = ['A', 'E', 'D', 'C', 'a', 'e', 'd', 'Z'] as const;

/** What ipvsadm 1.31 takes where nothing is given. */
const DEFAULT_SCHEDULER = 'wlc';
const DEFAULT_PERSISTENCE = 360;
export const MOST_SECONDS = 31 * 24 * 60 * 60;
export const MOST_WEIGHT = 65535;

/** Names of schedulers, flags and engines. */
export const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;

/** Carries out one line; false where it is no command of ipvsadm. */
export function readRestoreLine(line: string, drafts: VirtualServerDrafts): boolean {
  const words = line
    .trim()
    .replace(/^(?:sudo\s+)?(?:\/\S+\/)?ipvsadm\s+/, '')
    .split(/\s+/);
  const options = readOptions(words);
  if (options === undefined) return false;
  const given = COMMANDS.filter((name) => options.values.has(name));
  const command = given[0];
  if (command === undefined || given.length > 1) return false;
  if (command === 'C') {
    drafts.byKey.clear();
    return true;
  }
  if (command === 'Z') return true;
  const service = serviceOf(options, drafts);
  if (service === undefined) return false;
  switch (command) {
    case 'A':
    case 'E': {
      const head = headOf(service, options);
      if (head !== undefined) putVirtualServer(drafts, head, command === 'E');
      return head !== undefined;
    }
    case 'D':
      removeVirtualServer(drafts, service);
      return true;
    default: {
      const port = service.by === 'address' ? service.port : 0;
      const address = addressOf(options.values.get('r'), drafts, port);
      if (address === undefined) return false;
      const draft = virtualServerOf(drafts, service);
      if (command !== 'd') return withRealServer(address, options, command === 'e', draft, drafts);
      if (draft !== undefined) removeRealServer(draft, address.address, address.port);
      return true;
    }
  }
}

function withRealServer(
  address: AddressAndPort,
  options: IpvsadmOptions,
  edit: boolean,
  draft: VirtualServerDraft | undefined,
  drafts: VirtualServerDrafts,
): boolean {
  const server = realServerOf(address, options);
  if (server !== undefined && draft !== undefined) putRealServer(drafts, draft, server, edit);
  return server !== undefined;
}

/** The one service that the options name. */
function serviceOf({ values }: IpvsadmOptions, drafts: VirtualServerDrafts): IpvsService | undefined {
  const given = (['t', 'u', 'sctp-service', 'f'] as const).filter((name) => values.has(name));
  const key = given[0];
  if (key === undefined || given.length > 1) return undefined;
  if (key === 'f') {
    const mark = parseCNumber(values.get('f') ?? '', 0xffffffff);
    return mark === undefined || mark === 0 ? undefined : { by: 'mark', mark, ipv6: values.has('6') };
  }
  const found = addressOf(values.get(key), drafts, 0);
  if (found === undefined) return undefined;
  const protocol = key === 't' ? 'tcp' : key === 'u' ? 'udp' : 'sctp';
  return { by: 'address', protocol, address: found.address, port: found.port };
}

function addressOf(
  text: string | undefined,
  drafts: VirtualServerDrafts,
  defaultPort: number,
): AddressAndPort | undefined {
  const found = text === undefined ? undefined : parseAddressAndPort(text, defaultPort);
  if (found?.isName === true) noteHostName(found.address, drafts);
  return found;
}

export function noteHostName(name: string, drafts: VirtualServerDrafts): void {
  report(
    drafts.problems,
    'host-name',
    'warning',
    `${name} is a name, of which nothing here tells the address`,
    'take addresses as numbers: ipvsadm -Sn',
  );
}

function headOf(service: IpvsService, { values }: IpvsadmOptions): VirtualServerDraft['head'] | undefined {
  const persistence = values.get('p');
  const seconds =
    persistence === undefined
      ? undefined
      : parseCNumber(persistence === '' ? String(DEFAULT_PERSISTENCE) : persistence, MOST_SECONDS);
  if (persistence !== undefined && seconds === undefined) return undefined;
  const mask = values.get('M');
  if (mask !== undefined && maskOf(mask) === undefined) return undefined;
  const flags = (values.get('b') ?? '').split(',').filter((flag) => flag !== '');
  const engine = values.get('pe');
  const scheduler = values.get('s') ?? DEFAULT_SCHEDULER;
  if (![scheduler, engine ?? 'sip', ...flags].every((name) => NAME.test(name))) return undefined;
  const canonicalMask = mask === undefined ? undefined : maskOf(mask);
  return {
    service,
    scheduler,
    ...(seconds !== undefined && { persistentSeconds: seconds }),
    ...(canonicalMask !== undefined && !isWholeMask(canonicalMask) && { persistentMask: canonicalMask }),
    ...(engine !== undefined && { persistenceEngine: engine }),
    flags: values.has('o') ? ['ops', ...flags] : flags,
  };
}

/** A dotted mask of IPv4, a prefix length of IPv6. */
export function maskOf(text: string): string | undefined {
  if (text.includes('.')) return text.includes(':') ? undefined : canonicalAddress(text);
  const length = parseCNumber(text, 128);
  return length === undefined ? undefined : String(length);
}

/** ipvsadm prints no mask of a single address. */
export function isWholeMask(mask: string): boolean {
  return mask === '255.255.255.255' || mask === '128';
}

function realServerOf(
  { address, port }: AddressAndPort,
  { values, tunnel }: IpvsadmOptions,
): RealServer | undefined {
  const weight = parseCNumber(values.get('w') ?? '1', MOST_WEIGHT);
  const upper = parseCNumber(values.get('x') ?? '0', 0xffffffff);
  const lower = parseCNumber(values.get('y') ?? '0', 0xffffffff);
  if (weight === undefined || upper === undefined || lower === undefined) return undefined;
  if (!tunnel.every((word) => NAME.test(word.replace(/^--/, '')))) return undefined;
  const method = values.has('m') ? 'masquerade' : values.has('i') ? 'tunneling' : 'gatewaying';
  return {
    address,
    port,
    method,
    weight,
    ...(upper !== 0 && { upperThreshold: upper }),
    ...(lower !== 0 && { lowerThreshold: lower }),
    ...(tunnel.length > 0 && { tunnel }),
  };
}
