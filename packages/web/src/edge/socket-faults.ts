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
import { isMiscoded } from './framing.js';
import { HttpFault } from './http-fault.js';
import { faultOfParser, type ParserError } from './parser-errors.js';
import type { RouteTable } from './route-table.js';

/** Longest time for a request to arrive. */
export const REQUEST_TIMEOUT_MS = 8_000;
// The interval at which Node checks for late ones.
const TIMEOUT_CHECK_MS = 500;
// Closing a connection while the client still sends would reset it and lose the response (RFC 9112 §9.6).
const LINGER_MS = 1_000;
const KNOWN_METHODS: ReadonlySet<string | undefined> = new Set(METHODS);

/** The most requests that begin although the client has not taken the response to an earlier one. */
const MOST_AHEAD = 32;
/** A client that takes nothing for so long, although requests wait for it, has gone. */
const STALL_MS = 60_000;

type Response = Parameters<RequestListener>[1];

interface Waiting {
  readonly response: Response;
  readonly handle: RequestListener;
}

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
export class SocketFaults {
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
      const { socket } = request;
      const pipeline = this.pipelineOf(socket);
      // The connection has already had its last response.
      if (!socket.writable || pipeline.isRefused) return;
      // The end of this request is uncertain, so the following bytes belong to no request. framing.ts refuses it.
      if (isMiscoded(request)) pipeline.isRefused = true;
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

/**
 * The requests of one connection, in order. A client may send many of them without reading the responses (RFC 9112
 * §9.3.2), and Node would begin each one that it has read and keep the responses in memory. Here a request begins only
 * while few responses before it are unread. Until then it waits, uncounted, and nothing more is read.
 */
class Pipeline {
  /** Whether further bytes belong to no request. */
  isRefused = false;
  /** The latest request that has reached the hooks. */
  request: FastifyRequest | undefined;
  private begun: Response | undefined;
  private ahead = 0;
  /** The socket's `bytesRead` when it was held last. */
  private readUntil: number | undefined;
  private readonly waiting: Waiting[] = [];

  constructor(private readonly socket: Socket) {}

  get latest(): Response | undefined {
    return this.waiting.at(-1)?.response ?? this.begun;
  }

  /** Whether this side, and not the client, keeps a request from being complete: it reads nothing. */
  get isUnread(): boolean {
    return this.socket.isPaused() || this.readUntil === this.socket.bytesRead;
  }

  add(response: Response, handle: RequestListener): void {
    const { latest } = this;
    if (latest === undefined || latest.writableFinished) {
      this.begun = response;
      handle(response.req, response);
    } else if (this.waiting.length === 0 && this.ahead < MOST_AHEAD) this.beginAhead({ response, handle });
    else {
      if (this.waiting.length === 0) this.hold();
      this.waiting.push({ response, handle });
    }
  }

  dropLatest(): void {
    if (this.waiting.pop() !== undefined && this.waiting.length === 0) this.release();
  }

  private beginAhead({ response, handle }: Waiting): void {
    this.begun = response;
    this.ahead += 1;
    response.once('finish', () => {
      this.ahead -= 1;
      this.beginNext();
    });
    handle(response.req, response);
  }

  private beginNext(): void {
    const next = this.waiting.shift();
    // No request is answered after the connection's last response.
    if (next === undefined || !this.socket.writable) return;
    this.beginAhead(next);
    if (this.waiting.length === 0) this.release();
  }

  private hold(): void {
    this.readUntil = this.socket.bytesRead;
    // Node itself resumes the socket at the end of each request.
    this.socket.on('resume', this.pause);
    this.socket.setTimeout(STALL_MS);
    this.pause();
  }

  private release(): void {
    this.socket.off('resume', this.pause);
    this.socket.resume();
  }

  private readonly pause = () => {
    this.socket.pause();
  };
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
