/** Chunks of about this size: large enough to be few, small enough not to be held back. */
const CHUNK = 64 * 1024;

/** Lines without their ends → text in few pieces, each of whole lines. */
export function* inChunks(lines: Iterable<string>): Generator<string, void, undefined> {
  let chunk = '';
  for (const line of lines) {
    chunk += `${line}\n`;
    if (chunk.length < CHUNK) continue;
    yield chunk;
    chunk = '';
  }
  if (chunk !== '') yield chunk;
}
