import { describe, expect, test } from 'vitest';
import { type FeatureGateName, gateIsOn } from './feature-gates.ts';
import { kubeProxyVersion } from './kube-proxy-version.ts';

// Stages: pkg/features/kube_features.go of the release; KEP-1860, KEP-2433, KEP-3015, KEP-4444, KEP-5707.
const TABLE: readonly [FeatureGateName, string][] = [
  //                                 1.28     1.29     1.30     1.31     1.32     1.33     1.34     1.35     1.36
  [
    'AllowServiceExternalIPs',
    '      locked   locked   locked   locked   locked   locked   locked   locked   on',
  ],
  [
    'LoadBalancerIPMode',
    '           absent   alpha    beta     beta     locked   locked   locked   locked   locked',
  ],
  [
    'PreferSameTrafficDistribution',
    'absent   absent   absent   absent   absent   alpha    beta     locked   locked',
  ],
  [
    'ServiceTrafficDistribution',
    '   absent   absent   alpha    beta     beta     locked   locked   locked   locked',
  ],
  [
    'TopologyAwareHints',
    '           beta     beta     beta     beta     beta     locked   locked   locked   locked',
  ],
];

/** Default, set to true, set to false, AllAlpha, AllBeta=false, and a gate of its own against all of its stage. */
const MEANING: Readonly<Record<string, readonly boolean[]>> = {
  absent: [false, false, false, false, false, false],
  alpha: [false, true, false, true, false, false],
  beta: [true, true, false, true, false, true],
  on: [true, true, false, true, true, true],
  locked: [true, true, true, true, true, true],
};

const cases = TABLE.flatMap(([name, stages]) =>
  stages
    .trim()
    .split(/\s+/)
    .map((stage, index) => [name, stage, `1.${28 + index}`, 28 + index] as const),
);

describe('a feature gate is as the release has it:', () => {
  test.each(cases)('%s is %s in %s', (name, stage, _version, minor) => {
    const settings: [string, boolean][][] = [
      [],
      [[name, true]],
      [[name, false]],
      [['AllAlpha', true]],
      [['AllBeta', false]],
      [
        ['AllAlpha', true],
        ['AllBeta', false],
        [name, stage !== 'alpha'],
      ],
    ];
    expect(settings.map((gates) => gateIsOn(kubeProxyVersion(minor), new Map(gates), name))).toEqual(
      MEANING[stage],
    );
  });
});
