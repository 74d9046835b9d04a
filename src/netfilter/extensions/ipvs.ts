import { canonicalNetworkOrHost, parseCNumber } from '../addresses.ts';
import { protocolNumber } from '../protocols.ts';
import { parsePort } from '../services.ts';
import { saveWord } from '../words.ts';
import type { GivenOption, MatchExtension } from './extension.ts';
import { saveOption } from './extension.ts';

/** `-m ipvs`: the virtual server that a packet belongs to (kube-proxy's KUBE-IPVS-OUT-FILTER). */
export interface IpvsMatch {
  readonly kind: 'ipvs';
  readonly ipvs?: { readonly negated: boolean };
  readonly protocol?: { readonly negated: boolean; readonly protocol: string };
  readonly address?: { readonly negated: boolean; readonly address: string; readonly prefix?: string };
  readonly port?: { readonly negated: boolean; readonly port: number };
  readonly direction?: { readonly negated: boolean; readonly direction: 'ORIGINAL' | 'REPLY' };
  readonly method?: { readonly negated: boolean; readonly method: 'GATE' | 'IPIP' | 'MASQ' };
  readonly controlPort?: { readonly negated: boolean; readonly port: number };
}

type Draft = { -readonly [K in keyof IpvsMatch]: IpvsMatch[K] };

export const ipvs: MatchExtension<IpvsMatch> = {
  name: 'ipvs',
  options: {
    '--ipvs': { values: 0, negatable: true },
    '--vproto': { values: 1, negatable: true },
    '--vaddr': { values: 1, negatable: true },
    '--vport': { values: 1, negatable: true },
    '--vdir': { values: 1 },
    '--vmethod': { values: 1, negatable: true },
    '--vportctl': { values: 1, negatable: true },
  },
  parse(given) {
    const match: Draft = { kind: 'ipvs' };
    if (!given.every((option) => readOption(match, option))) return undefined;
    // `--ipvs` says nothing beside other options, and iptables-save prints it only where it stands alone.
    if (match.ipvs !== undefined && given.length > 1) {
      if (match.ipvs.negated) return undefined;
      delete match.ipvs;
    }
    return match;
  },
  save: (match) =>
    saveOption('--ipvs', match.ipvs, '') +
    saveOption('--vproto', match.protocol, savedProtocol(match.protocol?.protocol ?? '')) +
    saveOption('--vaddr', match.address, savedAddress(match.address)) +
    rest(match),
  // kube-proxy's order (KUBE-IPVS-OUT-FILTER of 1.36): the address first, the protocol by name.
  restore: (match) =>
    saveOption('--ipvs', match.ipvs, '') +
    saveOption('--vaddr', match.address, writtenAddress(match.address)) +
    saveOption('--vproto', match.protocol, saveWord(match.protocol?.protocol ?? '')) +
    rest(match),
};

function rest(match: IpvsMatch): string {
  return (
    saveOption('--vport', match.port, String(match.port?.port)) +
    saveOption('--vdir', match.direction, match.direction?.direction ?? '') +
    saveOption('--vmethod', match.method, match.method?.method ?? '') +
    saveOption('--vportctl', match.controlPort, String(match.controlPort?.port))
  );
}

function readOption(match: Draft, option: GivenOption): boolean {
  const { negated } = option;
  const text = option.values[0] ?? '';
  const word = text.toUpperCase();
  const port = parsePort(text);
  switch (option.name) {
    case '--ipvs':
      match.ipvs = { negated };
      return true;
    case '--vproto':
      match.protocol = { negated, protocol: text };
      return protocolNumber(text) !== undefined;
    case '--vaddr': {
      const [address = '', ...prefix] = text.split('/');
      match.address = { negated, address, ...(prefix.length > 0 && { prefix: prefix.join('/') }) };
      return true;
    }
    case '--vdir':
      if (word !== 'ORIGINAL' && word !== 'REPLY') return false;
      match.direction = { negated, direction: word };
      return true;
    case '--vmethod':
      if (word !== 'GATE' && word !== 'IPIP' && word !== 'MASQ') return false;
      match.method = { negated, method: word };
      return true;
    default:
      if (port === undefined) return false;
      if (option.name === '--vport') match.port = { negated, port };
      else match.controlPort = { negated, port };
      return true;
  }
}

function savedProtocol(protocol: string): string {
  const number = protocolNumber(protocol) ?? parseCNumber(protocol, 255);
  return number === undefined ? saveWord(protocol) : String(number);
}

function savedAddress(address: IpvsMatch['address']): string {
  return address === undefined ? '' : saveWord(canonicalNetworkOrHost(address.address, address.prefix));
}

function writtenAddress(address: IpvsMatch['address']): string {
  if (address === undefined) return '';
  return saveWord(address.prefix === undefined ? address.address : `${address.address}/${address.prefix}`);
}
