/*
 * Options of an ipvsadm command, short and long, as popt splits them: `-t X`, `-tX`, `--tcp-service X`,
 * `--tcp-service=X`. The value of -p is optional: the next word is its value unless it is an option.
 */

export interface IpvsadmOptions {
  /** By the short name, or the long one without dashes where there is no short one. */
  readonly values: ReadonlyMap<string, string>;
  /** Options of the tunnel, word by word. */
  readonly tunnel: readonly string[];
}

type Takes = 'nothing' | 'value' | 'maybe';

/** [names…] → key, and whether a value follows. From ipvsadm 1.31, options_table in parse_options. */
const OPTIONS = new Map<string, readonly [string, Takes]>([
  ...named('add-service', '-A', 'nothing'),
  ...named('edit-service', '-E', 'nothing'),
  ...named('delete-service', '-D', 'nothing'),
  ...named('clear', '-C', 'nothing'),
  ...named('add-server', '-a', 'nothing'),
  ...named('edit-server', '-e', 'nothing'),
  ...named('delete-server', '-d', 'nothing'),
  ...named('zero', '-Z', 'nothing'),
  ...named('tcp-service', '-t', 'value'),
  ...named('udp-service', '-u', 'value'),
  ...named('sctp-service', undefined, 'value'),
  ...named('fwmark-service', '-f', 'value'),
  ...named('scheduler', '-s', 'value'),
  ...named('persistent', '-p', 'maybe'),
  ...named('netmask', '-M', 'value'),
  ...named('pe', undefined, 'value'),
  ...named('sched-flags', '-b', 'value'),
  ...named('ops', '-o', 'nothing'),
  ...named('ipv6', '-6', 'nothing'),
  ...named('real-server', '-r', 'value'),
  ...named('masquerading', '-m', 'nothing'),
  ...named('ipip', '-i', 'nothing'),
  ...named('gatewaying', '-g', 'nothing'),
  ...named('weight', '-w', 'value'),
  ...named('u-threshold', '-x', 'value'),
  ...named('l-threshold', '-y', 'value'),
  ...named('numeric', '-n', 'nothing'),
  ...named('exact', undefined, 'nothing'),
  ...named('tun-type', undefined, 'value'),
  ...named('tun-port', undefined, 'value'),
  ...named('tun-nocsum', undefined, 'nothing'),
  ...named('tun-csum', undefined, 'nothing'),
  ...named('tun-remcsum', undefined, 'nothing'),
]);

function named(long: string, short: string | undefined, takes: Takes): [string, readonly [string, Takes]][] {
  const key = short === undefined ? long : short.slice(1);
  const names = short === undefined ? [`--${long}`] : [`--${long}`, short];
  return names.map((name) => [name, [key, takes]]);
}

/** Undefined where a word is no option of ipvsadm, or stands twice. */
export function readOptions(words: readonly string[]): IpvsadmOptions | undefined {
  const values = new Map<string, string>();
  const tunnel: string[] = [];
  for (let i = 0; i < words.length; i++) {
    const [name, attached] = split(words[i] ?? '');
    const [key, takes] = OPTIONS.get(name) ?? [];
    if (key === undefined || values.has(key)) return undefined;
    let value = attached;
    if (value === undefined && takes !== 'nothing') {
      const next = words[i + 1];
      if (next !== undefined && (takes === 'value' || !next.startsWith('-'))) {
        value = next;
        i++;
      } else if (takes === 'value') return undefined;
    } else if (value !== undefined && takes === 'nothing') return undefined;
    values.set(key, value ?? '');
    if (key.startsWith('tun-')) tunnel.push(`--${key}`, ...(takes === 'value' ? [value ?? ''] : []));
  }
  return { values, tunnel };
}

function split(word: string): [string, string | undefined] {
  const long = /^(--[a-z0-9-]+)=(.*)$/.exec(word);
  if (long?.[1] !== undefined) return [long[1], long[2]];
  return /^-[A-Za-z]./.test(word) ? [word.slice(0, 2), word.slice(2)] : [word, undefined];
}
