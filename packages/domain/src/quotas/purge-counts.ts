import type { Clock } from '../kernel/clock.js';
import type { RequestCounter } from './request-counter.js';

/** Clears away the counts and bans that have run out. */
export class PurgeCounts {
  constructor(
    private readonly requests: RequestCounter,
    private readonly clock: Clock,
  ) {}

  /** How many were cleared away. */
  async execute(): Promise<number> {
    return this.requests.purge(this.clock.now());
  }
}
