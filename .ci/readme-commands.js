// readme-commands.js README: prints the commands of its ```sh blocks as one shell script, each block in a
// subshell. Blocks that only show something carry another language (console, text). The tests and benchmarks
// are left out: CI runs the former already, and the latter take long.
import { readFileSync } from 'node:fs';

const text = readFileSync(process.argv[2] ?? 'README.md', 'utf8');
const blocks = [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map((match) =>
  (match[1] ?? '')
    .split('\n')
    .map((line) => line.replace(/^\$ /, ''))
    .filter((line) => !/^npm (test|run bench)\b/.test(line))
    .join('\n'),
);
if (blocks.length === 0) {
  console.error('no ```sh block found');
  process.exitCode = 1;
}
for (const block of blocks) console.log(`(:\n${block})`);
