import type { IncomingMessage } from 'node:http';
import { HttpRefusal } from '../errors/error-codes.js';
import type { ReadingTurns } from './reading-turns.js';

export const MAX_BODY_BYTES = 64 * 1024;
/** A body of that size may come in pieces of 8 bytes on average. Each piece costs a microsecond, whatever its size. */
export const MAX_BODY_PIECES = MAX_BODY_BYTES / 8;
/** Of the buffer, where the body may be longer. */
const FIRST_BYTES = 1_024;

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined where the request has none. */
    received: RequestBody | undefined;
  }
}

/**
 * The body of a request, read from the moment when its head has come: what Node holds of a body that nobody reads is a
 * Buffer for each piece. It is kept in one growing buffer, at most twice as long as what has come.
 */
export class RequestBody {
  /** Why it will never be whole. */
  private failure: HttpRefusal | undefined;
  private breach: HttpRefusal | undefined;
  private readonly whole: Promise<Buffer>;
  private reject: (refusal: HttpRefusal) => void = () => undefined;
  private bytes: Buffer;
  private size = 0;
  private pieces = 0;

  constructor(
    private readonly request: IncomingMessage,
    private readonly turns: ReadingTurns,
  ) {
    this.whole = new Promise((resolve, reject) => {
      this.reject = reject;
      request.on('end', () => {
        resolve(this.bytes.subarray(0, this.size));
      });
    });
    // A body that nobody wants may fail, too.
    this.whole.catch(() => undefined);
    request.on('error', () => {
      this.breakOff(new HttpRefusal('bad_request', 'the body was cut off'));
    });
    const length = Number(request.headers['content-length'] ?? FIRST_BYTES);
    this.bytes = Buffer.allocUnsafe(Math.min(length, FIRST_BYTES));
    if (length > MAX_BODY_BYTES) this.fail(tooLarge());
    // A body that is too large is read and dropped. Closing amid a body would reset the connection and lose the
    // answer. The request's timeout ends a body that never ends.
    request.on('data', (piece: Buffer) => {
      this.take(piece);
    });
    // From the first read on, pieces are handed over as they come. Those of the first packet would be kept until then.
    request.read(0);
  }

  /**
   * All of it.
   *
   * @throws HttpRefusal `payload_too_large` as soon as that is known, `bad_request` where the connection ends before.
   */
  read(): Promise<Buffer> {
    return this.whole;
  }

  /** Why the bytes on the connection are no body; undefined while they are, however large it is. */
  get refusal(): HttpRefusal | undefined {
    return this.breach;
  }

  /** Nothing more of it can be read from the connection. */
  breakOff(refusal: HttpRefusal): void {
    this.breach ??= refusal;
    this.fail(refusal);
  }

  private fail(refusal: HttpRefusal): void {
    this.failure ??= refusal;
    this.bytes = Buffer.alloc(0);
    this.reject(this.failure);
  }

  private take(piece: Buffer): void {
    this.turns.count();
    if (this.failure !== undefined) return;
    this.pieces += 1;
    if (this.pieces > MAX_BODY_PIECES) {
      // No client that means well sends so many, and to read on until it is answered would cost as much again.
      this.fail(new HttpRefusal('payload_too_large', `the body must come in at most ${MAX_BODY_PIECES} pieces`));
      this.request.socket.destroy();
    } else if (this.size + piece.length > MAX_BODY_BYTES) this.fail(tooLarge());
    else this.keep(piece);
  }

  private keep(piece: Buffer): void {
    const size = this.size + piece.length;
    if (size > this.bytes.length) {
      const longer = Buffer.allocUnsafe(Math.min(2 * size, MAX_BODY_BYTES));
      this.bytes.copy(longer, 0, 0, this.size);
      this.bytes = longer;
    }
    piece.copy(this.bytes, this.size);
    this.size = size;
  }
}

function tooLarge(): HttpRefusal {
  return new HttpRefusal('payload_too_large', `the body must be at most ${MAX_BODY_BYTES} bytes`);
}
