import type { IncomingMessage } from 'node:http';
import { HttpRefusal } from './error-codes.js';

export const MAX_BODY_BYTES = 64 * 1024;
/**
 * Enough for a body of the largest size in pieces of 8 bytes on average. Each piece costs a microsecond, whatever its
 * size.
 */
const MAX_BODY_PIECES = MAX_BODY_BYTES / 8;
/** First size of the buffer for a body of this length or more. */
const FIRST_BYTES = 1_024;

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined if the request has no body. */
    received: RequestBody | undefined;
  }
}

/**
 * The body of a request. It is read as soon as the headers have arrived, because Node would keep a Buffer for each piece
 * of an unread body. Its bytes are in one growing buffer, at most twice as long as they are.
 */
export class RequestBody {
  /** Why the body can't be complete. */
  private failure: HttpRefusal | undefined;
  /** The error if the bytes on the connection aren't a valid body. A valid one that is too large has none. */
  refusal: HttpRefusal | undefined;
  /**
   * The complete body. Rejects with an HttpRefusal: `payload_too_large` as soon as the size is known, `bad_request` if the
   * connection ends early.
   */
  readonly whole: Promise<Buffer>;
  private reject: (refusal: HttpRefusal) => void = () => undefined;
  private bytes: Buffer;
  private size = 0;
  private pieces = 0;

  constructor(private readonly request: IncomingMessage) {
    this.whole = new Promise((resolve, reject) => {
      this.reject = reject;
      request.on('end', () => {
        resolve(this.bytes.subarray(0, this.size));
      });
    });
    // No handler may be waiting for the body when it fails.
    this.whole.catch(() => undefined);
    request.on('error', () => {
      this.breakOff(new HttpRefusal('bad_request', 'the body was cut off'));
    });
    const length = Number(request.headers['content-length'] ?? FIRST_BYTES);
    this.bytes = Buffer.allocUnsafe(Math.min(length, FIRST_BYTES));
    if (length > MAX_BODY_BYTES) this.fail(tooLarge());
    // A body that is too large is read and dropped: closing the connection in the middle of a body would reset it, and the
    // response would be lost. The request's timeout ends a body that never ends.
    request.on('data', (piece: Buffer) => {
      this.take(piece);
    });
    // After a first read Node passes on the pieces as they arrive. Without it, Node would keep those of the first packet.
    request.read(0);
  }

  /** Ends the body: nothing more of it can be read. */
  breakOff(refusal: HttpRefusal): void {
    this.refusal ??= refusal;
    this.fail(refusal);
  }

  private fail(refusal: HttpRefusal): void {
    this.failure ??= refusal;
    this.bytes = Buffer.alloc(0);
    this.reject(this.failure);
  }

  private take(piece: Buffer): void {
    if (this.failure !== undefined) return;
    this.pieces += 1;
    if (this.pieces > MAX_BODY_PIECES) {
      // No well-behaved client sends so many pieces, and reading the rest until the response is sent would double the cost.
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
