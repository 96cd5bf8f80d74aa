import { randomUUID } from 'node:crypto';
import { type IncomingMessage, METHODS, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { countHeaders } from './bearer-auth.guard.js';
import { errorBody, HttpRefusal } from './error-codes.js';

const MAX_URL_LENGTH = 8 * 1024;
// RFC 3986 §3.2.2, as far as names and addresses of servers go.
const HOST = /^(?:\[[0-9a-f:.]{2,45}\]|[a-z0-9._~-]{1,255})(?::\d{1,5})?$/i;

const REQUEST_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** The client's own request id where it is fit to be one, or a new one. */
export function requestId({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const own = headers['x-request-id'];
  return typeof own === 'string' && REQUEST_ID.test(own) ? own : randomUUID();
}

/** Refuses a request whose line or Host header breaks HTTP's rules, before anything else is asked. */
export function checkFraming({ raw, originalUrl }: FastifyRequest): HttpRefusal | undefined {
  if (originalUrl.length > MAX_URL_LENGTH) {
    return new HttpRefusal('uri_too_long', `the URL must be at most ${MAX_URL_LENGTH} characters`);
  }
  const { host } = raw.headers;
  // RFC 9112 §3.2: from HTTP/1.1 on, exactly one Host.
  if (host === undefined) {
    const isOptional = raw.httpVersionMajor === 1 && raw.httpVersionMinor === 0;
    return isOptional ? undefined : new HttpRefusal('bad_request', 'the Host header is missing');
  }
  if (!HOST.test(host) || countHeaders(raw.rawHeaders, 'host') > 1) {
    return new HttpRefusal('bad_request', 'the Host header must be one host name or address, sent once');
  }
  return undefined;
}

/** Fastify routes every method Node can parse, so that an unknown one meets the guards too; CONNECT has no path. */
export function routeEveryMethod(fastify: FastifyInstance): void {
  for (const method of METHODS.filter((each) => each !== 'CONNECT')) {
    // "No body" means that Fastify leaves it alone: it is read after the guards, by JsonBody.
    fastify.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  }
}

/** What Node would answer by itself, with an empty body or none, is answered as any refusal is. */
export function refuseInOurWords(server: Server): void {
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    const { status, head, body } = rawAnswer(
      new HttpRefusal('expectation_failed', 'the Expect header may only be 100-continue'),
      requestId(request),
    );
    response.writeHead(status, head).end(body);
  });
  server.on('connect', (request: IncomingMessage, socket: Duplex) => {
    refuseOnSocket(
      socket,
      new HttpRefusal('method_not_allowed', 'CONNECT is not allowed', { allow: 'GET, HEAD, POST' }),
      requestId(request),
    );
  });
}

/** Fastify's `clientErrorHandler`: the request could not be parsed, or did not come in time. */
export function onClientError(error: Error & { code?: string; rawPacket?: unknown }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  refuseOnSocket(socket, refusalOf(error), randomUUID());
}

function refusalOf({ code, rawPacket }: { code?: string; rawPacket?: unknown }): HttpRefusal {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return isInRequestLine(rawPacket)
        ? new HttpRefusal('uri_too_long', `the URL must be at most ${MAX_URL_LENGTH} characters`)
        : new HttpRefusal('headers_too_large', 'the headers are too large');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new HttpRefusal('request_timeout', 'the request was not complete in time');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new HttpRefusal('payload_too_large', 'the chunk extensions are too large');
    case 'HPE_INVALID_METHOD':
      if (isRequestLine(rawPacket)) {
        return new HttpRefusal('method_not_allowed', 'the method is not known', { allow: 'GET, HEAD, POST' });
      }
      break;
    default:
  }
  return new HttpRefusal('bad_request', 'the request is not valid HTTP/1.1');
}

function isInRequestLine(packet: unknown): boolean {
  return Buffer.isBuffer(packet) && /^[A-Z-]+ \/[^\r\n]*$/.test(packet.toString('latin1', 0, MAX_URL_LENGTH));
}

function isRequestLine(packet: unknown): boolean {
  return (
    Buffer.isBuffer(packet) && /^[\w!#$%&'*+.^`|~-]+ \S+ HTTP\/1\.[01]\r?\n/.test(packet.toString('latin1', 0, 1024))
  );
}

function refuseOnSocket(socket: Duplex, refusal: HttpRefusal, id: string): void {
  const { status, head, body } = rawAnswer(refusal, id);
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`);
}

function rawAnswer({ code, message, headers }: HttpRefusal, id: string) {
  const error = errorBody(code, message);
  const body = JSON.stringify(error);
  const head: Record<string, string> = {
    date: new Date().toUTCString(),
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    'x-request-id': id,
    ...headers,
    connection: 'close',
  };
  return { status: error.status, head, body };
}
