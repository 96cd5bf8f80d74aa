import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { temporaryFolder, until } from '@adoption-store/test-support';

const run = promisify(execFile);

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

  /** @param logins lines of pg_hba.conf. */
  static async start(bin: string, logins = 'local all all trust'): Promise<WholePostgres> {
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
    await writeFile(join(data, 'pg_hba.conf'), logins);
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
  urlOf(database: string, user = 'postgres', password?: string): string {
    const query = new URLSearchParams({ host: this.folder.path, port: '5432', user });
    if (password !== undefined) query.set('password', password);
    return `postgres:///${database}?${query.toString()}`;
  }

  /** Creates an empty database and returns its name. */
  async createDatabase(owner = 'postgres'): Promise<string> {
    const database = `store_${(this.databases += 1)}`;
    await this.ask('postgres', `CREATE DATABASE ${database} OWNER ${owner}`);
    return database;
  }

  /** The rows of every table and the position of every sequence, without `exceptions`. */
  async contentsOf(database: string, exceptions: readonly string[] = []): Promise<Readonly<Record<string, unknown>>> {
    const relations = await this.ask<Relation>(
      database,
      `SELECT relname AS name, relkind = 'S' AS "isSequence" FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'S')`,
    );
    const compared = relations.filter(({ name }) => !exceptions.includes(name));
    const contents = compared.map(async (relation) => {
      const rows = await this.ask<{ text: string }>(database, textOf(relation));
      return [relation.name, rows.map(({ text }) => text)] as const;
    });
    return Object.fromEntries(await Promise.all(contents));
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

interface Relation {
  readonly name: string;
  readonly isSequence: boolean;
}

function textOf({ name, isSequence }: Relation): string {
  return isSequence
    ? `SELECT last_value || ' ' || is_called AS text FROM "${name}"`
    : `SELECT t::text AS text FROM "${name}" AS t ORDER BY 1`;
}

/** The command of a program of PostgreSQL. */
function asNobody(program: string, ...args: string[]): [string, string[]] {
  if (!isRoot) return [program, args];
  return ['setpriv', [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--', program, ...args]];
}
