import { randomUUID } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  METHODS,
  type RequestListener,
  type Server,
  STATUS_CODES,
} from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AddressLimits } from './address-limits.js';
import type { RequestObserver } from './observers.js';
import { errorBody, HttpRefusal, JSON_TYPE } from './error-codes.js';
import { requestId } from './request-id.js';
import { type ParserError, refusalOfParser } from './parser-errors.js';
import type { RouteTable } from './route-table.js';

// Longest time for a request to arrive, and the interval at which Node checks for late ones.
const REQUEST_TIMEOUT_MS = 8_000;
const TIMEOUT_CHECK_MS = 500;
// Closing a connection while the client still sends would reset it and lose the response (RFC 9112 §9.6).
const LINGER_MS = 1_000;
const KNOWN_METHODS: ReadonlySet<string | undefined> = new Set(METHODS);

/** Sends the Error body for requests that Node would answer with an empty body, or not at all. */
export class SocketRefusals {
  /** Sockets whose further bytes belong to no request. */
  private readonly refused = new WeakSet<Socket>();
  private readonly latest = new WeakMap<Socket, { readonly request: FastifyRequest; readonly reply: FastifyReply }>();

  constructor(
    private readonly routes: RouteTable,
    private readonly limits: AddressLimits,
    private readonly observers: readonly RequestObserver[],
    /** The headers of every refusal. */
    private readonly headers: Readonly<Record<string, string>>,
  ) {}

  /** Fastify's `serverFactory`. */
  createServer(handle: RequestListener): Server {
    const options = {
      requireHostHeader: false,
      requestTimeout: REQUEST_TIMEOUT_MS,
      headersTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      keepAliveTimeout: 72_000,
    };
    const listener: RequestListener = (request, response) => {
      const { socket, headers } = request;
      // The connection has already had its last response.
      if (!socket.writable || this.refused.has(socket)) return;
      // The end of this request is unknown, so the following bytes can't be parsed (framing.ts).
      if (headers['transfer-encoding'] === '') this.refused.add(socket);
      // Node's parser accepts methods of RTSP, but the router doesn't know them.
      if (!KNOWN_METHODS.has(request.method)) {
        this.refuseOnSocket(socket, new HttpRefusal('bad_request', 'the request is not valid HTTP/1.1'), request);
      } else handle(request, response);
    };
    const server = createServer(options, listener);
    // framing.ts refuses the Expect header.
    server.on('checkExpectation', listener);
    server.on('connect', (request: IncomingMessage) => {
      const allow = this.routes.allMethods().join(', ');
      const refusal = new HttpRefusal('method_not_allowed', 'CONNECT is not allowed', { allow });
      this.refuseOnSocket(request.socket, refusal, request);
    });
    return server;
  }

  /** A Fastify `onRequest` hook. It remembers the request to which a later parser error belongs. */
  onRequest(request: FastifyRequest, reply: FastifyReply): void {
    this.latest.set(request.raw.socket, { request, reply });
  }

  /** Fastify's `clientErrorHandler`: a request could not be parsed, or did not arrive in time. */
  onClientError(error: ParserError, socket: Socket): void {
    if (error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    // Ignores errors of bytes that follow a refusal or the last response, because they belong to no request.
    if (this.refused.has(socket) || !socket.writable || error.code === 'HPE_CLOSED_CONNECTION') return;
    const refusal = refusalOfParser(error, this.routes);
    const { request, reply } = this.latest.get(socket) ?? {};
    if (request === undefined || request.raw.complete) this.refuseOnSocket(socket, refusal);
    else {
      this.refused.add(socket);
      request.received?.breakOff(refusal);
      // If its response is already on the way, there is no second one.
      if (reply?.raw.headersSent === true) this.endOnceAnswered(socket);
    }
  }

  private refuseOnSocket(socket: Socket, refusal: HttpRefusal, request?: IncomingMessage): void {
    this.refused.add(socket);
    void this.answer(socket, refusal, request).then((answer) => {
      this.endOnceAnswered(socket, answer);
    });
  }

  private async answer(socket: Socket, refused: HttpRefusal, request?: IncomingMessage): Promise<string> {
    const { headers: limitHeaders, refusal = refused } = await this.limits.count(socket.remoteAddress ?? '');
    const { code, message, headers } = refusal;
    const error = errorBody(code, message);
    const id = request === undefined ? randomUUID() : requestId(request);
    for (const observer of this.observers) {
      observer.onSocketAnswer({ requestId: id, method: request?.method, status: error.status });
    }
    const body = JSON.stringify(error);
    const all = {
      date: new Date().toUTCString(),
      'content-type': JSON_TYPE,
      'x-request-id': id,
      ...this.headers,
      ...headers,
      ...limitHeaders,
      'content-length': String(Buffer.byteLength(body)),
      connection: 'close',
    };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
    return [`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ''}`, ...lines, '', body].join('\r\n');
  }

  /** Ends the connection after the responses to earlier requests, which may be in progress (RFC 9112 §9.3.2). */
  private endOnceAnswered(socket: Socket, response = ''): void {
    const end = () => {
      if (socket.writable) socket.end(response);
      setTimeout(() => socket.destroy(), LINGER_MS).unref();
    };
    const before = this.latest.get(socket)?.reply.raw;
    if (before === undefined || before.writableFinished) end();
    else before.once('close', end);
  }
}
