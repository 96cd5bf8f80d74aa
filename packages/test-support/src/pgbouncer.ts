import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, chown, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { nameOf } from './database.js';
import { freePort, temporaryFolder } from './processes.js';
import { folderOf } from './programs.js';

type Settings = Readonly<Record<string, string>>;

/** The page for operators. Its settings are those of the tests, so they are known to work. */
const page = readFileSync(join(__dirname, '../../../docker/pooler.md'), 'utf8');
const [, connectQueryOfPage = '', settingsOfPage = ''] =
  /```ini\n\[databases\]\n.* connect_query='([^']+)'\n\n(\[pgbouncer\]\n[^]+?)```/.exec(page) ?? [];

/** Any user may log in, as that of the databases. */
const SETTINGS_OF_TESTS: Settings = { listen_addr: '127.0.0.1', unix_socket_dir: '', auth_type: 'any' };

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

/** A pooler in front of all databases of a PostgreSQL that listens on a Unix socket. It keeps its address. */
export class PgBouncer {
  private constructor(
    private readonly folder: { readonly path: string; remove(): Promise<void> },
    private readonly port: number,
    private readonly owner: number,
    private child: ChildProcess,
  ) {}

  /** @param connectQuery runs at the start of each of its sessions. */
  static async start(
    databaseUrl: string,
    settings: Settings = {},
    connectQuery = connectQueryOfPage,
  ): Promise<PgBouncer> {
    const [port, folder] = await Promise.all([freePort(), temporaryFolder()]);
    const server = new pg.Client(databaseUrl);
    // Only the owner of the socket's folder may enter that.
    const owner = (await stat(server.host)).uid || NOBODY;
    if (isRoot) {
      await chmod(dirname(server.host), 0o711);
      await chown(folder.path, owner, owner);
    }
    const others = Object.entries({ ...SETTINGS_OF_TESTS, listen_port: String(port), ...settings });
    const ini = [
      '[databases]',
      `* = host=${server.host} port=${server.port} user=${server.user ?? ''} connect_query='${connectQuery}'`,
      settingsOfPage,
      ...others.map(([name, value]) => `${name} = ${value}`),
    ];
    await writeFile(join(folder.path, 'pgbouncer.ini'), `${ini.join('\n')}\n`);
    return new PgBouncer(folder, port, owner, await launch(folder.path, owner));
  }

  /** The address of a database through this pooler. */
  urlOf(databaseUrl: string): string {
    return `postgres://postgres@127.0.0.1:${this.port}/${nameOf({ url: databaseUrl })}`;
  }

  /** How many transactions it has passed on to a database. */
  async transactions(databaseUrl: string): Promise<number> {
    const client = new pg.Client(`postgres://postgres@127.0.0.1:${this.port}/pgbouncer`);
    await client.connect();
    const { rows } = await client.query<{ database: string; xact_count: string }>('SHOW STATS_TOTALS');
    await client.end();
    return Number(rows.find(({ database }) => database === nameOf({ url: databaseUrl }))?.xact_count ?? 0);
  }

  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill('SIGKILL');
    await once(this.child, 'exit');
  }

  async startAgain(): Promise<void> {
    this.child = await launch(this.folder.path, this.owner);
  }

  async close(): Promise<void> {
    await this.kill();
    await this.folder.remove();
  }
}

async function launch(folder: string, owner: number): Promise<ChildProcess> {
  const as = isRoot ? { uid: owner, gid: owner } : {};
  const program = join(folderOf('a pooler', 'pgbouncer', 'pgbouncer') ?? '', 'pgbouncer');
  const child = spawn(program, [join(folder, 'pgbouncer.ini')], { ...as, stdio: ['ignore', 'inherit', 'pipe'] });
  // A test run that is interrupted leaves no server behind.
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  child.once('exit', () => process.off('exit', end));
  let output = '';
  const read = (chunk: unknown) => (output += String(chunk));
  child.stderr.on('data', read);
  while (!output.includes('process up')) {
    await Promise.race([once(child.stderr, 'data'), once(child, 'exit')]);
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}: ${output}`);
  }
  child.stderr.off('data', read).resume();
  return child;
}
