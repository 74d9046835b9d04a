#!/usr/bin/env node
// What the whole command costs, beside a plain JSON.parse of the same file: CPU seconds (user and system, all
// threads) and peak memory, each measured inside the process at its exit, the median of some runs. Ratios of one
// run can be compared between machines; seconds cannot.
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { NODE_NAME } from './clusters.js';
import { writeManifest, writeManifests } from './generate.js';

/**
 * @typedef {object} Usage
 * @property {number} cpuSeconds
 * @property {number} peakKiB
 */

const HELP = `usage: run.js [options]     (after "npm run build")

  --sizes LIST   services of each cluster (default 1000,5000,10000)
  --endpoints M  endpoints of each service (default 10)
  --runs R       runs of which the median counts (default 3)
  --inputs LIST  of those below (default json,json-indented,json-files,yaml,yaml-list,yaml-files)
  --kube-version V   handed to kp-compile (default 1.30, the version of the kube-proxy column)

inputs: json           one List, an object a line
        json-indented  the same by four blanks, as kubectl prints it
        json-files     1,000 files
        yaml           a stream of documents
        yaml-list      one List
        yaml-files     1,000 files
        pods           one List of JSON with Pods in place of EndpointSlices
`;

/**
 * What may be measured, and how it is written.
 *
 * @typedef {object} Input
 * @property {string} label
 * @property {Format} format
 * @property {number} [indent]
 * @property {boolean} [files]
 * @property {boolean} [pods]
 */

/** @typedef {import('./generate.js').Format} Format */

/** @type {Readonly<Record<string, Input>>} */
const INPUTS = {
  json: { label: 'JSON, one List', format: 'json' },
  'json-indented': { label: 'JSON, one List, indented', format: 'json', indent: 4 },
  'json-files': { label: 'JSON, 1,000 files', format: 'json', files: true },
  yaml: { label: 'YAML, one stream', format: 'yaml' },
  'yaml-list': { label: 'YAML, one List', format: 'yaml-list' },
  'yaml-files': { label: 'YAML, 1,000 files', format: 'yaml', files: true },
  pods: { label: 'JSON, Services and Pods', format: 'json', pods: true },
};

const COMMAND = fileURLToPath(new URL('../bin/kp-compile.js', import.meta.url));
const HOOK = new URL('./usage.js', import.meta.url).href;
const JSON_PARSE = "JSON.parse(require('node:fs').readFileSync(process.argv[1], 'utf8'))";

/**
 * kube-proxy 1.30.5's first full sync of ClusterIP services with ten endpoints each: measured separately, on
 * another cluster of the same size, on two shared cores; IPv4 only, objects already in memory, output kept in
 * memory. A scale to read ours by, not a race.
 *
 * @type {Readonly<Record<number, { cpu: string, peak: string }>>}
 */
const KUBE_PROXY = {
  1000: { cpu: '0.15–0.28', peak: '52–54' },
  5000: { cpu: '0.88–0.96', peak: '157–159' },
  10000: { cpu: '1.92–2.01', peak: '255–294' },
  20000: { cpu: '3.94–4.56', peak: '493–558' },
};

/** @param {string[]} args */
async function main(args) {
  const { values } = parseArgs({
    args,
    options: {
      sizes: { type: 'string', default: '1000,5000,10000' },
      endpoints: { type: 'string', default: '10' },
      runs: { type: 'string', default: '3' },
      inputs: { type: 'string', default: 'json,json-indented,json-files,yaml,yaml-list,yaml-files' },
      'kube-version': { type: 'string', default: '1.30' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help === true) {
    process.stdout.write(HELP);
    return;
  }
  const sizes = values.sizes.split(',').map(Number);
  const endpoints = Number(values.endpoints);
  const runs = Number(values.runs);
  if (![...sizes, endpoints, runs].every((number) => Number.isSafeInteger(number) && number > 0)) {
    throw new Error('sizes, endpoints and runs are whole numbers above 0');
  }
  const inputs = values.inputs.split(',').map((name) => {
    const input = INPUTS[name];
    if (input === undefined)
      throw new Error(`--inputs: found ${name}, expected ${Object.keys(INPUTS).join(', ')}`);
    return input;
  });
  const compileArgs = [
    '--node',
    NODE_NAME,
    '--cluster-cidr',
    '10.128.0.0/9',
    '--kube-version',
    values['kube-version'],
  ];

  const folder = mkdtempSync(join(tmpdir(), 'kp-compile-bench-'));
  try {
    /** @param {string[]} nodeArgs */
    const measure = (nodeArgs) => median(Array.from({ length: runs }, () => measureOnce(folder, nodeArgs)));
    const bareStart = measure(['-e', '0']);
    const commandStart = measure([COMMAND, '--version']);

    say(
      `Node ${process.version}, ${cpus().length} cores, median of ${runs} run(s); CPU = user + system seconds.`,
    );
    say(
      `Clusters: bench/generate.js, seed 1, ${endpoints} endpoints a service; kp-compile ${values['kube-version']},`,
    );
    say('iptables mode, IPv4 rules in the save format to a file.');
    say('');
    say('| start-up alone | CPU s | peak MiB |');
    say('|---|---:|---:|');
    say(`| node | ${seconds(bareStart)} | ${mebibytes(bareStart)} |`);
    say(`| kp-compile --version | ${seconds(commandStart)} | ${mebibytes(commandStart)} |`);
    say('');
    say(
      '| services × endpoints | input | MB in | MB out | JSON.parse: CPU s | peak MiB | kp-compile: CPU s | peak MiB | ratio | ratio without start-up | kube-proxy 1.30.5 first full sync: CPU s | peak MiB |',
    );
    say('|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|');
    for (const services of sizes) {
      for (const { label, format, indent = 0, files = false, pods = false } of inputs) {
        const size = { services, endpoints, pods };
        const json = join(folder, 'parsed.json');
        await writeManifest(json, size, 'json', indent);
        const parse = measure(['-e', JSON_PARSE, json]);
        const input = join(folder, files ? 'many' : `input.${format === 'json' ? 'json' : 'yaml'}`);
        if (files) writeManifests(input, 1000, size, format, indent);
        else await writeManifest(input, size, format, indent);
        rmSync(json);
        const bytes = bytesOf(input);
        const used = measure([COMMAND, ...compileArgs, input]);
        const ratio = used.cpuSeconds / parse.cpuSeconds;
        const net = (used.cpuSeconds - commandStart.cpuSeconds) / (parse.cpuSeconds - bareStart.cpuSeconds);
        const sync = endpoints === 10 ? KUBE_PROXY[services] : undefined;
        say(
          `| ${services} × ${endpoints} | ${label} | ${megabytes(bytes)} | ${megabytes(outputBytes(folder))} ` +
            `| ${seconds(parse)} | ${mebibytes(parse)} | ${seconds(used)} | ${mebibytes(used)} ` +
            `| ${ratio.toFixed(1)} | ${net.toFixed(1)} | ${sync?.cpu ?? '–'} | ${sync?.peak ?? '–'} |`,
        );
        rmSync(input, { recursive: true });
      }
    }
    say('');
    say(
      'Ratio: kp-compile over JSON.parse(readFileSync(…)) of the same objects in one file of JSON, each a whole process; the next column',
    );
    say(
      'takes off each one its own start-up. The kube-proxy columns were measured separately, on plain ClusterIP',
    );
    say('services with objects already in memory: a scale, not part of this run.');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @param {string} folder
 * @param {string[]} nodeArgs
 * @returns {Usage}
 */
function measureOnce(folder, nodeArgs) {
  const usageFile = join(folder, 'usage.json');
  rmSync(usageFile, { force: true });
  // A file as standard output: a pipe would add the cost of its reader's pace.
  const output = openSync(join(folder, 'output'), 'w');
  try {
    const child = spawnSync(process.execPath, ['--import', HOOK, ...nodeArgs], {
      env: { ...process.env, USAGE_FILE: usageFile },
      stdio: ['ignore', output, 'pipe'],
      encoding: 'utf8',
    });
    if (child.status !== 0) {
      throw new Error(
        `node ${nodeArgs.join(' ')} ended with ${child.status ?? child.signal}:\n${child.stderr}`,
      );
    }
  } finally {
    closeSync(output);
  }
  return JSON.parse(readFileSync(usageFile, 'utf8'));
}

/** @param {string} path a file or a folder of files */
function bytesOf(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.size;
  return readdirSync(path).reduce((sum, name) => sum + statSync(join(path, name)).size, 0);
}

/** @param {string} folder */
function outputBytes(folder) {
  return statSync(join(folder, 'output')).size;
}

/**
 * @param {Usage[]} usages
 * @returns {Usage}
 */
function median(usages) {
  /** @param {number[]} numbers */
  const middle = (numbers) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
  return {
    cpuSeconds: middle(usages.map((usage) => usage.cpuSeconds)),
    peakKiB: middle(usages.map((usage) => usage.peakKiB)),
  };
}

/** @param {Usage} usage */
function seconds(usage) {
  return usage.cpuSeconds.toFixed(2);
}

/** @param {Usage} usage */
function mebibytes(usage) {
  return Math.round(usage.peakKiB / 1024).toString();
}

/** @param {number} bytes */
function megabytes(bytes) {
  return (bytes / 1e6).toFixed(1);
}

/** @param {string} line */
function say(line) {
  process.stdout.write(`${line}\n`);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`run.js: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
