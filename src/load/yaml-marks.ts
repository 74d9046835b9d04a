/**
 * Marks behind which a value or a key may begin. Counting them is cheap, and parsers need memory by values: of a text
 * of nothing but commas js-yaml makes a hundred times as much, and a tree with positions a thousand times.
 */
const MARKS = new Uint8Array(0x100);
for (const mark of ',:-?[{\n\r') MARKS[mark.charCodeAt(0)] = 1;

/** Those in bytes of UTF-8, or in a string. */
export function countMarks(text: Uint8Array | string): number {
  let count = 0;
  if (typeof text === 'string') {
    for (let at = 0; at < text.length; at++) count += MARKS[text.charCodeAt(at)] ?? 0;
  } else for (const byte of text) count += MARKS[byte] ?? 0;
  return count;
}
