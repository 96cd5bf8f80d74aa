import { requireScope } from '@adoption-store/domain';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { requiredScope } from './required-scope.js';

/** Requires the scope of the operation, of the key and of its account. */
@Injectable()
export class ScopesGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const scope = requiredScope(context.getHandler());
    if (scope !== 'none') requireScope(context.switchToHttp().getRequest<FastifyRequest>().caller, scope);
    return true;
  }
}
