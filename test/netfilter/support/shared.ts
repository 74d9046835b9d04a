/** Material beside the repository; a clone of the repository alone does not have it. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const shared = join(import.meta.dirname, '..', '..', '..', '..', 'shared');

/** All files under a folder of ../shared, sorted, as paths relative to it; none, and a line that says so, if it is absent. */
export function sharedFiles(folder: string): readonly { readonly name: string; readonly path: string }[] {
  const root = join(shared, folder);
  if (!existsSync(root)) {
    process.stderr.write(`Skipped: netfilter tests on ../shared/${folder}, which is not there.\n`);
    return [];
  }
  return (readdirSync(root, { recursive: true }) as string[])
    .sort()
    .map((name) => ({ name, path: join(root, name) }))
    .filter(({ path }) => statSync(path).isFile());
}
