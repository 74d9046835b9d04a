/** Options for what one input may ask of us. */
import { type Command, InvalidArgumentError } from 'commander';
import { DEFAULT_LIMITS, type LoadLimits } from '../load/index.ts';

export interface InputOptions {
  readonly maxFileBytes?: number;
  readonly maxUnpackedBytes?: number;
  readonly maxFiles?: number;
}

const GIB = 1024 ** 3;

/** Adds them, in the group that is open. */
export function addInputOptions(command: Command): void {
  command
    .option(
      '--max-file-bytes <n>',
      `larger inputs are refused; K, M, G may follow (default: ${inGibibytes(DEFAULT_LIMITS.maxFileBytes)})`,
      parseBytes,
    )
    .option(
      '--max-unpacked-bytes <n>',
      `the same of what a gzip file unpacks to (default: ${inGibibytes(DEFAULT_LIMITS.maxUnpackedBytes)})`,
      parseBytes,
    )
    .option(
      '--max-files <n>',
      `more files in all folders, or in an archive, are refused (default: ${DEFAULT_LIMITS.maxFiles})`,
      parseCount,
    );
}

/** The limits that the options set. */
export function inputLimits(options: InputOptions): Partial<LoadLimits> {
  const { maxFileBytes, maxUnpackedBytes, maxFiles } = options;
  return {
    ...(maxFileBytes === undefined ? {} : { maxFileBytes }),
    ...(maxUnpackedBytes === undefined ? {} : { maxUnpackedBytes }),
    ...(maxFiles === undefined ? {} : { maxFiles }),
  };
}

function inGibibytes(bytes: number): string {
  return `${Math.ceil(bytes / GIB)}G`;
}

function parseCount(text: string): number {
  if (!/^\d{1,9}$/.test(text) || Number(text) === 0)
    throw new InvalidArgumentError('It is not a number above 0.');
  return Number(text);
}

function parseBytes(text: string): number {
  const [, digits, unit = ''] = /^(\d{1,10})([KMG]?)$/i.exec(text) ?? [];
  const bytes = Number(digits) * 1024 ** ['', 'K', 'M', 'G'].indexOf(unit.toUpperCase());
  if (!(bytes > 0)) throw new InvalidArgumentError('It is not a size such as 500M.');
  // A Buffer of Node 20 holds no more.
  return Math.min(bytes, DEFAULT_LIMITS.maxFileBytes);
}
