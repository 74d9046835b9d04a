import { quote, saveString } from '../words.ts';
import type { MatchExtension } from './extension.ts';

export interface CommentMatch {
  readonly kind: 'comment';
  readonly text: string;
}

export const comment: MatchExtension<CommentMatch> = {
  name: 'comment',
  options: { '--comment': { values: 1 } },
  parse(given) {
    const text = given[0]?.values[0];
    return text === undefined ? undefined : { kind: 'comment', text };
  },
  save: (match) => ` --comment ${saveString(match.text)}`,
  // kube-proxy puts a comment in quotes only if it wrote one with blanks. A comment that would be read as
  // something else without quotes (`!`, an option, nothing at all) never comes from it, and gets them too.
  // A single quote needs no backslash in restore input; only iptables-save puts one before it.
  restore: (match) =>
    ` --comment ${/^$|^[-!#]|[ \t"\\]/.test(match.text) ? quote(match.text).replaceAll("\\'", "'") : match.text}`,
};
