import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { ask, nameOf } from './database.js';
import { freePort, launchServer, temporaryFolder } from './processes.js';
import { folderOf } from './programs.js';

type Settings = Readonly<Record<string, string>>;

const DEFAULTS: Settings = {
  pool_mode: 'transaction',
  max_client_conn: '1000',
  // Seconds until it connects again, when PostgreSQL is back.
  server_login_retry: '1',
  // Any user may log in, and has the rights of the databases' user.
  listen_addr: '127.0.0.1',
  unix_socket_dir: '',
  auth_type: 'any',
};

/** PgBouncer refuses to run as root. */
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

/**
 * PgBouncer, which pools transactions, for a suite.
 *
 * @returns undefined, with a warning, if it isn't installed.
 * @throws Error if it isn't installed and REQUIRE_PROGRAMS is set.
 */
export function pgBouncerFor(suite: string): ((databaseUrl: string) => Promise<PgBouncer>) | undefined {
  if (folderOf(suite, 'pgbouncer', 'pgbouncer') === undefined) return undefined;
  return (databaseUrl) => PgBouncer.start(databaseUrl);
}

/** A pooler in front of all databases of a PostgreSQL that listens on a Unix socket. */
export class PgBouncer {
  private constructor(
    private readonly folder: { readonly path: string; remove(): Promise<void> },
    private readonly port: number,
    private readonly child: ChildProcess,
  ) {}

  static async start(databaseUrl: string, settings: Settings = {}): Promise<PgBouncer> {
    const [port, folder] = await Promise.all([freePort(), temporaryFolder()]);
    const server = new pg.Client(databaseUrl);
    // Only the owner of the socket's folder may enter it.
    const owner = (await stat(server.host)).uid || NOBODY;
    if (isRoot) {
      await chmod(dirname(server.host), 0o711);
      await chown(folder.path, owner, owner);
    }
    const all = Object.entries({ ...DEFAULTS, listen_port: String(port), ...settings });
    const ini = [
      '[databases]',
      `* = host=${server.host} port=${server.port} user=${server.user ?? ''}`,
      '[pgbouncer]',
      ...all.map(([name, value]) => `${name} = ${value}`),
    ];
    const file = join(folder.path, 'pgbouncer.ini');
    await writeFile(file, `${ini.join('\n')}\n`);
    const program = join(folderOf('a pooler', 'pgbouncer', 'pgbouncer') ?? '', 'pgbouncer');
    const as = isRoot ? { uid: owner, gid: owner } : {};
    return new PgBouncer(folder, port, await launchServer(program, [file], 'process up', as));
  }

  /** The address of a database through this pooler. */
  urlOf(databaseUrl: string): string {
    return `postgres://postgres@127.0.0.1:${this.port}/${nameOf({ url: databaseUrl })}`;
  }

  /** How many transactions it has passed on to a database. */
  async transactions(databaseUrl: string): Promise<number> {
    const rows = await ask<{ database: string; xact_count: string }>(
      this.urlOf('postgres:///pgbouncer'),
      'SHOW STATS_TOTALS',
    );
    return Number(rows.find(({ database }) => database === nameOf({ url: databaseUrl }))?.xact_count ?? 0);
  }

  async close(): Promise<void> {
    this.child.kill('SIGKILL');
    await once(this.child, 'exit');
    await this.folder.remove();
  }
}
