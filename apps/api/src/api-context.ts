import type { Clock } from '@adoption-store/domain';
import type { FastifyBaseLogger, FastifyRequest } from 'fastify';

/** The HTTP layer's dependencies. */
export class ApiContext {
  constructor(
    readonly clock: Clock,
    /** Address clients reach the service at, without `/v1`; otherwise it is taken from each request. */
    private readonly publicUrl: string | undefined,
    /** Where defects are told. */
    readonly logger: FastifyBaseLogger,
  ) {}

  /** Such as `https://api.example.com`, to build absolute links on. */
  origin({ protocol, host, socket }: FastifyRequest): string {
    // HTTP/1.0 may come without a Host.
    return this.publicUrl ?? `${protocol}://${host || `${socket.localAddress}:${socket.localPort}`}`;
  }
}
