import { Admission } from '@adoption-store/admission';
import { ourText } from '@adoption-store/domain';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiContext } from '../http/answers/api-context.js';
import { requireWellFormedConditions } from '../http/operations/conditions.js';
import { HttpError } from '../http/answers/error-codes.js';
import { requireMediaType } from '../http/operations/json-body.decorator.js';
import { refuseRepeatedHeaders } from '../http/edge/repeated-headers.js';
import { UnknownRoutesController } from '../http/edge/unknown-routes.controller.js';
import { refuseQuery } from '../http/operations/valid-query.decorator.js';

/**
 * Checks that the key and its account have the operation's scopes. From then on the request counts as a use of the
 * operation. Then makes the checks that need no body: headers sent twice, the media type, malformed conditions, an
 * `Idempotency-Key` where none is supported, parameters of an operation without any, and an operation that was removed.
 */
@Injectable()
export class ScopesGuard implements CanActivate {
  constructor(
    private readonly admission: Admission,
    private readonly context: ApiContext,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    if (context.getClass() === UnknownRoutesController) return true;
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const { operation } = request.route;
    if (operation === undefined)
      throw new Error('the handler defines no operation, so nobody has decided who may use it');
    this.admission.requireScopes(request.caller, operation.scopes);
    request.operation = operation;
    if (request.repeated !== undefined) refuseRepeatedHeaders(request.repeated);
    if (operation.body !== undefined) requireMediaType(operation.body.mediaTypes, request.raw);
    const { headers } = request;
    const hasCondition = headers['if-match'] !== undefined || headers['if-none-match'] !== undefined;
    if (hasCondition && operation.isConditional) requireWellFormedConditions(headers);
    if (operation.idempotencyKey === 'refused' && headers['idempotency-key'] !== undefined) refuseIdempotencyKey();
    if (operation.query === undefined && request.url.includes('?')) refuseQuery(request.url);
    operation.notice?.give(this.context, request, http.getResponse<FastifyReply>());
    return true;
  }
}

function refuseIdempotencyKey(): never {
  const reason = 'its response has a secret, and a response with a secret is not stored';
  throw new HttpError('invalid_parameter', ourText(`Idempotency-Key is refused by this operation: ${reason}`));
}
