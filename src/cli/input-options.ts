/** Options for what one input may ask of us. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { DEFAULT_LIMITS, LONGEST_TEXT, type LoadLimits } from '../load/index.ts';

export interface InputOptions {
  readonly maxFileBytes?: number;
  readonly maxUnpackedBytes?: number;
  readonly maxFiles?: number;
  readonly maxJsonBytes?: number;
  readonly maxYamlBytes?: number;
  readonly maxYamlNodes?: number;
  readonly maxDepth?: number;
  readonly maxErrors?: number;
}

/** The parser of YAML calls itself for each level; half as many again still fit on the stack of Node 20. */
const DEEPEST = 1000;

/** Adds them, in a group of their own. */
export function addInputOptions(command: Command): void {
  const { maxFileBytes, maxUnpackedBytes, maxJsonBytes, maxYamlBytes } = DEFAULT_LIMITS;
  const { maxFiles, maxExpandedNodes, maxDepth, maxProblems } = DEFAULT_LIMITS;
  const add = (flags: string, meaning: string, preset: string, parse: (text: string) => number) =>
    command.addOption(
      new Option(flags, `${meaning} (default: ${preset})`).argParser(parse).helpGroup(LIMITS_GROUP),
    );
  add('--max-file-bytes <n>', 'of one input', inUnits(maxFileBytes), parseBytes);
  add(
    '--max-unpacked-bytes <n>',
    'that a gzip file holds, or all of them inside of one archive',
    inUnits(maxUnpackedBytes),
    parseBytes,
  );
  add('--max-files <n>', 'in all folders, or in an archive', String(maxFiles), parseCount);
  add('--max-json-bytes <n>', 'of one object in JSON', inUnits(maxJsonBytes), parseText);
  add(
    '--max-yaml-bytes <n>',
    'of one in YAML; parsing takes up to 60 times as much memory',
    inUnits(maxYamlBytes),
    parseText,
  );
  add(
    '--max-yaml-nodes <n>',
    'values in one YAML document, its aliases written out',
    String(maxExpandedNodes),
    parseCount,
  );
  add('--max-depth <n>', `levels of nesting, at most ${DEEPEST}`, String(maxDepth), parseDepth);
  add(
    '--max-errors <n>',
    'in one file or archive, before the rest of it is left alone; messages about one object',
    String(maxProblems),
    parseCount,
  );
}

const LIMITS_GROUP = 'What an input may ask for at most; K, M or G may follow a number of bytes:';

/** The limits that the options set. */
export function inputLimits(options: InputOptions): Partial<LoadLimits> {
  const asked: { readonly [Name in keyof LoadLimits]: number | undefined } = {
    maxFileBytes: options.maxFileBytes,
    maxUnpackedBytes: options.maxUnpackedBytes,
    maxFiles: options.maxFiles,
    maxJsonBytes: options.maxJsonBytes,
    maxYamlBytes: options.maxYamlBytes,
    maxExpandedNodes: options.maxYamlNodes,
    maxDepth: options.maxDepth,
    maxProblems: options.maxErrors,
  };
  return Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
}

const UNITS = ['', 'K', 'M', 'G'];

function inUnits(bytes: number): string {
  // The most that a Buffer holds is one byte less than 4G.
  const power = Math.floor(Math.log2(bytes + 1) / 10);
  return `${Math.floor((bytes + 1) / 1024 ** power)}${UNITS[power]}`;
}

function parseCount(text: string): number {
  if (!/^\d{1,9}$/.test(text) || Number(text) === 0)
    throw new InvalidArgumentError('It is not a number above 0.');
  return Number(text);
}

function parseDepth(text: string): number {
  const depth = parseCount(text);
  if (depth > DEEPEST) throw new InvalidArgumentError(`It is more than ${DEEPEST}.`);
  return depth;
}

function parseBytes(text: string): number {
  const [, digits, unit = ''] = /^(\d{1,10})([KMG]?)$/i.exec(text) ?? [];
  const bytes = Number(digits) * 1024 ** UNITS.indexOf(unit.toUpperCase());
  if (!(bytes > 0)) throw new InvalidArgumentError('It is not a size such as 500M.');
  // A Buffer of Node 20 holds no more.
  return Math.min(bytes, DEFAULT_LIMITS.maxFileBytes);
}

/** A string of Node holds no more. */
function parseText(text: string): number {
  return Math.min(parseBytes(text), LONGEST_TEXT);
}
