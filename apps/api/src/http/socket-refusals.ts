import { type IncomingMessage, METHODS, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { errorBody, HttpRefusal } from './error-codes.js';
import { type ApiResponse, headerLine, headerLines, JSON_TYPE } from './api-response.js';
import { newRequestId, requestId } from './framing.js';
import { addressOf, limitLines, refusalOf } from './limit-headers.js';
import { type ParserError, refusalOfParser } from './parser-errors.js';
import type { RequestCounterStorage } from './request-counter.storage.js';
import type { RouteTable } from './route-table.js';
import type { RequestObserver } from '../observability/request-observers.js';

declare module 'node:net' {
  interface Socket {
    /** To the latest request, which is the one at fault when the parser gives up within its body; until both are over. */
    latestResponse?: ApiResponse | undefined;
  }
}

// A connection that is closed while bytes are still coming is reset, and the answer with it (RFC 9112 §9.6).
const LINGER_MS = 1_000;
const KNOWN_METHODS: ReadonlySet<string | undefined> = new Set(METHODS);

/** What Node would answer by itself, with an empty body or none, is answered as any refusal is. */
export class SocketRefusals {
  private readonly refused = new WeakSet<Socket>();

  constructor(
    private readonly routes: RouteTable,
    private readonly storage: RequestCounterStorage,
    private readonly observers: readonly RequestObserver[],
  ) {}

  listenTo(server: Server): void {
    // A client may close its half once it has asked; Node would close the other one too, before the answer. Not in its
    // types.
    Object.assign(server, { httpAllowHalfOpen: true });
    server.on('connection', (socket: Socket) => {
      // What Node does behind the last answer.
      socket.destroySoon = () => {
        close(socket);
      };
      socket.once('close', () => socket.latestResponse?.abandon());
    });
    server.prependListener('request', (request: IncomingMessage, response: ApiResponse) => {
      const { socket } = request;
      socket.latestResponse = response;
      // Two that must not be served, so they are given a version that is refused (framing.ts): RTSP, whose methods no
      // router knows and which Node takes for HTTP/1.0, and what comes behind the last answer.
      if (!KNOWN_METHODS.has(request.method) || !socket.writable) {
        Object.assign(request, { method: 'GET', httpVersionMajor: 0 });
      }
      // What follows is no request: no one knows where this one ends (framing.ts).
      if (request.headers['transfer-encoding'] === '') this.refused.add(socket);
      // Nothing is ever upgraded, yet Node drops what came in one packet with a request that asks for it.
      const { connection } = request.headers;
      if (connection !== undefined && /\bupgrade\b/i.test(connection)) response.shouldKeepAlive = false;
    });
    server.on('checkExpectation', (request: IncomingMessage, response: ApiResponse) => {
      const { socket, method } = request;
      socket.latestResponse = response;
      const refusal = new HttpRefusal('expectation_failed', 'the Expect header may only be 100-continue');
      void this.refuse(response, refusal).then((status) => {
        this.tell(requestId(request), method, status);
      });
    });
    server.on('connect', (request: IncomingMessage) => {
      const allow = this.routes.allMethods().join(', ');
      const refusal = new HttpRefusal('method_not_allowed', 'CONNECT is not allowed', { allow });
      const { socket } = request;
      this.refused.add(socket);
      void this.refuseOnSocket(socket, refusal, requestId(request), request.method, socket.latestResponse);
    });
  }

  /** Fastify's `clientErrorHandler`: a request could not be parsed, or did not come in time. */
  onClientError(error: ParserError, socket: Socket): void {
    if (error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    // What comes after a refusal makes the parser fail again; what comes after the last answer is nobody's.
    if (this.refused.has(socket) || !socket.writable || error.code === 'HPE_CLOSED_CONNECTION') return;
    this.refused.add(socket);
    const refusal = refusalOfParser(error, this.routes);
    const latest = socket.latestResponse;
    if (latest !== undefined && !latest.req.complete) void this.refuse(latest, refusal);
    // The requests before are good and still being answered: their answers go first (RFC 9112 §9.3.2).
    else void this.refuseOnSocket(socket, refusal, newRequestId(), undefined, latest);
  }

  /** What never reaches a route is watched here. */
  private tell(id: string, method: string | undefined, status: number): void {
    for (const observer of this.observers) observer.onSocketAnswer({ requestId: id, method, status });
  }

  private async refuse(response: ApiResponse, refusal: HttpRefusal): Promise<number> {
    const { socket } = response.req;
    const { status, lines, framing, body } = await this.answer(
      socket,
      refusal,
      requestId(response.req),
      response.limits,
    );
    // Answered before its body was complete; no request has two answers.
    if (response.headersSent)
      whenFinished(response, () => {
        close(socket);
      });
    else {
      response.lines = lines;
      response.limits = undefined;
      response.writeHead(status, framing).end(body);
      // What its operation says from now on comes too late, and whoever watches is to see what was sent.
      Object.defineProperty(response, 'statusCode', { get: () => status, set: () => undefined });
    }
    return status;
  }

  private async refuseOnSocket(
    socket: Socket,
    refusal: HttpRefusal,
    id: string,
    method: string | undefined,
    before?: ServerResponse,
  ): Promise<void> {
    const { status, lines, framing, body } = await this.answer(socket, refusal, id);
    this.tell(id, method, status);
    const head = headerLine('date', new Date().toUTCString()) + lines + headerLines(framing);
    const bytes = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}${head}\r\n\r\n${body}`;
    whenFinished(before, () => {
      close(socket, bytes);
    });
  }

  /** @param decided the lines of its limits, where the guards have counted the request already. */
  private async answer(socket: Socket, refused: HttpRefusal, id: string, decided?: string) {
    const { refusal, limits } =
      decided === undefined ? await this.countAddress(socket, refused) : { refusal: refused, limits: decided };
    const { code, message, headers } = refusal;
    const error = errorBody(code, message);
    const body = JSON.stringify(error);
    const { connection, ...others } = { ...headers, ...(this.refused.has(socket) && { connection: 'close' }) };
    const known = { 'content-type': JSON_TYPE, 'x-request-id': id, ...others };
    const framing = { 'content-length': String(Buffer.byteLength(body)), ...(connection && { connection }) };
    return { status: error.status, lines: headerLines(known) + limits, framing, body };
  }

  /** Counts the refusal against the address, and makes it another one where that has sent too many. */
  private async countAddress({ remoteAddress: ip = '' }: Socket, refused: HttpRefusal) {
    const verdict = await this.storage.count(addressOf({ ip }));
    const now = this.storage.clock.now();
    return { refusal: refusalOf(verdict, now) ?? refused, limits: limitLines(verdict, now) };
  }
}

/** At once where there is no response to wait for; otherwise before Node may close the connection behind it. */
function whenFinished(response: ServerResponse | undefined, next: () => void): void {
  if (response === undefined || response.writableFinished) next();
  else response.prependOnceListener('finish', next);
}

function close(socket: Socket, lastWords = ''): void {
  if (socket.writable) socket.end(lastWords);
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
