import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { UnknownRoutesController } from './unknown-routes.controller.js';
import { requireMediaType } from './json-body.decorator.js';
import { requireNoQuery } from './valid-query.decorator.js';

/** Refuses what can be judged before the body is read: its media type, then parameters of an operation without any. */
@Injectable()
export class RequestFormGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (context.getClass() === UnknownRoutesController) return true;
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    requireMediaType(context.getHandler(), request.raw);
    requireNoQuery(context.getHandler(), request);
    return true;
  }
}
