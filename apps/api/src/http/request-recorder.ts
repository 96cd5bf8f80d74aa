import type { KeyRequester, RecordRequest, Refusal, Verdict } from '@adoption-store/domain';
import type { FastifyRequest } from 'fastify';
import { type ErrorCode, errorStatuses } from './error-codes.js';
import { shownRoute } from './observers.js';
import { loggedId } from './request-id.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The owner of the request's key, if the key is expired, revoked or disabled. */
    unusableKey?: KeyRequester;
    /** The verdict of the caller's limits, once they were checked. */
    verdict?: Verdict;
    /** The code of the error response. */
    errorCode?: ErrorCode;
  }
}

/** Records each request of a known account when it is answered: the use of its key, its outcome and its refusal. */
export class RequestRecorder {
  constructor(private readonly recordRequest: RecordRequest) {}

  record(request: FastifyRequest): void {
    // Undefined if the request wasn't authenticated.
    const caller = request.caller as KeyRequester | undefined;
    const owner = caller ?? request.unusableKey;
    if (owner === undefined) return;
    const { verdict, operation } = request;
    this.recordRequest.execute(owner, {
      isUse: caller !== undefined,
      verdict,
      operation: operation?.route,
      refusal: this.refusalOf(request),
    });
  }

  /** An error of the server is no refusal: operators see it in the log. */
  private refusalOf(request: FastifyRequest): Refusal | undefined {
    const code = request.received?.refusal?.code ?? request.errorCode;
    if (code === undefined || errorStatuses[code] >= 500) return undefined;
    const operation = `${request.method} ${shownRoute(request.routeOptions.url ?? '*')}`;
    return { operation, code, requestId: loggedId(request.id) };
  }
}
