/** `npm run fuzz -- --runs N` sends N hostile requests to the API. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { runs: { type: 'string', default: '100000' } } });
if (!/^[1-9]\d{0,8}$/.test(values.runs)) {
  console.error('--runs must be a number of requests, such as 1000000');
  process.exit(64);
}
const { status } = spawnSync('npx', ['jest', 'hostile/fuzz.spec.ts'], {
  cwd: join(import.meta.dirname, '..'),
  env: { ...process.env, FUZZ_RUNS: values.runs },
  stdio: 'inherit',
});
process.exit(status ?? 1);
