import { type IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

declare module 'node:http' {
  interface ServerResponse {
    // Not in Node's own types:
    /** Puts the head together, with what Node itself adds. */
    _storeHeader(firstLine: string, headers: OutgoingHttpHeaders | OutgoingHttpHeader[] | undefined): void;
    /** The head, once it is put together; what follows is sent behind it. */
    _header: string | null;
    /** Whether the status and the method allow one. */
    _hasBody: boolean;
  }
}

/** The status by which a request is logged and counted whose client has hung up. */
const ABANDONED = 499;

/** Of what RFC 9110 §5.5 lets a value be, ASCII alone. */
const UNFIT_VALUE = /[^\t\x20-\x7e]/;
export const JSON_TYPE = 'application/json; charset=utf-8';
const JSON_LINE = headerLine('content-type', JSON_TYPE);

/**
 * A header as it is written, the end of the line before it included.
 *
 * @throws TypeError where the value has characters that a header may not have.
 */
export function headerLine(name: string, value: string): string {
  if (UNFIT_VALUE.test(value)) throw new TypeError(`the ${name} header must be printable ASCII`);
  return `\r\n${name}: ${value}`;
}

export function headerLines(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => headerLine(name, value))
    .join('');
}

/**
 * A long JSON text, put together when it is sent: the promise that a controller gave when its request came would hold the
 * text itself until the whole heap is collected.
 */
export type JsonWhenSent = () => string;

/** What controllers see of Fastify's reply: `ApiResponse.answer` has none of the headers that the reply itself is given. */
export interface ApiReply {
  readonly raw: ApiResponse;
}

/**
 * An answer that is told its headers as lines. Fastify keeps each in a map, and Node looks at each in five ways, among
 * them whether its name is a token and whether it is one of those that Node has to know of: with a dozen, a quarter of a
 * request by id.
 */
export class ApiResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  /** Headers beside those that Fastify and Node know of (`headerLine`). */
  declare lines: string | undefined;
  /** How the caller stands, in lines; undefined until that is known. */
  declare limits: string | undefined;
  /** Told once the answer is out. Node listens for 'finish' alone: with a second listener it would copy their list. */
  declare watch: { onSent(): void } | undefined;

  /** Whether the connection ends with it. */
  protected isLast(): boolean {
    return false;
  }

  tell(lines: string): void {
    this.lines = this.lines === undefined ? lines : this.lines + lines;
  }

  /** Sends a JSON text, with the status that is set. It goes as one write of bytes with the head. */
  answer(text: string): void {
    const size = Buffer.byteLength(text);
    this.tell(JSON_LINE);
    this.writeHead(this.statusCode, ['content-length', String(size)]);
    const { _header: head } = this;
    // The head is bytes as characters.
    if (this._hasBody && head !== null) {
      this._header = head + (size === text.length ? text : Buffer.from(text).toString('latin1'));
    }
    this.end();
    // A response whose request has waited is held until the whole heap is collected, and so would be what it has sent.
    this._header = head;
  }

  override writeHead(...parameters: unknown[]): this {
    if (this.isLast()) this.shouldKeepAlive = false;
    return super.writeHead(...(parameters as [number]));
  }

  /** Node's listener lets go of the connection. */
  override detachSocket(socket: Socket): void {
    super.detachSocket(socket);
    // An idle connection would keep all of its latest request, and a closed one until the whole heap is collected.
    if (this.req.complete && socket.latestResponse === this) socket.latestResponse = undefined;
    this.watch?.onSent();
  }

  /** The connection is gone before the answer was: nobody is told one, and it is watched as nginx' 499. */
  abandon(): void {
    if (this.writableFinished) return;
    this.statusCode = ABANDONED;
    this.watch?.onSent();
    this.watch = undefined;
  }

  override _storeHeader(firstLine: string, headers: OutgoingHttpHeaders | OutgoingHttpHeader[] | undefined): void {
    const { lines = '', limits = '' } = this;
    super._storeHeader(`${firstLine.slice(0, -2)}${lines}${limits}\r\n`, headers);
  }
}
