import { Admission, refusalHeaders } from '@adoption-store/admission';
import { InsufficientScope, PreconditionFailed, UnusableKey } from '@adoption-store/domain';
import { stackOf } from '@adoption-store/web';
import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiContext } from '../answers/api-context.js';
import {
  errorBody,
  type ErrorCode,
  errorStatuses,
  HttpError,
  INTERNAL_ERROR,
  isRefusal,
  JSON_TYPE,
} from '../answers/error-codes.js';
import { loggedId } from './request-id.js';
import { traceOf } from './traces.js';

/** Errors that soon end by themselves, besides those of admission. */
const PASSING: readonly string[] = ['idempotency_key_in_use', 'too_many_at_once'] satisfies ErrorCode[];

@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(
    private readonly admission: Admission,
    private readonly context: ApiContext,
  ) {}

  async catch(thrown: unknown, host: ArgumentsHost): Promise<void> {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    if (thrown instanceof UnusableKey) request.unusableKey = thrown.owner;
    const error = reply.hasHeader('ratelimit') ? thrown : await this.judgeAddress(thrown, request, reply);
    const body = isRefusal(error) ? errorBody(error.code, this.messageOf(error)) : INTERNAL_ERROR;
    request.errorCode = body.code;
    request.keptReason = isRefusal(error) ? error.kept : undefined;
    if (body.status >= 500) this.logDefect(request, body.code, error);
    if (error instanceof HttpError) reply.headers(error.headers);
    reply.headers(refusalHeaders(error, request.headers.authorization !== undefined));
    if (error instanceof PreconditionFailed && error.version !== undefined) reply.header('etag', error.version);
    if (PASSING.includes(body.code)) reply.header('retry-after', '1');
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
      const { headers, refusal } = await (isCounted ? this.admission.countAddress(ip) : this.admission.peekAddress(ip));
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
