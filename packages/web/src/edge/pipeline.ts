import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';

/** The most requests that begin although the client has not taken the response to an earlier one. */
const MOST_AHEAD = 32;
/** A client that takes nothing for so long, although requests wait for it, has gone. */
const STALL_MS = 60_000;

type Response = Parameters<RequestListener>[1];

interface Waiting {
  readonly response: Response;
  readonly handle: RequestListener;
}

/**
 * The requests of one connection, in order. A client may send many of them without reading the responses (RFC 9112
 * §9.3.2), and Node would begin each one that it has read and keep the responses in memory. Here a request begins only
 * while few responses before it are unread. Until then it waits, uncounted, and nothing more is read.
 */
export class Pipeline {
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

  /** The response to the latest request. */
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

  /** Drops the latest request, unless it has begun. */
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
