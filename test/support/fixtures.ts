import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export interface Fixture {
  readonly name: string;
  readonly folder: string;
}

/** A folder each, with the manifests of one cluster and, where it matters, its kube-proxy.yaml. */
export function fixtures(): readonly Fixture[] {
  const root = join(import.meta.dirname, '..', '..', 'fixtures');
  if (!existsSync(root)) return [];
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => ({ name, folder: join(root, name) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
