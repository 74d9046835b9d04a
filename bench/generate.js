#!/usr/bin/env node
// Writes a generated cluster as manifests: one JSON List or YAML stream on standard output, or many files.
import { once } from 'node:events';
import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { dump } from 'js-yaml';
import { clusterObjects } from './clusters.js';

/** @typedef {import('./clusters.js').ClusterSize} ClusterSize */
/** @typedef {import('./clusters.js').KubeObject} KubeObject */
/** @typedef {'json' | 'yaml' | 'yaml-list'} Format */

const HELP = `usage: generate.js [options] > cluster.json

  --services N    services (default 1000)
  --endpoints M   endpoints of each service (default 10)
  --seed S        another cluster of the same size (default 1)
  --format F      json: one List, as "kubectl get -o json" (default); yaml: a stream of documents;
                  yaml-list: one List, as "kubectl get -o yaml"
  --pods          Pods in place of EndpointSlices
  --indent I      spaces by which JSON is indented (default 0: one object a line; kubectl indents by 4)
  --files K       spread the objects over K files in the folder of --out
  --out PATH      file (or folder, with --files) to write; default: standard output
`;

/**
 * @param {Iterable<KubeObject>} objects
 * @param {Format} format
 * @param {number} indent
 * @returns {Generator<string>} the pieces of the text
 */
export function* manifestText(objects, format, indent = 0) {
  if (format === 'yaml') {
    for (const object of objects) yield `---\n${dump(object)}`;
    return;
  }
  if (format === 'yaml-list') {
    yield 'apiVersion: v1\nitems:\n';
    for (const object of objects) yield dump([object]);
    yield 'kind: List\nmetadata:\n  resourceVersion: ""\n';
    return;
  }
  yield '{"apiVersion":"v1","kind":"List","items":[';
  let separator = '\n';
  for (const object of objects) {
    yield `${separator}${JSON.stringify(object, undefined, indent)}`;
    separator = ',\n';
  }
  yield '\n]}\n';
}

/**
 * @param {string} path
 * @param {ClusterSize} size
 * @param {Format} format
 * @param {number} [indent]
 */
export async function writeManifest(path, size, format, indent = 0) {
  await writeAll(createWriteStream(path), manifestText(clusterObjects(size), format, indent));
}

/**
 * Deals the objects out like cards, so that a Service and its slice lie in different files.
 *
 * @param {string} folder
 * @param {number} count
 * @param {ClusterSize} size
 * @param {Format} format
 * @param {number} [indent]
 */
export function writeManifests(folder, count, size, format, indent = 0) {
  /** @type {KubeObject[][]} */
  const hands = Array.from({ length: count }, () => []);
  let turn = 0;
  for (const object of clusterObjects(size)) hands[turn++ % count]?.push(object);
  mkdirSync(folder, { recursive: true });
  for (const [index, hand] of hands.entries()) {
    const name = `${String(index).padStart(String(count - 1).length, '0')}.${format === 'json' ? 'json' : 'yaml'}`;
    writeFileSync(join(folder, name), [...manifestText(hand, format, indent)].join(''));
  }
}

/**
 * @param {import('node:stream').Writable} stream
 * @param {Iterable<string>} pieces
 */
async function writeAll(stream, pieces) {
  for (const piece of pieces) {
    if (!stream.write(piece)) await once(stream, 'drain');
  }
  if (stream !== process.stdout) await finished(stream.end());
}

/** @param {string[]} args */
async function main(args) {
  const { values } = parseArgs({
    args,
    options: {
      services: { type: 'string', default: '1000' },
      endpoints: { type: 'string', default: '10' },
      seed: { type: 'string', default: '1' },
      format: { type: 'string', default: 'json' },
      indent: { type: 'string', default: '0' },
      files: { type: 'string' },
      pods: { type: 'boolean', default: false },
      out: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help === true) {
    process.stdout.write(HELP);
    return;
  }
  const size = {
    services: count('services', values.services),
    endpoints: count('endpoints', values.endpoints),
    seed: count('seed', values.seed),
    pods: values.pods,
  };
  const indent = count('indent', values.indent);
  const { format, out } = values;
  if (format !== 'json' && format !== 'yaml' && format !== 'yaml-list')
    throw new Error(`--format: found ${format}, expected json, yaml or yaml-list`);
  if (values.files !== undefined) {
    if (out === undefined) throw new Error('--files needs --out FOLDER');
    writeManifests(out, count('files', values.files), size, format, indent);
  } else if (out !== undefined) {
    await writeManifest(out, size, format, indent);
  } else {
    await writeAll(process.stdout, manifestText(clusterObjects(size), format, indent));
  }
}

/**
 * @param {string} option
 * @param {string} text
 */
function count(option, text) {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`--${option}: found ${text}, expected a whole number`);
  return Number(text);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    await main(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`generate.js: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 2;
  }
}
