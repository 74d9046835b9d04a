#!/usr/bin/env node
// npm run fuzz -- --seconds N [--seed S] [--target NAME]: the same targets as in the tests, for longer.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    target: { type: 'string', default: '' },
  },
});
process.stdout.write(`seed ${values.seed}\n`);
const { status } = spawnSync('npx', ['vitest', 'run', 'test/fuzz', '--disable-console-intercept'], {
  stdio: 'inherit',
  env: { ...process.env, FUZZ_SECONDS: values.seconds, FUZZ_SEED: values.seed, FUZZ_TARGET: values.target },
});
process.exitCode = status ?? 1;
