import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Run, run, type Surroundings } from '../../support/run.ts';
import { temporaryFolder } from '../../support/temporary.ts';

export interface Workspace {
  /** Absolute path of a file in the workspace. */
  readonly path: (name: string) => string;
  /** Writes a file and returns its absolute path. */
  readonly write: (name: string, text: string) => string;
  readonly read: (name: string) => string;
  /** Runs kp-compile; words that begin with `@` are files of the workspace. Its path is taken out of messages. */
  readonly kpCompile: (words: readonly string[], surroundings?: Surroundings) => Promise<Run>;
}

/** A folder for the files of one test file; call it at the top of a file or block. */
export function workspace(): Workspace {
  const folder = temporaryFolder();
  const path = (name: string) => join(folder, name);
  return {
    path,
    write: (name, text) => {
      mkdirSync(dirname(path(name)), { recursive: true });
      writeFileSync(path(name), text);
      return path(name);
    },
    read: (name) => readFileSync(path(name), 'utf8'),
    kpCompile: async (words, surroundings) => {
      const { code, stdout, stderr } = await run(
        words.map((word) => (word.startsWith('@') ? path(word.slice(1)) : word)),
        surroundings,
      );
      const short = (text: string) => text.replaceAll(`${folder}/`, '');
      return { code, stdout: short(stdout), stderr: short(stderr) };
    },
  };
}

/** The lines of a text, without the end of the last one. */
export function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

/** Rules without what says how they came about. */
export function withoutComments(text: string): string {
  return text.replace(/^#.*\n/gm, '');
}
