import { constants } from 'node:buffer';

/** Bytes of the longest text that Node makes a string of. */
export const LONGEST_TEXT = constants.MAX_STRING_LENGTH;

/**
 * What one input may ask of us. Every limit is an option of the command line (`cli/input-options.ts`), with a default
 * that no cluster known to us comes near.
 */
export interface LoadLimits {
  /** Bytes of one file or of standard input. A Buffer of Node 20 holds 4 GiB. */
  readonly maxFileBytes: number;
  /** Bytes that gzip files unpack to: one of them, or all inside of one archive together. They are all in memory. */
  readonly maxUnpackedBytes: number;
  /** Bytes of one object's text in JSON: a value, or one item of a List. The API server takes 1.5 MiB. */
  readonly maxJsonBytes: number;
  /** The same in YAML: a document, or one item of a List in block style. Parsing takes up to 60 times as much memory. */
  readonly maxYamlBytes: number;
  /** Mappings and sequences inside one another. */
  readonly maxDepth: number;
  /** Nodes of one YAML document once its aliases are written out. */
  readonly maxExpandedNodes: number;
  /**
   * Errors in one file, or in one archive, before the rest of it is given up; a hundred times as many in all inputs
   * together. Also messages of any kind about one object before it is given up.
   */
  readonly maxProblems: number;
  /** Files found in all directories together, or in one archive. */
  readonly maxFiles: number;
}

export const DEFAULT_LIMITS: LoadLimits = {
  maxFileBytes: 4 * 1024 ** 3 - 1,
  maxUnpackedBytes: 1024 ** 3,
  maxJsonBytes: 64 * 1024 ** 2,
  maxYamlBytes: 16 * 1024 ** 2,
  maxDepth: 500,
  maxExpandedNodes: 1_000_000,
  maxProblems: 1000,
  maxFiles: 1_000_000,
};
