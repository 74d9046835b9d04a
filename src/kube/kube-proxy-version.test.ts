import { describe, expect, test } from 'vitest';
import {
  KNOWN_VERSIONS,
  type KubeProxyBehaviour,
  kubeProxyVersion,
  NEWEST_VERSION,
  parseMinor,
  placeOfMinor,
} from './kube-proxy-version.ts';

type Plain = Exclude<keyof KubeProxyBehaviour, 'featureGates'>;

const NAME = 'service.kubernetes.io/service-proxy-name';
const HEADLESS = 'service.kubernetes.io/headless';

// Read off the sources of the releases named, on both sides of each change.
describe('behaviour changes with the version:', () => {
  test.each<[Plain, number, unknown, unknown]>([
    ['unnamedPort', 19, 'namespace/name:', 'namespace/name'],
    ['tracksTerminating', 21, false, true],
    ['endpointIdentity', 22, 'address', 'address and port'],
    ['hintsNeededOn', 23, 'all endpoints', 'ready endpoints'],
    ['endpointSelection', 24, 'filtered once', 'by policy'],
    ['externalPolicyOfClusterIPServices', 24, false, true],
    ['detectsLocalByInterface', 24, false, true],
    ['honoursLocalhostNodePorts', 26, false, true],
    ['hintsAnnotationValues', 27, 'auto', 'any'],
    ['ipvsMaglev', 27, false, true],
    ['nodeIP', 28, 'bindAddress', 'of the Node'],
    ['honoursTcpBeLiberal', 29, false, true],
    ['serviceAddresses', 30, 'as given', 'canonical'],
    ['sourceRanges', 30, 'as given', 'canonical'],
    ['nfacct', 31, false, true],
    ['endpointAddress', 31, 'as given', 'canonical'],
    ['clusterCIDR', 31, 'as given', 'canonical'],
    ['nodePortAddressesPrimary', 31, false, true],
    ['checksEndpointFamily', 33, true, false],
    ['zeroSourceRangeMeansAll', 34, false, true],
    ['zeroNodePortAddresses', 34, 'by text', 'by length'],
    ['duplicateEndpoints', 36, 'local', 'not terminating'],
    ['serviceIgnoredBy', 36, [NAME, HEADLESS], [NAME]],
    ['endpointSliceIgnoredBy', 36, [NAME, HEADLESS], [HEADLESS]],
  ])('%s in 1.%i', (key, since, before, after) => {
    for (let minor = 18; minor <= 36; minor++) {
      expect(kubeProxyVersion(minor).behaviour[key], `1.${minor}`).toEqual(minor < since ? before : after);
    }
  });

  test('the source of a KUBE-SEP rule was written as given in 1.30 alone', () => {
    expect([28, 29, 30, 31, 36].map((minor) => kubeProxyVersion(minor).behaviour.endpointSource)).toEqual([
      'canonical',
      'canonical',
      'as given',
      'canonical',
      'canonical',
    ]);
  });
});

describe('a version is read from', () => {
  test.each([
    ['1.30', 30],
    ['v1.30', 30],
    ['v1.30.5', 30],
    ['1.30.5', 30],
    [' v1.30.5\n', 30],
    ['v1.30.5+k3s1', 30],
    ['v1.29.3-eks-adc7111', 29],
    ['v1.29.7-gke.1104000', 29],
    ['v1.36.0-alpha.1.12+3a1b2c', 36],
    ['v1.27.0', 27],
    ['1.28+', 28],
    ['v1.100.0', 100],
  ])('%j', (text, minor) => {
    expect(parseMinor(text)).toBe(minor);
  });

  test.each(['', 'v1', '1', '2.30', '1.x', '1.30.x', 'v1.30.5 linux', '30', '1.-30', '1.1000', 'latest'])(
    'but not from %j',
    (text) => {
      expect(parseMinor(text)).toBeUndefined();
    },
  );
});

test('the range of known versions has two ends', () => {
  expect(KNOWN_VERSIONS).toBe('1.18 … 1.36');
  expect(NEWEST_VERSION.text).toBe('1.36');
  expect([17, 18, 36, 37].map(placeOfMinor)).toEqual(['older', 'known', 'known', 'newer']);
});
