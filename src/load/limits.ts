/**
 * What one input may ask of us. Every limit is an option of the command line later on, so each has a name that a
 * message can print, and a default that no cluster known to us comes near.
 */
export interface LoadLimits {
  /** Bytes of one file or of standard input. A Buffer of Node 20 holds 4 GiB. */
  readonly maxFileBytes: number;
  /** Bytes of one object's text: a YAML document, a JSON value or one item of a List. etcd takes 1.5 MiB. */
  readonly maxDocumentBytes: number;
  /** Mappings and sequences inside one another. */
  readonly maxDepth: number;
  /** Nodes of one YAML document once its aliases are written out. */
  readonly maxExpandedNodes: number;
  /** Files found in all directories together. */
  readonly maxFiles: number;
}

export const DEFAULT_LIMITS: LoadLimits = {
  maxFileBytes: 4 * 1024 ** 3 - 1,
  maxDocumentBytes: 64 * 1024 ** 2,
  maxDepth: 500,
  maxExpandedNodes: 1_000_000,
  maxFiles: 1_000_000,
};
