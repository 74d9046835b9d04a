/** Texts on their way into a file. */
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeAll } from '../../src/cli/io.ts';
import { temporaryFolder } from '../support/temporary.ts';

const folder = temporaryFolder();

test('all of a text is written, one after the other', () => {
  const file = openSync(join(folder, 'out'), 'w');
  const long = 'ä'.repeat(1_000_000);
  writeAll(file, long);
  writeAll(file, '');
  writeAll(file, 'end\n');
  closeSync(file);
  expect(readFileSync(join(folder, 'out'), 'utf8')).toBe(`${long}end\n`);
});
