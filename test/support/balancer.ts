import { once } from 'node:events';
import { Agent, createServer, get, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const POLL_MS = 200;

interface Upstream {
  readonly origin: string;
  readonly agent: Agent;
  isReady: boolean;
}

/**
 * A load balancer like those of orchestrators: it polls /readyz of its upstreams and sends each request to one that was
 * ready at the last poll. It never retries, so its client sees every failure of an upstream.
 */
export class Balancer {
  private readonly upstreams: Upstream[] = [];
  private readonly server: Server;
  private readonly timer: NodeJS.Timeout;
  private turn = 0;

  private constructor() {
    this.server = createServer((incoming, outgoing) => {
      this.forward(incoming, outgoing);
    });
    this.timer = setInterval(() => {
      for (const upstream of this.upstreams) void poll(upstream);
    }, POLL_MS);
  }

  static async open(): Promise<Balancer> {
    const balancer = new Balancer();
    await once(balancer.server.listen(0, '127.0.0.1'), 'listening');
    return balancer;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Waits until the upstream is ready. */
  async add(origin: string): Promise<void> {
    const upstream: Upstream = { origin, agent: new Agent({ keepAlive: true }), isReady: false };
    while (!upstream.isReady) await poll(upstream);
    this.upstreams.push(upstream);
  }

  remove(origin: string): void {
    const index = this.upstreams.findIndex((upstream) => upstream.origin === origin);
    for (const { agent } of this.upstreams.splice(index, 1)) agent.destroy();
  }

  close(): void {
    clearInterval(this.timer);
    for (const { origin } of [...this.upstreams]) this.remove(origin);
    this.server.close();
    this.server.closeAllConnections();
  }

  private forward(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const ready = this.upstreams.filter(({ isReady }) => isReady);
    const upstream = ready[(this.turn += 1) % ready.length];
    if (upstream === undefined) {
      outgoing.writeHead(502).end('no upstream is ready');
      return;
    }
    const { connection, ...headers } = incoming.headers;
    const { method = 'GET', url = '/' } = incoming;
    // A new connection of the client needs a new one to the upstream.
    const agent = connection === 'close' ? false : upstream.agent;
    const forwarded = request(upstream.origin + url, { method, headers, agent }, (response) => {
      const { connection: _hop, 'keep-alive': _byHop, ...rest } = response.headers;
      outgoing.writeHead(response.statusCode ?? 502, rest);
      response.on('error', () => outgoing.destroy()).pipe(outgoing);
    });
    forwarded.on('error', (error) => {
      if (outgoing.headersSent) outgoing.destroy();
      else outgoing.writeHead(502).end(`${upstream.origin}: ${error.message}`);
    });
    incoming.pipe(forwarded);
  }
}

async function poll(upstream: Upstream): Promise<void> {
  upstream.isReady = await new Promise((resolve) => {
    const signal = AbortSignal.timeout(1_000);
    get(`${upstream.origin}/readyz`, { agent: false, signal }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    }).on('error', () => {
      resolve(false);
    });
  });
}
