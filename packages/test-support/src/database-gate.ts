import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import pg from 'pg';

/** A proxy to a database that can be closed while the database runs, and can lead to another one. */
export class DatabaseGate {
  private readonly sockets = new Set<Socket>();
  private isFrozen = false;
  private oneWay = 0;
  private port = 0;

  private constructor(
    private readonly server: Server,
    private databaseUrl: string,
  ) {}

  static async open(databaseUrl: string): Promise<DatabaseGate> {
    const server = createServer();
    const gate = new DatabaseGate(server, databaseUrl);
    server.on('connection', (socket) => {
      gate.join(socket);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    gate.port = (server.address() as AddressInfo).port;
    return gate;
  }

  get url(): string {
    const { user = '', database = '' } = new pg.Client(this.databaseUrl);
    return `postgres://${user}@127.0.0.1:${this.port}/${database}`;
  }

  /** Forwards nothing from now on. Connections stay open. */
  freeze(): void {
    this.isFrozen = true;
    for (const socket of this.sockets) socket.pause();
  }

  thaw(): void {
    this.isFrozen = false;
    for (const socket of this.sockets) socket.resume();
  }

  /** Each round trip takes that many milliseconds from now on. It must not become less: bytes would overtake others. */
  setRoundTrip(milliseconds: number): void {
    this.oneWay = milliseconds / 2;
  }

  /** New connections go to this database from now on. It must have the same name. Open connections stay. */
  leadTo(databaseUrl: string): void {
    this.databaseUrl = databaseUrl;
  }

  /** Forwards nothing more on the open connections, as if their server had vanished. New connections work. */
  abandon(): void {
    for (const socket of this.sockets) socket.pause();
  }

  /** Connections are reset and refused, as if the server were down. */
  shut(): void {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }

  /** Opens a shut gate again, at the same address. */
  async reopen(): Promise<void> {
    await once(this.server.listen(this.port, '127.0.0.1'), 'listening');
  }

  private join(near: Socket): void {
    const { host, port } = new pg.Client(this.databaseUrl);
    const far = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
    joinSockets(near, far, this.sockets, (to, chunk) => {
      if (this.oneWay === 0) to.write(chunk);
      else setTimeout(() => to.write(chunk), this.oneWay);
    });
    if (this.isFrozen) for (const socket of [near, far]) socket.pause();
  }
}

/** Passes the data of each socket to the other, until one of them closes. Meanwhile `open` contains both. */
function joinSockets(near: Socket, far: Socket, open: Set<Socket>, pass: (to: Socket, chunk: Buffer) => void): void {
  for (const [from, to] of [
    [near, far],
    [far, near],
  ] as const) {
    open.add(from);
    from
      .on('data', (chunk: Buffer) => {
        pass(to, chunk);
      })
      .on('error', () => from.destroy())
      .on('close', () => {
        open.delete(from);
        to.destroy();
      });
  }
}
