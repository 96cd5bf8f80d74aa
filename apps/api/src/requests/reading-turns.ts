import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Pieces of bodies in one turn of the event loop, which take some milliseconds; an honest client's body has few. */
const MOST_PIECES = 2_000;

/**
 * Keeps bodies in tiny pieces from holding the event loop: one packet may have 10,000 of them, and hundreds of
 * connections may be read in the same turn. Where there are too many pieces, new connections wait, and one is read at a
 * time, the newest first.
 */
export class ReadingTurns {
  /** Connections on which no request has come. */
  private readonly unread = new Set<Socket>();
  private readonly waiting: Socket[] = [];
  /** Of this turn. */
  private pieces = 0;
  private isGoingOn = false;

  listenTo(server: Server): void {
    server.on('connection', (socket: Socket) => {
      this.unread.add(socket);
      // Node begins to read it when this turn's callbacks are over, paused or not.
      if (this.isGoingOn) {
        process.nextTick(() => {
          this.keepWaiting(socket);
        });
      }
      socket.once('close', () => this.unread.delete(socket));
    });
    server.on('request', ({ socket }) => this.unread.delete(socket));
  }

  /** A piece of a body has come. */
  count(): void {
    if (this.pieces === 0) {
      setImmediate(() => {
        this.pieces = 0;
      });
    }
    this.pieces += 1;
    if (this.pieces !== MOST_PIECES) return;
    for (const socket of this.unread) this.keepWaiting(socket);
    if (!this.isGoingOn) this.goOn();
  }

  private keepWaiting(socket: Socket): void {
    this.unread.delete(socket);
    socket.pause();
    this.waiting.push(socket);
  }

  private goOn(): void {
    this.isGoingOn = true;
    const startedAt = performance.now();
    // One that has been refused meanwhile, for its time, is read no more.
    while (this.waiting.at(-1)?.writable === false) this.waiting.pop();
    this.waiting.pop()?.resume();
    // Bytes that have arrived on the connection are read first, and other work gets its turn in between.
    setImmediate(() => {
      this.isGoingOn = this.waiting.length > 0;
      if (!this.isGoingOn) return;
      const pause = performance.now() - startedAt;
      setTimeout(() => {
        this.goOn();
      }, pause);
    });
  }
}
