/** What kp-compile writes in ipvs mode beside the rules, each as a text for the tool that applies it. */
import type { Compilation, IpvsArtefacts } from '../compile/index.ts';
import type { IPFamily } from '../kube/index.ts';
import { printAddrBatch, printIpsetRestore, printIpvsadmRestore } from '../netfilter/index.ts';
import { commentHead } from './artefacts.ts';

/** The dummy interface that holds the addresses of Services; it stays down. */
export const DUMMY_INTERFACE = 'kube-ipvs0';

/** File names of what --out-dir writes. */
export const IPVS_FILES = {
  ipset: 'ipset.restore',
  ipvsadm: 'ipvsadm.restore',
  addr: 'kube-ipvs0.batch',
  sysctl: 'sysctl.conf',
} as const;

export type IpvsArtefact = keyof typeof IPVS_FILES;

/**
 * The text of one of them. `ipset restore`, `ip -batch` and `sysctl -p` pass over comments; `ipvsadm -R` ends at
 * one (ipvsadm 1.31), so its text has no head, but where addresses in it were invented: nobody should load those.
 */
export function ipvsText(
  compilation: Compilation,
  ipvs: IpvsArtefacts,
  artefact: IpvsArtefact,
  families: readonly IPFamily[],
): string {
  switch (artefact) {
    case 'ipset':
      return (
        commentHead(compilation, 'for ipset restore; may be run again') +
        printIpsetRestore(families.flatMap((family) => ipvs.sets[family]))
      );
    case 'ipvsadm':
      return (
        (compilation.invented.length > 0 ? commentHead(compilation, 'ipvsadm -R refuses this') : '') +
        printIpvsadmRestore(families.flatMap((family) => ipvs.virtualServers[family]))
      );
    case 'addr':
      return (
        commentHead(
          compilation,
          'for ip -batch; where the interface is there already, leave out the line that adds it',
        ) +
        printAddrBatch(
          DUMMY_INTERFACE,
          families.flatMap((family) => ipvs.addresses[family]),
        )
      );
    case 'sysctl':
      return commentHead(compilation, ...sysctlNotes(ipvs)) + sysctlLines(ipvs);
  }
}

function sysctlLines({ sysctls }: IpvsArtefacts): string {
  return sysctls.map(({ name, value }) => `${name} = ${value}\n`).join('');
}

function sysctlNotes(ipvs: IpvsArtefacts): string[] {
  const timeouts = timeoutsCommand(ipvs);
  return [
    'for sysctl -p, once ip_vs is loaded',
    ...(timeouts === undefined ? [] : [`timeouts are no sysctls: ${timeouts}`]),
  ];
}

/** `ipvsadm --set 900 120 300`, where a 0 leaves a timeout as it is; undefined where all are left. */
export function timeoutsCommand({ timeouts }: IpvsArtefacts): string | undefined {
  const { tcp, tcpFin, udp } = timeouts;
  return tcp + tcpFin + udp === 0 ? undefined : `ipvsadm --set ${tcp} ${tcpFin} ${udp}`;
}
