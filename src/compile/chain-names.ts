import { createHash } from 'node:crypto';

/**
 * Names of the chains that kube-proxy makes for service ports and endpoints. They are frozen: a node's dump
 * is compared with them. Source: servicePortChainSuffix and servicePortEndpointChainName of kube-proxy 1.19+.
 */

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const SUFFIX_BYTES = 10;

/** The first 16 characters of base32(sha256(text)): ten bytes of the hash. */
export function chainSuffix(text: string): string {
  const digest = createHash('sha256').update(text).digest();
  let suffix = '';
  for (let at = 0; at < SUFFIX_BYTES; at += 5) {
    const [a = 0, b = 0, c = 0, d = 0, e = 0] = digest.subarray(at, at + 5);
    suffix += BASE32.charAt(a >> 3);
    suffix += BASE32.charAt(((a & 7) << 2) | (b >> 6));
    suffix += BASE32.charAt((b >> 1) & 31);
    suffix += BASE32.charAt(((b & 1) << 4) | (c >> 4));
    suffix += BASE32.charAt(((c & 15) << 1) | (d >> 7));
    suffix += BASE32.charAt((d >> 2) & 31);
    suffix += BASE32.charAt(((d & 3) << 3) | (e >> 5));
    suffix += BASE32.charAt(e & 31);
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
