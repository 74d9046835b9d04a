import { expect, test } from 'vitest';
import { showValue } from './fields.ts';

test.each<[unknown, string]>([
  [undefined, 'nothing'],
  [null, 'null'],
  ['null', '"null"'],
  ['.inf', '".inf"'],
  [Number.POSITIVE_INFINITY, '.inf'],
  [Number.NEGATIVE_INFINITY, '-.inf'],
  [Number.NaN, '.nan'],
  [[1, Number.NaN, { a: Number.NEGATIVE_INFINITY }], '[1,.nan,{"a":-.inf}]'],
  ['x'.repeat(100), `"${'x'.repeat(79)}…`],
])('%j is shown as messages can use it', (value, shown) => {
  expect(showValue(value)).toBe(shown);
});
