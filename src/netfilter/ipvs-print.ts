/*
 * Virtual servers as `ipvsadm -R` takes them, in the very words of `ipvsadm -Sn` (ipvsadm 1.31), which prints no
 * `-M` of a single address. `ipvsadm -R` has no word for "if it is not there": a second run complains of each line
 * and changes nothing, and its exit code is that of its last line. It ends at a comment; empty lines are fine.
 */
import { printAddressAndPort } from './ipvs-addresses.ts';
import { isWholeMask } from './ipvs-restore.ts';
import type { IpvsService, RealServer, VirtualServer } from './ipvs-types.ts';

/**
 * An `-A` line for every virtual server, each followed by the `-a` lines of its real servers, in the order given.
 * Throws a RangeError on a text that would not be read back as one word; parseIpvsadm gives none.
 */
export function printIpvsadmRestore(virtualServers: readonly VirtualServer[]): string {
  let text = '';
  for (const virtualServer of virtualServers) {
    text += `-A ${virtualServerWords(virtualServer)}\n`;
    for (const realServer of virtualServer.realServers)
      text += `-a ${realServerWords(virtualServer.service, realServer)}\n`;
  }
  return text;
}

/** `-t 10.96.0.1:443`, `--sctp-service [fd00::1]:80`, `-f 8 -6`: as it stands behind -A, -a, -D … */
export function serviceWords(service: IpvsService): string {
  if (service.by === 'mark') return `-f ${service.mark}${service.ipv6 ? ' -6' : ''}`;
  const option = { tcp: '-t', udp: '-u', sctp: '--sctp-service' }[service.protocol];
  return `${option} ${word(printAddressAndPort(service.address, service.port))}`;
}

/** What stands behind -A or -E: `-t 10.96.0.1:443 -s rr -p 10800`. */
export function virtualServerWords(virtualServer: VirtualServer): string {
  const { service, scheduler, persistentSeconds, persistentMask, persistenceEngine, flags } = virtualServer;
  const words = [serviceWords(service), '-s', word(scheduler)];
  if (persistentSeconds !== undefined) words.push('-p', String(persistentSeconds));
  if (persistentMask !== undefined && !isWholeMask(persistentMask)) words.push('-M', word(persistentMask));
  if (persistenceEngine !== undefined) words.push('--pe', word(persistenceEngine));
  if (flags.includes('ops')) words.push('-o');
  const schedulerFlags = flags.filter((flag) => flag !== 'ops');
  if (schedulerFlags.length > 0) words.push('-b', word(schedulerFlags.join(',')));
  return words.join(' ');
}

/** What stands behind -a or -e: `-t 10.96.0.1:443 -r 192.168.0.2:6443 -m -w 1`. */
export function realServerWords(service: IpvsService, realServer: RealServer): string {
  const { address, port, method, weight, upperThreshold = 0, lowerThreshold = 0, tunnel = [] } = realServer;
  const option = { masquerade: '-m', gatewaying: '-g', tunneling: '-i' }[method];
  const words = [serviceWords(service), '-r', word(printAddressAndPort(address, port)), option];
  words.push('-w', String(weight), ...tunnel.map(word));
  if (upperThreshold !== 0) words.push('-x', String(upperThreshold));
  if (lowerThreshold !== 0) words.push('-y', String(lowerThreshold));
  return words.join(' ');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const BREAKS_A_WORD = /[\s"'\\\u0000-\u001f]/;

function word(text: string): string {
  if (text === '' || BREAKS_A_WORD.test(text))
    throw new RangeError(`ipvsadm cannot take the word ${JSON.stringify(text)}`);
  return text;
}
