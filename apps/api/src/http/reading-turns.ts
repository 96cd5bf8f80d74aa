import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Pieces of bodies in one turn of the event loop, which take some milliseconds; an honest client's body has few. */
const MOST_PIECES = 2_000;

/**
 * Keeps bodies in tiny pieces from holding the event loop: one packet may have 10,000 of them, and hundreds of
 * connections may be read in the same turn. Where there are too many pieces, connections are read one at a time, and all
 * other work has twice as much time in between.
 */
export class ReadingTurns {
  private readonly sockets = new Set<Socket>();
  /** Those whose body is coming. */
  private readonly receiving = new Set<Socket>();
  /** Those that are not read just now, the next one last. */
  private readonly waiting: Socket[] = [];
  /** Of this turn. */
  private pieces = 0;
  private isGoingOn = false;

  listenTo(server: Server): void {
    server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  /** A body is coming on this connection. */
  begin(socket: Socket): void {
    this.receiving.add(socket);
  }

  end(socket: Socket): void {
    this.receiving.delete(socket);
  }

  /** A piece of a body has come. */
  count(): void {
    if (this.pieces === 0) {
      setImmediate(() => {
        this.pieces = 0;
      });
    }
    this.pieces += 1;
    if (this.pieces === MOST_PIECES) this.pauseAll();
  }

  private goOn(): void {
    this.isGoingOn = true;
    const startedAt = performance.now();
    this.waiting.pop()?.resume();
    // What has come on its connection is read before this.
    setImmediate(() => {
      this.isGoingOn = this.waiting.length > 0;
      if (!this.isGoingOn) return;
      const pause = 2 * (performance.now() - startedAt);
      setTimeout(() => {
        this.goOn();
      }, pause);
    });
  }

  /** A connection without an unfinished body stays open to be read: its client sends no such thing. */
  private pauseAll(): void {
    for (const socket of this.sockets) {
      const isNew = socket.bytesRead === 0;
      if (socket.isPaused() || !(isNew || this.receiving.has(socket))) continue;
      socket.pause();
      // The newest first: those who come while many wait don't wait behind them.
      if (isNew) this.waiting.push(socket);
      else this.waiting.unshift(socket);
    }
    if (!this.isGoingOn) this.goOn();
  }
}
