// Loaded with `node --import` before the program that is measured: at exit it writes what the process used to
// the file named by USAGE_FILE. getrusage counts every thread (garbage collection, file reading), which a
// stopwatch around the call inside the program would miss.
import { writeFileSync } from 'node:fs';

const file = process.env.USAGE_FILE;
if (file !== undefined) {
  process.on('exit', () => {
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
    writeFileSync(file, JSON.stringify({ cpuSeconds: (userCPUTime + systemCPUTime) / 1e6, peakKiB: maxRSS }));
  });
}
