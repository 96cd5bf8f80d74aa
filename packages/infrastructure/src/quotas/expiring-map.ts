import { type Instant, later, startOf } from '@adoption-store/domain';

/**
 * A map that forgets an entry that hasn't been set for one to two windows. It holds two generations, so that forgetting
 * costs nothing per entry, and a clock that lags by less than a window loses nothing.
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
    // The second condition: the clock was far ahead and has been corrected.
    if (now >= this.endsAt || now < this.endsAt - 2 * this.length) {
      this.previous = this.current;
      this.current = new Map();
      this.endsAt = later(startOf(this.length, now), this.length);
    }
    this.current.set(key, value);
  }
}
