import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { AccountTurns } from './account-turns.js';

/** Connections that writes leave free: for reads, for the look-up of keys, and one for batched additions of animals. */
const LEFT = 3;
/** Milliseconds. Together with the time limit of the database work, every request is answered within 3 s. */
const LONGEST_WAIT = 1_500;

/**
 * Limits how many changing requests run at a time. A request waits here before it takes a connection to the database.
 */
export class WriteTurns {
  private readonly turns: AccountTurns;
  /**
   * For requests that call foreign servers: one per account, without a common limit, so that accounts never share a
   * wait.
   */
  private readonly slowTurns = new AccountTurns({ total: Infinity, perAccount: 1, longestWait: LONGEST_WAIT });

  /** @param connections of the pool. With up to four, one write runs at a time. */
  constructor(connections: number) {
    const total = Math.max(1, connections - LEFT);
    // One account can't use all turns.
    const perAccount = Math.max(1, total - 1);
    this.turns = new AccountTurns({ total, perAccount, longestWait: LONGEST_WAIT });
  }

  /** @throws TooManyAtOnce if the work would wait too long. Then it isn't run. */
  run<Result>({ caller, operation }: FastifyRequest, work: () => Promise<Result>): Promise<Result> {
    const turns = operation?.turns === 'slow' ? this.slowTurns : this.turns;
    return turns.run(caller.account.id, work);
  }
}

/** Runs a handler when it is its account's turn. */
@Injectable()
export class WriteTurnInterceptor implements NestInterceptor {
  constructor(private readonly turns: WriteTurns) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    return from(this.turns.run(request, () => lastValueFrom(next.handle())));
  }
}
