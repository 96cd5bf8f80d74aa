import type { Clock } from '@adoption-store/domain';
import type { FastifyBaseLogger, FastifyRequest } from 'fastify';

export class ApiContext {
  constructor(
    readonly clock: Clock,
    /** Address at which clients reach the service, without `/v1`. By default it is taken from each request. */
    private readonly publicUrl: string | undefined,
    /** The log for defects. */
    readonly logger: FastifyBaseLogger,
    /** The operator's e-mail address or https URL, if it is known. */
    readonly contact: string | undefined,
  ) {}

  /** The origin of absolute links, such as `https://api.example.com`. */
  origin({ protocol, host, socket }: FastifyRequest): string {
    // HTTP/1.0 requests may have no Host header.
    return this.publicUrl ?? `${protocol}://${host || `${socket.localAddress}:${socket.localPort}`}`;
  }
}
