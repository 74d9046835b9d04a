import { expect, test } from 'vitest';
import type { Io } from '../../src/cli/io.ts';
import { progressOf } from '../../src/cli/progress.ts';

function shown(terminal: boolean, quiet: boolean): string[] {
  const lines: string[] = [];
  const io: Io = {
    stdin: async function* () {},
    writeOut: async () => {},
    writeError: (text) => void lines.push(text),
    outIsTerminal: terminal,
    errorIsTerminal: terminal,
    env: {},
  };
  let time = 0;
  const progress = progressOf(io, quiet, () => time);
  progress.file({ input: 'big\x1b[31m.json', index: 0, count: 1, size: 1000 });
  for (let object = 1; object <= 1000; object++) {
    time += 4;
    progress.tick(object);
  }
  progress.file({ input: 'manifests', index: 0, count: 4, size: 10 });
  time += 1000;
  progress.file({ input: 'manifests', index: 1, count: 4, size: 10 });
  progress.phase('compiling');
  progress.done();
  return lines;
}

test('says what, how far and how long, on a terminal, once it takes longer than a second', () => {
  expect(shown(true, false)).toEqual([
    '\r\x1b[Kreading big\\x1b[31m.json: 25 %, 3 s left',
    '\r\x1b[Kreading big\\x1b[31m.json: 51 %, 2 s left',
    '\r\x1b[Kreading big\\x1b[31m.json: 76 %, 1 s left',
    '\r\x1b[Kreading manifests: 0 %, 1 s left',
    '\r\x1b[Kreading manifests: 25 %, 3 s left',
    '\r\x1b[Kcompiling',
    '\r\x1b[K',
  ]);
});

test('says nothing in a pipe, and nothing to those who asked for quiet', () => {
  expect(shown(false, false)).toEqual([]);
  expect(shown(true, true)).toEqual([]);
});
