import { AccountTurns } from './account-turns.js';

/** Connections that writes leave free: for reads, and one for batched additions of animals. */
const LEFT = 3;
/** Reads that one connection answers one after the other: its pipeline. */
const PIPELINE = 16;
/** Animals that one statement finds at most. */
const MOST_FOUND = 256;
/** Animals that one account adds with one statement. With more of them POST gets no faster. */
const MOST_ADDED = 128;
/** Animals on the pages that one statement reads at most. */
const MOST_ON_PAGES = 2_000;

/**
 * How much of each kind of work runs at a time. The rest waits in lines, before it takes a connection. Of reads and of
 * what shares statements one account may run a pipeline or a statement, and all together twice as much: so another
 * account's work need not wait for it to end, and is part of the next one.
 */
export class Turns {
  /** Changes. */
  readonly writes: AccountTurns;
  /**
   * Changes that call foreign servers: one per account. Those of many accounts never share that wait. For what they do on
   * the database each also takes a turn of `writes`.
   */
  readonly slowWrites = new AccountTurns({ total: Infinity, perAccount: 1 });
  /** Additions of animals without an `Idempotency-Key`. Those that run share statements. */
  readonly additions = upToTwice(MOST_ADDED);
  /** Reads with a statement of their own. */
  readonly reads = upToTwice(PIPELINE);
  /** Reads of events. They first publish, so they may wait for other writers. */
  readonly events = upToTwice(PIPELINE);
  /** Reads of single animals. Those that run share statements. */
  readonly finds = upToTwice(MOST_FOUND);
  /** Reads of later pages of animals. Those that run share statements. The weight is the size of the page. */
  readonly pages = upToTwice(MOST_ON_PAGES);

  /** @param connections of the pool. With up to four, one write runs at a time. */
  constructor(connections: number) {
    const writes = Math.max(1, connections - LEFT);
    // One account can't use all turns, because its changes may wait for each other's locks.
    this.writes = new AccountTurns({ total: writes, perAccount: Math.max(1, writes - 1) });
  }

  /** The number of requests that wait for their turn. */
  get waitingCount(): number {
    const all = [this.writes, this.slowWrites, this.additions, this.reads, this.events, this.finds, this.pages];
    return all.reduce((sum, { waitingCount }) => sum + waitingCount, 0);
  }
}

function upToTwice(perAccount: number): AccountTurns {
  return new AccountTurns({ total: 2 * perAccount, perAccount });
}
