import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Most pieces of bodies in one turn of the event loop, a few milliseconds of work. A normal client's body has few
 * pieces.
 */
const MOST_PIECES = 2_000;

/**
 * Prevents bodies in tiny pieces from blocking the event loop: one packet may have 10,000 of them, and hundreds of
 * connections may be read in the same turn. If there are too many pieces, new connections wait and are then read one at
 * a time, the newest first.
 */
export class ReadingTurns {
  /** Connections that have not sent a request yet. */
  private readonly unread = new Set<Socket>();
  private readonly waiting: Socket[] = [];
  /** Pieces in this turn. */
  private pieces = 0;
  private isGoingOn = false;

  listenTo(server: Server): void {
    server.on('connection', (socket: Socket) => {
      this.unread.add(socket);
      // Node starts reading after this turn's callbacks, even if the socket is paused now.
      if (this.isGoingOn) {
        process.nextTick(() => {
          this.keepWaiting(socket);
        });
      }
      socket.once('close', () => this.unread.delete(socket));
    });
    server.on('request', ({ socket }) => this.unread.delete(socket));
  }

  /** Called for each piece of a body. */
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
    // A connection that timed out meanwhile is not read.
    while (this.waiting.at(-1)?.writable === false) this.waiting.pop();
    this.waiting.pop()?.resume();
    // setImmediate: the connection's bytes are read first, and other work runs in between.
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
