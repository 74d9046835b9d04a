/*
 * Addresses of an interface as input of `ip -batch`.
 *
 * `addr replace` may be run again. There is no such word for the interface: `link add` fails where it exists, `link
 * replace` then says that it is not supported, and `link set` makes none; `ip -force -batch` would go on, and end
 * with 1 all the same. So the line that creates it comes first and can be left out: whoever runs the batch again asks
 * `ip link show dev NAME` first, and takes it without that line where the interface is there.
 */
import { canonicalAddress } from './addresses.ts';

export interface AddrBatchOptions {
  /** Whether the interface is created, as a dummy one that stays down; true by default. */
  readonly create?: boolean;
  /** Addresses that are taken away, before others are put. One that is not there ends the batch. */
  readonly remove?: readonly string[];
}

/**
 * `link add NAME type dummy`, then `addr replace ADDRESS/LENGTH dev NAME` in the order given. An address without a
 * length is a single one. Throws a RangeError on what is no address, and on names that no interface can have.
 */
export function printAddrBatch(
  name: string,
  addresses: readonly string[],
  { create = true, remove = [] }: AddrBatchOptions = {},
): string {
  // dev_valid_name in net/core/dev.c, and nothing that ip reads as an option, a comment or a quotation.
  if (!/^[A-Za-z0-9_][A-Za-z0-9_.@+-]{0,14}$/.test(name))
    throw new RangeError(`no interface can be named ${JSON.stringify(name)}`);
  const lines = [
    ...(create ? [`link add ${name} type dummy`] : []),
    ...remove.map((address) => `addr del ${withLength(address)} dev ${name}`),
    ...addresses.map((address) => `addr replace ${withLength(address)} dev ${name}`),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function withLength(text: string): string {
  const [written = '', length, ...more] = text.split('/');
  const address = canonicalAddress(written);
  const most = address?.includes(':') === true ? 128 : 32;
  const bits = length === undefined ? most : /^\d{1,3}$/.test(length) ? Number(length) : most + 1;
  if (address === undefined || bits > most || more.length > 0)
    throw new RangeError(`${JSON.stringify(text)} is not ADDRESS/LENGTH`);
  return `${address}/${bits}`;
}
