/** Chunks of about this size: large enough to be few, small enough not to be held back. */
const CHUNK = 64 * 1024;

/** Pieces of text → the same text in fewer pieces. */
export function* inChunks(pieces: Iterable<string>): Generator<string, void, undefined> {
  let chunk = '';
  for (const piece of pieces) {
    chunk += piece;
    if (chunk.length < CHUNK) continue;
    yield chunk;
    chunk = '';
  }
  if (chunk !== '') yield chunk;
}
