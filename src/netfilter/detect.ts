/*
 * What is this text? People save the output of the command they know, which is often not the one that can be
 * read back. Told from the lines themselves, never from a file's name.
 */

export type TextFormat =
  | 'iptables-save'
  | 'iptables -S'
  | 'iptables -L'
  | 'ipvsadm -Ln'
  | 'ipvsadm -Sn'
  | 'ipset save'
  | 'ipset list'
  | 'ip addr'
  | 'nft ruleset'
  | 'kubernetes'
  | 'empty'
  | 'unknown';

/** Lines that are looked at: real dumps show what they are on their first line or behind a few of a shell. */
const LINES = 2000;

/** Each says for sure what the text is; the order matters only for texts of several kinds. */
const DECISIVE: readonly (readonly [RegExp, TextFormat])[] = [
  [/^\*[a-z]+\s*$/, 'iptables-save'],
  [/^:\S+ (?:-|[A-Z]+)(?: \[\d+:\d+\])?\s*$/, 'iptables-save'],
  [/^# (?:Generated|Completed) (?:by ip6?tables-save|on )/, 'iptables-save'],
  [/^\[\d+:\d+\] -A /, 'iptables-save'],
  [/^Chain \S+ \((?:policy |\d+ references)/, 'iptables -L'],
  [/^(?:IP Virtual Server version |Prot LocalAddress:Port )/, 'ipvsadm -Ln'],
  [/^(?:TCP|UDP|SCTP) +\S+:\w+ +[a-z]+(?: |$)|^FWM +\d+ (?:IPv6 )?[a-z]+(?: |$)/, 'ipvsadm -Ln'],
  [
    /^(?:ipvsadm )?(?:-[AEDaed]|--(?:add|edit|delete)-serv(?:ice|er)) (?:-[tuf]|--[a-z]+-service)[ =]?\S+/,
    'ipvsadm -Sn',
  ],
  [
    /^(?:create|n|-N) \S+ (?:(?:hash|bitmap|list):|(?:ip|net|ipport|ipportip|ipportnet)hash\b|portmap\b|setlist\b)/,
    'ipset save',
  ],
  [
    /^(?:add|del) \S+ \S+(?:\s*$| (?:-exist|timeout|comment|packets|bytes|nomatch|skb[a-z]+)\b)/,
    'ipset save',
  ],
  [/^Type: (?:hash|bitmap|list):/, 'ipset list'],
  [/^\d+: \S+ +(?:inet6? |link\/)|^\d+: [^:\s]+: <[A-Z0-9_,-]*>/, 'ip addr'],
  [/^(?:\[\s*(?:\{\s*\},?\s*)*\{\s*)?"ifindex":\s*\d/, 'ip addr'],
  [/^table (?:ip|ip6|inet|arp|bridge|netdev) \S+ \{/, 'nft ruleset'],
  [/^(?:apiVersion|kind):\s*\S|^\s*"(?:apiVersion|kind)":\s*"/, 'kubernetes'],
  [/^\{.*"(?:apiVersion|kind)":/, 'kubernetes'],
  [/^(?:-P \S+ [A-Z]+|-N \S+)(?: -c \d+ \d+)?\s*$/, 'iptables -S'],
];

/** Names the format of a text from its lines; an excerpt of nothing but `-A` rules counts as iptables-save. */
export function detectFormat(text: string): TextFormat {
  let hasRules = false;
  let isEmpty = true;
  let listing: TextFormat | undefined;
  let from = text.startsWith('\ufeff') ? 1 : 0;
  for (let count = 0; count < LINES && from < text.length; count++) {
    const end = text.indexOf('\n', from);
    const line = text.slice(from, Math.min(end < 0 ? text.length : end, from + 400)).replace(/^[>\s]+/, '');
    from = end < 0 ? text.length : end + 1;
    if (line === '') continue;
    isEmpty = false;
    const format = DECISIVE.find(([pattern]) => pattern.test(line))?.[1];
    // `-P` and `-N` lines also stand in restore input; only without any table line are they a listing.
    if (format === 'iptables -S') listing ??= format;
    else if (format !== undefined) return format;
    if (/^-[AI] \S+ /.test(line)) hasRules = true;
  }
  if (isEmpty) return 'empty';
  return listing ?? (hasRules ? 'iptables-save' : 'unknown');
}

/** What a text looks like, in words: `the output of iptables -L`. */
export function describeFormat(format: TextFormat): string {
  switch (format) {
    case 'kubernetes':
      return 'Kubernetes objects (YAML or JSON)';
    case 'nft ruleset':
      return 'the output of nft list ruleset';
    case 'empty':
      return 'an empty text';
    case 'unknown':
      return 'nothing that is known here';
    default:
      return `the output of ${format}`;
  }
}
