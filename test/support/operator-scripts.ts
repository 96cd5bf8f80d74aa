import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import pg from 'pg';
import type { Environment, Finished } from '@adoption-store/test-support';

const DOCKER = join(__dirname, '../../docker');

/** Creates the database roles that don't exist yet. */
export const ROLES = readFileSync(join(DOCKER, 'roles.sql'), 'utf8');

/** The statements of backup.md that repair what a restore undoes. */
export const REPAIR = /```sql\n(BEGIN;\n.*?)```/s.exec(readFileSync(join(DOCKER, 'backup.md'), 'utf8'))?.[1] ?? '';

/** Runs a script of docker/ with PostgreSQL's programs from the folder `bin`. */
export function runScript(
  bin: string | undefined,
  script: string,
  environment: Environment,
  ...args: readonly string[]
): Promise<Finished> {
  const PATH = [bin, process.env['PATH']].join(delimiter);
  return execute(join(DOCKER, script), args, { PATH, ...environment });
}

/** Runs a program with only the given settings. */
export function execute(
  program: string,
  args: readonly string[],
  environment: Environment,
  cwd?: string,
): Promise<Finished> {
  return new Promise((resolve) => {
    const env = { ...environment, LC_ALL: 'C' };
    const child = execFile(program, args, { cwd, env, maxBuffer: 2 ** 26 }, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode, stdout, stderr });
    });
  });
}

/** Runs a statement as the role of the URL. */
export async function tell(url: string, statement: string): Promise<readonly unknown[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await client.end();
  }
}
