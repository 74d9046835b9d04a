import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Comparison } from '../../src/diff/index.ts';
import { jsonReport, type PlaceOf } from '../../src/report/index.ts';
import { schemaErrors } from '../support/json-schema.ts';
import { HOSTILE, INCOMPARABLE, ONE_FAMILY, SAME, TWO_FAMILIES } from './comparisons.ts';

const root = join(import.meta.dirname, '..', '..');
const schema = JSON.parse(readFileSync(join(root, 'schema', 'kp-diff-1.schema.json'), 'utf8'));

const SIDES = {
  expected: { kind: 'manifests', sources: ['manifests/'] },
  actual: { kind: 'rules', sources: ['-'] },
};
const text = (comparison: Comparison, placeOf: PlaceOf = () => undefined) =>
  [...jsonReport(comparison, { ...SIDES, placeOf })].join('');

test('the whole document, keys in a fixed order', () => {
  const placeOf: PlaceOf = (name) =>
    name === 'shop/web:http' ? { file: 'manifests/web.yaml', line: 12 } : undefined;
  const [finding] = ONE_FAMILY.findings;
  const findings = finding === undefined ? [] : [{ ...finding, problems: finding.problems.slice(0, 1) }];
  expect(text({ ...ONE_FAMILY, findings }, placeOf)).toBe(`\
{
  "schema": "kp-diff/1",
  "result": "different",
  "reason": null,
  "expected": {
    "kind": "manifests",
    "sources": [
      "manifests/"
    ]
  },
  "actual": {
    "kind": "rules",
    "sources": [
      "-"
    ]
  },
  "families": [
    {
      "family": "IPv4",
      "tables": [
        "filter",
        "nat"
      ],
      "servicePorts": 14,
      "differing": 1,
      "notCompared": []
    },
    {
      "family": "IPv6",
      "tables": [],
      "servicePorts": 0,
      "differing": 0,
      "notCompared": [
        "the dump holds no IPv6 rules"
      ]
    }
  ],
  "findings": [
    {
      "family": "IPv4",
      "servicePort": "shop/web:http",
      "place": {
        "file": "manifests/web.yaml",
        "line": 12
      },
      "problems": [
        {
          "code": "endpoint-missing",
          "message": "endpoint 10.244.3.12:8080 is not programmed",
          "expected": [
            {
              "table": "nat",
              "line": "-A KUBE-SVC-67NZLRHBNDSAWJRO -j KUBE-SEP-VUPUHKXHY2PEPYE3"
            }
          ],
          "actual": []
        }
      ]
    }
  ],
  "notes": [
    {
      "family": "IPv4",
      "servicePort": null,
      "place": null,
      "problems": [
        {
          "code": "unreferenced-chains",
          "message": "1 unreferenced chain: KUBE-SEP-OLD",
          "expected": [],
          "actual": []
        }
      ]
    }
  ],
  "assumptions": [
    "clusterCIDR 10.244.0.0/16, as the dump shows it"
  ]
}
`);
});

describe('the published schema', () => {
  test.each([
    ['one family', ONE_FAMILY],
    ['two families', TWO_FAMILIES],
    ['no difference', SAME],
    ['nothing comparable', INCOMPARABLE],
    ['a hostile dump', HOSTILE],
  ])('takes the report of %s and names all that is in it', (_, comparison) => {
    const printed = text(comparison, (name) => (name === 'shop/api' ? { file: 'a.yaml' } : undefined));
    expect(schemaErrors(JSON.parse(printed), schema, true)).toEqual([]);
  });

  test('refuses what is no report', () => {
    const report = JSON.parse(text(ONE_FAMILY));
    expect(schemaErrors({ ...report, schema: 'kp-diff/2' }, schema, false)).toEqual([
      '$.schema: is not "kp-diff/1"',
    ]);
    expect(schemaErrors({ ...report, findings: [{}] }, schema, false)).toContain(
      '$.findings[0]: lacks problems',
    );
    expect(schemaErrors({ ...report, more: 1 }, schema, true)).toEqual([
      '$: has more, which the schema does not name',
    ]);
    expect(schemaErrors({ ...report, more: 1 }, schema, false)).toEqual([]);
  });

  test('lists every kind of problem', () => {
    const source = readFileSync(join(root, 'src', 'diff', 'comparison.ts'), 'utf8');
    const union = /type ProblemCode =([^;]*);/.exec(source)?.[1] ?? '';
    const codes = [...union.matchAll(/'([a-z-]+)'/g)].map(([, code]) => code).sort();
    expect(codes.length).toBeGreaterThan(0);
    expect(schema.$defs.finding.properties.problems.items.properties.code.examples).toEqual(codes);
  });
});

test('says which of the three it is', () => {
  const result = (comparison: Comparison) => JSON.parse(text(comparison)).result;
  expect([result(SAME), result(ONE_FAMILY), result(INCOMPARABLE)]).toEqual([
    'same',
    'different',
    'incomparable',
  ]);
  expect(JSON.parse(text(INCOMPARABLE)).reason).toBe(INCOMPARABLE.incomparable);
});

test('keeps every character and prints none that a terminal obeys', () => {
  const printed = text(HOSTILE);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  expect(printed).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  const [finding] = JSON.parse(printed).findings;
  expect(finding.servicePort).toBe(HOSTILE.findings[0]?.servicePort);
  expect(finding.problems).toEqual(HOSTILE.findings[0]?.problems);
});
