import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { versionChanges } from '../src/compile/index.ts';

test('docs/versions.md has each change between versions, and no other', () => {
  const rows = readFileSync('docs/versions.md', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| 1.'))
    .map((line) => line.split(' | ').slice(0, 3));
  const documented = rows.map(([since, , what]) => `${since?.slice(2)} ${what}`);
  const changes = [...versionChanges('iptables'), ...versionChanges('ipvs')].map(
    ({ since, what }) => `1.${since} ${what.replace(/^ipvs: /, '')}`,
  );
  expect([...new Set(documented)].sort()).toEqual([...new Set(changes)].sort());
});
