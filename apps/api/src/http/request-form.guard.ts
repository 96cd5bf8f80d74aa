import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiContext } from './api-context.js';
import { requireMediaType } from './json-body.decorator.js';
import { requireNoQuery } from './valid-query.decorator.js';

/**
 * Refuses what can be refused before the body is read. In this order: a wrong media type, a query that the operation
 * doesn't have, a removed operation.
 */
@Injectable()
export class RequestFormGuard implements CanActivate {
  constructor(private readonly context: ApiContext) {}

  canActivate(context: ExecutionContext): boolean {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const { operation } = request;
    // An unknown route.
    if (operation === undefined) return true;
    requireMediaType(operation, request.raw);
    requireNoQuery(operation, request);
    operation.notice?.give(this.context, request, http.getResponse<FastifyReply>());
    return true;
  }
}
