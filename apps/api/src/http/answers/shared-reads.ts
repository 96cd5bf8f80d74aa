import { othersToArrive } from '@adoption-store/domain';

/** Milliseconds. Requests don't wait for a read that takes longer, so that none waits for two slow reads. */
const LONGEST_WAIT = 250;

/** With so many callers, a read begins without waiting for more. */
const MOST_CALLERS = 256;

interface Reading<Value> {
  readonly value: Promise<Value>;
  /** Time of `performance.now()`. */
  readonly since: number;
}

/** A read that hasn't begun. */
interface Next<Value> {
  readonly value: Promise<Value>;
  callers: number;
}

/**
 * Requests for the same thing share one read and its result. A request only joins a read that hasn't begun, so no
 * answer is older than its request.
 */
export class SharedReads<Value> {
  private readonly current = new Map<string, Reading<Value>>();
  private readonly next = new Map<string, Next<Value>>();

  /** @param key identifies what is read. */
  of(key: string, read: () => Promise<Value>): Promise<Value> {
    const next = this.next.get(key);
    if (next !== undefined) {
      next.callers += 1;
      return next.value;
    }
    const current = this.current.get(key);
    if (current === undefined || performance.now() > current.since + LONGEST_WAIT) return this.begin(key, read);
    const following = this.follow(key, current.value, read);
    this.next.set(key, { value: following, callers: 1 });
    return following;
  }

  private async follow(key: string, current: Promise<Value>, read: () => Promise<Value>): Promise<Value> {
    try {
      // If the current read fails, those who wait fail, too: the database is probably unavailable.
      await current;
      await othersToArrive(
        () => this.next.get(key)?.callers ?? 0,
        MOST_CALLERS,
        () => new Promise(setImmediate),
      );
    } finally {
      this.next.delete(key);
    }
    return this.begin(key, read);
  }

  private begin(key: string, read: () => Promise<Value>): Promise<Value> {
    const reading = { value: read(), since: performance.now() };
    this.current.set(key, reading);
    const forget = () => {
      if (this.current.get(key) === reading) this.current.delete(key);
    };
    reading.value.then(forget, forget);
    return reading.value;
  }
}
