import { saveWord } from '../words.ts';
import type { MatchExtension } from './extension.ts';

export interface NfacctMatch {
  readonly kind: 'nfacct';
  readonly name: string;
}

export const nfacct: MatchExtension<NfacctMatch> = {
  name: 'nfacct',
  options: { '--nfacct-name': { values: 1 } },
  parse(given) {
    const name = given[0]?.values[0];
    return name === undefined ? undefined : { kind: 'nfacct', name };
  },
  // Two blanks: libxt_nfacct.c prints one of its own behind the option's name.
  save: (match) => ` --nfacct-name  ${saveWord(match.name)}`,
  restore: (match) => ` --nfacct-name ${saveWord(match.name)}`,
};
