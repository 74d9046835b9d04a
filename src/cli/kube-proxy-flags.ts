import type { Command } from 'commander';
import type { Diagnostic } from '../diagnostics.ts';
import { type KubeProxyConfiguration, readKubeProxyConfiguration } from '../kube/index.ts';
import { UsageError } from './usage-error.ts';

/**
 * kube-proxy's own flags. Each stands for a field of KubeProxyConfiguration and is read by the same reader,
 * so that both take and refuse the same.
 */
interface Flag {
  readonly flag: string;
  readonly short?: string;
  readonly kind: 'text' | 'number' | 'boolean' | 'list' | 'gates';
  readonly value: string;
  readonly field: readonly [string] | readonly [string, string];
  readonly help: string;
}

const FLAGS: readonly Flag[] = [
  {
    flag: '--proxy-mode',
    short: '--mode',
    kind: 'text',
    value: 'MODE',
    field: ['mode'],
    help: 'iptables or ipvs (nftables is not compiled yet)',
  },
  {
    flag: '--cluster-cidr',
    kind: 'text',
    value: 'CIDR[,CIDR]',
    field: ['clusterCIDR'],
    help: 'pod network; traffic from elsewhere to cluster IPs is masqueraded',
  },
  {
    flag: '--detect-local-mode',
    kind: 'text',
    value: 'MODE',
    field: ['detectLocalMode'],
    help: 'ClusterCIDR, NodeCIDR, BridgeInterface or InterfaceNamePrefix',
  },
  {
    flag: '--pod-bridge-interface',
    kind: 'text',
    value: 'NAME',
    field: ['detectLocal', 'bridgeInterface'],
    help: 'bridge of the pods, for BridgeInterface',
  },
  {
    flag: '--pod-interface-name-prefix',
    kind: 'text',
    value: 'PREFIX',
    field: ['detectLocal', 'interfaceNamePrefix'],
    help: 'interfaces of the pods, for InterfaceNamePrefix',
  },
  {
    flag: '--masquerade-all',
    kind: 'boolean',
    value: 'true|false',
    field: ['iptables', 'masqueradeAll'],
    help: 'masquerade all traffic to cluster IPs',
  },
  {
    flag: '--iptables-masquerade-bit',
    kind: 'number',
    value: '0-31',
    field: ['iptables', 'masqueradeBit'],
    help: 'bit of the mark that asks for masquerading (14)',
  },
  {
    flag: '--iptables-localhost-nodeports',
    kind: 'boolean',
    value: 'true|false',
    field: ['iptables', 'localhostNodePorts'],
    help: 'node ports on 127.0.0.0/8 (true)',
  },
  {
    flag: '--ipvs-scheduler',
    kind: 'text',
    value: 'NAME',
    field: ['ipvs', 'scheduler'],
    help: 'scheduler of the virtual servers (rr)',
  },
  {
    flag: '--ipvs-strict-arp',
    kind: 'boolean',
    value: 'true|false',
    field: ['ipvs', 'strictARP'],
    help: 'answer ARP for addresses of the interface alone that is asked (false)',
  },
  {
    flag: '--ipvs-exclude-cidrs',
    kind: 'list',
    value: 'CIDR[,CIDR]',
    field: ['ipvs', 'excludeCIDRs'],
    help: 'virtual servers in there are not kube-proxy’s',
  },
  {
    flag: '--ipvs-tcp-timeout',
    kind: 'text',
    value: 'DURATION',
    field: ['ipvs', 'tcpTimeout'],
    help: 'of idle connections, such as 15m0s; 0s leaves the kernel’s',
  },
  {
    flag: '--ipvs-tcpfin-timeout',
    kind: 'text',
    value: 'DURATION',
    field: ['ipvs', 'tcpFinTimeout'],
    help: 'the same after a FIN',
  },
  {
    flag: '--ipvs-udp-timeout',
    kind: 'text',
    value: 'DURATION',
    field: ['ipvs', 'udpTimeout'],
    help: 'the same of UDP packets',
  },
  {
    flag: '--nodeport-addresses',
    kind: 'list',
    value: 'CIDR[,CIDR]',
    field: ['nodePortAddresses'],
    help: 'where node ports are open, or primary (1.31+)',
  },
  {
    flag: '--bind-address',
    kind: 'text',
    value: 'IP',
    field: ['bindAddress'],
    help: 'overrides the node IP of its family',
  },
  {
    flag: '--conntrack-tcp-be-liberal',
    kind: 'boolean',
    value: 'true|false',
    field: ['conntrack', 'tcpBeLiberal'],
    help: 'conntrack calls fewer packets INVALID (1.29+)',
  },
  {
    flag: '--feature-gates',
    kind: 'gates',
    value: 'NAME=BOOL[,…]',
    field: ['featureGates'],
    help: 'for example AllowServiceExternalIPs=false',
  },
];

/** Heading of the group in a command's help. */
export const KUBE_PROXY_FLAGS_GROUP = "kube-proxy's own flags (they win over the configuration):";

/** Adds the flags to a command, in a group of its help. */
export function addKubeProxyFlags(command: Command): void {
  for (const { flag, short, value, help } of FLAGS) {
    const names = short === undefined ? flag : `${short}, ${flag}`;
    command.addOption(command.createOption(`${names} <${value}>`, help).helpGroup(KUBE_PROXY_FLAGS_GROUP));
  }
  const booleans = booleanFlags();
  command.configureHelp({
    ...command.configureHelp(),
    optionTerm: ({ flags, long }) => (booleans.has(long ?? '') ? flags.replace(/ <(.*)>/, '[=$1]') : flags),
  });
}

function booleanFlags(): ReadonlySet<string> {
  return new Set(FLAGS.filter(({ kind }) => kind === 'boolean').map(({ flag }) => flag));
}

/**
 * Go's flags take `--flag` for `--flag=true`, and never the next word as a boolean's value. Throws a UsageError where
 * the next word looks as if it were meant so: as the name of an input it would turn the setting round.
 */
export function spellOutBooleans(argv: readonly string[]): string[] {
  const booleans = booleanFlags();
  const end = argv.indexOf('--');
  return argv.map((word, index) => {
    if ((end >= 0 && index >= end) || !booleans.has(word)) return word;
    const next = argv[index + 1] ?? '';
    if (typeof asBoolean(next) === 'boolean') {
      throw new UsageError(
        `${word}: its value stands behind “=”, as for kube-proxy: ${word}=${next} (an input of that name: ./${next})`,
      );
    }
    return `${word}=true`;
  });
}

/** Throws a UsageError that names the flag whose value cannot be used. */
export function configurationFromFlags(options: Readonly<Record<string, unknown>>): KubeProxyConfiguration {
  const value: Record<string, unknown> = { apiVersion: 'kubeproxy.config.k8s.io/v1alpha1' };
  const given = new Map<string, string>();
  for (const flag of FLAGS) {
    const text = options[attributeName(flag.flag)];
    if (typeof text !== 'string') continue;
    const [outer, inner] = flag.field;
    given.set(outer + (inner === undefined ? '' : `.${inner}`), flag.flag);
    const parsed = parseValue(flag, text);
    if (inner === undefined) value[outer] = parsed;
    else value[outer] = { ...(value[outer] as object | undefined), [inner]: parsed };
  }
  const problems: string[] = [];
  const report = (diagnostic: Diagnostic) => {
    const path = diagnostic.field ?? [];
    const flag = given.get(path.slice(0, 2).join('.')) ?? given.get(String(path[0])) ?? '';
    problems.push(`${flag}: ${diagnostic.message}`);
  };
  const origin = { file: '', format: 'json', start: 0, end: 0, path: [] } as const;
  const configuration = readKubeProxyConfiguration(value, { object: '', origin, report });
  if (problems.length > 0) throw new UsageError(problems.join('\n'));
  return configuration;
}

function parseValue(flag: Flag, text: string): unknown {
  switch (flag.kind) {
    case 'text':
      return text;
    case 'number':
      return /^\d+$/.test(text) ? Number(text) : text;
    case 'boolean':
      return asBoolean(text);
    case 'list':
      return text.split(',').filter((item) => item !== '');
    case 'gates':
      return Object.fromEntries(
        text
          .split(',')
          .filter((item) => item !== '')
          .map((item) => {
            const [name = '', on] = item.split('=', 2);
            return [name.trim(), asBoolean((on ?? '').trim())];
          }),
      );
  }
}

/** The spellings that Go's strconv.ParseBool takes; anything else stays as it is and is refused later. */
function asBoolean(text: string): unknown {
  if (['1', 't', 'T', 'true', 'TRUE', 'True'].includes(text)) return true;
  if (['0', 'f', 'F', 'false', 'FALSE', 'False'].includes(text)) return false;
  return text;
}

/** The name under which commander keeps an option: `--cluster-cidr` → `clusterCidr`. */
function attributeName(flag: string): string {
  return flag.replace(/^--/, '').replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
