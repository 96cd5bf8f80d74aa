import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { temporaryFolder, until } from '@adoption-store/test-support';

const run = promisify(execFile);

/** PostgreSQL refuses to run as root. */
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

/**
 * A PostgreSQL from the same folder as pg_dump, which saves no server that is newer than itself; the suites' own comes
 * without one.
 */
export class WholePostgres {
  private constructor(
    private readonly folder: Awaited<ReturnType<typeof temporaryFolder>>,
    private readonly child: ChildProcess,
  ) {}

  static async start(bin: string): Promise<WholePostgres> {
    const folder = await temporaryFolder();
    const data = join(folder.path, 'data');
    if (isRoot) {
      await chmod(folder.path, 0o755);
      await mkdir(data);
      await chown(folder.path, NOBODY, NOBODY);
      await chown(data, NOBODY, NOBODY);
    }
    await run(
      ...asNobody(join(bin, 'initdb'), '-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync'),
      {
        cwd: '/',
      },
    );
    const settings = ['listen_addresses=', 'fsync=off', 'max_connections=200'].flatMap((setting) => ['-c', setting]);
    const child = spawn(...asNobody(join(bin, 'postgres'), '-D', data, '-k', folder.path, ...settings), {
      cwd: '/',
      stdio: 'ignore',
    });
    const server = new WholePostgres(folder, child);
    await until(async () => {
      if (child.exitCode !== null) throw new Error(`PostgreSQL has ended with ${child.exitCode}`);
      return server.ask('postgres', 'SELECT').then(
        () => true,
        () => false,
      );
    });
    return server;
  }

  /** A value for DATABASE_URL. */
  urlOf(database: string): string {
    const query = new URLSearchParams({ host: this.folder.path, port: '5432', user: 'postgres' });
    return `postgres:///${database}?${query.toString()}`;
  }

  async ask<Row>(database: string, statement: string): Promise<readonly Row[]> {
    const client = new pg.Client(this.urlOf(database));
    await client.connect();
    try {
      return (await client.query(statement)).rows as Row[];
    } finally {
      await client.end();
    }
  }

  async close(): Promise<void> {
    this.child.kill('SIGQUIT');
    await once(this.child, 'exit');
    await this.folder.remove();
  }
}

function asNobody(program: string, ...args: string[]): [string, string[]] {
  if (!isRoot) return [program, args];
  return ['setpriv', [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--', program, ...args]];
}
