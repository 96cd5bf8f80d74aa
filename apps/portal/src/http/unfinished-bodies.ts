import type { IncomingMessage } from 'node:http';
import { hasBody } from '@adoption-store/web';
import { networkOf } from '@adoption-store/admission';
import type { FastifyInstance } from 'fastify';

/** Requests with unfinished bodies that one address may have at the same time. */
const MOST = 32;

/**
 * Limits the requests with unfinished bodies of one address. One more is refused with 429 and its connection closed.
 *
 * @param giveUpMs Milliseconds after which the server cuts an unfinished request.
 */
export function boundUnfinishedBodies(fastify: FastifyInstance, giveUpMs: number): void {
  const unfinished = new Map<string, Set<IncomingMessage>>();
  fastify.addHook('onRequest', (request, reply, done) => {
    const { raw } = request;
    if (!hasBody(raw)) {
      done();
      return;
    }
    const address = networkOf(request.ip);
    const bodies = unfinished.get(address) ?? new Set();
    if (bodies.size >= MOST) {
      reply
        .code(429)
        .header('retry-after', String(giveUpMs / 1_000))
        .header('connection', 'close');
      reply.type('text/plain; charset=utf-8').send('too many unfinished requests from this address\n');
      return;
    }
    unfinished.set(address, bodies.add(raw));
    const forget = () => {
      if (bodies.delete(raw) && bodies.size === 0) unfinished.delete(address);
    };
    // The body has arrived, or the request was answered or lost: in each case one of these two events fires.
    raw.once('close', forget);
    reply.raw.once('close', forget);
    done();
  });
  // Don't wait for the body of an answered request: its connection would be open without being counted.
  fastify.addHook('onSend', ({ raw }, reply, _payload, done) => {
    if (hasBody(raw) && !raw.complete) reply.header('connection', 'close');
    done();
  });
}
