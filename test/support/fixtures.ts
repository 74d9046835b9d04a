import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export interface Fixture {
  readonly name: string;
  readonly folder: string;
}

/**
 * A folder each, with the manifests of one cluster and, where it matters, its kube-proxy.yaml. Those of ipvs mode,
 * whose rules load only where its sets are, come where they are asked for.
 */
export function fixtures(which: 'iptables mode' | 'all' = 'iptables mode'): readonly Fixture[] {
  const root = join(import.meta.dirname, '..', '..', 'fixtures');
  if (!existsSync(root)) return [];
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && (which === 'all' || !entry.name.startsWith('ipvs')))
    .map(({ name }) => ({ name, folder: join(root, name) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
