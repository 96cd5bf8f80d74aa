import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, chmod, chown, mkdir, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { joinSockets, temporaryFolder, until } from '@adoption-store/test-support';
import pg from 'pg';
import { asNobody, isRoot, NOBODY } from './whole-postgres.js';

const run = promisify(execFile);

/** One PostgreSQL of the pair. */
interface Node {
  readonly name: string;
  readonly folder: string;
  child?: ChildProcess;
}

/**
 * A primary, and a standby that has each commit before it is acknowledged. Clients have one address, which leads to a
 * node until it is pointed elsewhere, as that of a proxy does. Their connections stay where they are.
 */
export class FailoverCluster {
  private readonly sockets = new Set<Socket>();
  private readonly proxy: Server;
  private target: Node;

  private constructor(
    private readonly bin: string,
    private readonly folder: Awaited<ReturnType<typeof temporaryFolder>>,
    private primary: Node,
    private standby: Node,
  ) {
    this.target = primary;
    this.proxy = createServer((socket) => {
      this.join(socket);
    });
  }

  static async start(bin: string): Promise<FailoverCluster> {
    const folder = await temporaryFolder();
    await chmod(folder.path, 0o755);
    const [a, b] = ['a', 'b'].map((name) => ({ name, folder: join(folder.path, name) })) as [Node, Node];
    for (const node of [a, b]) {
      await mkdir(node.folder, { mode: 0o700 });
      if (isRoot) await chown(node.folder, NOBODY, NOBODY);
    }
    const cluster = new FailoverCluster(bin, folder, a, b);
    await cluster.program('initdb', '-D', dataOf(a), '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync');
    await writeFile(join(dataOf(a), 'pg_hba.conf'), 'local all all trust\nlocal replication all trust\n');
    await cluster.run(a);
    await cluster.ask('CREATE DATABASE store', 'postgres');
    await cluster.addStandby();
    await once(cluster.proxy.listen(0, '127.0.0.1'), 'listening');
    return cluster;
  }

  /** A value for DATABASE_URL. */
  get url(): string {
    return `postgres://postgres@127.0.0.1:${(this.proxy.address() as AddressInfo).port}/store`;
  }

  /** Ends the primary without a checkpoint, like a crash. */
  async kill(): Promise<void> {
    await this.end(this.primary, 'SIGQUIT');
  }

  /** Restarts the primary as a standby of its standby, at the same address. */
  async demote(): Promise<void> {
    await this.end(this.primary, 'SIGINT');
    await this.follow(this.primary, this.standby);
    await this.run(this.primary);
  }

  /** Promotes the standby, and points the address to it. Returns when that began, as a time of `performance.now()`. */
  async promote(): Promise<number> {
    const begun = performance.now();
    [this.primary, this.standby] = [this.standby, this.primary];
    await this.ask('SELECT pg_promote()', 'postgres');
    this.target = this.primary;
    return begun;
  }

  /** Makes the other node a standby again, with a copy of the primary, and waits until commits wait for it. */
  async addStandby(): Promise<void> {
    const { primary, standby } = this;
    if (standby.child?.exitCode === null) await this.end(standby, 'SIGQUIT');
    await rm(dataOf(standby), { recursive: true, force: true });
    const source = ['-h', primary.folder, '-U', 'postgres', '--checkpoint=fast', '--no-sync'];
    await this.program('pg_basebackup', ...source, '-D', dataOf(standby));
    await this.follow(standby, primary);
    await this.run(standby);
    await until(async () => (await this.ask(`SELECT FROM pg_stat_replication WHERE state = 'streaming'`)).length > 0);
    await this.ask(`ALTER SYSTEM SET synchronous_standby_names = '*'`);
    await this.ask('SELECT pg_reload_conf()');
    await until(async () => (await this.ask(`SELECT FROM pg_stat_replication WHERE sync_state = 'sync'`)).length > 0);
  }

  /** The number of the services' connections that are still to the former primary. */
  async leftBehind(): Promise<number> {
    const { child } = this.standby;
    if (child?.exitCode !== null) return 0;
    const text = `SELECT FROM pg_stat_activity WHERE application_name = 'adoption-store'`;
    return (await this.ask(text, 'postgres', this.standby)).length;
  }

  /** Runs one statement on the primary. */
  async ask<Row>(statement: string, database = 'store', node = this.primary): Promise<readonly Row[]> {
    const client = await this.connect(database, node);
    try {
      return (await client.query(statement)).rows as Row[];
    } finally {
      await client.end();
    }
  }

  async connect(database = 'store', node = this.primary): Promise<pg.Client> {
    const client = new pg.Client({ host: node.folder, user: 'postgres', database });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  async close(): Promise<void> {
    this.proxy.close();
    for (const socket of this.sockets) socket.destroy();
    for (const node of [this.primary, this.standby]) if (node.child?.exitCode === null) await this.end(node, 'SIGQUIT');
    await this.folder.remove();
  }

  /** A standby's own commits wait for nobody, because it may be promoted alone. */
  private async follow(node: Node, leader: Node): Promise<void> {
    const settings = [`primary_conninfo = 'host=${leader.folder} user=postgres'`, `synchronous_standby_names = ''`];
    await appendFile(join(dataOf(node), 'postgresql.auto.conf'), `${settings.join('\n')}\n`);
    await writeFile(join(dataOf(node), 'standby.signal'), '');
    if (isRoot) await chown(join(dataOf(node), 'standby.signal'), NOBODY, NOBODY);
  }

  private async run(node: Node): Promise<void> {
    const settings = ['listen_addresses=', 'fsync=off', 'max_connections=100'].flatMap((setting) => ['-c', setting]);
    const [program, args] = asNobody(join(this.bin, 'postgres'), '-D', dataOf(node), '-k', node.folder, ...settings);
    node.child = spawn(program, args, { cwd: '/', stdio: 'ignore' });
    const answers = () =>
      this.ask('SELECT', 'postgres', node).then(
        () => true,
        () => false,
      );
    await until(answers, { what: `PostgreSQL ${node.name} answers` });
  }

  private async end({ child }: Node, signal: NodeJS.Signals): Promise<void> {
    if (child === undefined) return;
    child.kill(signal);
    await once(child, 'exit');
  }

  private async program(name: string, ...args: readonly string[]): Promise<void> {
    await run(...asNobody(join(this.bin, name), ...args), { cwd: '/' });
  }

  private join(near: Socket): void {
    joinSockets(near, connect(join(this.target.folder, '.s.PGSQL.5432')), this.sockets);
  }
}

function dataOf({ folder }: Node): string {
  return join(folder, 'data');
}
