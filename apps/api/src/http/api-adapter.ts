import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { ApiReply, JsonWhenSent } from './api-response.js';

/** Nest's adapter without what it does for each request that nothing here needs. */
export class ApiAdapter extends FastifyAdapter {
  constructor(fastify: FastifyInstance) {
    // Seven hooks: for CORS, versions, middleware and the like, each of which looks whether it was asked for.
    super(
      Object.create(fastify, { addHook: { value: () => fastify }, skipMiddie: { value: true } }) as FastifyInstance,
    );
    this.setInstance(fastify);
  }

  /** It looks at all that an answer may be; ours are JSON as text. */
  override reply(...parameters: Parameters<FastifyAdapter['reply']>): ReturnType<FastifyAdapter['reply']> {
    const [reply, body, status] = parameters as [FastifyReply & ApiReply, unknown, number | undefined];
    if (typeof body !== 'string' && typeof body !== 'function') return super.reply(...parameters);
    if (status !== undefined) reply.raw.statusCode = status;
    // It may have been refused on its connection (socket-refusals.ts).
    if (!reply.sent) reply.raw.answer(typeof body === 'string' ? body : (body as JsonWhenSent)());
    // Not the reply itself, which is a promise of its being sent: Nest would wait for it.
    return undefined as never;
  }
}
