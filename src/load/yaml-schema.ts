/**
 * Plain scalars mean to us what they mean to kubectl, which reads YAML through sigs.k8s.io/yaml and go-yaml v2
 * (resolve.go): YAML 1.1 booleans (yes, no, on, off, y, n), `0777` and `0o777` octal, `0x1f`, `0b1`, underscores in
 * integers, `1e3` a number; dates and `1:30` stay strings. Tags that nobody knows are ignored.
 * Integers beyond 2^53 are rounded: no field that kube-proxy reads accepts any such number.
 */
import {
  boolYaml11Tag,
  defineMappingTag,
  defineScalarTag,
  defineSequenceTag,
  mapTag,
  mergeTag,
  NOT_RESOLVED,
  nullYaml11Tag,
  Schema,
  seqTag,
  strTag,
} from 'js-yaml';

const INTEGER = /^[-+]?(?:0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|0[0-7_]*|[1-9][0-9_]*)$/;
// go-yaml's yamlStyleFloat; it also takes what ParseInt refused, such as 08080, as a decimal number.
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?$/;
const INFINITY = /^([-+]?)\.(?:inf|Inf|INF)$/;
const NAN = /^\.(?:nan|NaN|NAN)$/;
const NUMBER_STARTS = [...'+-.0123456789'];

/** Reads a plain scalar as a number the way go-yaml v2 does, or gives `undefined` where it is none. */
function parseYamlNumber(source: string): number | undefined {
  if (INTEGER.test(source)) {
    const digits = source.replaceAll('_', '');
    const negative = digits.startsWith('-');
    const unsigned = /^[-+]/.test(digits) ? digits.slice(1) : digits;
    let value: number;
    if (/^0[0-7]+$/.test(unsigned)) value = Number.parseInt(unsigned, 8);
    else value = Number(unsigned);
    // Beyond what a float64 holds, a number is text.
    if (!Number.isFinite(value)) return undefined;
    return negative && value !== 0 ? -value : value;
  }
  if (FLOAT.test(source)) {
    const value = Number(source.replaceAll('_', ''));
    return Number.isFinite(value) ? value : undefined;
  }
  const infinity = INFINITY.exec(source);
  if (infinity !== null) return infinity[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return NAN.test(source) ? Number.NaN : undefined;
}

const resolveNumber = (source: string): number | typeof NOT_RESOLVED =>
  parseYamlNumber(source) ?? NOT_RESOLVED;
const isNever = (): boolean => false;

const numberTag = (name: 'int' | 'float', implicit: boolean) =>
  defineScalarTag(`tag:yaml.org,2002:${name}`, {
    implicit,
    implicitFirstChars: NUMBER_STARTS,
    resolve: resolveNumber,
    identify: isNever,
  });

const binaryTag = defineScalarTag('tag:yaml.org,2002:binary', {
  resolve: (source) => Buffer.from(source, 'base64').toString('utf8'),
  identify: isNever,
});

const foreignTags = ['!', 'tag:'].flatMap((prefix) => [
  defineScalarTag(prefix, { matchByTagPrefix: true, resolve: (source) => source, identify: isNever }),
  defineSequenceTag(prefix, {
    matchByTagPrefix: true,
    create: (): unknown[] => [],
    addItem: seqTag.addItem,
    identify: isNever,
  }),
  defineMappingTag(prefix, {
    matchByTagPrefix: true,
    create: (): Record<string, unknown> => ({}),
    addPair: mapTag.addPair,
    has: mapTag.has,
    keys: mapTag.keys,
    get: mapTag.get,
    identify: isNever,
  }),
]);

export const KUBERNETES_SCHEMA = new Schema([
  strTag,
  seqTag,
  mapTag,
  nullYaml11Tag,
  boolYaml11Tag,
  numberTag('int', true),
  numberTag('float', false),
  binaryTag,
  mergeTag,
  ...foreignTags,
]);
