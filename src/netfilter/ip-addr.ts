/**
 * What `ip addr` prints, of all interfaces or of one (`show dev kube-ipvs0`): `ip -j addr` (JSON) and `ip -o addr`
 * (a line an address). The plain form of several lines is read too, since people paste it, with or without details
 * (`-d`, `-s`), and the brief one (`ip -br addr`).
 */

export interface InterfaceAddresses {
  readonly name: string;
  /** `192.168.0.2/24`, as printed. */
  readonly addresses: readonly string[];
}

export interface IpAddrProblem {
  /** Counts from 1; undefined where the fault has no line. */
  readonly line?: number;
  readonly message: string;
}

export interface IpAddr {
  readonly interfaces: readonly InterfaceAddresses[];
  /** The first ones, and how many more there are. */
  readonly problems: readonly IpAddrProblem[];
}

const MOST_PROBLEMS = 20;

/** Collects problems line by line, no more than anybody reads. */
export function problemList(): {
  readonly add: (problem: IpAddrProblem) => void;
  readonly all: () => readonly IpAddrProblem[];
} {
  const first: IpAddrProblem[] = [];
  let count = 0;
  return {
    add: (problem) => {
      count++;
      if (count <= MOST_PROBLEMS) first.push(problem);
    },
    all: () =>
      count <= MOST_PROBLEMS
        ? first
        : [...first, { message: `${count - MOST_PROBLEMS} more lines like these` }],
  };
}

/** Reads any of the forms; text that is none of them is a problem. Addresses are not judged here. */
export function parseIpAddr(text: string): IpAddr {
  const body = text.replace(/^\ufeff/, '').trimStart();
  return body.startsWith('[') ? parseJson(body) : parseLines(text);
}

/** A node with 50,000 addresses prints so much; brackets inside one another take JSON.parse sixty times as much memory. */
const MAX_JSON = 16 * 1024 ** 2;

function parseJson(text: string): IpAddr {
  const fault = (message: string): IpAddr => ({ interfaces: [], problems: [{ message }] });
  if (text.length > MAX_JSON) {
    return fault(`${text.length} characters of JSON; at most ${MAX_JSON} are read`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return fault('not the output of ip -j addr, which is JSON');
  }
  const interfaces: InterfaceAddresses[] = [];
  const problems: IpAddrProblem[] = [];
  for (const item of Array.isArray(value) ? value : []) {
    const name = property(item, 'ifname');
    // `ip -j addr show dev X` prints an empty object for every other interface.
    if (typeof name !== 'string') continue;
    const info = property(item, 'addr_info');
    const addresses: string[] = [];
    for (const entry of Array.isArray(info) ? info : []) {
      const local = property(entry, 'local');
      const prefix = property(entry, 'prefixlen');
      if (typeof local === 'string' && typeof prefix === 'number') addresses.push(`${local}/${prefix}`);
    }
    interfaces.push({ name, addresses });
  }
  if (interfaces.length === 0) problems.push({ message: 'no interface in the output of ip -j addr' });
  return { interfaces, problems };
}

function property(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;
}

/** `2: eth0@if3: <BROADCAST,…>` opens an interface in the plain form. */
const HEAD = /^\d+:\s+([^\s:@]+)(?:@[^\s:]+)?:\s/;
/** `2: eth0    inet 192.168.0.2/24 brd …` is a whole address in the one-line form. */
const ONE_LINE = /^\d+:\s+(\S+)\s+inet6?\s+(\S+)/;
const ADDRESS = /^\s+inet6?\s+(\S+)/;
/** `kube-ipvs0   DOWN   10.96.0.1/32 fd00::1/128` of the brief form. */
const BRIEF =
  /^([^\s:@]+)(?:@\S+)?\s+(?:UP|DOWN|UNKNOWN|LOWERLAYERDOWN|DORMANT|NOTPRESENT|TESTING)(?:\s+(\S.*?))?\s*$/;
/** The command that was typed, behind a prompt. */
const PROMPT = /^\S*(?: ?~)?[#$%>]\s+(?:sudo\s+)?(?:\/\S+\/)?ip\s/;

function parseLines(text: string): IpAddr {
  const interfaces = new Map<string, string[]>();
  const problems = problemList();
  let current: string | undefined;
  const addressesOf = (name: string) => {
    const known = interfaces.get(name);
    if (known !== undefined) return known;
    const fresh: string[] = [];
    interfaces.set(name, fresh);
    return fresh;
  };
  text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .forEach((line, index) => {
      if (line.trim() === '' || line.startsWith('#') || PROMPT.test(line)) return;
      const oneLine = ONE_LINE.exec(line);
      if (oneLine?.[1] !== undefined && oneLine[2] !== undefined) {
        addressesOf(oneLine[1].replace(/@.*/, '')).push(oneLine[2]);
        return;
      }
      const head = HEAD.exec(line);
      if (head?.[1] !== undefined) {
        current = head[1];
        addressesOf(current);
        return;
      }
      const address = ADDRESS.exec(line);
      if (address?.[1] !== undefined && current !== undefined) {
        addressesOf(current).push(address[1]);
        return;
      }
      // Link layer, lifetimes, statistics: indented lines of the plain form.
      if (current !== undefined && /^\s/.test(line)) return;
      const brief = BRIEF.exec(line);
      if (brief?.[1] !== undefined) {
        const addresses = addressesOf(brief[1]);
        for (const word of (brief[2] ?? '').split(/\s+/)) if (isAddress(word)) addresses.push(word);
        return;
      }
      const absent = /^Device "([^"]+)" does not exist\.?$/.exec(line.trim())?.[1];
      const message = absent === undefined ? 'not a line of ip -o addr or ip addr' : `no interface ${absent}`;
      problems.add({ line: index + 1, message });
    });
  if (interfaces.size === 0 && problems.all().length === 0)
    problems.add({ message: 'no interface in this text' });
  return {
    interfaces: [...interfaces].map(([name, addresses]) => ({ name, addresses })),
    problems: problems.all(),
  };
}

/** The brief form also prints `metric 100` behind an address. */
function isAddress(word: string): boolean {
  return /^(?:[0-9.]+|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*)\/\d+$/.test(word);
}
