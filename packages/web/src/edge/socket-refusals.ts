import {
  createServer,
  type IncomingMessage,
  METHODS,
  type RequestListener,
  type Server,
  STATUS_CODES,
} from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { HttpFault } from './http-fault.js';
import { faultOfParser, type ParserError } from './parser-errors.js';
import { Pipeline } from './pipeline.js';
import type { RouteTable } from './route-table.js';

/** Longest time for a request to arrive. */
export const REQUEST_TIMEOUT_MS = 8_000;
// The interval at which Node checks for late ones.
const TIMEOUT_CHECK_MS = 500;
// Closing a connection while the client still sends would reset it and lose the response (RFC 9112 §9.6).
const LINGER_MS = 1_000;
const KNOWN_METHODS: ReadonlySet<string | undefined> = new Set(METHODS);

export interface SocketAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What an app says about faults that none of its hooks and handlers sees. */
export interface SocketResponder {
  /** The answer to a request that reaches no hook. Without `request` its head could not be parsed. */
  readonly answer: (fault: HttpFault, socket: Socket, request?: IncomingMessage) => Promise<SocketAnswer>;
  /** Ends the body of a request in progress. The request's own response reports the fault. */
  readonly breakOff: (request: FastifyRequest, fault: HttpFault) => void;
}

/** Answers the requests that Node would answer with an empty body, or not at all. */
export class SocketRefusals {
  private readonly pipelines = new WeakMap<Socket, Pipeline>();

  constructor(
    private readonly routes: RouteTable,
    private readonly responder: SocketResponder,
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
      const pipeline = this.pipelineOf(socket);
      // The connection has already had its last response.
      if (!socket.writable || pipeline.isRefused) return;
      // The end of this request is unknown, so the following bytes can't be parsed (framing.ts).
      if (headers['transfer-encoding'] === '') pipeline.isRefused = true;
      // Node's parser accepts methods of RTSP, but the router doesn't know them.
      if (!KNOWN_METHODS.has(request.method)) {
        this.refuseOnSocket(socket, new HttpFault('bad_request', 'the request is not valid HTTP/1.1'), request);
      } else pipeline.add(response, handle);
    };
    const server = createServer(options, listener);
    // framing.ts judges the Expect header.
    server.on('checkExpectation', listener);
    server.on('connect', (request: IncomingMessage) => {
      const allow = this.routes.allMethods().join(', ');
      const fault = new HttpFault('method_not_allowed', 'CONNECT is not allowed', { allow });
      this.refuseOnSocket(request.socket, fault, request);
    });
    return server;
  }

  /** A Fastify `onRequest` hook. It remembers the request to which a later parser error belongs. */
  onRequest(request: FastifyRequest): void {
    this.pipelineOf(request.raw.socket).request = request;
  }

  /** Fastify's `clientErrorHandler`: a request could not be parsed, or did not arrive in time. */
  onClientError(error: ParserError, socket: Socket): void {
    if (error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const pipeline = this.pipelineOf(socket);
    // Ignores errors of bytes that follow a refusal or the last response, because they belong to no request.
    if (pipeline.isRefused || !socket.writable || error.code === 'HPE_CLOSED_CONNECTION') return;
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && pipeline.isUnread) return;
    if (pipeline.latest?.req.complete === false) pipeline.dropLatest();
    const fault = faultOfParser(error, this.routes);
    const { request, latest } = pipeline;
    if (request === undefined || request.raw.complete) this.refuseOnSocket(socket, fault);
    else {
      pipeline.isRefused = true;
      this.responder.breakOff(request, fault);
      // If its response is already on the way, there is no second one.
      if (latest?.headersSent === true) this.endOnceAnswered(socket);
    }
  }

  private refuseOnSocket(socket: Socket, fault: HttpFault, request?: IncomingMessage): void {
    this.pipelineOf(socket).isRefused = true;
    this.responder.answer(fault, socket, request).then(
      (answer) => {
        this.endOnceAnswered(socket, textOf(answer));
      },
      () => socket.destroy(),
    );
  }

  /** Ends the connection after the responses to earlier requests, which may be in progress (RFC 9112 §9.3.2). */
  private endOnceAnswered(socket: Socket, response = ''): void {
    const end = () => {
      if (socket.writable) socket.end(response);
      setTimeout(() => socket.destroy(), LINGER_MS).unref();
    };
    const before = this.pipelineOf(socket).latest;
    if (before === undefined || before.writableFinished) end();
    else before.once('close', end);
  }

  private pipelineOf(socket: Socket): Pipeline {
    let pipeline = this.pipelines.get(socket);
    if (pipeline === undefined) this.pipelines.set(socket, (pipeline = new Pipeline(socket)));
    return pipeline;
  }
}

function textOf({ status, headers, body }: SocketAnswer): string {
  const all = {
    date: new Date().toUTCString(),
    ...headers,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, ...lines, '', body].join('\r\n');
}
