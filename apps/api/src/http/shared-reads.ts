/** Milliseconds. A read that takes longer isn't waited for, so that no request waits for two slow ones. */
const LONGEST_WAIT = 250;

interface Reading<Value> {
  readonly value: Promise<Value>;
  /** Time of `performance.now()`. */
  readonly since: number;
}

/**
 * Requests for the same thing share one read, and what is made of it. A request joins only a read that hasn't begun, so
 * no answer is older than its request.
 */
export class SharedReads<Value> {
  private readonly current = new Map<string, Reading<Value>>();
  private readonly next = new Map<string, Promise<Value>>();

  /** @param key says exactly what is read. */
  async of(key: string, read: () => Promise<Value>): Promise<Value> {
    const next = this.next.get(key);
    if (next !== undefined) return next;
    const current = this.current.get(key);
    if (current === undefined || performance.now() > current.since + LONGEST_WAIT) return this.begin(key, read);
    const begin = () => {
      this.next.delete(key);
      return this.begin(key, read);
    };
    // If the database is gone, it is gone for those who wait too.
    const following = current.value.then(begin, (error: unknown) => {
      this.next.delete(key);
      throw error;
    });
    this.next.set(key, following);
    return following;
  }

  private begin(key: string, read: () => Promise<Value>): Promise<Value> {
    const reading = { value: read(), since: performance.now() };
    this.current.set(key, reading);
    const end = () => {
      if (this.current.get(key) === reading) this.current.delete(key);
    };
    reading.value.then(end, end);
    return reading.value;
  }
}
