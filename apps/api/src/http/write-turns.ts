import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { AccountTurns } from './account-turns.js';

/** Connections that writes leave to reads, to the look-up of keys, and to additions of animals, which share one. */
const LEFT = 3;
/** Milliseconds. With the time limit of the database work behind it, every request is answered within 3 s. */
const LONGEST_WAIT = 1_500;

/** The turns of requests that change something. Each is taken before the request takes a connection to the database. */
export class WriteTurns {
  private readonly turns: AccountTurns;
  /** A request that waits for somebody else's server must hold no turn of other accounts. */
  private readonly slowTurns = new AccountTurns({ total: Infinity, perAccount: 1, longestWait: LONGEST_WAIT });

  /** @param connections of the pool. Of a pool of up to four, writes have one at a time. */
  constructor(connections: number) {
    const total = Math.max(1, connections - LEFT);
    // One account leaves a turn to the others.
    const perAccount = Math.max(1, total - 1);
    this.turns = new AccountTurns({ total, perAccount, longestWait: LONGEST_WAIT });
  }

  /** @throws TooManyAtOnce if the work would wait too long. Then it never runs. */
  run<Result>({ caller, operation }: FastifyRequest, work: () => Promise<Result>): Promise<Result> {
    const turns = operation?.turns === 'slow' ? this.slowTurns : this.turns;
    return turns.run(caller.account.id, work);
  }
}

/** Runs a handler when its account has a turn. */
@Injectable()
export class TakesTurn implements NestInterceptor {
  constructor(private readonly turns: WriteTurns) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    return from(this.turns.run(request, () => lastValueFrom(next.handle())));
  }
}
