import { type Instant, later, startOf } from '@adoption-store/domain';

/**
 * A map that drops an entry one to two windows after it was last set. It has two generations, and drops the older one
 * as a whole, which costs nothing per entry. If the clock is set back by less than a window, no entry is lost.
 */
export class ExpiringMap<Key, Value> {
  private current = new Map<Key, Value>();
  private previous = new Map<Key, Value>();
  private endsAt = 0;

  /** @param length of a window, in milliseconds. */
  constructor(private readonly length: number) {}

  get size(): number {
    return this.current.size + this.previous.size;
  }

  get(key: Key): Value | undefined {
    return this.current.get(key) ?? this.previous.get(key);
  }

  set(key: Key, value: Value, now: Instant): void {
    // The second condition holds if the clock was far ahead and has been corrected.
    if (now >= this.endsAt || now < this.endsAt - 2 * this.length) {
      this.previous = this.current;
      this.current = new Map();
      this.endsAt = later(startOf(this.length, now), this.length);
    }
    this.current.set(key, value);
  }
}
