/*
 * Words and quotes of iptables-restore and iptables-save.
 *
 * Reading is what iptables-restore does (add_param_to_argv in xshared.c): blanks and tabs part words, a double
 * quote opens a quoted piece in which a backslash takes the next character as it is, and the closing quote ends
 * the word. Outside of quotes a backslash is a character like any other. Single quotes mean nothing.
 *
 * Writing is what iptables-save does (xtables_save_string in xtables.c): a text with any character outside
 * [-_0-9A-Za-z], and the empty text, is put in double quotes; `"`, `\` and `'` inside get a backslash.
 */

/** The words of one line. The arrays are used again for the next line: copy what is to be kept. */
export interface Words {
  readonly texts: string[];
  /** 1 where any part of the word was in quotes: such a word is never an option. */
  readonly quoted: number[];
  count: number;
  /** A quote was opened and not closed: the last word holds the rest of the line, its line end included. */
  unterminated: boolean;
  /** How many line ends lay inside quotes. */
  lineFeeds: number;
}

export function newWords(): Words {
  return { texts: [], quoted: [], count: 0, unterminated: false, lineFeeds: 0 };
}

const TAB = 9;
const LINE_FEED = 10;
const RETURN = 13;
const BLANK = 32;
const QUOTE = 34;
const BACKSLASH = 92;

/** Quoted texts of iptables are short (a comment: 255 bytes): a quote is not looked for further away than this. */
const LONGEST_QUOTED_RUN = 4096;

/**
 * Splits `text[from, to)`, one line without its line end, into words. A quoted word may run over line ends: then
 * reading goes on to the end of the line that closes it. Returns where reading ended: `to`, or the end of that
 * later line (the index of its line feed, or the length of the text).
 */
export function readWords(text: string, from: number, to: number, words: Words): number {
  const { texts, quoted } = words;
  let count = 0;
  let end = to;
  words.unterminated = false;
  words.lineFeeds = 0;
  for (let i = from; i < end; ) {
    let code = text.charCodeAt(i);
    if (code === BLANK || code === TAB) {
      i++;
      continue;
    }
    const start = i;
    while (i < end) {
      code = text.charCodeAt(i);
      if (code === BLANK || code === TAB || code === QUOTE) break;
      i++;
    }
    if (i === end || code !== QUOTE) {
      texts[count] = text.slice(start, i);
      quoted[count++] = 0;
      continue;
    }
    let close = closingQuote(text, i + 1, end);
    if (close < 0) {
      close = closingQuoteOnLaterLine(text, i + 1, end);
      if (close >= 0) {
        end = text.indexOf('\n', close);
        if (end < 0) end = text.length;
      }
    }
    const head = start === i ? '' : text.slice(start, i);
    if (close < 0) {
      words.unterminated = true;
      const lineEnd = end < text.length ? '\n' : '';
      texts[count] = head + withoutEscapes(text.slice(i + 1, end)) + lineEnd;
      i = end;
    } else {
      const inside = text.slice(i + 1, close);
      if (end !== to) words.lineFeeds += countLineFeeds(inside);
      texts[count] = head + withoutEscapes(inside);
      i = close + 1;
    }
    quoted[count++] = 1;
  }
  words.count = count;
  if (end !== to && text.charCodeAt(end - 1) === RETURN) trimReturn(words);
  return end;
}

function closingQuote(text: string, from: number, to: number): number {
  for (let i = from; i < to; i++) {
    const code = text.charCodeAt(i);
    if (code === BACKSLASH) i++;
    else if (code === QUOTE) return i;
  }
  return -1;
}

/**
 * A comment may hold a line feed; a line may also simply lack its closing quote. The next quote further down
 * closes the word only if it looks like a closing one: a blank or a line end behind it, and, if lines between
 * look like rules, no blank before it.
 */
function closingQuoteOnLaterLine(text: string, from: number, lineEnd: number): number {
  const close = closingQuote(text, from, Math.min(text.length, lineEnd + LONGEST_QUOTED_RUN));
  if (close < 0) return -1;
  const next = text.charCodeAt(close + 1);
  const closes = close + 1 === text.length || next === BLANK || next === LINE_FEED || next === RETURN;
  if (!closes) return -1;
  const before = text.charCodeAt(close - 1);
  const opens = before === BLANK || before === TAB;
  return opens && looksLikeRules(text.slice(from, close)) ? -1 : close;
}

function looksLikeRules(text: string): boolean {
  return /\n>?\s*(?:-[A-Z] |\[\d+:\d+\] |[:*#]|COMMIT)/.test(text);
}

function countLineFeeds(text: string): number {
  let count = 0;
  for (let i = text.indexOf('\n'); i >= 0; i = text.indexOf('\n', i + 1)) count++;
  return count;
}

/** The last line of a quoted word in a file with CRLF ends: its carriage return is no part of the last word. */
function trimReturn(words: Words): void {
  const last = words.count - 1;
  const text = words.texts[last];
  if (text === undefined || words.quoted[last] === 1) return;
  const trimmed = text.endsWith('\r') ? text.slice(0, -1) : text;
  if (trimmed === '') words.count = last;
  else words.texts[last] = trimmed;
}

/** What stands between two quotes → the text that is meant: a backslash takes the next character as it is. */
function withoutEscapes(inside: string): string {
  if (!inside.includes('\\')) return inside;
  let text = '';
  for (let i = 0; i < inside.length; i++) {
    if (inside.charCodeAt(i) === BACKSLASH) i++;
    text += inside[i] ?? '';
  }
  return text;
}

const NEEDS_NO_QUOTES = /^[-_0-9A-Za-z]+$/;
const SPECIAL_IN_QUOTES = /["\\']/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const BREAKS_A_WORD = /[\u0000- "\u007f]/;

/** How iptables-save prints a free text (a comment, a log prefix): `abc`, `"a/b"`, `"don\'t"`, `""`. */
export function saveString(text: string): string {
  return NEEDS_NO_QUOTES.test(text) ? text : quote(text);
}

/** Puts a text in double quotes, with a backslash before `"`, `\` and `'`. */
export function quote(text: string): string {
  return `"${text.replace(SPECIAL_IN_QUOTES, '\\$&')}"`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const NO_BARE_WORD = /^$|^[-!#]|[\u0000- "\u007f]/;

/**
 * How a word of any other kind (a name, an address) is printed: bare, as iptables-save does, unless it would
 * then not be read back as the same word, or be taken for an option.
 */
export function saveWord(text: string): string {
  return NO_BARE_WORD.test(text) ? quote(text) : text;
}

function bareOrQuoted(text: string): string {
  return text === '' || BREAKS_A_WORD.test(text) ? quote(text) : text;
}

/**
 * The spelling in which words of unknown options are kept in the model: bare, or with its quotes where it came
 * with quotes that mean something. Two spellings of the same word become one: `"abc"` is kept as `abc`.
 */
export function keptWord(text: string, wasQuoted: boolean): string {
  if (!wasQuoted) return bareOrQuoted(text);
  return NEEDS_NO_QUOTES.test(text) && !text.startsWith('-') ? text : quote(text);
}

/** The text of a word that is kept in the model with or without quotes (UnknownMatch.words, Rule.unparsed). */
export function wordText(word: string): string {
  return isQuoted(word) ? withoutEscapes(word.slice(1, -1)) : word;
}

/** True for a kept word that is one whole quoted text, closed at its very end. */
function isQuoted(word: string): boolean {
  return word.length >= 2 && word.startsWith('"') && closingQuote(word, 1, word.length) === word.length - 1;
}

/** Prints a kept word; a text that was put into the model as it is, and is no word, gets quotes. */
function printKeptWord(word: string): string {
  return isQuoted(word) ? word : bareOrQuoted(word);
}

/** Several kept words, each with a blank before it. */
export function printKeptWords(words: readonly string[]): string {
  let text = '';
  for (const word of words) text += ` ${printKeptWord(word)}`;
  return text;
}
