import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { VirtualClock } from './virtual-clock.js';

/** The treatment of one request. */
export type Step = (response: ServerResponse, exchange: Exchange) => void | Promise<void>;

interface Exchange {
  readonly clock: VirtualClock;
  /** The server's own origin. */
  readonly origin: string;
  /** The origin of a server that must never be called. */
  readonly foreign: string;
}

interface Received {
  readonly at: number;
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
}

/** A real HTTP server that does what a case says, and another one that must not be called. */
export async function startHostile(steps: readonly Step[], clock: VirtualClock) {
  const received: Received[] = [];
  const strayed: Received[] = [];
  const record = ({ method = '', url = '', headers }: IncomingMessage) => ({ at: clock.now(), method, url, headers });
  const server = createServer((request, response) => {
    // The last step is for all requests after it.
    const step = steps[Math.min(received.length, steps.length - 1)];
    received.push(record(request));
    // A client that gives up closes the connection.
    response.on('error', () => undefined);
    request.on('error', () => undefined).resume();
    void step?.(response, { clock, origin, foreign });
  });
  const stranger = createServer((request, response) => {
    strayed.push(record(request));
    response.end('[]');
  });
  const both = [server, stranger];
  await Promise.all(both.map((each) => once(each.listen(0, '127.0.0.1'), 'listening')));
  const [origin = '', foreign = ''] = both.map((each) => `http://127.0.0.1:${(each.address() as AddressInfo).port}`);
  const close = () => {
    for (const each of both) {
      each.close();
      each.closeAllConnections();
    }
  };
  return { origin, received, strayed, close };
}

type Headers = Readonly<Record<string, string | readonly string[]>>;

/** Answers with this body as it is. */
export function bytes(status: number, body: string | Uint8Array, headers: Headers = {}): Step {
  return (response) => {
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
