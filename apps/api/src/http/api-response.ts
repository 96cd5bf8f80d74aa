import { type IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

declare module 'node:http' {
  interface ServerResponse {
    // Not in Node's own types:
    /** Puts the head together, with what Node itself adds. */
    _storeHeader(firstLine: string, headers: OutgoingHttpHeaders | OutgoingHttpHeader[] | undefined): void;
    /** The head, once it is put together; what follows is sent behind it. */
    _header: string | null;
    _headerSent: boolean;
    /** Whether the status and the method allow one. */
    _hasBody: boolean;
  }
}

/** By these Node decides how the answer is framed and whether the connection stays; the second it writes in its own way. */
const LEFT_TO_NODE = new Set([
  'connection',
  'content-disposition',
  'content-length',
  'date',
  'expect',
  'keep-alive',
  'trailer',
  'transfer-encoding',
]);
// RFC 9110 §5.1 and §5.5, as Node judges them, and ASCII alone.
const NAME = /^[a-z0-9!#$%&'*+.^_`|~-]+$/;
const UNFIT_VALUE = /[^\t\x20-\x7e]/;

/** A header of this API's own, all of which are known. */
interface Header {
  /** What its line begins with, the end of the one before included; undefined where it is left to Node. */
  readonly start: string | undefined;
  /** The value that was sent last, as many are always the same, and its line. */
  value: unknown;
  line: string | undefined;
  /** How often another one was sent. To compare two long texts costs more than a line. */
  changes: number;
}

const MOST_CHANGES = 100;

const headersByName = new Map<string, Header>();

function headerOf(name: string): Header {
  const known = headersByName.get(name);
  if (known !== undefined) return known;
  const start = NAME.test(name) && !LEFT_TO_NODE.has(name) ? `\r\n${name}: ` : undefined;
  const header = { start, value: undefined, line: undefined, changes: 0 };
  headersByName.set(name, header);
  return header;
}

/** Undefined for what is left to Node. */
function lineOf(name: string, value: unknown): string | undefined {
  const header = headerOf(name);
  const { start } = header;
  const mayBeSame = header.changes < MOST_CHANGES;
  if (mayBeSame && value === header.value) return header.line;
  if (start === undefined || !isFit(value)) return undefined;
  const line = start + String(value);
  if (mayBeSame) Object.assign(header, { value, line, changes: header.changes + 1 });
  return line;
}

/**
 * An answer whose headers are written as lines at once. Node looks at each in five ways, among them whether its name is a
 * token and whether it is one of those that Node has to know of: with a dozen, a fifth of a request by id.
 */
export class ApiResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  declare private lines: string | undefined;
  /** What Content-Length says, where it is all that is left to Node. */
  declare private size: number | undefined;
  /** Told once the answer is out. Node listens for 'finish' alone: with a second listener it would copy their list. */
  declare watch: { onSent(): void } | undefined;

  /** Whether the connection ends with it. */
  protected isLast(): boolean {
    return false;
  }

  override writeHead(status: number, headers?: unknown, ...rest: never[]): this {
    if (this.isLast()) this.shouldKeepAlive = false;
    if (!isRecord(headers) || this.getHeaderNames().length > 0) {
      return super.writeHead(status, headers as string, ...rest);
    }
    const others: unknown[] = [];
    let lines = '';
    for (const name in headers) {
      const value = headers[name];
      const line = lineOf(name, value);
      if (line === undefined) others.push(name, value);
      else lines += line;
    }
    this.lines = lines;
    const [name, value] = others;
    this.size = others.length === 2 && name === 'content-length' && isText(value) ? Number(value) : undefined;
    return super.writeHead(status, others as OutgoingHttpHeader[]);
  }

  /** A text goes as one write of bytes with the head: Node makes two, by way of UTF-8. */
  override end(chunk?: unknown, encoding?: unknown, done?: unknown): this {
    let rest = chunk;
    if (typeof chunk === 'string' && typeof encoding !== 'string' && this.isHeadWaiting) {
      // The head is bytes as characters.
      const isAscii = chunk.length === this.size;
      this._header = (this._header ?? '') + (isAscii ? chunk : Buffer.from(chunk).toString('latin1'));
      rest = null;
    }
    return super.end(rest, encoding as BufferEncoding, done as () => void);
  }

  private get isHeadWaiting(): boolean {
    return this._header !== null && !this._headerSent && this._hasBody && Number(this.size) >= 0;
  }

  /** Node's listener lets go of the connection. */
  override detachSocket(socket: Socket): void {
    super.detachSocket(socket);
    // An idle connection would keep all of its latest request, and a closed one until the whole heap is collected.
    if (this.req.complete && socket.latestResponse === this) socket.latestResponse = undefined;
    this.watch?.onSent();
  }

  override _storeHeader(firstLine: string, headers: OutgoingHttpHeaders | OutgoingHttpHeader[] | undefined): void {
    const { lines = '' } = this;
    super._storeHeader(lines === '' ? firstLine : `${firstLine.slice(0, -2)}${lines}\r\n`, headers);
  }
}

function isRecord(headers: unknown): headers is OutgoingHttpHeaders {
  return typeof headers === 'object' && headers !== null && !Array.isArray(headers);
}

/** What isn't Node refuses, or writes as it does. */
function isFit(value: unknown): value is string | number {
  return isText(value) && (typeof value === 'number' || !UNFIT_VALUE.test(value));
}

function isText(value: unknown): value is string | number {
  return typeof value === 'number' || typeof value === 'string';
}
