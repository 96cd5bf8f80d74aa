import { type Instant, later, startOf } from '@adoption-store/domain';

/**
 * A map that forgets: what hasn't been set for a whole window goes when the window after it ends. Two generations change
 * places for that, so that no entry is ever looked for, and a clock that lags by less than a window loses nothing.
 */
export class ExpiringMap<Key, Value> {
  private current = new Map<Key, Value>();
  private previous = new Map<Key, Value>();
  private endsAt = 0;

  /**
   * @param length of a window, in milliseconds.
   * @param isNeeded whether a value must stay even so; asked of each of the old ones once a window.
   */
  constructor(
    private readonly length: number,
    private readonly isNeeded?: (value: Value, now: Instant) => boolean,
  ) {}

  get size(): number {
    return this.current.size + this.previous.size;
  }

  get(key: Key): Value | undefined {
    // A key is hashed also to be looked for where there is nothing.
    if (this.size === 0) return undefined;
    return this.current.get(key) ?? this.previous.get(key);
  }

  set(key: Key, value: Value, now: Instant): void {
    this.turnInTime(now);
    this.current.set(key, value);
  }

  /** The value, or what `make` gives; it stays as if it had been set. */
  getOrSet(key: Key, make: (key: Key) => Value, now: Instant): Value {
    this.turnInTime(now);
    const known = this.current.get(key);
    if (known !== undefined) return known;
    const value = this.previous.get(key) ?? make(key);
    this.current.set(key, value);
    return value;
  }

  private turnInTime(now: Instant): void {
    // Also where the clock was far ahead and has been set right, or nothing would be forgotten until then.
    if (now >= this.endsAt || now < this.endsAt - 2 * this.length) this.turn(now);
  }

  private turn(now: Instant): void {
    if (this.isNeeded !== undefined) {
      for (const [key, value] of this.previous) {
        if (!this.current.has(key) && this.isNeeded(value, now)) this.current.set(key, value);
      }
    }
    this.previous = this.current;
    this.current = new Map();
    this.endsAt = later(startOf(this.length, now), this.length);
  }
}
