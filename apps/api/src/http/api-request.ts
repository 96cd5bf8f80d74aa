import { IncomingMessage } from 'node:http';
import { HttpRefusal } from './error-codes.js';

export const MAX_BODY_BYTES = 64 * 1024;
/** A body of that size may come in pieces of 8 bytes on average. Each piece costs a microsecond, whatever its size. */
export const MAX_BODY_PIECES = MAX_BODY_BYTES / 8;

/**
 * A request whose body is kept as it comes, as all bodies are small and wanted whole. It is no stream: to be one takes
 * Node a dozen events for a request, with a body or without.
 */
export class ApiRequest extends IncomingMessage {
  // Not initialised: most requests have no body.
  /** What has come of the body, at the beginning of a buffer that is at most twice as long. */
  declare private bytes: Buffer | undefined;
  declare private size: number | undefined;
  /** Called for each piece of the body. */
  declare onPiece: (() => void) | undefined;
  declare private pieces: number | undefined;

  /**
   * All of it, at once where it has come.
   *
   * @throws HttpRefusal `payload_too_large` as soon as that is known, `bad_request` where the connection ends before.
   */
  body(): Buffer | Promise<Buffer> {
    if (this.isInTooManyPieces) throw tooManyPieces();
    if (this.isTooLarge) throw tooLarge();
    if (this.isWhole) return this.whole();
    return new Promise((resolve, reject) => {
      const cutOff = () => {
        reject(new HttpRefusal('bad_request', 'the body was cut off'));
      };
      if (this.destroyed) cutOff();
      this.on('error', cutOff);
      this.on('too large', () => {
        reject(this.isInTooManyPieces ? tooManyPieces() : tooLarge());
      });
      this.on('end', () => {
        resolve(this.whole());
      });
    });
  }

  /** What Node gives the body to, and null behind it. Nobody is made to wait, as no more is kept than may come. */
  override push(chunk: Buffer | null): boolean {
    if (chunk === null) {
      this.emit('end');
      return true;
    }
    this.onPiece?.();
    const start = this.size ?? 0;
    this.size = start + chunk.length;
    this.pieces = (this.pieces ?? 0) + 1;
    // Not to be read any further: the rest of the packet is all that still comes.
    if (this.isInTooManyPieces) this.socket.pause();
    if (!this.isTooLarge && !this.isInTooManyPieces) this.keep(chunk, start);
    else if (this.bytes !== undefined || start === 0) {
      this.bytes = undefined;
      this.emit('too large');
    }
    return true;
  }

  /** Node drains what nobody has read. */
  override resume(): this {
    return this;
  }

  override read(): null {
    return null;
  }

  /** One growing buffer: a Buffer for each of 65,000 pieces of a byte takes a hundred times as much. */
  private keep(chunk: Buffer, start: number): void {
    const { bytes } = this;
    if (bytes !== undefined && start + chunk.length <= bytes.length) chunk.copy(bytes, start);
    // Most bodies come as one.
    else if (bytes === undefined && this.isWhole) this.bytes = chunk;
    else {
      this.bytes = Buffer.allocUnsafeSlow(Math.min(2 * (start + chunk.length), MAX_BODY_BYTES));
      bytes?.copy(this.bytes, 0, 0, start);
      chunk.copy(this.bytes, start);
    }
  }

  private whole(): Buffer {
    return this.bytes?.subarray(0, this.size) ?? Buffer.alloc(0);
  }

  /** Node says that it is complete one turn of the microtasks after it has come. */
  private get isWhole(): boolean {
    return this.complete || this.size === Number(this.headers['content-length']);
  }

  private get isInTooManyPieces(): boolean {
    return (this.pieces ?? 0) > MAX_BODY_PIECES;
  }

  private get isTooLarge(): boolean {
    return Math.max(this.size ?? 0, Number(this.headers['content-length'] ?? 0)) > MAX_BODY_BYTES;
  }
}

// Declared as a property, which an accessor may not override.
Object.defineProperty(ApiRequest.prototype, 'readableEnded', {
  get(this: ApiRequest) {
    return this.complete;
  },
});

function tooLarge(): HttpRefusal {
  // The connection stays, and Node reads on without keeping anything: closed amid a body it would be reset, and the
  // answer with it. What never ends is cut off by the request's timeout.
  return new HttpRefusal('payload_too_large', `the body must be at most ${MAX_BODY_BYTES} bytes`);
}

function tooManyPieces(): HttpRefusal {
  const message = `the body must come in at most ${MAX_BODY_PIECES} pieces`;
  return new HttpRefusal('payload_too_large', message, { connection: 'close' });
}
