import { hash } from 'node:crypto';

/**
 * Names of the chains that kube-proxy makes for service ports and endpoints. They are frozen: a node's dump
 * is compared with them. Source: servicePortChainSuffix and servicePortEndpointChainName of kube-proxy 1.19+.
 */

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Two characters of base32 for each ten bits. */
const PAIRS: readonly string[] = Array.from(
  { length: 1024 },
  (_, bits) => BASE32.charAt(bits >> 5) + BASE32.charAt(bits & 31),
);

/** The first 16 characters of base32(sha256(text)): ten bytes of the hash, twenty bits at a time. */
export function chainSuffix(text: string): string {
  const digest = hash('sha256', text, 'hex');
  let suffix = '';
  for (let at = 0; at < 20; at += 5) {
    const bits = Number.parseInt(digest.slice(at, at + 5), 16);
    suffix += (PAIRS[bits >> 10] ?? '') + (PAIRS[bits & 1023] ?? '');
  }
  return suffix;
}

export interface ServicePortChains {
  /** Endpoints under traffic policy Cluster. */
  readonly clusterPolicy: string;
  /** Endpoints under traffic policy Local. */
  readonly localPolicy: string;
  /** Traffic from outside of the cluster. */
  readonly external: string;
  /** Source ranges of load-balancer IPs. */
  readonly firewall: string;
}

/** `protocol` in lower case. The IP family plays no part. */
export function servicePortChains(servicePortName: string, protocol: string): ServicePortChains {
  const suffix = chainSuffix(servicePortName + protocol);
  return {
    clusterPolicy: `KUBE-SVC-${suffix}`,
    localPolicy: `KUBE-SVL-${suffix}`,
    external: `KUBE-EXT-${suffix}`,
    firewall: `KUBE-FW-${suffix}`,
  };
}

/** `destination` is `address:port`, as kube-proxy of that version spells it. */
export function endpointChain(servicePortName: string, protocol: string, destination: string): string {
  return `KUBE-SEP-${chainSuffix(servicePortName + protocol + destination)}`;
}
