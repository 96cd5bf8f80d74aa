import { type Clock, type Instant, instant, later } from '../kernel/clock.js';

/** A clock that stands still until it is set. */
export class ManualClock implements Clock {
  constructor(private time: Instant = instant(Date.UTC(2026, 0, 1))) {}

  now(): Instant {
    return this.time;
  }

  set(time: Instant): void {
    this.time = time;
  }

  advance(milliseconds: number): void {
    this.time = later(this.time, milliseconds);
  }
}
