/*
 * Words of an `ipset restore` line, as ipset 7.17 splits them (build_argv in lib/ipset.c): blanks, tabs and
 * carriage returns part words, a double quote opens or closes a piece in which they do not, and a closing quote
 * ends the word. There are no escapes, so no word can hold a double quote, and an empty word cannot be written.
 */

/** The words of a line; undefined where a quote is not closed, for ipset then loses what stands behind it. */
export function ipsetWords(line: string): readonly string[] | undefined {
  if (!line.includes('"')) return line.split(/[ \t\r]+/).filter((word) => word !== '');
  const words: string[] = [];
  let word = '';
  let quoted = false;
  const end = () => {
    if (word !== '') words.push(word);
    word = '';
  };
  for (const char of line) {
    if (char === '"') {
      quoted = !quoted;
      if (!quoted) end();
    } else if (!quoted && (char === ' ' || char === '\t' || char === '\r')) end();
    else word += char;
  }
  if (quoted) return undefined;
  end();
  return words;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const NOT_IN_A_WORD = /["\n\r\u0000]/;

/** Whether ipset reads the text back as one word that is no option. */
export function isIpsetWord(text: string): boolean {
  return text !== '' && !text.startsWith('-') && !NOT_IN_A_WORD.test(text);
}

/** Whether ipset reads the text back as one value behind the name of an option. */
export function isIpsetValue(text: string): boolean {
  return text !== '' && !NOT_IN_A_WORD.test(text) && !EXIST.has(text) && !QUIET.has(text);
}

/** ipset's own options stand anywhere in a line, in quotes too. */
export const EXIST: ReadonlySet<string> = new Set(['-exist', '--exist', '-!']);
export const QUIET: ReadonlySet<string> = new Set(['-quiet', '--quiet', '-q']);

/** A word as ipset takes it: in quotes where it holds a blank. */
export function ipsetWord(text: string): string {
  return /[ \t]/.test(text) ? `"${text}"` : text;
}
