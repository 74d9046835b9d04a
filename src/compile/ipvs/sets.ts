import type { IPFamily } from '../../kube/index.ts';
import type { IpSet, IpSetMember } from '../../netfilter/index.ts';

/** The IP sets of ipvs mode. Source: ipsetInfo of kube-proxy's ipvs proxier. */

interface SetDefinition {
  readonly type: 'hash:ip,port,ip' | 'hash:ip,port' | 'hash:ip,port,net' | 'hash:ip' | 'bitmap:port';
  /** Comment of the rules that match the set. */
  readonly comment: string;
}

export const SETS = {
  'KUBE-LOOP-BACK': {
    type: 'hash:ip,port,ip',
    comment: 'Kubernetes endpoints dst ip:port, source ip for solving hairpin purpose',
  },
  'KUBE-CLUSTER-IP': {
    type: 'hash:ip,port',
    comment: 'Kubernetes service cluster ip + port for masquerade purpose',
  },
  'KUBE-EXTERNAL-IP': {
    type: 'hash:ip,port',
    comment: 'Kubernetes service external ip + port for masquerade and filter purpose',
  },
  'KUBE-EXTERNAL-IP-LOCAL': {
    type: 'hash:ip,port',
    comment: 'Kubernetes service external ip + port with externalTrafficPolicy=local',
  },
  'KUBE-LOAD-BALANCER': { type: 'hash:ip,port', comment: 'Kubernetes service lb portal' },
  'KUBE-LOAD-BALANCER-FW': {
    type: 'hash:ip,port',
    comment: 'Kubernetes service load balancer ip + port for load balancer with sourceRange',
  },
  'KUBE-LOAD-BALANCER-LOCAL': {
    type: 'hash:ip,port',
    comment: 'Kubernetes service load balancer ip + port with externalTrafficPolicy=local',
  },
  'KUBE-LOAD-BALANCER-SOURCE-IP': {
    type: 'hash:ip,port,ip',
    comment: 'Kubernetes service load balancer ip + port + source IP for packet filter purpose',
  },
  'KUBE-LOAD-BALANCER-SOURCE-CIDR': {
    type: 'hash:ip,port,net',
    comment: 'Kubernetes service load balancer ip + port + source cidr for packet filter purpose',
  },
  'KUBE-NODE-PORT-TCP': {
    type: 'bitmap:port',
    comment: 'Kubernetes nodeport TCP port for masquerade purpose',
  },
  'KUBE-NODE-PORT-LOCAL-TCP': {
    type: 'bitmap:port',
    comment: 'Kubernetes nodeport TCP port with externalTrafficPolicy=local',
  },
  'KUBE-NODE-PORT-UDP': {
    type: 'bitmap:port',
    comment: 'Kubernetes nodeport UDP port for masquerade purpose',
  },
  'KUBE-NODE-PORT-LOCAL-UDP': {
    type: 'bitmap:port',
    comment: 'Kubernetes nodeport UDP port with externalTrafficPolicy=local',
  },
  'KUBE-NODE-PORT-SCTP-HASH': {
    type: 'hash:ip,port',
    comment: "Kubernetes nodeport SCTP port for masquerade purpose with type 'hash ip:port'",
  },
  'KUBE-NODE-PORT-LOCAL-SCTP-HASH': {
    type: 'hash:ip,port',
    comment: "Kubernetes nodeport SCTP port with externalTrafficPolicy=local with type 'hash ip:port'",
  },
  'KUBE-HEALTH-CHECK-NODE-PORT': { type: 'bitmap:port', comment: 'Kubernetes health check node port' },
  'KUBE-IPVS-IPS': { type: 'hash:ip', comment: 'Addresses on the ipvs interface' },
} as const satisfies Readonly<Record<string, SetDefinition>>;

export type SetName = keyof typeof SETS;

export const SET_NAMES: readonly SetName[] = Object.keys(SETS) as SetName[];

/** The kernel's limit for names of sets (IPSET_MAXNAMELEN is 32 with the final NUL). */
const MAX_NAME = 31;

/** IPv6 sets are named apart, and names that get too long by that are cut. */
export function setName(name: SetName, family: IPFamily): string {
  return family === 'IPv4' ? name : name.replace('KUBE-', 'KUBE-6-').slice(0, MAX_NAME);
}

/** Entries by set, each once, in the order of first mention. */
export type SetEntries = ReadonlyMap<SetName, ReadonlySet<string>>;

/** The sets of a family, empty ones too, as kube-proxy creates them. */
export function ipSets(names: readonly SetName[], entries: SetEntries, family: IPFamily): IpSet[] {
  return names.map((name) => {
    const { type } = SETS[name];
    const options =
      type === 'bitmap:port'
        ? [{ name: 'range', value: '0-65535' }]
        : [
            { name: 'family', value: family === 'IPv4' ? 'inet' : 'inet6' },
            { name: 'hashsize', value: '1024' },
            { name: 'maxelem', value: '65536' },
          ];
    const members = [...(entries.get(name) ?? [])]
      .filter(isTakenByKernel)
      .map((entry): IpSetMember => ({ entry, options: [] }));
    return { name: setName(name, family), type, options, members };
  });
}

/** A network of prefix 0 cannot be a member of a hash; kube-proxy logs that and goes on without it. */
function isTakenByKernel(entry: string): boolean {
  return !entry.endsWith('/0');
}
