import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { VirtualClock } from '../support/virtual-clock.js';

/** The treatment of one request. */
export type Step = (response: ServerResponse, exchange: Exchange) => void | Promise<void>;

export interface Exchange {
  readonly clock: VirtualClock;
  /** The server's own origin. */
  readonly origin: string;
  /** The origin of a server that must never be called. */
  readonly foreign: string;
}

export interface Received {
  readonly at: number;
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
}

/** A real HTTP server that does what a case says, and another one that must not be called. */
export class HostileServer {
  readonly #server: Server;
  readonly #stranger: Server;
  readonly #steps: readonly Step[];
  readonly #clock: VirtualClock;
  readonly received: Received[] = [];
  /** Requests to the other server. */
  readonly strayed: Received[] = [];

  private constructor(steps: readonly Step[], clock: VirtualClock) {
    this.#steps = steps;
    this.#clock = clock;
    this.#server = createServer((request, response) => void this.#serve(request, response));
    this.#stranger = createServer((request, response) => {
      this.strayed.push(record(request, clock.now()));
      response.end('[]');
    });
  }

  /** @param steps for each request what to do; the last is for all after it. */
  static async start(steps: readonly Step[], clock: VirtualClock): Promise<HostileServer> {
    const server = new HostileServer(steps, clock);
    const listening = [server.#server, server.#stranger].map((each) => once(each.listen(0, '127.0.0.1'), 'listening'));
    await Promise.all(listening);
    return server;
  }

  get origin(): string {
    return originOf(this.#server);
  }

  get foreign(): string {
    return originOf(this.#stranger);
  }

  close(): void {
    for (const each of [this.#server, this.#stranger]) {
      each.close();
      each.closeAllConnections();
    }
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const step = this.#steps[Math.min(this.received.length, this.#steps.length - 1)];
    this.received.push(record(request, this.#clock.now()));
    // A client that gives up closes the connection.
    response.on('error', () => undefined);
    request.on('error', () => undefined).resume();
    await step?.(response, { clock: this.#clock, origin: this.origin, foreign: this.foreign });
  }
}

function record({ method = '', url = '', headers }: IncomingMessage, at: number): Received {
  return { at, method, url, headers };
}

function originOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

type Headers = Readonly<Record<string, string | readonly string[]>>;

/** Answers with this body as it is. */
export function bytes(status: number, body: string | Uint8Array, headers: Headers = {}): Step {
  return (response) => {
    // The client's own clock may be another, so a case that needs a date has it.
    response.writeHead(status, { 'Content-Type': 'application/json', ...(headers as Record<string, string>) });
    response.end(body);
  };
}

/** Answers with this value as JSON. */
export const json = (status: number, value: unknown, headers: Headers = {}): Step =>
  bytes(status, JSON.stringify(value), headers);

/** The API's error. */
export const failure = (status: number, code: string, headers: Headers = {}): Step =>
  json(status, { code, message: `a test: ${code}` }, headers);

/** Never goes on, after sending what `begin` sends. */
export function hang(begin: Step = () => undefined): Step {
  return async (response, exchange) => {
    await begin(response, exchange);
    exchange.clock.stall();
  };
}

/** Resets the connection, after sending what `begin` sends. */
export function reset(begin: Step = () => undefined): Step {
  return async (response, exchange) => {
    await begin(response, exchange);
    const { socket } = response;
    // Bytes that were written before must arrive before the reset.
    await new Promise((sent) => socket?.write('', sent));
    socket?.resetAndDestroy();
  };
}

/** Writes these bytes instead of a response, and closes the connection. */
export function raw(text: string | Uint8Array): Step {
  return (response) => {
    response.socket?.end(text);
  };
}

/** Sends the client to this address, in which HERE and FOREIGN stand for the servers' origins. */
export const redirect =
  (status: number, location: string): Step =>
  (response, exchange) =>
    bytes(status, '', location === '' ? {} : { Location: filled(location, exchange) })(response, exchange);

/** A page with these Link headers, in which THIS_HOST and OTHER_HOST stand for the servers' names too. */
export const linked =
  (page: unknown, links: readonly string[]): Step =>
  (response, exchange) =>
    json(200, page, { Link: links.map((link) => filled(link, exchange)) })(response, exchange);

function filled(text: string, { origin, foreign }: Exchange): string {
  const [host = '', other = ''] = [origin, foreign].map((each) => new URL(each).host);
  return text
    .replaceAll('HERE', origin)
    .replaceAll('FOREIGN', foreign)
    .replaceAll('THIS_HOST', host)
    .replaceAll('OTHER_HOST', other);
}
