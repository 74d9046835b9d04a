import {
  booleanField,
  type JsonObject,
  type ObjectContext,
  objectField,
  report,
  showValue,
  stringField,
  stringListField,
} from './fields.ts';
import { parseCIDR } from './ip.ts';

/** The block ipvs of a KubeProxyConfiguration. */
export interface IpvsSettings {
  readonly scheduler: string;
  readonly strictARP: boolean;
  /** Virtual servers inside are none of kube-proxy's business. */
  readonly excludeCIDRs: readonly string[];
  /** Seconds; 0 leaves the kernel's. */
  readonly tcpTimeout: number;
  readonly tcpFinTimeout: number;
  readonly udpTimeout: number;
}

export const DEFAULT_IPVS_SETTINGS: IpvsSettings = {
  scheduler: 'rr',
  strictARP: false,
  excludeCIDRs: [],
  tcpTimeout: 0,
  tcpFinTimeout: 0,
  udpTimeout: 0,
};

/** Schedulers of Linux (net/netfilter/ipvs/ip_vs_*.c); kube-proxy hands on whatever name it is given. */
const SCHEDULERS = [
  'rr',
  'wrr',
  'lc',
  'wlc',
  'fo',
  'ovf',
  'lblc',
  'lblcr',
  'dh',
  'sh',
  'mh',
  'sed',
  'nq',
  'twos',
];

/** Reads the block; what is wrong in it is reported as an error and left out. */
export function readIpvsSettings(
  context: ObjectContext,
  value: JsonObject,
): Partial<IpvsSettings> | undefined {
  const block = objectField(context, value, 'ipvs', []);
  if (block === undefined) return undefined;
  const path = ['ipvs'];
  const scheduler = stringField(context, block, 'scheduler', path) || undefined;
  if (scheduler !== undefined && !SCHEDULERS.includes(scheduler)) {
    report(
      context,
      'error',
      'unknown-scheduler',
      [...path, 'scheduler'],
      `found ${showValue(scheduler)}, expected one of ${SCHEDULERS.join(', ')}`,
    );
  }
  const excludeCIDRs: string[] = [];
  for (const { text, index } of stringListField(context, block, 'excludeCIDRs', path)) {
    if (parseCIDR(text) === undefined) {
      report(
        context,
        'error',
        'invalid-cidr',
        [...path, 'excludeCIDRs', index],
        `${showValue(text)} is not a CIDR such as 192.0.2.0/24`,
      );
    } else excludeCIDRs.push(text);
  }
  const strictARP = booleanField(context, block, 'strictARP', path);
  const settings: Partial<Record<keyof IpvsSettings, unknown>> = {
    scheduler: scheduler !== undefined && SCHEDULERS.includes(scheduler) ? scheduler : undefined,
    strictARP,
    excludeCIDRs: excludeCIDRs.length > 0 ? excludeCIDRs : undefined,
    tcpTimeout: secondsField(context, block, 'tcpTimeout') || undefined,
    tcpFinTimeout: secondsField(context, block, 'tcpFinTimeout') || undefined,
    udpTimeout: secondsField(context, block, 'udpTimeout') || undefined,
  };
  const given = Object.entries(settings).filter(([, setting]) => setting !== undefined);
  return given.length === 0 ? undefined : (Object.fromEntries(given) as Partial<IpvsSettings>);
}

const UNITS: Readonly<Record<string, number>> = {
  h: 3600,
  m: 60,
  s: 1,
  ms: 0.001,
  us: 1e-6,
  µs: 1e-6,
  ns: 1e-9,
};

/** A duration as Go prints and reads it: `0s`, `15m0s`, `1h30m`. In seconds; ipvsadm knows no parts of one. */
function secondsField(context: ObjectContext, block: JsonObject, key: string): number | undefined {
  const text = stringField(context, block, key, ['ipvs']) ?? '';
  if (text === '' || text === '0') return undefined;
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(h|ms|m|s|us|µs|ns)/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text) {
    report(
      context,
      'error',
      'invalid-duration',
      ['ipvs', key],
      `${showValue(text)} is not a duration such as 15m0s`,
    );
    return undefined;
  }
  return Math.floor(
    parts.reduce((sum, [, number, unit]) => sum + Number(number) * (UNITS[unit ?? ''] ?? 0), 0),
  );
}
