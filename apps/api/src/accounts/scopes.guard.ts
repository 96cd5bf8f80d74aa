import { requireScope } from '@adoption-store/domain';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { operationOf } from '../http/operation.js';
import { UnknownRoutesController } from '../http/unknown-routes.controller.js';

/** Requires that the key and its account have the operation's scope. Then it sets `request.operation`. */
@Injectable()
export class ScopesGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (context.getClass() === UnknownRoutesController) return true;
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const operation = operationOf(context.getHandler());
    if (operation.scope !== 'none') requireScope(request.caller, operation.scope);
    request.operation = operation;
    return true;
  }
}
