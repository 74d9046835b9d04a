import { type Family, parseIptablesSave, type Ruleset } from '../../src/netfilter/index.ts';

/** For texts that have to be understood whole: a problem of any severity is thrown. */
export function parseSave(text: string, family: Family): Ruleset {
  const { ruleset, problems } = parseIptablesSave(text, { family });
  if (problems.length > 0) {
    throw new Error(
      problems.map(({ code, message, line }) => `line ${line}: ${code}: ${message}`).join('\n'),
    );
  }
  return ruleset;
}
