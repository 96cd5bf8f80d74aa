import type { CountedRequest, Instant, RequestCounter, Verdict } from '@adoption-store/domain';
import type { InProcessRequestCounter } from './in-process-request-counter.js';
import type { RedisRequestCounter } from './redis-request-counter.js';

/** Milliseconds from one attempt to come back to the next. */
const PROBE_INTERVAL = 100;

/**
 * Decides in this process while Redis is lost. Only the requests that are under way when it is lost wait for it; from
 * then on it is asked aside, and used again when it answers.
 */
export class FallbackRequestCounter implements RequestCounter {
  /** Requests that were decided in this process. */
  fallbacks = 0;
  /** Whether instances count together just now. */
  isShared = true;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly shared: RedisRequestCounter,
    private readonly local: InProcessRequestCounter,
    private readonly onEvent: (message: string) => void,
  ) {
    if (!shared.isReady) this.lose(new Error('not connected'));
  }

  async count(request: CountedRequest): Promise<Verdict> {
    if (!this.isUsable()) return this.countHere(request);
    const refusal = this.local.refusalOf(request);
    if (refusal !== undefined) return refusal;
    try {
      const decision = await this.shared.decide(request);
      // Should Redis be lost, this process goes on from there: nobody's day starts anew.
      if (this.isShared) this.local.remember(request, decision);
      return decision.verdict;
    } catch (error) {
      this.lose(error);
      return this.countHere(request);
    }
  }

  async look(request: CountedRequest): Promise<Verdict> {
    if (!this.isUsable()) return this.local.look(request);
    try {
      return await this.shared.look(request);
    } catch (error) {
      this.lose(error);
      return this.local.look(request);
    }
  }

  /** Deletes old rows of the local counter. Redis expires its own entries. */
  async purge(now: Instant): Promise<number> {
    return this.local.purge(now);
  }

  close(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.shared.close();
  }

  private countHere(request: CountedRequest): Promise<Verdict> {
    this.fallbacks += 1;
    return this.local.count(request);
  }

  private isUsable(): boolean {
    if (this.isShared && !this.shared.isReady) this.lose(new Error('the connection is gone'));
    return this.isShared;
  }

  private lose(error: unknown): void {
    if (!this.isShared) return;
    this.isShared = false;
    const reason = error instanceof Error ? error.message : String(error);
    this.onEvent(`Redis is lost (${reason}); this process counts requests by itself until Redis is back.`);
    this.timer = setTimeout(() => void this.tryAgain(), PROBE_INTERVAL).unref();
  }

  private async tryAgain(): Promise<void> {
    try {
      await this.shared.probe();
    } catch {
      this.timer?.refresh();
      return;
    }
    if (this.timer === undefined) return;
    this.isShared = true;
    this.onEvent('Redis is back; requests are counted there again.');
  }
}
