import type { CountedRequest, Decision, Instant, RequestCounter, Verdict } from '@adoption-store/domain';
import type { InProcessRequestCounter } from './in-process-request-counter.js';

/** A counter that instances share, and that can be lost. */
export interface SharedRequestCounter extends Pick<RequestCounter, 'look'> {
  readonly isReady: boolean;
  decide(request: CountedRequest): Promise<Decision>;
  /** Rejects while a request couldn't be counted. */
  probe(): Promise<void>;
}

/** Milliseconds from one attempt to come back to the next. */
const PROBE_INTERVAL = 100;

/**
 * Decides in this process while the shared counter is lost. Only the requests that are under way when it is lost wait
 * for it; from then on it is asked aside, and used again when it answers.
 */
export class FallbackRequestCounter implements RequestCounter {
  private isLost = false;
  private timer: NodeJS.Timeout | undefined;
  private fallbackCount = 0;

  constructor(
    private readonly shared: SharedRequestCounter,
    private readonly local: InProcessRequestCounter,
    private readonly onEvent: (message: string) => void,
  ) {
    if (!shared.isReady) this.lose('not connected');
  }

  /** Whether instances count together just now. */
  get isShared(): boolean {
    return !this.isLost;
  }

  /** Requests that were decided in this process instead. */
  get fallbacks(): number {
    return this.fallbackCount;
  }

  async count(request: CountedRequest): Promise<Verdict> {
    if (!this.isUsable()) return this.countHere(request);
    const refusal = this.local.refusalOf(request);
    if (refusal !== undefined) return refusal;
    try {
      const decision = await this.shared.decide(request);
      // Should the shared counter be lost, this process goes on from there: nobody's day starts anew.
      if (!this.isLost) this.local.remember(request, decision);
      return decision.verdict;
    } catch (error) {
      this.loseBy(error);
      return this.countHere(request);
    }
  }

  async look(request: CountedRequest): Promise<Verdict> {
    if (!this.isUsable()) return this.local.look(request);
    try {
      return await this.shared.look(request);
    } catch (error) {
      this.loseBy(error);
      return this.local.look(request);
    }
  }

  /** What is stored besides the shared counter, which clears itself. */
  async purge(now: Instant): Promise<number> {
    return this.local.purge(now);
  }

  close(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private countHere(request: CountedRequest): Promise<Verdict> {
    this.fallbackCount++;
    return this.local.count(request);
  }

  private isUsable(): boolean {
    if (!this.isLost && !this.shared.isReady) this.lose('the connection is gone');
    return !this.isLost;
  }

  private loseBy(error: unknown): void {
    this.lose(error instanceof Error ? error.message : String(error));
  }

  private lose(reason: string): void {
    if (this.isLost) return;
    this.isLost = true;
    this.onEvent(`Redis is lost (${reason}); this process counts requests by itself until Redis is back.`);
    this.timer = setTimeout(() => void this.tryAgain(), PROBE_INTERVAL);
    this.timer.unref();
  }

  private async tryAgain(): Promise<void> {
    try {
      await this.shared.probe();
    } catch {
      this.timer?.refresh();
      return;
    }
    if (this.timer === undefined) return;
    this.isLost = false;
    this.onEvent('Redis is back; requests are counted there again.');
  }
}
