import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { errorBody, HttpRefusal } from './error-codes.js';
import { requestId } from './framing.js';
import { addressOf, limitHeaders } from './limit-headers.js';
import { type ParserError, refusalOfParser } from './parser-errors.js';
import type { RequestCounterStorage } from './request-counter.storage.js';
import type { RouteTable } from './route-table.js';

// A connection that is closed while bytes are still coming is reset, and the answer with it (RFC 9112 §9.6).
const LINGER_MS = 1_000;

/** What Node would answer by itself, with an empty body or none, is answered as any refusal is. */
export class SocketRefusals {
  // Each connection's latest request, which is the one at fault when the parser gives up within its body.
  private readonly latestResponses = new WeakMap<Socket, ServerResponse>();
  private readonly refused = new WeakSet<Socket>();

  constructor(
    private readonly routes: RouteTable,
    private readonly storage: RequestCounterStorage,
  ) {}

  listenTo(server: Server): void {
    // A client may close its half once it has asked; Node would close the other one too, before the answer. Not in its
    // types.
    Object.assign(server, { httpAllowHalfOpen: true });
    server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      this.latestResponses.set(socket, response);
    });
    server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
      void this.refuse(response, new HttpRefusal('expectation_failed', 'the Expect header may only be 100-continue'));
    });
    server.on('connect', (request: IncomingMessage) => {
      const allow = this.routes.allMethods().join(', ');
      const refusal = new HttpRefusal('method_not_allowed', 'CONNECT is not allowed', { allow });
      void this.refuseOnSocket(request.socket, refusal, requestId(request));
    });
  }

  /** Fastify's `clientErrorHandler`: a request could not be parsed, or did not come in time. */
  onClientError(error: ParserError, socket: Socket): void {
    // What comes after a refusal makes the parser fail again.
    if (this.refused.has(socket)) return;
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    this.refused.add(socket);
    const refusal = refusalOfParser(error, this.routes);
    const latest = this.latestResponses.get(socket);
    const refuseConnection = () => void this.refuseOnSocket(socket, refusal, randomUUID());
    if (latest !== undefined && !latest.req.complete) void this.refuse(latest, refusal);
    // The requests before are good and still being answered: their answers go first (RFC 9112 §9.3.2).
    else whenFinished(latest, refuseConnection);
  }

  private async refuse(response: ServerResponse, refusal: HttpRefusal): Promise<void> {
    const { status, head, body } = await this.answer(response.req.socket, refusal, requestId(response.req));
    if (!response.headersSent) response.writeHead(status, head).end(body);
    // Answered before its body was complete; no request has two answers.
    else
      whenFinished(response, () => {
        close(response.req.socket);
      });
  }

  private async refuseOnSocket(socket: Socket, refusal: HttpRefusal, id: string): Promise<void> {
    const { status, head, body } = await this.answer(socket, refusal, id);
    if (!socket.writable) return;
    const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
    close(socket, `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`);
  }

  private async answer({ remoteAddress: ip = '' }: Socket, { code, message, headers }: HttpRefusal, id: string) {
    const error = errorBody(code, message);
    const body = JSON.stringify(error);
    const head: Record<string, string> = {
      date: new Date().toUTCString(),
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(Buffer.byteLength(body)),
      'x-request-id': id,
      ...limitHeaders(await this.storage.look(addressOf({ ip })), this.storage.clock.now()),
      ...headers,
      connection: 'close',
    };
    return { status: error.status, head, body };
  }
}

/** At once where there is no response to wait for. */
function whenFinished(response: ServerResponse | undefined, next: () => void): void {
  if (response === undefined || response.writableFinished) next();
  else response.once('finish', next);
}

function close(socket: Socket, lastWords = ''): void {
  socket.end(lastWords);
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
