/* The one form of a virtual server, for comparing: what the kernel keeps, without what is the same in other words. */
import { canonicalAddress } from './addresses.ts';
import { isWholeMask, maskOf } from './ipvs-restore.ts';
import type { IpvsService, RealServer, VirtualServer } from './ipvs-types.ts';

/**
 * Addresses in their canonical text, no mask of a single address, flags of mh and sh by name and in the order in
 * which ipvsadm prints them, no thresholds of 0 and no counts of connections. The order of real servers is kept.
 */
export function canonicalVirtualServer(virtualServer: VirtualServer): VirtualServer {
  const { service, scheduler, persistentSeconds, persistenceEngine, flags, realServers } = virtualServer;
  const mask = maskOf(virtualServer.persistentMask ?? '');
  return {
    service: canonicalService(service),
    scheduler,
    ...(persistentSeconds !== undefined && { persistentSeconds }),
    ...(persistentSeconds !== undefined &&
      mask !== undefined &&
      !isWholeMask(mask) && { persistentMask: mask }),
    ...(persistenceEngine !== undefined && { persistenceEngine }),
    flags: canonicalFlags(scheduler, flags),
    realServers: realServers.map(canonicalRealServer),
  };
}

function canonicalService(service: IpvsService): IpvsService {
  if (service.by === 'mark') return service;
  return { ...service, address: canonicalAddress(service.address) ?? service.address };
}

function canonicalRealServer(server: RealServer): RealServer {
  const { address, port, method, weight, upperThreshold = 0, lowerThreshold = 0, tunnel } = server;
  const plain = tunnel === undefined || tunnel.join(' ') === '--tun-type ipip';
  return {
    address: canonicalAddress(address) ?? address,
    port,
    method,
    weight,
    ...(upperThreshold !== 0 && { upperThreshold }),
    ...(lowerThreshold !== 0 && { lowerThreshold }),
    ...(!plain && { tunnel }),
  };
}

/** In the order in which ipvsadm prints them, each with the number that it has for other schedulers. */
const FLAGS = ['fallback', 'port', '3'] as const;

/** `mh-port,flag-1` of mh → `mh-fallback`, `mh-port`; `ops` first. mh and sh have no third flag. */
function canonicalFlags(scheduler: string, flags: readonly string[]): readonly string[] {
  const named = scheduler === 'mh' || scheduler === 'sh';
  const found = new Set(
    flags.map((flag) => {
      const number = /^flag-([123])$/.exec(flag)?.[1];
      const part = number === undefined ? undefined : FLAGS[Number(number) - 1];
      return named && part !== undefined ? `${scheduler}-${part}` : flag;
    }),
  );
  const order = ['ops', ...(named ? [`${scheduler}-fallback`, `${scheduler}-port`] : [])];
  if (named) found.delete(`${scheduler}-3`);
  const known = order.filter((flag) => found.has(flag));
  return [...known, ...[...found].filter((flag) => !order.includes(flag)).sort()];
}
