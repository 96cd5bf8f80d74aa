import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { prepareCluster, startServer } from '@adoption-store/embedded-postgres/testing';
import { temporaryFolder, until } from '@adoption-store/test-support';
import pg from 'pg';

type Cluster = Awaited<ReturnType<typeof prepareCluster>>;

/** A PostgreSQL that the suite may harm, at an address that stays the same when it is started again. */
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

  /** Until it answers. */
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

  /** As an operator does for a restart: every connection is ended, and what was committed is written. */
  async stop(): Promise<void> {
    await this.end('SIGINT');
  }

  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  /** Connections stay open, and nothing answers. */
  async freeze(): Promise<void> {
    const server = await this.server();
    // First, so that it begets no more of those that are to follow.
    process.kill(server, 'SIGSTOP');
    for (const pid of familyOf(server)) process.kill(pid, 'SIGSTOP');
  }

  async thaw(): Promise<void> {
    for (const pid of familyOf(await this.server())) process.kill(pid, 'SIGCONT');
  }

  /** Runs one statement on a connection of its own. */
  async ask<Row>(statement: string, database = 'store', parameters: readonly unknown[] = []): Promise<readonly Row[]> {
    const client = await this.connect(database);
    try {
      return (await client.query(statement, [...parameters])).rows as Row[];
    } finally {
      await client.end();
    }
  }

  async connect(database = 'store'): Promise<pg.Client> {
    const client = new pg.Client(this.urlOf(database));
    // The suite ends servers; without a listener that would end the suite.
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  async close(): Promise<void> {
    await this.thaw();
    await this.kill();
    await this.folder.remove();
  }

  private urlOf(database: string): string {
    return urlOfCluster(this.folder.path, database);
  }

  /** Until all its processes are gone; those that a killed one leaves behind end by themselves. */
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

/** Where the PostgreSQL of a data folder is. */
export function urlOfCluster(dataDirectory: string, database: string): string {
  const query = new URLSearchParams({ host: join(dataDirectory, 'socket'), port: '5432', user: 'postgres' });
  return `postgres:///${database}?${query.toString()}`;
}

/** A process and those it has begotten. */
function familyOf(parent: number): readonly number[] {
  return [...living()].filter(([pid, itsParent]) => pid === parent || itsParent === parent).map(([pid]) => pid);
}

/** Every process's parent; but for zombies, whom nobody may ever reap. */
function living(): ReadonlyMap<number, number> {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid=,stat='], { encoding: 'utf8' }).trim().split('\n');
  const processes = lines.map((line) => line.trim().split(/\s+/)).filter(([, , state = '']) => !state.startsWith('Z'));
  return new Map(processes.map(([pid, parent]) => [Number(pid), Number(parent)]));
}
