import type { Target } from './extensions/index.ts';
import type { Table } from './ruleset.ts';

/** Targets of iptables-extensions(8) that can stand without an option, and so look like jumps to a chain. */
const EXTENSIONS = new Set(
  `AUDIT CHECKSUM CLASSIFY CLUSTERIP CONNMARK CONNSECMARK CT DNAT DNPT DSCP ECN HL HMARK IDLETIMER LED LOG MARK
  MASQUERADE NETMAP NFLOG NFQUEUE NOTRACK RATEEST REDIRECT REJECT SECMARK SET SNAT SNPT SYNPROXY TCPMSS
  TCPOPTSTRIP TEE TOS TPROXY TRACE TTL ULOG`.split(/\s+/),
);

/**
 * Chains that rules of the table jump to and that the table does not declare, each once. iptables-restore refuses
 * such a table, unless it runs with --noflush and the kernel has the chain already.
 */
export function undeclaredJumps({ chains }: Table): string[] {
  const declared = new Set(chains.filter((chain) => chain.declared !== false).map(({ name }) => name));
  const undeclared = new Set<string>();
  // The parser makes one target of several in a row that are the same.
  let last: Target | undefined;
  for (const { rules } of chains) {
    for (const { target } of rules) {
      if (target?.kind !== 'jump' || target === last) continue;
      last = target;
      if (declared.has(target.chain) || EXTENSIONS.has(target.chain)) continue;
      undeclared.add(target.chain);
    }
  }
  return [...undeclared];
}
