import { hasBody } from '@adoption-store/web';
import type { FastifyInstance } from 'fastify';
import { errorBody, JSON_TYPE } from './error-codes.js';
import { checkFraming } from './framing.js';
import { RequestBody } from './request-body.js';
import type { RequestRecorder } from './request-recorder.js';
import type { SocketRefusals } from './socket-refusals.js';

interface RequestHooks {
  readonly refusals: SocketRefusals;
  readonly recorder: RequestRecorder;
  /** Whether each response must close its connection. */
  readonly isEnding: () => boolean;
}

/** The hooks that run for every request before its guards, and for every response. */
export function addRequestHooks(fastify: FastifyInstance, { refusals, recorder, isEnding }: RequestHooks): void {
  fastify.decorateRequest('received', undefined);
  fastify.addHook('onRequest', (request, reply, done) => {
    refusals.onRequest(request, reply);
    if (hasBody(request.raw)) request.received = new RequestBody(request.raw);
    // Set first, so that errors have them too.
    reply.headers({ 'content-type': JSON_TYPE, 'x-request-id': request.id });
    const { operation } = request.routeOptions.config;
    if (operation?.stability !== undefined) reply.header('x-stability', operation.stability);
    // No upgrade is supported. Node drops the bytes after such a request, so the connection is closed.
    if (/\bupgrade\b/i.test(request.headers.connection ?? '')) reply.header('connection', 'close');
    done(checkFraming(request));
  });
  fastify.addHook('onSend', (request, reply, payload, done) => {
    recorder.record(request);
    if (isEnding()) reply.header('connection', 'close');
    const refusal = request.received?.refusal;
    if (refusal === undefined) {
      // The onRequest hook has set it for responses with a body.
      if (reply.statusCode === 204) reply.removeHeader('content-type');
      done(null, payload);
      return;
    }
    // The body isn't valid HTTP, so this error replaces the operation's response.
    const error = errorBody(refusal.code, refusal.message);
    reply.code(error.status).header('connection', 'close').removeHeader('etag');
    done(null, JSON.stringify(error));
  });
}
