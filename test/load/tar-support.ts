/** Tar archives for tests, honest and not: ustar headers by hand. */

export interface Entry {
  readonly name: string;
  readonly text?: string;
  readonly bytes?: Uint8Array;
  /** `0` a file, `1` and `2` links, `3` a device. */
  readonly type?: string;
  /** What the size field says instead of the truth. */
  readonly size?: string;
}

const BLOCK = 512;

export function tar(entries: readonly Entry[]): Buffer {
  return Buffer.concat([...entries.flatMap(blocksOf), Buffer.alloc(2 * BLOCK)]);
}

function blocksOf({ name, text = '', bytes = Buffer.from(text), type = '0', size }: Entry): Buffer[] {
  const header = Buffer.alloc(BLOCK);
  const cut = name.length > 100 ? name.lastIndexOf('/', 155) : -1;
  header.write(name.slice(cut + 1), 0, 100);
  if (cut > 0) header.write(name.slice(0, cut), 345, 155);
  header.write('0000644\0', 100);
  header.write(size ?? bytes.length.toString(8).padStart(11, '0'), 124, 12);
  header.write('00000000000', 136);
  header.write(' '.repeat(8), 148);
  header.write(type, 156);
  header.write('ustar\x0000', 257);
  let sum = 0;
  for (const byte of header) sum += byte;
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return [header, Buffer.from(bytes), Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK)];
}
