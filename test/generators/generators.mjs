/**
 * `npm run generators` makes a client with each generator, calls a running API with it and prints the table of
 * apps/api/clients.md; `-- --write` writes it. Generators that the repository doesn't have are installed in a temporary
 * folder.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Too large for everybody's installation: 60 and 105 MB. */
const FURTHER = ['orval@8.38.0', 'swagger-typescript-api@13.13.0'];

const folder = mkdtempSync(join(tmpdir(), 'generators-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
writeFileSync(join(folder, 'package.json'), '{}');
run('npm', ['install', '--silent', '--no-audit', '--ignore-scripts', ...FURTHER], folder);
run('npx', ['jest', 'generators/', '--verbose'], join(import.meta.dirname, '..'), {
  GENERATORS: join(folder, 'node_modules'),
  WRITE_TABLE: process.argv.includes('--write') ? '1' : '0',
});

/** Ends this process if the program fails. */
function run(program, args, cwd, environment = {}) {
  const { status } = spawnSync(program, args, { cwd, env: { ...process.env, ...environment }, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
