import type { Report } from '../diagnostics.ts';
import type { EndpointSlice } from './endpoint-slice.ts';
import { report as reportAt } from './fields.ts';
import type { KubeProxyVersion } from './kube-proxy-version.ts';

/**
 * Versions that write endpoint addresses as they were given write an IPv4-mapped one (`::ffff:10.0.0.1`) into
 * IPv4 rules, where iptables takes no IPv6 address.
 */
export function reportMappedEndpoints(
  slices: Iterable<readonly EndpointSlice[]>,
  version: KubeProxyVersion,
  report: Report,
): void {
  if (version.behaviour.endpointAddress === 'canonical') return;
  for (const slice of [...slices].flat()) {
    for (const { address, canonicalAddress, family, index } of slice.endpoints) {
      if (address === canonicalAddress || family !== 'IPv4' || !address.includes(':')) continue;
      reportAt(
        { object: `EndpointSlice ${slice.namespace}/${slice.name}`, origin: slice.origin, report },
        'error',
        'mapped-address',
        ['endpoints', index, 'addresses', 0],
        `kube-proxy ${version.text} writes ${address} as it is, which iptables does not take: its rules would not load`,
        `write ${canonicalAddress}`,
      );
    }
  }
}
