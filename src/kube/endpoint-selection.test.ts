import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Endpoint, type SelectionRules, selectEndpoints } from './endpoint-selection.ts';

/**
 * One word an endpoint, `name:flags`: r ready, s serving, t terminating, l local, zAB zone hints, nA node hints.
 */
function endpoint(text: string, index: number): Endpoint {
  const [name = '', flags = ''] = text.split(':');
  const hints = (letter: string) =>
    [...flags.matchAll(new RegExp(`${letter}([A-Z]+)`, 'g'))].flatMap((match) => [...(match[1] ?? '')]);
  const plain = flags.replace(/[zn][A-Z]+/g, '');
  return {
    destination: `${name}${index}`,
    sourceAddress: name,
    local: plain.includes('l'),
    ready: plain.includes('r'),
    serving: plain.includes('s'),
    terminating: plain.includes('t'),
    zoneHints: hints('z'),
    nodeHints: hints('n'),
  };
}

const RULES: SelectionRules = {
  usesCluster: true,
  usesLocal: false,
  hintsCount: true,
  nodeHintsCount: true,
  terminatingCount: true,
  nodeName: 'A',
  zone: 'A',
};

const LOCAL = { usesCluster: true, usesLocal: true };
const LOCAL_ALONE = { usesCluster: false, usesLocal: true };

function select(endpoints: string, rules: Partial<SelectionRules> = {}): string {
  const all = endpoints
    .split(' ')
    .filter((word) => word !== '')
    .map(endpoint);
  const { cluster, local, reachable, hasAny } = selectEndpoints(all, { ...RULES, ...rules });
  const names = (list: readonly Endpoint[]) => list.map(({ sourceAddress }) => sourceAddress).join('');
  return `cluster ${names(cluster)}| local ${names(local)}| reachable ${names(reachable)}| ${hasAny ? 'some' : 'none'}`;
}

// CategorizeEndpoints (KEP-1669, KEP-2086).
describe('ready, serving and terminating endpoints:', () => {
  test.each<[string, Partial<SelectionRules>, string]>([
    ['', {}, 'cluster | local | reachable | none'],
    ['', LOCAL, 'cluster | local | reachable | none'],
    ['a:rs b:rs', {}, 'cluster ab| local | reachable ab| some'],
    ['a:rs b:s c:', {}, 'cluster a| local | reachable a| some'],
    // Draining ones stand in only where none is ready; not ready but alive is no use.
    ['a:rs b:st', {}, 'cluster a| local | reachable a| some'],
    ['a:st b:t c:s', {}, 'cluster a| local | reachable a| some'],
    ['a:t b:s c:', {}, 'cluster | local | reachable | none'],
    // publishNotReadyAddresses: ready and terminating at once.
    ['a:rst b:st', {}, 'cluster a| local | reachable a| some'],
    ['a:rt', {}, 'cluster a| local | reachable a| some'],

    ['a:rsl b:rs', LOCAL, 'cluster ab| local a| reachable ab| some'],
    ['a:rs b:rs', LOCAL, 'cluster ab| local | reachable ab| some'],
    // The local set falls back on its own.
    ['a:stl b:rs', LOCAL, 'cluster b| local a| reachable ab| some'],
    ['a:stl b:rsl', LOCAL, 'cluster b| local b| reachable b| some'],
    ['a:tl b:rs', LOCAL, 'cluster b| local | reachable b| some'],
    ['a:stl b:st', LOCAL, 'cluster ab| local a| reachable ab| some'],
    ['a:sl', LOCAL, 'cluster | local | reachable | none'],

    // iTP Local and nothing from outside: the others are not reachable, but they are there.
    ['a:rsl b:rs', LOCAL_ALONE, 'cluster | local a| reachable a| some'],
    ['a:rs', LOCAL_ALONE, 'cluster | local | reachable | some'],
    ['a:st', LOCAL_ALONE, 'cluster | local | reachable | some'],
    ['a:stl b:rs', LOCAL_ALONE, 'cluster | local a| reachable a| some'],
    ['a:s b:t', LOCAL_ALONE, 'cluster | local | reachable | none'],
  ])('%s with %j', (endpoints, rules, expected) => {
    expect(select(endpoints, rules)).toBe(expected);
  });
});

// canUseTopology up to 1.32, topologyModeFromHints from 1.33 on (KEP-2433, KEP-3015).
describe('topology hints:', () => {
  test.each<[string, Partial<SelectionRules>, string]>([
    ['a:rszA b:rszB', {}, 'a'],
    ['a:rszAB b:rszB', {}, 'a'],
    ['a:rszA b:rszA c:rszC', {}, 'ab'],
    // Any doubt, and all ready ones are used: a missing hint, no hint for here, no zone of the node, no gate.
    ['a:rszA b:rs', {}, 'ab'],
    ['a:rszB b:rszC', {}, 'ab'],
    ['a:rszA b:rszB', { zone: '' }, 'ab'],
    ['a:rszA b:rszB', { hintsCount: false }, 'ab'],
    // Only ready ones need hints, and only they count.
    ['a:rszA b:s c:st d:rszB', {}, 'a'],
    ['a:szA b:rszB', {}, 'b'],
    // Draining ones are used wherever they are.
    ['a:stzA b:stzB', {}, 'ab'],

    ['a:rsnA b:rsnB', {}, 'a'],
    ['a:rsnAzB b:rsnBzA', {}, 'a'],
    ['a:rsnAzB b:rszA', {}, 'b'],
    ['a:rsnBzA b:rsnCzB', {}, 'a'],
    ['a:rsnB b:rsnC', {}, 'ab'],
    ['a:rsnA b:rs', {}, 'ab'],
    ['a:rsnA b:rsnB', { nodeHintsCount: false }, 'ab'],
    ['a:rsnAzB b:rsnBzA', { nodeHintsCount: false }, 'b'],
    ['a:rsnA b:rsnB', { hintsCount: false }, 'ab'],
    ['a:rsnA b:rsnB', { zone: '' }, 'a'],
  ])('%s with %j: %s', (endpoints, rules, expected) => {
    expect(select(endpoints, rules)).toBe(`cluster ${expected}| local | reachable ${expected}| some`);
  });

  test('policy Local does not ask for them', () => {
    expect(select('a:rslzB b:rszA', LOCAL)).toBe('cluster b| local a| reachable ab| some');
  });
});

describe('whatever the endpoints are,', () => {
  const arbitraryEndpoint = fc.record({
    destination: fc.string({ minLength: 1, maxLength: 3 }),
    sourceAddress: fc.constant(''),
    local: fc.boolean(),
    ready: fc.boolean(),
    serving: fc.boolean(),
    terminating: fc.boolean(),
    zoneHints: fc.subarray(['A', 'B']),
    nodeHints: fc.subarray(['A', 'B']),
  });
  const arbitraryRules = fc.record({
    usesCluster: fc.boolean(),
    usesLocal: fc.boolean(),
    hintsCount: fc.boolean(),
    nodeHintsCount: fc.boolean(),
    terminatingCount: fc.constant(true),
    nodeName: fc.constantFrom('', 'A'),
    zone: fc.constantFrom('', 'A'),
  });
  const law = (check: (all: readonly Endpoint[], rules: SelectionRules) => void) =>
    fc.assert(
      fc.property(
        fc.uniqueArray(arbitraryEndpoint, { selector: ({ destination }) => destination, maxLength: 6 }),
        arbitraryRules,
        check,
      ),
    );

  test('what is reachable is what either policy uses, in the order of all', () => {
    law((all, rules) => {
      const { cluster, local, reachable } = selectEndpoints(all, rules);
      expect(reachable).toEqual(all.filter((item) => cluster.includes(item) || local.includes(item)));
      expect(cluster).toEqual(all.filter((item) => cluster.includes(item)));
    });
  });

  test('a service port with a usable endpoint and a use for policy Cluster never comes out empty', () => {
    law((all, rules) => {
      const { cluster, hasAny } = selectEndpoints(all, rules);
      if (rules.usesCluster) expect(cluster.length > 0).toBe(hasAny);
      else expect(cluster).toEqual([]);
    });
  });

  test('policy Local uses local endpoints alone', () => {
    law((all, rules) => {
      const { local } = selectEndpoints(all, rules);
      expect(local.every((item) => item.local && rules.usesLocal)).toBe(true);
    });
  });
});
