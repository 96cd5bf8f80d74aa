import { requireScope } from '@adoption-store/domain';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { operationOf } from '../http/operation.js';
import { UnknownRoutesController } from '../http/unknown-routes.controller.js';

/** Requires the scope of the operation, of the key and of its account. A request that has it uses the operation. */
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
