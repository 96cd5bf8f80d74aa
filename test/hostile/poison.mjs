/** `npm run poison -- --runs N` sends N requests that try to change the responses of others. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { runs: { type: 'string', default: '1000000' } } });
if (!/^[1-9]\d{0,8}$/.test(values.runs)) {
  console.error('--runs must be a number of requests, such as 1000000');
  process.exit(64);
}
const { status } = spawnSync('npx', ['jest', 'hostile/poison.spec.ts'], {
  cwd: join(import.meta.dirname, '..'),
  env: { ...process.env, POISON_RUNS: values.runs },
  stdio: 'inherit',
});
process.exit(status ?? 1);
