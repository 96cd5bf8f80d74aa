import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const SWEEP_MS = 50;

/** A server's open connections, so that an idle one can't delay the shutdown. */
export class OpenConnections {
  private readonly sockets = new Set<Socket>();

  constructor(private readonly server: Server) {
    server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  /**
   * Serves for `lameDuck`, until load balancers have noticed, then runs `close`, which waits for the last connection.
   *
   * @param stopping aborted when the service must stop; the reason is the name of the signal.
   * @param times in milliseconds; `all` bounds both phases together, and is the longer one.
   */
  async end(
    stopping: AbortSignal,
    times: { readonly lameDuck: number; readonly all: number },
    close: () => Promise<void>,
  ): Promise<void> {
    // No load balancer needs the time after a Ctrl-C.
    const lameDuck = stopping.reason === 'SIGTERM' ? times.lameDuck : 0;
    await delay(lameDuck);
    const sweep = setInterval(() => {
      this.closeUnused();
    }, SWEEP_MS);
    const deadline = setTimeout(() => {
      this.server.closeAllConnections();
    }, times.all - lameDuck);
    try {
      await close();
    } finally {
      clearInterval(sweep);
      clearTimeout(deadline);
    }
  }

  private closeUnused(): void {
    this.server.closeIdleConnections();
    // Node treats a connection that never received a byte as active, so close it here.
    for (const socket of this.sockets) if (socket.bytesRead === 0) socket.destroy();
  }
}
