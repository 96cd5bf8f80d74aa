import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { prepareCluster, startServer } from '@adoption-store/embedded-postgres/testing';
import { ask, connectTo, temporaryFolder, until } from '@adoption-store/test-support';
import type pg from 'pg';

type Cluster = Awaited<ReturnType<typeof prepareCluster>>;

/** A PostgreSQL that the suite may damage. It keeps its address when it is restarted. */
export class PostgresServer {
  private constructor(
    private readonly folder: Awaited<ReturnType<typeof temporaryFolder>>,
    private readonly cluster: Cluster,
  ) {}

  static async start(): Promise<PostgresServer> {
    const folder = await temporaryFolder();
    const server = new PostgresServer(folder, await prepareCluster(folder.path, false));
    await server.startAgain();
    await server.ask('CREATE DATABASE store', 'postgres');
    return server;
  }

  /** A value for DATABASE_URL. */
  get url(): string {
    return this.urlOf('store');
  }

  /** Starts it and waits until it answers. */
  async startAgain(): Promise<void> {
    const { isRunning, failure } = await startServer(this.cluster, { fsync: 'off', max_connections: '40' });
    await until(async () => {
      if (!isRunning()) throw (await failure()) ?? new Error('PostgreSQL has ended');
      return this.ask('SELECT', 'postgres').then(
        () => true,
        () => false,
      );
    });
  }

  /** Stops it like an operator for a restart: connections are ended, and commits are written. */
  async stop(): Promise<void> {
    await this.end('SIGINT');
  }

  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  /** Connections stay open but get no answers. */
  async freeze(): Promise<void> {
    const server = await this.server();
    // The postmaster is stopped first, so that it starts no more processes.
    process.kill(server, 'SIGSTOP');
    for (const pid of familyOf(server)) process.kill(pid, 'SIGSTOP');
  }

  async thaw(): Promise<void> {
    for (const pid of familyOf(await this.server())) process.kill(pid, 'SIGCONT');
  }

  /** Runs one statement on a new connection. */
  ask(statement: string, database = 'store'): Promise<readonly unknown[]> {
    return ask(this.urlOf(database), statement);
  }

  async connect(database = 'store'): Promise<pg.Client> {
    const client = await connectTo(this.urlOf(database));
    // The suite stops servers. Without a listener the lost connection would end the suite.
    return client.on('error', () => undefined);
  }

  async close(): Promise<void> {
    await this.thaw();
    await this.kill();
    await this.folder.remove();
  }

  private urlOf(database: string): string {
    const query = new URLSearchParams({ host: join(this.folder.path, 'socket'), port: '5432', user: 'postgres' });
    return `postgres:///${database}?${query.toString()}`;
  }

  /** Ends it and waits until all its processes are gone. After a kill its children end by themselves. */
  private async end(signal: NodeJS.Signals): Promise<void> {
    const server = await this.server();
    const family = familyOf(server);
    process.kill(server, signal);
    await until(() => !family.some((pid) => living().has(pid)));
  }

  private async server(): Promise<number> {
    return Number.parseInt(await readFile(join(this.cluster.folder, 'postmaster.pid'), 'utf8'), 10);
  }
}

/** A process and its descendants. */
function familyOf(parent: number): readonly number[] {
  return [...living()].filter(([pid, itsParent]) => pid === parent || itsParent === parent).map(([pid]) => pid);
}

/** The parent of every process, except zombies, which may never be reaped. */
function living(): ReadonlyMap<number, number> {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid=,stat='], { encoding: 'utf8' }).trim().split('\n');
  const processes = lines.map((line) => line.trim().split(/\s+/)).filter(([, , state = '']) => !state.startsWith('Z'));
  return new Map(processes.map(([pid, parent]) => [Number(pid), Number(parent)]));
}
