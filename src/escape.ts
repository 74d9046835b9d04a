/**
 * Text from the input never reaches a terminal raw: a Service may be called `\x1b]0;…` or hold a right-to-left
 * override, and a message must stay one line.
 */

// C0 and C1 controls, DEL, line and paragraph separator, bidi controls and marks, zero-width characters, BOM, lone surrogates.
const UNSAFE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\p{Cs}/gu;

const MAX_LENGTH = 200;

/**
 * Makes input text safe to print: control characters become `\xNN` or `\uNNNN`, and text longer than `maxLength`
 * is cut in its middle with the number of characters that are missing.
 */
export function escapeText(text: string, maxLength = MAX_LENGTH): string {
  let shown = text;
  if (text.length > maxLength) {
    const tail = Math.floor(maxLength / 4);
    const head = maxLength - tail;
    shown = `${text.slice(0, head)}…(${text.length - head - tail} characters)…${text.slice(text.length - tail)}`;
  }
  return shown.replace(UNSAFE, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code < 0x100
      ? `\\x${code.toString(16).padStart(2, '0')}`
      : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}
