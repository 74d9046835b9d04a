import { isBefore, type KubeProxyVersion } from '../../../kube/index.ts';
import type { Layout, LayoutChange } from '../layout.ts';
import { NEWEST_LAYOUT } from '../newest-layout.ts';
import { MARK_TAKEN_OFF } from './since-1.19-postrouting.ts';
import { EXTERNAL_SERVICES_FORWARDED, MARK_DROP_ENSURED } from './since-1.20-external-services.ts';
import { EXTERNAL_IPS_FROM_ANYWHERE, HEALTH_CHECK_NODE_PORTS } from './since-1.21-external-ips.ts';
import { AFFINITY_OF_READY_ENDPOINTS, MASQUERADING_IN_SERVICE_CHAINS } from './since-1.22-masquerading.ts';
import { FORWARD_RULE, LOCAL_BALANCING_COMMENTS } from './since-1.23-rule-texts.ts';
import { EXTERNAL_CHAINS } from './since-1.24-external-chains.ts';
import { PROXY_FIREWALL_CHAIN } from './since-1.25-proxy-firewall.ts';
import { LOCALHOST_NODE_PORTS } from './since-1.26-localhost-node-ports.ts';
import { FIREWALL_REMARK, NODE_PORTS_WITHOUT_ADDRESS, OWN_FIREWALL } from './since-1.27-own-firewall.ts';

/** All changes of the layout in iptables mode, the newest first: each is laid over those above it. */
export const LAYOUT_CHANGES: readonly LayoutChange[] = [
  OWN_FIREWALL,
  FIREWALL_REMARK,
  NODE_PORTS_WITHOUT_ADDRESS,
  LOCALHOST_NODE_PORTS,
  PROXY_FIREWALL_CHAIN,
  EXTERNAL_CHAINS,
  FORWARD_RULE,
  LOCAL_BALANCING_COMMENTS,
  AFFINITY_OF_READY_ENDPOINTS,
  MASQUERADING_IN_SERVICE_CHAINS,
  EXTERNAL_IPS_FROM_ANYWHERE,
  HEALTH_CHECK_NODE_PORTS,
  EXTERNAL_SERVICES_FORWARDED,
  MARK_DROP_ENSURED,
  MARK_TAKEN_OFF,
];

/** The layout of a version. */
export function layoutOf(version: KubeProxyVersion): Layout {
  let layout = NEWEST_LAYOUT;
  for (const change of LAYOUT_CHANGES) {
    if (isBefore(version, change)) layout = { ...layout, ...change.before(layout) };
  }
  return layout;
}
