/* Virtual servers while they are being read: commands change them one after the other, as `ipvsadm -R` does. */
import { printAddressAndPort } from './ipvs-addresses.ts';
import type { IpvsProblems } from './ipvs-problems.ts';
import type { IpvsService, RealServer, VirtualServer } from './ipvs-types.ts';
import { report } from './problems.ts';

export interface VirtualServerDraft {
  /** All but the real servers. */
  head: Omit<VirtualServer, 'realServers'>;
  readonly realServers: Map<string, RealServer>;
}

export interface VirtualServerDrafts {
  readonly byKey: Map<string, VirtualServerDraft>;
  readonly problems: IpvsProblems;
}

/** What tells one virtual server from another, in words: `10.96.0.1:443/tcp`, `mark 7`, `mark 7 (IPv6)`. */
export function serviceKey(service: IpvsService): string {
  return service.by === 'address'
    ? `${printAddressAndPort(service.address, service.port)}/${service.protocol}`
    : `mark ${service.mark}${service.ipv6 ? ' (IPv6)' : ''}`;
}

/** Adds a virtual server, or with `edit` changes all but the real servers of one that is there. */
export function putVirtualServer(
  drafts: VirtualServerDrafts,
  head: VirtualServerDraft['head'],
  edit: boolean,
): VirtualServerDraft {
  const key = serviceKey(head.service);
  const known = drafts.byKey.get(key);
  if (known !== undefined) {
    if (edit) known.head = head;
    else report(drafts.problems, 'duplicate-virtual-server', 'warning', `${key} is added twice`);
    return known;
  }
  if (edit) undeclared(drafts, key);
  const draft = { head, realServers: new Map<string, RealServer>() };
  drafts.byKey.set(key, draft);
  return draft;
}

export function removeVirtualServer(drafts: VirtualServerDrafts, service: IpvsService): void {
  if (!drafts.byKey.delete(serviceKey(service))) undeclared(drafts, serviceKey(service));
}

/** Adds a real server, or with `edit` replaces one that is there. */
export function putRealServer(
  drafts: VirtualServerDrafts,
  draft: VirtualServerDraft,
  server: RealServer,
  edit: boolean,
): void {
  const key = printAddressAndPort(server.address, server.port);
  if (draft.realServers.has(key) !== edit) {
    const what = edit ? 'is not there to be edited' : 'is added twice';
    report(
      drafts.problems,
      'duplicate-real-server',
      'warning',
      `${serviceKey(draft.head.service)} -> ${key} ${what}`,
    );
    if (!edit) return;
  }
  draft.realServers.set(key, server);
}

export function removeRealServer(draft: VirtualServerDraft, address: string, port: number): void {
  draft.realServers.delete(printAddressAndPort(address, port));
}

export function virtualServerOf(
  drafts: VirtualServerDrafts,
  service: IpvsService,
): VirtualServerDraft | undefined {
  const key = serviceKey(service);
  const draft = drafts.byKey.get(key);
  if (draft === undefined) undeclared(drafts, key);
  return draft;
}

function undeclared(drafts: VirtualServerDrafts, key: string): void {
  report(
    drafts.problems,
    'undeclared-virtual-server',
    'warning',
    `the virtual server ${key} is used and not added here`,
    'take all of them with: ipvsadm -Sn',
  );
}

export function finishedVirtualServers(drafts: VirtualServerDrafts): readonly VirtualServer[] {
  return [...drafts.byKey.values()].map(({ head, realServers }) => ({
    ...head,
    realServers: [...realServers.values()],
  }));
}
