import type { Family } from '../family.ts';
import { saveWord } from '../words.ts';
import type { TargetExtension } from './extension.ts';

export interface RejectTarget {
  readonly kind: 'REJECT';
  /** undefined: the family's default, port unreachable. */
  readonly with?: string;
}

const DEFAULT: Readonly<Record<Family, string>> = {
  ipv4: 'icmp-port-unreachable',
  ipv6: 'icmp6-port-unreachable',
};

/** Short names of both families' types; iptables-save prints the long ones. */
const LONG_NAMES = new Map([
  ['net-unreach', 'icmp-net-unreachable'],
  ['host-unreach', 'icmp-host-unreachable'],
  ['proto-unreach', 'icmp-proto-unreachable'],
  ['port-unreach', DEFAULT.ipv4],
  ['net-prohib', 'icmp-net-prohibited'],
  ['host-prohib', 'icmp-host-prohibited'],
  ['admin-prohib', 'icmp-admin-prohibited'],
  ['tcp-rst', 'tcp-reset'],
  ['no-route', 'icmp6-no-route'],
  ['adm-prohibited', 'icmp6-adm-prohibited'],
  ['addr-unreach', 'icmp6-addr-unreachable'],
  ['policy-fail', 'icmp6-policy-fail'],
  ['reject-route', 'icmp6-reject-route'],
]);

export const reject: TargetExtension<RejectTarget> = {
  name: 'REJECT',
  options: { '--reject-with': { values: 1 } },
  parse(given) {
    const written = given[0]?.values[0];
    if (written === undefined) return { kind: 'REJECT' };
    const type = LONG_NAMES.get(written) ?? written;
    // Neither family takes the other's default, so that the family need not be known here.
    return type === DEFAULT.ipv4 || type === DEFAULT.ipv6
      ? { kind: 'REJECT' }
      : { kind: 'REJECT', with: type };
  },
  save: (target, family) => ` --reject-with ${saveWord(target.with ?? DEFAULT[family])}`,
  restore: (target) => (target.with === undefined ? '' : ` --reject-with ${saveWord(target.with)}`),
};
