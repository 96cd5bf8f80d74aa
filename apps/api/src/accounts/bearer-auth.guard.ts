import { Admission } from '@adoption-store/admission';
import type { Caller } from '@adoption-store/domain';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the guard, so it is always there in a handler. */
    caller: Caller;
  }
}

/** Requires a valid key for every route, including unknown ones. */
@Injectable()
export class BearerAuthGuard implements CanActivate {
  constructor(private readonly admission: Admission) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const caller = this.admission.authenticate({
      authorization: request.headers.authorization,
      isRepeated: request.repeated?.includes('authorization') === true,
    });
    if (caller instanceof Promise) {
      return caller.then((found) => {
        request.caller = found;
        return true;
      });
    }
    request.caller = caller;
    return true;
  }
}
