import type { AccountId } from '@adoption-store/domain';
import { othersToArrive } from '../kernel/arrivals.js';
import type { AccountTurns, Owner } from './account-turns.js';

/** Milliseconds. Requests don't wait for a read that takes longer, so that none waits for two slow reads. */
const LONGEST_WAIT = 250;

/** With so many callers, a read begins without waiting for more. */
const MOST_CALLERS = 256;

/** What is read, and where the read waits for its turn. */
export interface Wanted<Value> {
  /** Identifies what is read. */
  readonly key: string;
  readonly read: () => Promise<Value>;
  readonly turns: AccountTurns;
  readonly weight?: number;
}

interface Reading<Value> {
  readonly value: Promise<Value>;
  /** Time of `performance.now()`. */
  readonly since: number;
}

/** What the requests of one account wait for. */
interface Waiter<Value> {
  readonly owner: Owner;
  readonly value: Promise<Value>;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: unknown) => void;
  /** Ends the wait for a turn. */
  leave: () => void;
}

/** A read that hasn't begun. */
interface Next<Value> {
  readonly wanted: Wanted<Value>;
  readonly waiters: Map<AccountId, Waiter<Value>>;
  callers: number;
  /** Whether it waits for a turn, in the line of each of its accounts. */
  isInLine: boolean;
}

/**
 * Requests for the same thing share one read and its result. A request only joins a read that hasn't begun, so no
 * answer is older than its request. A shared read waits in the line of every account that wants it, and begins with the
 * first turn.
 */
export class SharedReads<Value> {
  private readonly current = new Map<string, Reading<Value>>();
  private readonly next = new Map<string, Next<Value>>();

  of(owner: Owner, wanted: Wanted<Value>): Promise<Value> {
    const { key } = wanted;
    const known = this.next.get(key);
    if (known !== undefined) return this.join(known, owner);
    const current = this.current.get(key);
    const isSlow = current !== undefined && performance.now() > current.since + LONGEST_WAIT;
    if (current === undefined || isSlow) {
      const value = wanted.turns.tryRun(owner, () => this.begin(wanted), wanted.weight);
      if (value !== undefined) return value;
    }
    const next: Next<Value> = { wanted, waiters: new Map(), callers: 0, isInLine: false };
    this.next.set(key, next);
    const value = this.join(next, owner);
    if (current === undefined || isSlow) this.enterLines(next);
    else void this.follow(next, current.value);
    return value;
  }

  private join(next: Next<Value>, owner: Owner): Promise<Value> {
    next.callers += 1;
    let waiter = next.waiters.get(owner.id);
    if (waiter === undefined) {
      waiter = newWaiter(owner);
      next.waiters.set(owner.id, waiter);
      if (next.isInLine) this.enterLine(next, waiter);
    }
    return waiter.value;
  }

  private async follow(next: Next<Value>, current: Promise<Value>): Promise<void> {
    try {
      await current;
    } catch (error) {
      // The database is probably unavailable.
      this.next.delete(next.wanted.key);
      for (const { reject } of next.waiters.values()) reject(error);
      return;
    }
    await othersToArrive(() => next.callers, MOST_CALLERS);
    this.enterLines(next);
  }

  private enterLines(next: Next<Value>): void {
    next.isInLine = true;
    for (const waiter of next.waiters.values()) {
      this.enterLine(next, waiter);
      if (this.next.get(next.wanted.key) !== next) return;
    }
  }

  private enterLine(next: Next<Value>, waiter: Waiter<Value>): void {
    const { turns, weight } = next.wanted;
    const begin = () => this.beginNext(next);
    if (turns.tryRun(waiter.owner, begin, weight) !== undefined) return;
    const refuse = (error: Error) => {
      this.refuse(next, waiter, error);
    };
    waiter.leave = turns.wait(waiter.owner, begin, refuse, weight);
  }

  /** One account's wait was too long. Those of the others go on. */
  private refuse(next: Next<Value>, { owner, reject }: Waiter<Value>, error: Error): void {
    const { wanted, waiters } = next;
    reject(error);
    waiters.delete(owner.id);
    if (waiters.size === 0 && this.next.get(wanted.key) === next) this.next.delete(wanted.key);
  }

  private beginNext({ wanted, waiters }: Next<Value>): Promise<Value> {
    this.next.delete(wanted.key);
    for (const { leave } of waiters.values()) leave();
    const value = this.begin(wanted);
    value.then(
      (shared) => {
        for (const { resolve } of waiters.values()) resolve(shared);
      },
      (error: unknown) => {
        for (const { reject } of waiters.values()) reject(error);
      },
    );
    return value;
  }

  private begin({ key, read }: Wanted<Value>): Promise<Value> {
    const reading = { value: read(), since: performance.now() };
    this.current.set(key, reading);
    const forget = () => {
      if (this.current.get(key) === reading) this.current.delete(key);
    };
    reading.value.then(forget, forget);
    return reading.value;
  }
}

function newWaiter<Value>(owner: Owner): Waiter<Value> {
  let resolve: Waiter<Value>['resolve'] = () => undefined;
  let reject: Waiter<Value>['reject'] = () => undefined;
  const value = new Promise<Value>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  return { owner, value, resolve, reject, leave: () => undefined };
}
