/* `10.96.0.1:443`, `[fd00::1]:53`, `node.example:http`: addresses with ports, as ipvsadm writes them. */
import { canonicalAddress } from './addresses.ts';
import { parsePort } from './services.ts';

export interface AddressAndPort {
  readonly address: string;
  readonly port: number;
  /** The address is a name that only the host that wrote it can resolve. */
  readonly isName: boolean;
}

/** Undefined where it is neither, or has no port and none is given for that. */
export function parseAddressAndPort(text: string, defaultPort?: number): AddressAndPort | undefined {
  const [, bracketed, plain, portText] = /^(?:\[([^\]]*)\]|([^:[\]]+))(?::([^:]+))?$/.exec(text) ?? [];
  const written = bracketed ?? plain;
  const port = portText === undefined ? defaultPort : decimalPort(portText);
  if (written === undefined || port === undefined) return undefined;
  const address = canonicalAddress(written);
  if (address !== undefined && address.includes(':') === (bracketed !== undefined))
    return { address, port, isName: false };
  const isName = /^[A-Za-z_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_.])?$/.test(written);
  return isName ? { address: written, port, isName } : undefined;
}

/** ipvsadm takes a port with leading zeros for decimal: `080` is 80. */
function decimalPort(text: string): number | undefined {
  return parsePort(/^0+\d+$/.test(text) ? text.replace(/^0+(?=\d)/, '') : text);
}

/** `10.0.0.1:80`, `[fd00::1]:80` */
export function printAddressAndPort(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
