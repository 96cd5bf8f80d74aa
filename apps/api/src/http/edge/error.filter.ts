import { InsufficientScope, PreconditionFailed } from '@adoption-store/domain';
import { stackOf } from '@adoption-store/web';
import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AddressLimits } from './address-limits.js';
import { ApiContext } from '../answers/api-context.js';
import { errorBody, errorStatuses, HttpRefusal, INTERNAL_ERROR, isRefusal, JSON_TYPE } from '../answers/error-codes.js';
import { loggedId } from './request-id.js';
import { traceOf } from './traces.js';

/** RFC 6750 §3. */
const CHALLENGE = 'Bearer realm="animal-adoption-store"';
const RETRY_AFTER_SECONDS = '1';

/** Turns every error into a response. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(
    private readonly limits: AddressLimits,
    private readonly context: ApiContext,
  ) {}

  async catch(thrown: unknown, host: ArgumentsHost): Promise<void> {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    const error = reply.hasHeader('ratelimit') ? thrown : await this.judgeAddress(thrown, request, reply);
    const body = isRefusal(error) ? errorBody(error.code, this.messageOf(error)) : INTERNAL_ERROR;
    request.errorCode = body.code;
    if (body.status >= 500) this.logDefect(request, body.code, error);
    if (error instanceof HttpRefusal) reply.headers(error.headers);
    if (body.status === 401) {
      const sent = request.headers.authorization !== undefined;
      reply.header('www-authenticate', sent ? `${CHALLENGE}, error="invalid_token"` : CHALLENGE);
    }
    if (error instanceof InsufficientScope) {
      reply.header('www-authenticate', `Bearer error="insufficient_scope", scope="${error.scopes.join(' ')}"`);
    }
    if (error instanceof PreconditionFailed && error.version !== undefined) reply.header('etag', error.version);
    if (body.status === 503 || body.code === 'idempotency_key_in_use') reply.header('retry-after', RETRY_AFTER_SECONDS);
    void reply.code(body.status).type(JSON_TYPE).send(JSON.stringify(body));
  }

  /** Only the operator can give an account a scope. A key with other scopes is made by its account. */
  private messageOf(error: Error): string {
    const { contact } = this.context;
    const needsOperator = error instanceof InsufficientScope && error.holder === 'account' && contact !== undefined;
    return needsOperator ? `${error.message}; contact ${contact}` : error.message;
  }

  /**
   * Counts an error of the client that happened before its key was accepted against its address. If the address is over
   * its limit, the response is 429 instead.
   */
  private async judgeAddress(error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    // Undefined if the request wasn't authenticated.
    const caller = request.caller as typeof request.caller | undefined;
    const isCounted = caller === undefined && isRefusal(error) && errorStatuses[error.code] < 500;
    const { ip } = request;
    try {
      const { headers, refusal } = await (isCounted ? this.limits.count(ip) : this.limits.look(ip));
      reply.headers(headers);
      return isCounted ? (refusal ?? error) : error;
    } catch (failure) {
      // Counting failed. Nest doesn't wait for a filter, so an error thrown here would end the process.
      return isCounted ? this.judgeAddress(failure, request, reply) : failure;
    }
  }

  private logDefect(request: FastifyRequest, code: string, error: unknown): void {
    const { traceId, spanId } = traceOf(request);
    this.context.logger.error(
      {
        request_id: loggedId(request.id),
        trace_id: traceId,
        span_id: spanId,
        route: request.route.shown,
        stack: stackOf(error),
      },
      code,
    );
  }
}
