import { hasBody } from '@adoption-store/web';
import type { FastifyInstance } from 'fastify';
import { errorBody, JSON_TYPE } from '../errors/error-codes.js';
import { checkFraming } from './framing.js';
import type { ReadingTurns } from './reading-turns.js';
import { RequestBody } from './request-body.js';
import type { SocketRefusals } from '../errors/socket-refusals.js';

interface RequestHooks {
  readonly refusals: SocketRefusals;
  readonly turns: ReadingTurns;
  /** Whether each answer is the last one of its connection. */
  readonly isEnding: () => boolean;
}

/** The hooks that run for every request before its guards, and for every answer. */
export function addRequestHooks(fastify: FastifyInstance, { refusals, turns, isEnding }: RequestHooks): void {
  fastify.decorateRequest('received', undefined);
  fastify.addHook('onRequest', (request, reply, done) => {
    refusals.onRequest(request, reply);
    if (hasBody(request.raw)) request.received = new RequestBody(request.raw, turns);
    // On the answer from its beginning, so that refusals have them too.
    reply.headers({ 'content-type': JSON_TYPE, 'x-request-id': request.id });
    const { stability } = request.routeOptions.config;
    if (stability !== undefined) reply.header('x-stability', stability);
    // Nothing is ever upgraded, yet Node drops what came in one packet with a request that asks for it.
    if (/\bupgrade\b/i.test(request.headers.connection ?? '')) reply.header('connection', 'close');
    done(checkFraming(request));
  });
  fastify.addHook('onSend', (request, reply, payload, done) => {
    if (isEnding()) reply.header('connection', 'close');
    const refusal = request.received?.refusal;
    if (refusal === undefined) {
      done(null, payload);
      return;
    }
    // The bytes after the head are no HTTP, so the operation's own answer does not matter.
    const error = errorBody(refusal.code, refusal.message);
    reply.code(error.status).header('connection', 'close');
    done(null, JSON.stringify(error));
  });
}
