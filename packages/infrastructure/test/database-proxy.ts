import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** The bytes before the last byte of every answer, ReadyForQuery (PostgreSQL's manual, 54.7). */
const READY = Buffer.from([0x5a, 0, 0, 0, 5]);

/** The question whether the database answers, which every process asks four times a second beside its work. */
const READINESS = `SELECT current_setting('transaction_read_only')`;

/** A TCP proxy to the database that counts queries and can be cut. */
export class DatabaseProxy {
  queries = 0;
  mostAtOnce = 0;
  private readonly busy = new Set<Socket>();
  private readonly sockets = new Set<Socket>();
  private isCut = false;

  private constructor(
    private readonly server: Server,
    private readonly databaseUrl: URL,
  ) {}

  static async open(databaseUrl: string): Promise<DatabaseProxy> {
    const server = createServer((client) => {
      proxy.accept(client);
    });
    const proxy = new DatabaseProxy(server, new URL(databaseUrl));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get url(): string {
    const { username, password, pathname, searchParams } = this.databaseUrl;
    const user = searchParams.get('user') ?? username;
    const address = this.server.address();
    if (address === null || typeof address === 'string') throw new Error('the proxy does not listen');
    return `postgres://${user}${password === '' ? '' : `:${password}`}@127.0.0.1:${address.port}${pathname}`;
  }

  cut(): void {
    this.isCut = true;
    for (const socket of this.sockets) socket.destroy();
  }

  mend(): void {
    this.isCut = false;
  }

  async close(): Promise<void> {
    this.cut();
    this.server.close();
    await once(this.server, 'close');
  }

  private accept(client: Socket): void {
    if (this.isCut) {
      client.on('error', () => undefined).resume();
      client.end();
      return;
    }
    const { hostname, port, searchParams } = this.databaseUrl;
    const [host, at] = [searchParams.get('host') ?? hostname, Number(searchParams.get('port') ?? (port || 5432))];
    const server = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${at}`) : connect(at, host);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        to.destroy();
        this.sockets.delete(from);
        this.busy.delete(client);
      });
    }
    client.on('data', (chunk) => {
      server.write(chunk);
      if (chunk.includes(READINESS)) return;
      if (!this.busy.has(client)) this.queries += 1;
      this.busy.add(client);
      this.mostAtOnce = Math.max(this.mostAtOnce, this.busy.size);
    });
    server.on('data', (chunk) => {
      if (READY.equals(chunk.subarray(-6, -1))) this.busy.delete(client);
      client.write(chunk);
    });
  }
}
