/**
 * Every case of ../shared/conformance against what the real kube-proxy of each version left in a kernel, and
 * what it fed to iptables-restore.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Comparison, compareTrees } from './support/compare-trees.ts';
import { caseArguments, compileRules, FORMATS, type Rules } from './support/kp-compile.ts';
import {
  type ConformanceCase,
  conformanceCases,
  expectedFolder,
  hasConformance,
  minorOf,
} from './support/shared.ts';
import { temporaryFolder } from './support/temporary.ts';

const VERSIONS = ['1.23', '1.26', '1.28', '1.30', '1.36'];

const cases = conformanceCases();

describe.skipIf(!hasConformance())('conformance', () => {
  test('there are cases', () => {
    expect(cases.length).toBeGreaterThan(0);
  });

  describe.each(VERSIONS)('kube-proxy %s writes the same rules for', (version) => {
    const folder = temporaryFolder();
    const settled = cases.filter((item) => !item.nondeterministic && item.minVersion <= minorOf(version));
    const failures = new Map<string, string>();
    let comparison: Comparison;

    beforeAll(async () => {
      for (const item of settled) {
        try {
          await writeActual(join(folder, item.name), item, version);
        } catch (error) {
          failures.set(item.name, String(error));
        }
      }
      comparison = compareTrees(expectedFolder(version), folder);
    });

    test.each(settled.map(({ name }) => name))('%s', (name) => {
      expect(existsSync(join(expectedFolder(version), name, 'save.v4')), 'there is an expectation').toBe(
        true,
      );
      expect(failures.get(name) ?? comparison.differences.get(name) ?? 'equal').toBe('equal');
    });
  });

  describe('the output does not depend on chance:', () => {
    const random = cases.filter((item) => item.nondeterministic);

    test.each(named(random))(
      '%s, where kube-proxy is random, comes out the same twice',
      async (_name, item) => {
        const args = caseArguments(item, '1.36');
        for (const format of FORMATS) {
          expect(await compileRules(args, format)).toEqual(await compileRules(args, format));
        }
      },
    );
  });

  describe('the order of documents and files does not matter for', () => {
    const folder = temporaryFolder();

    test.each(named(cases))('%s', async (_name, item) => {
      const documents = splitDocuments(readFileSync(item.cluster, 'utf8'));
      const expected = await compileRules(caseArguments(item, '1.36'), 'save');
      for (const [seed, order] of [documents.toReversed(), shuffle(documents, 1)].entries()) {
        const file = join(folder, `${item.name}-${seed}.yaml`);
        writeFileSync(file, order.join('---\n'));
        expectSame(await compileRules(caseArguments(item, '1.36', [file]), 'save'), expected);
      }

      const files = shuffle(documents, 2).map((document, index) => {
        const file = join(folder, `${item.name}-document-${index}.yaml`);
        writeFileSync(file, document);
        return file;
      });
      expectSame(
        await compileRules(caseArguments(item, '1.36', files), 'restore'),
        await compileRules(caseArguments(item, '1.36'), 'restore'),
      );
    });
  });
});

/** For titles: vitest puts quotes around `$name`. */
function named(items: readonly ConformanceCase[]): [string, ConformanceCase][] {
  return items.map((item) => [item.name, item]);
}

/** Lays one case's rules out under the comparator's file names. */
async function writeActual(folder: string, item: ConformanceCase, version: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const format of FORMATS) {
    const { v4, v6 } = await compileRules(caseArguments(item, version), format);
    writeFileSync(join(folder, `${format}.v4`), v4);
    writeFileSync(join(folder, `${format}.v6`), v6);
  }
}

/** Not toEqual: a difference of two whole rulesets takes minutes to print. */
function expectSame(actual: Rules, expected: Rules): void {
  for (const family of ['v4', 'v6'] as const) {
    if (actual[family] === expected[family]) continue;
    const lines = expected[family].split('\n');
    const index = actual[family].split('\n').findIndex((line, place) => line !== lines[place]);
    expect(actual[family].split('\n')[index], `line ${index + 1} of rules.${family}`).toBe(lines[index]);
    expect(actual[family].length).toBe(expected[family].length);
  }
}

/** The documents of a YAML stream; the cases have no `---` inside a block of text. */
function splitDocuments(stream: string): readonly string[] {
  return stream.split(/^---[ \t]*\n/m).filter((document) => document.trim() !== '');
}

/** Fisher and Yates, with a small generator of its own, so that a failure can be seen again. */
function shuffle<T>(items: readonly T[], seed: number): T[] {
  const left = [...items];
  const shuffled: T[] = [];
  let state = seed;
  while (left.length > 0) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    shuffled.push(...left.splice(Math.floor((state / 2 ** 32) * left.length), 1));
  }
  return shuffled;
}
