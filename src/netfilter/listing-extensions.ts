/*
 * What the extensions of iptables 1.4 to 1.8 print in a listing (`iptables -L`), back into the options that
 * iptables-save prints. Sources: the print functions of the extensions. Only what can be turned back without
 * loss is here; a rule with anything else is kept as its words.
 */
import { quote, saveString, saveWord } from './words.ts';

export interface ListedOptions {
  /** ` -m comment --comment "a b" -m tcp --dport 80`, in the order of the rule's matches. */
  readonly matches: string;
  /** The options behind `-j TARGET`. */
  readonly target: string;
}

/** One phrase of a listing, tried where the one before it ended; undefined: it is not that after all. */
interface Phrase {
  readonly pattern: RegExp;
  readonly options: (groups: readonly string[]) => string | undefined;
}

const not = (negated: string | undefined): string => (negated === undefined || negated === '' ? '' : ' !');

const MATCHES: readonly Phrase[] = [
  // Printed as it is, without quotes: a comment that holds ` */ ` cannot be told from its end.
  {
    pattern: /\/\* (.*?) \*\/(?=\s|$)/y,
    options: ([text = '']) => ` -m comment --comment ${saveString(text)}`,
  },
  {
    pattern: /(tcp|udp|udplite|sctp|dccp)((?: (?:[sd]pts?:|option=|flags:)\S+)*)(?=\s|$)/y,
    options: ([name = '', rest = '']) => {
      const parts = rest.split(' ').slice(1).map(portOption);
      return parts.includes(undefined) ? undefined : ` -m ${name}${parts.join('')}`;
    },
  },
  {
    pattern: /(ipv6-)?icmp ?type (\d+)(?: code (\d+))?(?=\s|$)/y,
    options: ([version, type, code]) =>
      version === undefined
        ? ` -m icmp --icmp-type ${type === '255' && code === undefined ? 'any' : withCode(type, code)}`
        : ` -m icmp6 --icmpv6-type ${withCode(type, code)}`,
  },
  {
    pattern: /(mark|connmark) match +(! ?)?(0x[0-9a-f]+(?:\/0x[0-9a-f]+)?)(?=\s|$)/y,
    options: ([name, negated, mark]) => ` -m ${name}${not(negated)} --mark ${mark}`,
  },
  {
    pattern: /(! )?ctstate ([A-Z,]+)(?=\s|$)/y,
    options: ([negated, states]) => ` -m conntrack${not(negated)} --ctstate ${states}`,
  },
  {
    pattern: /(! ?)?state ([A-Z,]+)(?=\s|$)/y,
    options: ([negated, states]) => ` -m state${not(negated)} --state ${states}`,
  },
  {
    pattern:
      /ADDRTYPE match(?: src-type (!)?([A-Z,]+))?(?: dst-type (!)?([A-Z,]+))?( limit-in)?( limit-out)?(?=\s|$)/y,
    options: ([notSource, source, notDestination, destination, limitIn, limitOut]) =>
      ' -m addrtype' +
      (source ? `${not(notSource)} --src-type ${source}` : '') +
      (destination ? `${not(notDestination)} --dst-type ${destination}` : '') +
      (limitIn ? ' --limit-iface-in' : '') +
      (limitOut ? ' --limit-iface-out' : ''),
  },
  {
    pattern:
      /(! ?)?recent: (SET|CHECK|UPDATE|REMOVE)(?: seconds: (\d+))?( reap)?(?: hit_count: (\d+))?( TTL-Match)?(?: name: (\S+))? side: (source|dest)(?: mask: (\S+))?(?=\s|$)/y,
    options: ([negated, action = '', seconds, reap, hits, ttl, name, side, mask]) =>
      ` -m recent${not(negated)} --${action === 'CHECK' ? 'rcheck' : action.toLowerCase()}` +
      (seconds ? ` --seconds ${seconds}` : '') +
      (reap ? ' --reap' : '') +
      (hits ? ` --hitcount ${hits}` : '') +
      (ttl ? ' --rttl' : '') +
      (name ? ` --name ${saveWord(name)}` : '') +
      (mask ? ` --mask ${mask}` : '') +
      (side === 'source' ? ' --rsource' : ' --rdest'),
  },
  {
    pattern: /statistic mode random( !)? probability ([01]\.\d+)(?=\s|$)/y,
    options: ([negated, probability]) =>
      ` -m statistic --mode random${not(negated)} --probability ${probability}`,
  },
  {
    pattern: /statistic mode nth( !)? every (\d+)(?: packet (\d+))?(?=\s|$)/y,
    options: ([negated, every, packet = '0']) =>
      ` -m statistic --mode nth${not(negated)} --every ${every} --packet ${packet}`,
  },
  {
    pattern: /(! )?match-set (\S+) ((?:src|dst)(?:,(?:src|dst))*)(?=\s|$)/y,
    options: ([negated, name = '', directions]) =>
      ` -m set${not(negated)} --match-set ${saveWord(name)} ${directions}`,
  },
  {
    pattern: /nfacct-name +(\S+)(?=\s|$)/y,
    options: ([name = '']) => ` -m nfacct --nfacct-name ${saveWord(name)}`,
  },
  {
    pattern: /multiport (sports|dports|ports) +(! ?)?([\w,:-]+)(?=\s|$)/y,
    options: ([side, negated, ports]) => ` -m multiport${not(negated)} --${side} ${ports}`,
  },
  {
    pattern: /PHYSDEV match((?: (?:! )?--physdev-(?:is-(?:in|out|bridged)|(?:in|out) [^\s!]\S*))+)(?=\s|$)/y,
    options: ([words]) => ` -m physdev${words}`,
  },
  {
    pattern: /limit: (?:up to|avg) (\d+\/\w+) burst (\d+)(?=\s|$)/y,
    options: ([rate, burst]) => ` -m limit --limit ${rate}${burst === '5' ? '' : ` --limit-burst ${burst}`}`,
  },
];

/** By target; each may say more than one thing. */
const TARGETS: ReadonlyMap<string, Phrase> = new Map<string, Phrase>([
  [
    'MARK',
    { pattern: /MARK (or|and|xor|set|xset) (0x[0-9a-f]+(?:\/0x[0-9a-f]+)?)(?=\s|$)/y, options: markOption },
  ],
  [
    'DNAT',
    { pattern: /to:(\S+)((?: (?:random|persistent))*)(?=\s|$)/y, options: natOptions('--to-destination') },
  ],
  [
    'SNAT',
    {
      pattern: /to:(\S+)((?: (?:random|random-fully|persistent))*)(?=\s|$)/y,
      options: natOptions('--to-source'),
    },
  ],
  ['REDIRECT', { pattern: /redir ports (\S+)( random)?(?=\s|$)/y, options: natOptions('--to-ports') }],
  [
    'MASQUERADE',
    {
      pattern: /(?:masq ports: (\S+)|(random(?:-fully)?))(?=\s|$)/y,
      options: ([ports, flag]) => (ports === undefined ? ` --${flag}` : ` --to-ports ${ports}`),
    },
  ],
  ['REJECT', { pattern: /reject-with (\S+)(?=\s|$)/y, options: ([type]) => ` --reject-with ${type}` }],
  ['CT', { pattern: /CT notrack(?=\s|$)/y, options: () => ' --notrack' }],
  ['TCPMSS', { pattern: /TCPMSS clamp to PMTU(?=\s|$)/y, options: () => ' --clamp-mss-to-pmtu' }],
  [
    'LOG',
    {
      pattern: /LOG flags 0 level (\d+)(?: prefix "([^"]*)")?(?=\s|$)/y,
      options: ([level, prefix]) =>
        (prefix === undefined ? '' : ` --log-prefix ${quote(prefix)}`) +
        (level === '4' ? '' : ` --log-level ${level}`),
    },
  ],
]);

/**
 * Reads the text behind the destination column; `target` is the name in the target column. undefined: something
 * in it is not known, or the target does not say what it needs.
 */
export function readExtensions(text: string, target: string): ListedOptions | undefined {
  let matches = '';
  let options: string | undefined;
  let hasComment = false;
  let pos = 0;
  while (pos < text.length) {
    if (text.charCodeAt(pos) === BLANK) {
      pos++;
      continue;
    }
    const own = tryPhrase(TARGETS.get(target), text, pos);
    if (own !== undefined) {
      options = (options ?? '') + own.options;
      pos = own.end;
      continue;
    }
    const found = firstPhrase(text, pos);
    const isComment = text.startsWith('/*', pos);
    // Two comments look like one that holds `*/`.
    if (found === undefined || (isComment && hasComment)) return undefined;
    hasComment ||= isComment;
    matches += found.options;
    pos = found.end;
  }
  if (options === undefined && NEEDS_OPTIONS.has(target)) return undefined;
  return { matches, target: options ?? '' };
}

const BLANK = 32;

/** Targets of which a listing always says more than the name; without that they were printed by an older iptables. */
const NEEDS_OPTIONS = new Set([
  'MARK',
  'DNAT',
  'SNAT',
  'TCPMSS',
  'CONNMARK',
  'TPROXY',
  'NFQUEUE',
  'NFLOG',
  'CT',
  'SET',
  'LOG',
  'NETMAP',
  'TEE',
]);

interface Found {
  readonly options: string;
  readonly end: number;
}

function firstPhrase(text: string, pos: number): Found | undefined {
  for (const phrase of MATCHES) {
    const found = tryPhrase(phrase, text, pos);
    if (found !== undefined) return found;
  }
  return undefined;
}

function tryPhrase(phrase: Phrase | undefined, text: string, pos: number): Found | undefined {
  if (phrase === undefined) return undefined;
  phrase.pattern.lastIndex = pos;
  const match = phrase.pattern.exec(text);
  if (match === null || match[0] === '') return undefined;
  const options = phrase.options(match.slice(1));
  return options === undefined ? undefined : { options, end: pos + match[0].length };
}

const TCP_FLAGS = ['FIN', 'SYN', 'RST', 'PSH', 'ACK', 'URG'];

/** `dpt:80`, `dpts:!1:5`, `flags:0x17/0x02`, `option=!64` → ` --dport 80` … */
function portOption(text: string): string | undefined {
  const [, name, negated = '', value = ''] = /^([sd]pts?:|option=|flags:)(!?)(\S+)$/.exec(text) ?? [];
  switch (name) {
    case 'spt:':
    case 'spts:':
      return `${not(negated)} --sport ${value}`;
    case 'dpt:':
    case 'dpts:':
      return `${not(negated)} --dport ${value}`;
    case 'option=':
      return `${not(negated)} --tcp-option ${value}`;
    case 'flags:': {
      const [mask, set] = value.split('/').map(flagNames);
      return mask === undefined || set === undefined
        ? undefined
        : `${not(negated)} --tcp-flags ${mask} ${set}`;
    }
    default:
      return undefined;
  }
}

function flagNames(text: string): string | undefined {
  if (!/^0x[0-9a-fA-F]{1,2}$/.test(text)) return /^[A-Z,]+$/.test(text) ? text : undefined;
  const bits = Number(text);
  if (bits > 0x3f) return undefined;
  const names = TCP_FLAGS.filter((_, i) => bits & (1 << i));
  return names.length === 0 ? 'NONE' : names.join(',');
}

function withCode(type: string | undefined, code: string | undefined): string {
  return code === undefined ? String(type) : `${type}/${code}`;
}

function markOption([how, mark]: readonly string[]): string {
  return how === 'xset'
    ? ` --set-xmark ${mark}`
    : how === 'set'
      ? ` --set-mark ${mark}`
      : ` --${how}-mark ${mark}`;
}

function natOptions(option: string): Phrase['options'] {
  return ([to = '', flags = '']) => ` ${option} ${saveWord(to)}${flagOptions(flags)}`;
}

function flagOptions(flags: string): string {
  let text = '';
  for (const flag of flags.split(' ')) if (flag !== '') text += ` --${flag}`;
  return text;
}
