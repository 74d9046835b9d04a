import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** A folder of the calling test file's own; gone when its tests are over. Call it at the top of a file or block. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'kp-compile-test-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
