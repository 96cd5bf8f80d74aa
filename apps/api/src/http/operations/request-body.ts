import type { IncomingMessage } from 'node:http';
import { ours } from '@adoption-store/domain';
import { HttpError } from '../answers/error-codes.js';

export const MAX_BODY_BYTES = 64 * 1024;
/**
 * The most pieces in which a body may arrive. So the largest body may have pieces of 8 bytes on average. Each piece
 * takes a microsecond, whatever its size.
 */
const MAX_BODY_PIECES = MAX_BODY_BYTES / 8;
/** The first size of the buffer, unless the body is known to be shorter. */
const FIRST_BYTES = 1_024;

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined if the request has no body. */
    received: RequestBody | undefined;
  }
}

/**
 * The body of a request. It is read as soon as the headers have arrived, because Node would keep a Buffer for each
 * piece of an unread body. All bytes are in one growing buffer, which is at most twice as long as the body so far.
 */
export class RequestBody {
  /** Why the body can't be complete. */
  private failure: HttpError | undefined;
  /** The error if the body breaks HTTP's rules. Undefined for a valid body, even if it is too large. */
  refusal: HttpError | undefined;
  /**
   * The complete body. Rejects with an HttpError: `payload_too_large`, or `bad_request` if the connection ends early.
   */
  readonly whole: Promise<Buffer>;
  private reject: (refusal: HttpError) => void = () => undefined;
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
    // There may be no handler that waits for the body when it fails.
    this.whole.catch(() => undefined);
    request.on('error', () => {
      this.breakOff(new HttpError('bad_request', ours`the body was cut off`));
    });
    const length = Number(request.headers['content-length'] ?? FIRST_BYTES);
    this.bytes = Buffer.allocUnsafe(Math.min(length, FIRST_BYTES));
    if (length > MAX_BODY_BYTES) this.fail(tooLarge());
    // The rest of a body that is too large is read and dropped. Closing the connection in the middle of a body would
    // reset it, and the response would be lost. The request's timeout ends an endless body.
    request.on('data', (piece: Buffer) => {
      this.take(piece);
    });
    // From now on Node passes on each piece when it arrives. Otherwise it would keep those of the first packet.
    request.read(0);
  }

  /** Ends the body: nothing more of it can be read. */
  breakOff(refusal: HttpError): void {
    this.refusal ??= refusal;
    this.fail(refusal);
  }

  private fail(refusal: HttpError): void {
    this.failure ??= refusal;
    this.bytes = Buffer.alloc(0);
    this.reject(this.failure);
  }

  private take(piece: Buffer): void {
    if (this.failure !== undefined) return;
    this.pieces += 1;
    if (this.pieces > MAX_BODY_PIECES) {
      // Reading the rest would double the cost, and no well-behaved client sends so many pieces.
      this.fail(new HttpError('payload_too_large', ours`the body must come in at most ${MAX_BODY_PIECES} pieces`));
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

function tooLarge(): HttpError {
  return new HttpError('payload_too_large', ours`the body must be at most ${MAX_BODY_BYTES} bytes`);
}
