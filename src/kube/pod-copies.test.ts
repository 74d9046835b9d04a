import { describe, expect, test } from 'vitest';
import {
  collect,
  type Manifest,
  ORIGIN,
  serviceManifest,
  sliceManifest,
  told,
} from '../../test/kube/support.ts';
import { clusterCollector } from './cluster.ts';

const WEB = serviceManifest({ selector: { app: 'web' } });
const ENDPOINTS: Manifest = {
  apiVersion: 'v1',
  kind: 'Endpoints',
  metadata: { namespace: 'shop', name: 'web' },
  subsets: [{ addresses: [{ ip: '10.244.1.10' }], ports: [{ port: 8080 }] }],
};

function pod(status: Manifest = {}, labels: Manifest = { app: 'web' }): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'shop', name: 'web-1', labels },
    spec: { nodeName: 'node-a' },
    status: { phase: 'Running', podIP: '10.244.1.10', ...status },
  };
}

function deployment(replicas: number): Manifest {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'shop', name: 'web' },
    spec: { replicas, template: { metadata: { labels: { app: 'web' } } } },
  };
}

const MOVED = pod({ podIP: '10.244.1.11' });
const OTHERS =
  'conflicting-objects at metadata.name: the same object was read before with other contents (test.yaml)';

const problemsOf = (...objects: Manifest[]) => told((report) => collect(objects, report)).problems;

describe('a Pod that was read twice with different contents', () => {
  test.each<[string, readonly Manifest[]]>([
    ['a Service without slices selects both copies', [WEB, pod(), MOVED]],
    ['it selects the first one alone', [WEB, pod(), pod({}, { app: 'other' })]],
    ['it selects the second one alone', [pod({}, { app: 'other' }), pod(), WEB]],
    [
      'it has no cluster IP yet',
      [serviceManifest({ clusterIP: '', selector: { app: 'web' } }), pod(), MOVED],
    ],
    ['only one of them is done', [WEB, pod(), pod({ phase: 'Succeeded' })]],
  ])('is an error where %s', (_title, objects) => {
    expect(problemsOf(...objects).filter((problem) => problem.startsWith('error'))).toEqual([
      `error ${OTHERS}`,
    ]);
  });

  test.each<[string, readonly Manifest[]]>([
    ['its Service has slices', [WEB, sliceManifest({}), pod(), MOVED]],
    ['the slices come last', [pod(), MOVED, WEB, sliceManifest({})]],
    ['its Service has Endpoints', [WEB, ENDPOINTS, pod(), MOVED]],
    ['no Service selects it', [serviceManifest({ selector: { app: 'other' } }), pod(), MOVED]],
    [
      'the Service is in another namespace',
      [{ ...WEB, metadata: { namespace: 'a', name: 'web' } }, pod(), MOVED],
    ],
    ['the Service selects nothing', [serviceManifest({}), pod(), MOVED]],
    ['both are done', [WEB, pod({ phase: 'Failed' }), pod({ phase: 'Succeeded', podIP: '10.244.1.11' })]],
  ])('is a warning where %s', (_title, objects) => {
    expect(problemsOf(...objects)).toEqual([`warning ${OTHERS}; no endpoints come from it`]);
  });

  test('and the same contents is nothing', () => {
    expect(problemsOf(WEB, pod(), pod({ startTime: '2026-01-02T03:04:05Z' }))).toEqual([]);
  });

  test('is named with both places, once', () => {
    const diagnostics: unknown[] = [];
    const collector = clusterCollector(
      (diagnostic) => diagnostics.push(diagnostic),
      () => undefined,
    );
    for (const [index, value] of [pod(), MOVED].entries()) {
      collector.add({ apiVersion: 'v1', kind: 'Pod', value, origin: { ...ORIGIN, file: `${index}.yaml` } });
    }
    expect(collector.cluster()).toEqual(collector.cluster());
    expect(diagnostics).toEqual([
      {
        code: 'conflicting-objects',
        severity: 'warning',
        object: 'Pod shop/web-1',
        field: ['metadata', 'name'],
        origin: { ...ORIGIN, file: '1.yaml' },
        other: { origin: { ...ORIGIN, file: '0.yaml' }, field: ['metadata', 'name'] },
        message: 'the same object was read before with other contents (0.yaml); no endpoints come from it',
      },
    ]);
  });

  test('counts in its first copy, or in its last one where that is asked for', () => {
    const address = (lastWins: boolean) => {
      const { value, problems } = told((report) => {
        const collector = clusterCollector(report, () => undefined, { lastWins });
        for (const each of [WEB, pod(), MOVED]) {
          collector.add({ apiVersion: 'v1', kind: String(each.kind), value: each, origin: ORIGIN });
        }
        return collector.cluster().pods.flatMap(({ addresses }) => addresses.map(({ given }) => given));
      });
      return [...value, ...problems];
    };
    expect(address(false)).toEqual(['10.244.1.10', `error ${OTHERS}`]);
    expect(address(true)).toEqual([
      '10.244.1.11',
      'note overridden-object at metadata.name: the same object was read before with other contents; this one counts',
    ]);
  });
});

describe('a workload that was read twice with different contents', () => {
  test('is an error where its Pods are not there, and a Service without slices selects them', () => {
    expect(problemsOf(WEB, deployment(1), deployment(2))).toEqual([`error ${OTHERS}`]);
  });

  test.each<[string, readonly Manifest[]]>([
    ['the Pods are there', [WEB, pod()]],
    ['the Service has slices', [WEB, sliceManifest({})]],
    ['there is no Service', []],
  ])('is a warning where %s', (_title, objects) => {
    expect(problemsOf(...objects, deployment(1), deployment(2))).toEqual([
      `warning ${OTHERS}; no endpoints come from it`,
    ]);
  });
});
