/*
 * Sets as input of `ipset restore`. `-exist` on each line makes it safe to run twice: `create` leaves alone a set of
 * the same type and options, `add` a member that is there. (It fails on a set of another type.) kube-proxy writes
 * the same, see pkg/proxy/ipvs/util/ipset.go; only its `add` stands alone, for it asks first what is there.
 */
import type { IpSet, IpSetMember, IpSetOption } from './ipset-types.ts';
import { ipsetWord, isIpsetValue, isIpsetWord } from './ipset-words.ts';

/**
 * `create NAME TYPE OPTIONS -exist` for every set, each followed by its `add NAME ENTRY -exist`, in the order given.
 * Members that are sets themselves (list:set) have to come after those. Throws a RangeError on a text that ipset
 * cannot read back as one word: parseIpset gives none, and nobody's name may become another line.
 */
export function printIpsetRestore(sets: readonly IpSet[]): string {
  const lines: string[] = [];
  for (const set of sets) {
    if (set.type !== '') lines.push(createLine(set));
    for (const member of set.members) lines.push(addLine(set.name, member));
  }
  return lines.map((line) => `${line}\n`).join('');
}

/** `create KUBE-CLUSTER-IP hash:ip,port family inet hashsize 1024 maxelem 65536 -exist` */
export function createLine(set: IpSet): string {
  return `create ${word(set.name)} ${word(set.type)}${optionWords(set.options)} -exist`;
}

/** `add KUBE-CLUSTER-IP 10.96.0.1,tcp:443 -exist` */
export function addLine(set: string, member: IpSetMember): string {
  return `add ${word(set)} ${word(member.entry)}${optionWords(member.options)} -exist`;
}

/** `del KUBE-CLUSTER-IP 10.96.0.1,tcp:443 -exist` */
export function delLine(set: string, entry: string): string {
  return `del ${word(set)} ${word(entry)} -exist`;
}

function optionWords(options: readonly IpSetOption[]): string {
  let text = '';
  for (const { name, value } of options) {
    text += ` ${word(name)}`;
    if (value === undefined) continue;
    if (!isIpsetValue(value)) throw new RangeError(`ipset cannot take the value ${JSON.stringify(value)}`);
    text += ` ${name === 'comment' ? `"${value}"` : ipsetWord(value)}`;
  }
  return text;
}

function word(text: string): string {
  if (!isIpsetWord(text)) throw new RangeError(`ipset cannot take the word ${JSON.stringify(text)}`);
  return ipsetWord(text);
}
