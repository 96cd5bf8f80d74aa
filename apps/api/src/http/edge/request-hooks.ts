import { METHODS } from 'node:http';
import type { Admission } from '@adoption-store/admission';
import { type KeyRequester, PreconditionFailed, type Verdict } from '@adoption-store/domain';
import { framingFault, repeatedHeaders, type SocketFaults } from '@adoption-store/web/edge';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { entityTag, failedCondition } from '../operations/conditions.js';
import type { Cors } from './cors.js';
import { httpErrorOf, errorBody, type ErrorCode, errorStatuses, JSON_TYPE } from '../answers/error-codes.js';
import { type Observe, NO_ROUTE, type RequestObserver, shownRoute } from './observers.js';
import type { DefinedOperation } from '../operations/operation.js';
import { RequestBody } from '../operations/request-body.js';
import { ONCE } from './repeated-headers.js';
import { loggedId } from './request-id.js';
import { answerAtLast } from './last-resort.js';

/** What is known of a route when it is registered. */
interface KnownRoute {
  readonly url: string;
  /** As the documentation writes it. */
  readonly shown: string;
  /** Undefined for pages outside the API and for unknown routes. */
  readonly operation: DefinedOperation | undefined;
  /** Reports a request to the observers. */
  readonly observe: Observe;
}

declare module 'fastify' {
  interface FastifyRequest {
    route: KnownRoute;
    /** The owner of the request's key, if the key is expired, revoked or disabled. */
    unusableKey?: KeyRequester;
    /** The verdict of the caller's limits, once they were checked. */
    verdict?: Verdict;
    /** The code of the error response. */
    errorCode?: ErrorCode;
    /** The part of the error's message that may be kept. */
    keptReason?: string | undefined;
    /** Time of `performance.now()`. */
    startedAt: number;
    /** The status of the first response that was to be sent. */
    firstStatus: number | undefined;
  }
  interface FastifyContextConfig {
    route?: KnownRoute;
  }
}

interface RequestHooks {
  /** Undefined if no other origin may call the API. */
  readonly cors: Cors | undefined;
  readonly faults: SocketFaults;
  readonly admission: Admission;
  readonly observers: readonly RequestObserver[];
  /** The log for defects. */
  readonly logger: FastifyBaseLogger;
  /** Once it is aborted, each response closes its connection. */
  readonly stopping: AbortSignal | undefined;
}

/** The status for logs and metrics of a request whose client disconnected, as in nginx. */
const ABANDONED = 499;

/** The hooks that run for every request before its guards, and for every response. */
export function addRequestHooks(
  fastify: FastifyInstance,
  { cors, faults, admission, observers, logger, stopping }: RequestHooks,
): void {
  fastify.decorateRequest('received', undefined);
  fastify.decorateRequest('repeated', undefined);
  fastify.decorateRequest('startedAt', 0);
  fastify.decorateRequest('firstStatus', undefined);
  // A request that the router itself refuses has no route.
  const unknown = knownRoute(NO_ROUTE, observers);
  fastify.addHook('onRoute', (options) => {
    options.config = { ...options.config, route: knownRoute(options.url, observers, options.config?.operation) };
  });
  fastify.addHook('onRequest', (request, reply, done) => {
    request.startedAt = performance.now();
    const { route = unknown } = request.routeOptions.config;
    request.route = route;
    faults.onRequest(request);
    const refusal = receive(request, reply);
    const { origin } = request.headers;
    // Most callers aren't web pages of other origins. Their responses need no headers that only browsers read.
    if (cors === undefined || (origin === undefined && cors.isForAll)) done(refusal);
    else cors.onRequest(request, reply, refusal, done);
  });
  fastify.addHook('onSend', (request, reply, payload: unknown, done) => {
    // The first response could not be sent: a later hook has failed, or a header isn't valid.
    if (request.firstStatus !== undefined) {
      logger.error({ request_id: loggedId(request.id), route: request.route.shown }, 'the response could not be sent');
      answerAtLast(reply, request.firstStatus);
      request.errorCode = 'internal_error';
      report(request, reply.raw.statusCode);
      return;
    }
    const sent = payloadToSend(request, reply, payload);
    request.firstStatus = reply.statusCode;
    record(request, admission);
    if (stopping?.aborted === true) reply.header('connection', 'close');
    report(request, request.socket.destroyed ? ABANDONED : reply.statusCode);
    done(null, sent);
  });
}

function knownRoute(url: string, observers: readonly RequestObserver[], operation?: DefinedOperation): KnownRoute {
  const shown = shownRoute(url);
  const each = observers.map((observer) => observer.forRoute(shown));
  const observe: Observe = (request, status, milliseconds) => {
    for (const one of each) one(request, status, milliseconds);
  };
  return { url, shown, operation, observe };
}

/**
 * Notes what the headers say of the body, and sets the headers of every response.
 *
 * @returns the refusal of a request that breaks a rule of HTTP.
 */
function receive(request: FastifyRequest, reply: FastifyReply) {
  const { raw, headers, route } = request;
  const { connection, 'content-length': length, 'transfer-encoding': coding } = headers;
  // RFC 9112 §6: a request has a body if it has one of these headers.
  const hasBody = coding !== undefined || (length !== undefined && length !== '0');
  if (hasBody) request.received = new RequestBody(raw);
  // `headers` has each name once. `rawHeaders` has a name and a value for each line.
  const lines = raw.rawHeaders.length / 2;
  const names = Object.keys(headers).length;
  if (lines > names) request.repeated = repeatedHeaders(raw.rawHeaders, ONCE);
  // Set first, so that errors have them too.
  reply.header('content-type', JSON_TYPE).header('x-request-id', request.id);
  if (route.operation?.stability !== undefined) reply.header('x-stability', route.operation.stability);
  // No upgrade is supported. Node drops the bytes after such a request, so the connection is closed.
  if (connection !== undefined && /\bupgrade\b/i.test(connection)) reply.header('connection', 'close');
  const fault = framingFault(request, request.repeated);
  return fault && httpErrorOf(fault);
}

/** Routes every method that Node can parse, so that the guards also run for unknown ones. CONNECT has no path. */
export function routeEveryMethod(fastify: FastifyInstance): void {
  for (const method of METHODS.filter((each) => each !== 'CONNECT')) {
    // With `hasBody: false` Fastify doesn't read the body. JsonBody reads it after the guards.
    fastify.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  }
}

function report(request: FastifyRequest, status: number): void {
  request.route.observe(request, status, performance.now() - request.startedAt);
}

/** The operation's payload, unless the request's body was invalid or a condition makes the response 304 or 412. */
function payloadToSend(request: FastifyRequest, reply: FastifyReply, payload: unknown): unknown {
  const refusal = request.received?.refusal;
  if (refusal !== undefined) {
    // The body isn't valid HTTP, so this error replaces the operation's response.
    request.errorCode = refusal.code;
    request.keptReason = refusal.kept;
    reply.header('connection', 'close').removeHeader('etag');
    return refused(reply, refusal.code, refusal.message);
  }
  const { statusCode } = reply;
  const { operation } = request.route;
  // The onRequest hook has set it for every response, but this one has no body.
  if (statusCode === 204) reply.removeHeader('content-type');
  if ((statusCode !== 200 && statusCode !== 201) || operation === undefined || operation.hasEntityTag === false) {
    return payload;
  }
  // A page of a list has set its own tag.
  const ownTag = reply.getHeader('etag') as string | undefined;
  const tag = ownTag ?? entityTag(payload as string);
  if (ownTag === undefined) reply.header('etag', tag);
  // The conditions of a change were evaluated by its use case.
  const failed = operation.method === 'GET' ? failedCondition(request.headers, tag) : undefined;
  if (failed === undefined) return payload;
  if (failed === 'If-Match') {
    const error = new PreconditionFailed(failed, tag);
    request.errorCode = 'precondition_failed';
    request.keptReason = error.kept;
    return refused(reply, request.errorCode, error.message);
  }
  // Content-Type stays: removing a header takes longer than sending it, and would make a 304 no faster than a 200.
  reply.code(304);
  // Fastify drops the body of a response to HEAD itself, and needs it for the Content-Length.
  return request.method === 'HEAD' ? payload : null;
}

function refused(reply: FastifyReply, code: ErrorCode, message: string): string {
  const error = errorBody(code, message);
  reply.code(error.status);
  return JSON.stringify(error);
}

/** Records a request of a known account when it is answered. */
function record(request: FastifyRequest, admission: Admission): void {
  const { id, method, route, verdict, unusableKey, operation, errorCode: code, keptReason } = request;
  // Undefined if the request wasn't authenticated.
  const caller = request.caller as KeyRequester | undefined;
  const error =
    code === undefined
      ? undefined
      : {
          status: errorStatuses[code],
          code,
          reason: keptReason,
          operation: `${method} ${route.shown}`,
          requestId: loggedId(id),
        };
  admission.record({ caller, unusableKey, verdict, used: operation?.route, error });
}
