import { Turns } from '@adoption-store/infrastructure/turns';
import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { from, lastValueFrom, type Observable } from 'rxjs';

/** Runs the handler of a change when it is its account's turn. */
@Injectable()
export class WriteTurnInterceptor implements NestInterceptor {
  constructor(private readonly turns: Turns) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return from(this.run(context.switchToHttp().getRequest<FastifyRequest>(), next));
  }

  private async run({ caller, operation, received }: FastifyRequest, next: CallHandler): Promise<unknown> {
    // The client may take seconds to send its body. Meanwhile the request has no turn.
    await received?.whole;
    const turns = operation?.turns === 'slow' ? this.turns.slowWrites : this.turns.writes;
    return turns.run(caller.account, () => lastValueFrom(next.handle()));
  }
}
