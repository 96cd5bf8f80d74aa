import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { AccountTurns } from './account-turns.js';

/** Connections that writes leave free: for reads, and one for batched additions of animals. */
const LEFT = 3;
/** Reads that one connection answers one after the other: its pipeline. */
const PIPELINE = 16;
/** Animals that one statement finds or adds at most. */
const MOST_IN_BATCH = 256;
/** Animals on the pages that one statement reads at most. */
const MOST_ON_PAGES = 2_000;

/** How much of each kind of work runs at a time. The rest waits in lines, before it takes a connection. */
export class Turns {
  /** Changes. */
  readonly writes: AccountTurns;
  /**
   * Changes that call foreign servers: one per account, without a common limit, so that accounts never share a wait.
   */
  readonly slowWrites = new AccountTurns({ total: Infinity, perAccount: 1 });
  /** Additions of animals without an `Idempotency-Key`. Those that run share statements. */
  readonly additions = new AccountTurns({ total: MOST_IN_BATCH });
  /** Reads with a statement of their own. */
  readonly reads: AccountTurns;
  /** Reads of events. They first publish, so they may wait for other writers. */
  readonly events: AccountTurns;
  /** Reads of single animals. Those that run share statements. */
  readonly finds = new AccountTurns({ total: MOST_IN_BATCH });
  /** Reads of later pages of animals. Those that run share statements. The weight is the size of the page. */
  readonly pages = new AccountTurns({ total: MOST_ON_PAGES });

  /** @param connections of the pool. With up to four, one write runs at a time. */
  constructor(connections: number) {
    const writes = Math.max(1, connections - LEFT);
    // One account can't use all turns, because its changes may wait for each other's locks.
    this.writes = new AccountTurns({ total: writes, perAccount: Math.max(1, writes - 1) });
    const reads = PIPELINE * Math.max(1, Math.min(2, connections - LEFT));
    this.reads = new AccountTurns({ total: reads });
    this.events = new AccountTurns({ total: reads });
  }

  /** The number of requests that wait for their turn. */
  get waitingCount(): number {
    const all = [this.writes, this.slowWrites, this.additions, this.reads, this.events, this.finds, this.pages];
    return all.reduce((sum, { waitingCount }) => sum + waitingCount, 0);
  }
}

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
