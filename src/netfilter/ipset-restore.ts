/* The lines of `ipset save` and `ipset restore`: commands that are carried out one after the other. */
import { createSet, type SetDraft, type SetDrafts, setNamed } from './ipset-draft.ts';
import { createOptions, memberOptions, setType } from './ipset-options.ts';
import { EXIST, ipsetWords, isIpsetWord, QUIET } from './ipset-words.ts';
import { report } from './problems.ts';

type CommandName = 'create' | 'add' | 'del' | 'flush' | 'destroy' | 'rename' | 'swap' | 'nothing';

const COMMANDS = new Map<string, CommandName>([
  ...(['create', 'n', '-N', '--create'] as const).map((word) => [word, 'create'] as const),
  ...(['add', '-A', '--add'] as const).map((word) => [word, 'add'] as const),
  ...(['del', '-D', '--del'] as const).map((word) => [word, 'del'] as const),
  ...(['flush', 'f', '-F', '--flush'] as const).map((word) => [word, 'flush'] as const),
  ...(['destroy', 'x', '-X', '--destroy'] as const).map((word) => [word, 'destroy'] as const),
  ...(['rename', 'e', '-E', '--rename'] as const).map((word) => [word, 'rename'] as const),
  ...(['swap', 'w', '-W', '--swap'] as const).map((word) => [word, 'swap'] as const),
  ...(['test', '-T', '--test', 'COMMIT', 'quit'] as const).map((word) => [word, 'nothing'] as const),
]);

/** Carries out one line; false where it is no command of ipset. */
export function readRestoreLine(line: string, drafts: SetDrafts): boolean {
  const all = ipsetWords(line.replace(/^\s*(?:sudo\s+)?(?:\/\S+\/)?ipset\s+/, ''));
  if (all === undefined) return false;
  const exist = all.some((word) => EXIST.has(word));
  const words = all.filter((word) => !EXIST.has(word) && !QUIET.has(word));
  const command = COMMANDS.get(words[0] ?? '');
  const name = words[1];
  if (command === undefined) return false;
  if (command === 'nothing') return true;
  if (name === undefined) {
    if (command === 'flush') for (const draft of drafts.byName.values()) draft.members.clear();
    else if (command === 'destroy') drafts.byName.clear();
    return command === 'flush' || command === 'destroy';
  }
  if (!isIpsetWord(name)) return false;
  return carryOut(command, name, words.slice(2), exist, drafts);
}

function carryOut(
  command: Exclude<CommandName, 'nothing'>,
  name: string,
  words: readonly string[],
  exist: boolean,
  drafts: SetDrafts,
): boolean {
  const second = words[0];
  switch (command) {
    case 'create': {
      const options = createOptions(words.slice(1));
      if (second === undefined || options === undefined) return false;
      if (!isIpsetWord(second) || /\s/.test(second)) return false;
      createSet(drafts, name, setType(second), options, exist);
      return true;
    }
    case 'add': {
      const options = memberOptions(words.slice(1));
      if (second === undefined || !isIpsetWord(second) || options === undefined) return false;
      setNamed(drafts, name).members.set(second, { entry: second, options });
      return true;
    }
    case 'del': {
      if (second === undefined || words.length > 1) return false;
      const draft = setNamed(drafts, name);
      if (!draft.members.delete(second) && !exist)
        report(drafts.problems, 'member-not-there', 'warning', `${name} has no member ${second} to delete`);
      return true;
    }
    case 'flush':
      if (words.length > 0) return false;
      setNamed(drafts, name).members.clear();
      return true;
    case 'destroy':
      if (words.length > 0) return false;
      drafts.byName.delete(name);
      return true;
    case 'rename':
    case 'swap':
      return second !== undefined && isIpsetWord(second) && exchange(command, name, second, drafts);
  }
}

/** `rename FROM TO`, `swap A B`; the order of the sets stays. */
function exchange(command: 'rename' | 'swap', name: string, other: string, drafts: SetDrafts): boolean {
  const first = setNamed(drafts, name);
  const second = command === 'swap' ? setNamed(drafts, other) : undefined;
  if (name === other) return true;
  const sets: SetDraft[] = [];
  for (const draft of drafts.byName.values()) if (draft.name !== other || draft === second) sets.push(draft);
  first.name = other;
  if (second !== undefined) second.name = name;
  drafts.byName.clear();
  for (const draft of sets) drafts.byName.set(draft.name, draft);
  return true;
}
