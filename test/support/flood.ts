import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';

export interface Asked {
  readonly method?: string;
  readonly path: string;
  readonly body?: string | undefined;
  readonly key: string;
}

export interface Answered {
  readonly status: number;
  readonly text: string;
  readonly retryAfter: string | undefined;
  readonly milliseconds: number;
  /** How many answers of the flood came between the sending of this request and its answer. */
  readonly others: number;
}

/**
 * Sends requests at once, each on a connection of its own that is already open, and counts the answers in the order in
 * which they come.
 */
export class Flood {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: Infinity, maxFreeSockets: Infinity });
  private answered = 0;

  constructor(private readonly origin: string) {}

  /** Opens so many connections. */
  async open(connections: number): Promise<void> {
    await Promise.all(Array.from({ length: connections }, () => this.ask({ path: '/livez', key: '' })));
  }

  /**
   * Sends the burst at once, and the others as soon as the first of it is answered.
   *
   * @returns the answers to both.
   */
  async send(requests: readonly Asked[], others: readonly Asked[]) {
    const sent = requests.map(async (asked) => {
      const answer = await this.ask(asked);
      this.answered += 1;
      return answer;
    });
    await Promise.race(sent);
    const answers = await Promise.all(others.map((each) => this.ask(each)));
    return { burst: await Promise.all(sent), others: answers };
  }

  /** Sends a request that doesn't belong to the flood. */
  ask({ method = 'GET', path, body, key }: Asked): Promise<Answered> {
    const begun = performance.now();
    const before = this.answered;
    const headers = {
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    };
    return new Promise((resolve, reject) => {
      const sent = request(`${this.origin}${path}`, { method, headers, agent: this.agent }, (response) => {
        const pieces: Buffer[] = [];
        response.on('data', (piece: Buffer) => pieces.push(piece));
        response.on('error', reject);
        response.on('end', () => {
          resolve({
            status: response.statusCode ?? 0,
            text: Buffer.concat(pieces).toString(),
            retryAfter: response.headers['retry-after'],
            milliseconds: performance.now() - begun,
            others: this.answered - before,
          });
        });
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }

  close(): void {
    this.agent.destroy();
  }
}

/** Sends only the beginning of a body, and leaves the connection open. */
export function sendHalf(origin: string, { method = 'POST', path, key }: Omit<Asked, 'body'>): Socket {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  // It ends by the service's own time limit.
  socket.on('error', () => undefined);
  const head = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${hostname}`,
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    'Content-Length: 5000',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n{"name":`);
  return socket;
}
