#!/usr/bin/env node
// What `kp-diff` costs for two dumps of a large node, and for manifests and a dump, beside GNU diff on the same files and
// `iptables-legacy-restore --test` of one of them, all in one run: CPU seconds (user and system, all threads) and peak
// memory of whole processes, the median of some runs. Ratios of one run can be compared between machines; seconds cannot.
import { spawnSync } from 'node:child_process';
import { createWriteStream, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { clusterObjects, NODE_NAME } from './clusters.js';
import { manifestText, writeManifest } from './generate.js';

/**
 * @typedef {object} Usage
 * @property {number} cpuSeconds
 * @property {number} peakKiB
 * @property {number} code
 */

const HELP = `usage: diff.js [options]     (after "npm run build"; needs python3)

  --services N   services of the cluster (default 10000)
  --endpoints M  endpoints of each service (default 10)
  --changes LIST how many services differ (default 1,1000)
  --runs R       runs of which the median counts (default 3)
`;

const COMPILE = fileURLToPath(new URL('../bin/kp-compile.js', import.meta.url));
const DIFF = fileURLToPath(new URL('../bin/kp-diff.js', import.meta.url));

/** Whose rules they are. */
const NODE = ['--node', NODE_NAME, '--cluster-cidr', '10.128.0.0/9', '--kube-version', '1.30'];

/** Node cannot ask what a child used; wait4 can. */
const MEASURE = `import json, os, sys
pid = os.fork()
if pid == 0:
    os.dup2(os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
    os.execvp(sys.argv[2], sys.argv[2:])
_, status, used = os.wait4(pid, 0)
print(json.dumps({'code': os.waitstatus_to_exitcode(status), 'cpuSeconds': used.ru_utime + used.ru_stime, 'peakKiB': used.ru_maxrss}))
`;

/** @param {string[]} args */
async function main(args) {
  const { values } = parseArgs({
    args,
    options: {
      services: { type: 'string', default: '10000' },
      endpoints: { type: 'string', default: '10' },
      changes: { type: 'string', default: '1,1000' },
      runs: { type: 'string', default: '3' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help === true) {
    process.stdout.write(HELP);
    return;
  }
  const size = { services: Number(values.services), endpoints: Number(values.endpoints) };
  const changes = values.changes.split(',').map(Number);
  const runs = Number(values.runs);
  if (![size.services, size.endpoints, runs, ...changes].every((n) => Number.isSafeInteger(n) && n > 0)) {
    throw new Error('services, endpoints, changes and runs are whole numbers above 0');
  }
  const folder = mkdtempSync(join(tmpdir(), 'kp-diff-bench-'));
  try {
    /** @param {number} count */
    const dumpOf = async (count) => dump(folder, size, count);
    const a = await dumpOf(0);
    const lines = readFileSync(a, 'latin1').split('\n').length - 1;
    say(
      `Node ${process.version}, ${cpus().length} cores, median of ${runs} run(s); CPU = user + system seconds.`,
    );
    say(
      `Dumps: ${size.services} × ${size.endpoints}, kube-proxy 1.30, IPv4: ${(statSync(a).size / 1e6).toFixed(1)} MB, ${lines} lines;`,
    );
    say('in the other one an endpoint of each of so many services is gone.');
    say('');
    say('| | services that differ | CPU s | peak MiB |');
    say('|---|---:|---:|---:|');
    /**
     * @param {string} label
     * @param {number | undefined} count
     * @param {number} code
     * @param {string[]} command
     */
    const row = (label, count, code, command) => {
      const used = median(Array.from({ length: runs }, () => measure(folder, code, command)));
      say(
        `| ${label} | ${count ?? '–'} | ${used.cpuSeconds.toFixed(2)} | ${Math.round(used.peakKiB / 1024)} |`,
      );
    };
    row('`kp-diff --version` (start-up alone)', undefined, 0, [process.execPath, DIFF, '--version']);
    row('`kp-diff a a`', 0, 0, [process.execPath, DIFF, a, a]);
    const manifests = join(folder, 'manifests.json');
    await writeManifest(manifests, size, 'json');
    for (const count of changes) {
      const b = await dumpOf(count);
      row('`kp-diff manifests b`', count, 1, [process.execPath, DIFF, manifests, b, ...NODE]);
      row('`kp-diff a b`', count, 1, [process.execPath, DIFF, a, b]);
      row('GNU `diff a b`', count, 1, ['diff', a, b]);
      rmSync(b);
    }
    const restore = ['unshare', '-n', 'iptables-legacy-restore', '-w', '600', '--test', a];
    const path = `${process.env.PATH ?? ''}:/usr/sbin:/sbin`;
    process.env.PATH = path;
    const { status, error } = spawnSync('unshare', ['-n', 'iptables-legacy-restore', '--version']);
    if (error === undefined && status === 0) row('`iptables-legacy-restore --test a`', undefined, 0, restore);
    else say('`iptables-legacy-restore --test`: skipped, no network namespace or no such command here.');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * The rules of a cluster of which so many services, spread evenly, have an endpoint less.
 *
 * @param {string} folder
 * @param {import('./clusters.js').ClusterSize} size
 * @param {number} count
 */
async function dump(folder, size, count) {
  const manifest = join(folder, 'cluster.json');
  const stream = createWriteStream(manifest);
  for (const piece of manifestText(changed(size, count), 'json')) {
    if (!stream.write(piece)) await new Promise((resolve) => stream.once('drain', () => resolve(undefined)));
  }
  await finished(stream.end());
  const file = join(folder, `${count}.v4`);
  measure(folder, 0, [process.execPath, COMPILE, manifest, ...NODE, '-q'], file);
  rmSync(manifest);
  return file;
}

/**
 * @param {import('./clusters.js').ClusterSize} size
 * @param {number} count
 */
function* changed(size, count) {
  let slice = 0;
  let done = 0;
  for (const object of clusterObjects(size)) {
    if (object.kind === 'EndpointSlice' && Array.isArray(object.endpoints)) {
      slice++;
      if (done < Math.floor((slice * count) / size.services)) {
        done++;
        object.endpoints.splice(object.endpoints.length >> 1, 1);
      }
    }
    yield object;
  }
}

/**
 * @param {string} folder
 * @param {number} code the exit code that is right
 * @param {string[]} command
 * @param {string} [output]
 * @returns {Usage}
 */
function measure(folder, code, command, output = join(folder, 'output')) {
  const { stdout, stderr, error } = spawnSync('python3', ['-c', MEASURE, output, ...command], {
    encoding: 'utf8',
  });
  if (error !== undefined) throw error;
  const used = JSON.parse(stdout);
  if (used.code !== code) throw new Error(`${command.join(' ')} ended with ${used.code}:\n${stderr}`);
  return used;
}

/**
 * @param {Usage[]} usages
 * @returns {Usage}
 */
function median(usages) {
  /** @param {number[]} numbers */
  const middle = (numbers) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
  return {
    code: 0,
    cpuSeconds: middle(usages.map(({ cpuSeconds }) => cpuSeconds)),
    peakKiB: middle(usages.map(({ peakKiB }) => peakKiB)),
  };
}

/** @param {string} line */
function say(line) {
  process.stdout.write(`${line}\n`);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`diff.js: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
