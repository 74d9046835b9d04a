// count-tests.js REPORT EXIT_CODE: reads vitest's JSON report; prints one line a test file, then "PASSED FAILED".
// A failure outside any test (a file that cannot be loaded, an error nobody caught) counts as one.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

const [reportFile = '', exitCode = ''] = process.argv.slice(2);

/** @type {{ testResults: { name: string, status: string, assertionResults: { status: string }[] }[] }} */
const report = JSON.parse(readFileSync(reportFile, 'utf8'));

let passed = 0;
let failed = 0;
for (const file of report.testResults) {
  /** @param {string[]} statuses */
  const count = (...statuses) =>
    file.assertionResults.filter(({ status }) => statuses.includes(status)).length;
  const counts = {
    passed: count('passed'),
    failed: count('failed'),
    skipped: count('skipped', 'pending', 'todo'),
  };
  if (file.status === 'failed' && counts.failed === 0) counts.failed = 1;
  passed += counts.passed;
  failed += counts.failed;
  const parts = Object.entries(counts).filter(([, number]) => number > 0);
  console.log(
    `${relative('', file.name)}: ${parts.map(([what, number]) => `${number} ${what}`).join(', ') || 'no test'}`,
  );
}
if (exitCode !== '0' && failed === 0) failed = 1;
console.log(`${passed} ${failed}`);
