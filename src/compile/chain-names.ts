import { hash } from 'node:crypto';

/**
 * Names of the chains that kube-proxy makes for service ports and endpoints. They are frozen: a node's dump
 * is compared with them. Source: servicePortChainSuffix and servicePortEndpointChainName of kube-proxy 1.19+.
 */

/** Character codes of the 32 digits. */
const DIGITS: readonly number[] = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'].map((digit) => digit.charCodeAt(0));

const SUFFIX_LENGTH = 16;

/**
 * A function that puts the first 16 characters of base32(sha256(text)), ten bytes of the hash, behind a prefix.
 * The name is made in one piece from its characters: names joined from parts took three times as long here,
 * and cost again wherever they were compared and written (a large cluster has 100,000).
 */
function namesBehind(prefix: string): (text: string) => string {
  const codes = [...prefix, ...'-'.repeat(SUFFIX_LENGTH)].map((character) => character.charCodeAt(0));
  return (text) => {
    const digest = hash('sha256', text, 'binary');
    let at = prefix.length;
    let bits = 0;
    let count = 0;
    for (let byte = 0; at < codes.length; byte++) {
      bits = ((bits << 8) | digest.charCodeAt(byte)) & 0xffff;
      for (count += 8; count >= 5; at++) {
        count -= 5;
        codes[at] = DIGITS[(bits >> count) & 31] ?? 0;
      }
    }
    return String.fromCharCode(...codes);
  };
}

/** The first 16 characters of base32(sha256(text)). */
export const chainSuffix = namesBehind('');

/** What names of endpoint chains start with. */
export const ENDPOINT_PREFIX = 'KUBE-SEP-';

const endpointName = namesBehind(ENDPOINT_PREFIX);

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
  return endpointName(servicePortName + protocol + destination);
}
