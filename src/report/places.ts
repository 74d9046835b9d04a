/** Where the manifests say something: for messages that tools show beside the text of a file. */
export interface ReportPlace {
  readonly file: string;
  /** Counts from 1. */
  readonly line?: number;
}

/** Finds the Service of a service port; undefined where no manifest has it. */
export type PlaceOf = (servicePort: string) => ReportPlace | undefined;
