import { Turns } from '@adoption-store/infrastructure/turns';
import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { CallsServers } from './decorators.js';

/**
 * Runs the handler of a signed-in person's request when it is the account's turn: so one account's pages and forms don't
 * delay another's. A visitor without an account waits in no line; what such forms do is limited by their address.
 */
@Injectable()
export class TurnInterceptor implements NestInterceptor {
  constructor(
    private readonly turns: Turns,
    private readonly reflector: Reflector,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { person, method } = context.switchToHttp().getRequest<FastifyRequest>();
    if (person === undefined) return next.handle();
    const { reads, writes, slowWrites } = this.turns;
    const isSlow = this.reflector.get(CallsServers, context.getHandler());
    const changes = isSlow ? slowWrites : writes;
    const turns = method === 'POST' ? changes : reads;
    return from(turns.run(person.account, () => lastValueFrom(next.handle())));
  }
}
