import { type ChildProcess, execFile } from 'node:child_process';
import { once } from 'node:events';
import { chown } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type pg from 'pg';
import { ask, launchServer, temporaryFolder } from '@adoption-store/test-support';

/** PostgreSQL refuses to run as root. */
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

/**
 * A PostgreSQL from the same folder as pg_dump, which can't save a newer server. The suites' own PostgreSQL has no
 * pg_dump.
 */
export class WholePostgres {
  private databases = 0;

  private constructor(
    private readonly folder: Awaited<ReturnType<typeof temporaryFolder>>,
    private readonly child: ChildProcess,
  ) {}

  static async start(bin: string): Promise<WholePostgres> {
    const folder = await temporaryFolder();
    const data = join(folder.path, 'data');
    if (isRoot) await chown(folder.path, NOBODY, NOBODY);
    const as = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
    const initdb = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync'];
    await promisify(execFile)(join(bin, 'initdb'), initdb, { ...as, cwd: '/' });
    const settings = ['listen_addresses=', 'fsync=off', 'max_connections=200'].flatMap((setting) => ['-c', setting]);
    const args = ['-D', data, '-k', folder.path, ...settings];
    return new WholePostgres(
      folder,
      await launchServer(join(bin, 'postgres'), args, 'ready to accept connections', as),
    );
  }

  /** A value for DATABASE_URL. */
  urlOf(database: string, user = 'postgres'): string {
    const query = new URLSearchParams({ host: this.folder.path, port: '5432', user });
    return `postgres:///${database}?${query.toString()}`;
  }

  /** Creates an empty database and returns its name. */
  async createDatabase(owner = 'postgres'): Promise<string> {
    const database = `store_${(this.databases += 1)}`;
    await this.ask('postgres', `CREATE DATABASE ${database} OWNER ${owner}`);
    return database;
  }

  ask<Row extends pg.QueryResultRow>(database: string, statement: string): Promise<readonly Row[]> {
    return ask<Row>(this.urlOf(database), statement);
  }

  async close(): Promise<void> {
    this.child.kill('SIGQUIT');
    await once(this.child, 'exit');
    await this.folder.remove();
  }
}
