import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { ApiRequest } from './api-request.js';

/** Pieces of bodies in one turn of the event loop, which take some milliseconds; an honest client's body has few. */
const MOST_PIECES = 2_000;

/**
 * Keeps bodies in tiny pieces from holding the event loop: one packet may have 10,000 of them, and so may those of
 * hundreds of connections that are read in the same turn. Where there were too many, connections are read one at a time,
 * and all else has twice as much time in between.
 */
export class ReadingTurns {
  private readonly sockets = new Set<Socket>();
  /** Those that aren't read just now, the next one last. */
  private readonly waiting: Socket[] = [];
  /** Of this turn. */
  private pieces = 0;
  private isGoingOn = false;

  listenTo(server: Server): void {
    server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
    server.prependListener('request', (request: IncomingMessage) => {
      if (hasBody(request)) (request as ApiRequest).onPiece = this.onPiece;
    });
  }

  private readonly onPiece = (): void => {
    if (this.pieces === 0) {
      setImmediate(() => {
        this.pieces = 0;
      });
    }
    this.pieces += 1;
    if (this.pieces === MOST_PIECES) this.pauseAll();
  };

  private goOn(): void {
    this.isGoingOn = true;
    const startedAt = performance.now();
    this.waiting.pop()?.resume();
    // What has come on its connection is read before this.
    setImmediate(() => {
      this.isGoingOn = this.waiting.length > 0;
      if (this.isGoingOn) {
        setTimeout(
          () => {
            this.goOn();
          },
          2 * (performance.now() - startedAt),
        );
      }
    });
  }

  /** A connection stays open to be read where it has no unfinished body: its client has sent no such thing. */
  private pauseAll(): void {
    for (const socket of this.sockets) {
      const isNew = socket.bytesRead === 0;
      const isUnfinished = socket.latestResponse?.req.complete === false;
      if (socket.isPaused() || !(isNew || isUnfinished)) continue;
      socket.pause();
      // The newest first: those who come while many wait don't wait behind them.
      if (isNew) this.waiting.push(socket);
      else this.waiting.unshift(socket);
    }
    if (!this.isGoingOn) this.goOn();
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || headers['content-length'] !== undefined;
}
