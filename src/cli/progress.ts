import { escapeText } from '../escape.ts';
import type { ReadingPlace } from '../load/index.ts';
import type { Io } from './io.ts';

export interface Progress {
  /** The text of another file is about to be read. */
  file(place: ReadingPlace): void;
  /** An object was read that ends at this byte of the file; cheap enough to be called for every one. */
  tick(offset?: number): void;
  /** What takes its time now, without a measure of how far it is. */
  phase(words: string): void;
  /** Takes the line away again. */
  done(): void;
}

const FIRST_AFTER_MS = 1000;
const EVERY_MS = 200;
const TICKS_BETWEEN_LOOKS = 256;
const MAX_NAME = 60;

/** Says on stderr what is done, how far it is and how long it may take: on a terminal only, and only once it takes long. */
export function progressOf(io: Io, quiet: boolean, now: () => number = Date.now): Progress {
  if (quiet || !io.errorIsTerminal) {
    return { file: () => {}, tick: () => {}, phase: () => {}, done: () => {} };
  }
  const started = now();
  let place: ReadingPlace | undefined;
  let inputStarted = started;
  let ticks = 0;
  let last = 0;
  const show = (at: number, words: string): void => {
    last = at;
    io.writeError(`\r\x1b[K${words}`);
  };
  const look = (offset: number): void => {
    const at = now();
    if (place === undefined || at - started < FIRST_AFTER_MS || at - last < EVERY_MS) return;
    const { index, count, size } = place;
    const part = (index + (size === 0 ? 1 : Math.min(offset / size, 1))) / count;
    const left = part === 0 ? 0 : ((at - inputStarted) * (1 - part)) / part;
    const seconds = Math.max(1, Math.ceil(left / 1000));
    show(at, `reading ${escapeText(place.input, MAX_NAME)}: ${Math.floor(part * 100)} %, ${seconds} s left`);
  };
  return {
    file: (next) => {
      if (next.input !== place?.input) inputStarted = now();
      place = next;
      look(0);
    },
    tick: (offset = 0) => {
      ticks++;
      if (ticks % TICKS_BETWEEN_LOOKS === 0) look(offset);
    },
    phase: (words) => {
      const at = now();
      if (at - started >= FIRST_AFTER_MS) show(at, words);
    },
    done: () => {
      if (last > 0) io.writeError('\r\x1b[K');
      last = 0;
    },
  };
}
