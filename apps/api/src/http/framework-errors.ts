import { randomUUID } from 'node:crypto';
import { type IncomingMessage, METHODS, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { countHeaders } from './bearer-auth.guard.js';
import { errorBody, HttpRefusal } from './error-codes.js';
import { routableUrl } from './request-target.js';
import type { RouteTable } from './route-table.js';

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
  if (raw.httpVersionMajor !== 1) return new HttpRefusal('bad_request', 'the HTTP version must be 1.1 or 1.0');
  const { host } = raw.headers;
  // RFC 9112 §3.2: from HTTP/1.1 on, exactly one Host.
  if (host === undefined) {
    const isOptional = raw.httpVersion === '1.0';
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

// Each connection's latest request, which is the one at fault when the parser gives up within its body.
const latestResponses = new WeakMap<Duplex, ServerResponse>();
const refused = new WeakSet<Duplex>();
// A connection that is closed while bytes are still coming is reset, and the answer with it (RFC 9112 §9.6).
const LINGER_MS = 1_000;

/** What Node would answer by itself, with an empty body or none, is answered as any refusal is. */
export function refuseInOurWords(server: Server, routes: RouteTable): void {
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    latestResponses.set(socket, response);
  });
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    refuse(response, new HttpRefusal('expectation_failed', 'the Expect header may only be 100-continue'));
  });
  server.on('connect', (request: IncomingMessage, socket: Duplex) => {
    const allow = routes.allMethods().join(', ');
    refuseOnSocket(
      socket,
      new HttpRefusal('method_not_allowed', 'CONNECT is not allowed', { allow }),
      requestId(request),
    );
  });
}

/** Fastify's `clientErrorHandler`: a request could not be parsed, or did not come in time. */
export function onClientError(error: ParserError, socket: Duplex, routes: RouteTable): void {
  // What comes after a refusal makes the parser fail again.
  if (refused.has(socket)) return;
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const refusal = refusalOf(error, routes);
  const latest = latestResponses.get(socket);
  if (latest === undefined || latest.writableFinished) refuseOnSocket(socket, refusal, randomUUID());
  else if (!latest.req.complete) refuse(latest, refusal);
  // The requests before are good and still being answered: their answers go first (RFC 9112 §9.3.2).
  else
    latest.once('finish', () => {
      refuseOnSocket(socket, refusal, randomUUID());
    });
}

interface ParserError {
  readonly code?: string;
  /** The bytes that were being parsed; of a request that came in parts, the last part. */
  readonly rawPacket?: unknown;
  readonly bytesParsed?: unknown;
}

function refusalOf(error: ParserError, routes: RouteTable): HttpRefusal {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return isLongLine(error)
        ? new HttpRefusal('uri_too_long', `the URL must be at most ${MAX_URL_LENGTH} characters`)
        : new HttpRefusal('headers_too_large', 'the headers are too large');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new HttpRefusal('request_timeout', 'the request was not complete in time');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new HttpRefusal('payload_too_large', 'the chunk extensions are too large');
    case 'HPE_INVALID_METHOD':
      return unknownMethod(textOf(error), routes) ?? badRequest();
    default:
      return badRequest();
  }
}

function badRequest(): HttpRefusal {
  return new HttpRefusal('bad_request', 'the request is not valid HTTP/1.1');
}

/** A request line that is sound but for a method Node's parser doesn't know. */
function unknownMethod(text: string, routes: RouteTable): HttpRefusal | undefined {
  const target = /^[\w!#$%&'*+.^`|~-]+ (\S+) HTTP\/1\.[01]\r?\n/.exec(text)?.[1];
  if (target === undefined) return undefined;
  const methods = routes.methodsOf(routableUrl(target));
  const allow = (methods.length > 0 ? methods : routes.allMethods()).join(', ');
  return new HttpRefusal('method_not_allowed', `the method is not known, only ${allow}`, { allow });
}

/** Whether the packet begins with a request line that is over the limit by itself. */
function isLongLine({ rawPacket }: ParserError): boolean {
  return Buffer.isBuffer(rawPacket) && /^\S+ [^\r\n]*$/.test(rawPacket.toString('latin1', 0, MAX_URL_LENGTH));
}

/** The packet from the line on in which the parser gave up. */
function textOf({ rawPacket, bytesParsed }: ParserError): string {
  if (!Buffer.isBuffer(rawPacket)) return '';
  const text = rawPacket.toString('latin1');
  return text.slice(text.lastIndexOf('\n', Number(bytesParsed) - 1) + 1);
}

function refuse(response: ServerResponse, refusal: HttpRefusal): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  if (response.socket) refused.add(response.socket);
  const { status, head, body } = rawAnswer(refusal, requestId(response.req));
  response.writeHead(status, head).end(body);
}

function refuseOnSocket(socket: Duplex, refusal: HttpRefusal, id: string): void {
  if (!socket.writable) return;
  const { status, head, body } = rawAnswer(refusal, id);
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
  refused.add(socket);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`);
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
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
