import { requireScope } from '@adoption-store/domain';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { NO_ROUTE, shownRoute } from '../http/observers.js';
import type { Handler } from '../http/handler-metadata.js';
import { requiredScope } from '../http/required-scope.js';

/** Requires the scope of the operation, of the key and of its account. A request that has it uses the operation. */
@Injectable()
export class ScopesGuard implements CanActivate {
  /** The operation of each handler; undefined for unknown routes. Fastify makes a new object of a route each time it is asked. */
  private readonly operations = new Map<Handler, string | undefined>();

  canActivate(context: ExecutionContext): boolean {
    const handler = context.getHandler();
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const scope = requiredScope(handler);
    if (scope !== 'none') requireScope(request.caller, scope);
    request.operation = this.operationOf(handler, request);
    return true;
  }

  private operationOf(handler: Handler, request: FastifyRequest): string | undefined {
    if (this.operations.has(handler)) return this.operations.get(handler);
    const route = shownRoute(request.routeOptions.url ?? '*');
    // HEAD is answered by the handler of GET.
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const operation = route === NO_ROUTE ? undefined : `${method} ${route}`;
    this.operations.set(handler, operation);
    return operation;
  }
}
