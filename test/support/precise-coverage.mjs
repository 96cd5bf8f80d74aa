/**
 * Loaded before a program. At each SIGUSR2 it prints, as a line of JSON, how often each function of this repository was
 * called since the last one.
 */
import { Session } from 'node:inspector/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

process.on('SIGUSR2', async () => {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const calls = {};
  for (const { url, functions } of result) {
    if (!url.startsWith('file:') || url.includes('/node_modules/')) continue;
    const path = fileURLToPath(url).slice(root.length);
    if (!/^(apps|packages)\//.test(path)) continue;
    for (const { functionName, ranges } of functions) {
      const count = ranges[0].count;
      if (count > 0) calls[path] = [...(calls[path] ?? []), `${functionName || 'anonymous'} ${count}`];
    }
  }
  process.stdout.write(`${JSON.stringify({ calls })}\n`);
});
