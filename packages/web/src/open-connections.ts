import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const SWEEP_MS = 50;

/** A server's connections, so that none of them keeps it from ending. */
export class OpenConnections {
  private readonly sockets = new Set<Socket>();

  constructor(private readonly server: Server) {
    server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  /**
   * Serves on for `lameDuck`, in which load balancers turn away, then runs `close`, which waits for the last connection.
   *
   * @param told to stop, by the signal that is the reason.
   * @param times in milliseconds; `all` is for both.
   */
  async end(
    told: AbortSignal,
    times: { readonly lameDuck: number; readonly all: number },
    close: () => Promise<void>,
  ): Promise<void> {
    // After Ctrl-C there is no load balancer that needs the time.
    const lameDuck = told.reason === 'SIGTERM' ? Math.min(times.lameDuck, times.all) : 0;
    await delay(lameDuck);
    await this.drain(times.all - lameDuck, close);
  }

  /** Runs `close`. A request is given so many milliseconds to be answered. */
  private async drain(milliseconds: number, close: () => Promise<void>): Promise<void> {
    const sweep = setInterval(() => {
      this.closeUnused();
    }, SWEEP_MS);
    const deadline = setTimeout(() => {
      this.server.closeAllConnections();
    }, milliseconds);
    try {
      await close();
    } finally {
      clearInterval(sweep);
      clearTimeout(deadline);
    }
  }

  private closeUnused(): void {
    this.server.closeIdleConnections();
    // Node takes a connection on which nothing has ever come for one with a request.
    for (const socket of this.sockets) if (socket.bytesRead === 0) socket.destroy();
  }
}
