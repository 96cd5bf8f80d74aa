import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, chmod, chown, mkdir, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort, joinSockets, temporaryFolder, until } from '@adoption-store/test-support';
import pg from 'pg';
import { makeCertificate } from './certificate.js';
import { asNobody, isRoot, NOBODY } from './whole-postgres.js';

const run = promisify(execFile);

const hasIpv6 = Object.values(networkInterfaces()).some((each) => each?.some(({ address }) => address === '::1'));

/** One PostgreSQL of the pair, with an address of its own. */
interface Node {
  readonly name: string;
  readonly folder: string;
  readonly port: number;
  /** The only name in its certificate. */
  readonly host: string;
  child?: ChildProcess;
}

/** The addresses that a process has of the pair. */
export type Addresses = 'one that moves' | 'each' | 'each, with TLS' | 'each socket';

/**
 * A primary, and a standby that has each commit before it is acknowledged. Clients have the address of each node, or a
 * single one, which leads to a node until it is pointed elsewhere, as that of a proxy does. Their connections stay where
 * they are.
 */
export class FailoverCluster {
  private readonly sockets = new Set<Socket>();
  private readonly proxy: Server;
  private target: Node;

  private constructor(
    private readonly bin: string,
    private readonly folder: Awaited<ReturnType<typeof temporaryFolder>>,
    private readonly nodes: readonly [Node, Node],
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
    const newNode = async (name: string, host: string): Promise<Node> => {
      const node = { name, host, folder: join(folder.path, name), port: await freePort() };
      await mkdir(node.folder, { mode: 0o700 });
      const { pem, certificate } = makeCertificate(folder.path, `${host === 'localhost' ? 'DNS' : 'IP'}:${host}`);
      await writeFile(join(node.folder, 'tls.pem'), pem, { mode: 0o600 });
      await appendFile(join(folder.path, 'authorities.pem'), certificate);
      if (isRoot) for (const path of [node.folder, join(node.folder, 'tls.pem')]) await chown(path, NOBODY, NOBODY);
      return node;
    };
    const [a, b] = [await newNode('a', 'localhost'), await newNode('b', '127.0.0.1')];
    const cluster = new FailoverCluster(bin, folder, [a, b], a, b);
    await cluster.program('initdb', '-D', dataOf(a), '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync');
    await writeFile(join(dataOf(a), 'pg_hba.conf'), LOGINS);
    await cluster.run(a);
    await cluster.ask('CREATE DATABASE store', 'postgres');
    await cluster.addStandby();
    await once(cluster.proxy.listen(0, '127.0.0.1'), 'listening');
    return cluster;
  }

  /** A value for DATABASE_URL. */
  urlOf(addresses: Addresses): string {
    const [a, b] = this.nodes;
    const wanted = 'target_session_attrs=read-write';
    switch (addresses) {
      case 'one that moves':
        return `postgres://postgres@127.0.0.1:${(this.proxy.address() as AddressInfo).port}/store`;
      case 'each':
        return `postgres://postgres@127.0.0.1:${b.port},${hasIpv6 ? '[::1]' : '127.0.0.1'}:${a.port}/store?${wanted}`;
      case 'each, with TLS': {
        const tls = `sslmode=verify-full&sslrootcert=${join(this.folder.path, 'authorities.pem')}`;
        return `postgres://postgres@${a.host}:${a.port},${b.host}:${b.port}/store?${wanted}&${tls}`;
      }
      case 'each socket':
        return `postgres:///store?user=postgres&host=${b.folder},${a.folder}&port=${b.port},${a.port}&${wanted}`;
    }
  }

  /** Ends the primary like a crash. */
  async kill(): Promise<void> {
    await this.end(this.primary, 'SIGKILL');
  }

  /** Freezes every process of the primary. Its connections stay open, and it accepts new ones. */
  async freeze(): Promise<void> {
    await this.signal(this.primary, 'SIGSTOP');
  }

  /** The former primary goes on as if nothing had happened. */
  async thaw(): Promise<void> {
    await this.signal(this.standby, 'SIGCONT');
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
    if (isRunning(standby)) await this.end(standby, 'SIGQUIT');
    await rm(dataOf(standby), { recursive: true, force: true });
    const source = [
      '-h',
      primary.folder,
      '-p',
      String(primary.port),
      '-U',
      'postgres',
      '--checkpoint=fast',
      '--no-sync',
    ];
    await this.program('pg_basebackup', ...source, '-D', dataOf(standby));
    await this.follow(standby, primary);
    await this.run(standby);
    await until(async () => (await this.ask(`SELECT FROM pg_stat_replication WHERE state = 'streaming'`)).length > 0);
    await this.ask(`ALTER SYSTEM SET synchronous_standby_names = '*'`);
    await this.ask('SELECT pg_reload_conf()');
    await until(async () => (await this.ask(`SELECT FROM pg_stat_replication WHERE sync_state = 'sync'`)).length > 0);
  }

  /**
   * The number of the services' connections that are still to the former primary. There a commit waits for a standby for
   * ever, and doesn't notice that its client has gone.
   */
  async leftBehind(): Promise<number> {
    if (!isRunning(this.standby)) return 0;
    const text = `SELECT FROM pg_stat_activity WHERE application_name = 'adoption-store'
      AND wait_event IS DISTINCT FROM 'SyncRep'`;
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
    const client = new pg.Client({ host: node.folder, port: node.port, user: 'postgres', database });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  async close(): Promise<void> {
    this.proxy.close();
    for (const socket of this.sockets) socket.destroy();
    for (const node of this.nodes.filter(isRunning)) {
      await this.signal(node, 'SIGCONT');
      await this.end(node, 'SIGQUIT');
    }
    await this.folder.remove();
  }

  /** A standby's own commits wait for nobody, because it may be promoted alone. */
  private async follow(node: Node, leader: Node): Promise<void> {
    const settings = [
      `primary_conninfo = 'host=${leader.folder} port=${leader.port} user=postgres'`,
      `synchronous_standby_names = ''`,
    ];
    await appendFile(join(dataOf(node), 'postgresql.auto.conf'), `${settings.join('\n')}\n`);
    await writeFile(join(dataOf(node), 'standby.signal'), '');
    if (isRoot) await chown(join(dataOf(node), 'standby.signal'), NOBODY, NOBODY);
  }

  private async run(node: Node): Promise<void> {
    const tls = ['ssl=on', ...['cert', 'key'].map((part) => `ssl_${part}_file=${join(node.folder, 'tls.pem')}`)];
    const settings = [`listen_addresses=127.0.0.1${hasIpv6 ? ',::1' : ''}`, `port=${node.port}`, ...tls]
      .concat('fsync=off', 'max_connections=200')
      .flatMap((setting) => ['-c', setting]);
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

  private async signal({ child }: Node, signal: NodeJS.Signals): Promise<void> {
    const { stdout } = await run('ps', ['-o', 'pid=', '--ppid', String(child?.pid), '--pid', String(child?.pid)]);
    for (const pid of stdout.trim().split(/\s+/)) process.kill(Number(pid), signal);
  }

  private async program(name: string, ...args: readonly string[]): Promise<void> {
    await run(...asNobody(join(this.bin, name), ...args), { cwd: '/' });
  }

  private join(near: Socket): void {
    joinSockets(near, connect(join(this.target.folder, `.s.PGSQL.${this.target.port}`)), this.sockets);
  }
}

function isRunning({ child }: Node): boolean {
  return child?.exitCode === null && child.signalCode === null;
}

const LOGINS = ['local all', 'local replication', 'host all']
  .map((kind) => `${kind} all ${kind.startsWith('host') ? 'samehost ' : ''}trust\n`)
  .join('');

function dataOf({ folder }: Node): string {
  return join(folder, 'data');
}
