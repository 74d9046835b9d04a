import type { Io } from './io.ts';

export interface Progress {
  /** Cheap enough to be called for every object. */
  tick(): void;
  done(): void;
}

const FIRST_AFTER_MS = 1000;
const EVERY_MS = 200;
const TICKS_BETWEEN_LOOKS = 256;

/** Says on stderr how many objects were read so far: on a terminal only, and only once it takes long. */
export function progressOf(io: Io, quiet: boolean): Progress {
  if (quiet || !io.errorIsTerminal) return { tick: () => {}, done: () => {} };
  const started = Date.now();
  let count = 0;
  let last = 0;
  return {
    tick: () => {
      count++;
      if (count % TICKS_BETWEEN_LOOKS !== 0) return;
      const now = Date.now();
      if (now - started < FIRST_AFTER_MS || now - last < EVERY_MS) return;
      last = now;
      const seconds = Math.round((now - started) / 1000);
      io.writeError(`\r\x1b[Kreading: ${count} objects, ${seconds} s`);
    },
    done: () => {
      if (last > 0) io.writeError('\r\x1b[K');
    },
  };
}
