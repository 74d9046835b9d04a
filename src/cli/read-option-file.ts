import type { LoadLimits } from '../load/index.ts';
import { readWhole, textOf } from '../load/index.ts';
import { UsageError } from './usage-error.ts';

/** The text of a file that an option names, within the limits of inputs. Throws a UsageError. */
export async function readOptionFile(
  option: string,
  file: string,
  limits: Partial<LoadLimits>,
): Promise<string> {
  if (file === '-') throw new UsageError(`${option}: a file is needed, not standard input`);
  const whole = await readWhole(file, async function* () {}, limits);
  const read = 'code' in whole ? whole : textOf(file, whole);
  if ('code' in read) throw new UsageError(`${option}: ${file}: ${read.message}`);
  return read.text;
}
