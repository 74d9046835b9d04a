/** What a node's rules program, as text and as JSON. */
import type { Inventory, ProgrammedServicePort } from '../diff/index.ts';
import { safeJson } from './json.ts';
import { safe } from './wording.ts';

const MAX_OTHER_CHAINS = 20;

export function inventoryText(inventory: Inventory): string {
  const { recognised, version, servicePorts, equalChains, otherChains } = inventory;
  const range =
    recognised.oldest === recognised.newest
      ? `1.${recognised.oldest}`
      : `1.${recognised.oldest} … 1.${recognised.newest}`;
  const lines = [`kube-proxy ${range}, ${recognised.mode} mode`];
  for (const reason of recognised.reasons) lines.push(`  ${safe(reason)}`);
  if (recognised.mode === 'ipvs')
    lines.push('  in ipvs mode rules name no Services: none can be read out of them');
  for (const port of servicePorts) lines.push('', ...servicePortLines(port));
  if (recognised.mode === 'ipvs') return `${lines.join('\n')}\n`;
  const total = equalChains + otherChains.length;
  lines.push('', `compiled again for ${version.text}: ${equalChains} of ${total} chains come out the same`);
  for (const { table, chain, reason } of otherChains.slice(0, MAX_OTHER_CHAINS))
    lines.push(`  ${safe(table)}/${safe(chain)}: ${safe(reason)}`);
  if (otherChains.length > MAX_OTHER_CHAINS)
    lines.push(`  and ${otherChains.length - MAX_OTHER_CHAINS} more`);
  return `${lines.join('\n')}\n`;
}

function servicePortLines(port: ProgrammedServicePort): string[] {
  const number = port.port === undefined ? '' : ` ${port.port}`;
  const lines = [`${safe(port.name)} ${safe(port.protocol)}${number}`];
  const say = (label: string, values: readonly string[]) => {
    if (values.length > 0) lines.push(`  ${label.padEnd(15)} ${values.map(safe).join(', ')}`);
  };
  say('cluster IP', port.clusterIPs);
  say('external IP', port.externalIPs);
  say('load balancer', port.loadBalancerIPs);
  say('source ranges', port.sourceRanges);
  say('node port', port.nodePort === undefined ? [] : [String(port.nodePort)]);
  say('health check', port.healthCheckNodePort === undefined ? [] : [String(port.healthCheckNodePort)]);
  say('policy', [
    ...(port.internalPolicy === 'Local' ? ['internal Local'] : []),
    ...(port.externalPolicy === 'Local' ? ['external Local'] : []),
  ]);
  say('affinity', port.affinitySeconds === undefined ? [] : [`${port.affinitySeconds} s`]);
  const endpoints = port.endpoints.map(({ destination, local }) => destination + (local ? ' (local)' : ''));
  say('endpoints', endpoints.length > 0 ? endpoints : [port.onlyRemote ? 'none on this node' : 'none']);
  const wrong = port.chains.filter(({ isRight }) => !isRight).map(({ name }) => name);
  say('wrong names', wrong);
  return lines;
}

/** One object, with the same contents; names of chains are with their service ports. */
export function inventoryJson(inventory: Inventory): string {
  const { recognised, version, servicePorts, equalChains, otherChains } = inventory;
  const { mode, oldest, newest, reasons } = recognised;
  return `${safeJson({
    version: { oldest: `1.${oldest}`, newest: `1.${newest}`, assumed: version.text, reasons },
    mode,
    servicePorts: servicePorts.map(({ nodeAllowed: _, onlyRemote, endpoints, ...rest }) => ({
      ...rest,
      onlyRemoteEndpoints: onlyRemote,
      endpoints: endpoints.map(({ destination, local, cluster }) => ({ destination, local, cluster })),
    })),
    compiledAgain: { equalChains, otherChains },
  })}\n`;
}
