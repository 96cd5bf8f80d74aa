import type { ApiKeyId, CountedRequest, Instant, KeyRequester, RequestCounter, Verdict } from '@adoption-store/domain';
import { failureOf } from '../kernel/answers.js';
import type { InProcessRequestCounter } from './in-process-request-counter.js';
import type { RedisRequestCounter } from './redis-request-counter.js';

/** Milliseconds between two probes, whether Redis answers or is lost. */
const PROBE_INTERVAL = 400;
const RETRY_INTERVAL = 100;

/**
 * Decides with Redis and, while Redis is lost, in this process. Only requests that are in progress at the loss wait for
 * Redis. After it, probes in the background notice when Redis answers again.
 */
export class FallbackRequestCounter implements RequestCounter {
  /** Requests that this process decided by itself. */
  fallbacks = 0;
  /** Whether the instances currently count together. */
  isShared = true;
  private timer: NodeJS.Timeout | undefined;

  /** @param onState called with the failure each time Redis fails, and with undefined each time it answers a probe. */
  constructor(
    private readonly shared: RedisRequestCounter,
    private readonly local: InProcessRequestCounter,
    private readonly onState: (failure: unknown) => void,
  ) {
    this.probeIn(PROBE_INTERVAL);
    if (shared.isReady) onState(undefined);
    else this.lose();
  }

  async count(request: CountedRequest): Promise<Verdict> {
    if (!this.isUsable()) return this.countHere(request);
    const refusal = this.local.refusalOf(request);
    if (refusal !== undefined) return refusal;
    try {
      const decision = await this.shared.decide(request);
      // If Redis is lost, this process continues from these counts, so that no account's day starts at zero.
      if (this.isShared) this.local.remember(request, decision);
      return decision.verdict;
    } catch (error) {
      this.lose(error);
      return this.countHere(request);
    }
  }

  /** For an address it doesn't ask Redis: anybody can send such requests, so they must stay cheap. */
  async look(request: CountedRequest): Promise<Verdict> {
    if ('address' in request.requester) return this.local.look(request);
    return this.read((counter) => counter.look(request));
  }

  async bansOf(requesters: readonly KeyRequester[], now: Instant): Promise<ReadonlyMap<ApiKeyId, Instant>> {
    return this.read((counter) => counter.bansOf(requesters, now));
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

  private async read<Result>(ask: (counter: RequestCounter) => Promise<Result>): Promise<Result> {
    if (!this.isUsable()) return ask(this.local);
    try {
      return await ask(this.shared);
    } catch (error) {
      this.lose(error);
      return ask(this.local);
    }
  }

  private countHere(request: CountedRequest): Verdict | Promise<Verdict> {
    this.fallbacks += 1;
    return this.local.count(request);
  }

  private isUsable(): boolean {
    if (this.isShared && !this.shared.isReady) this.lose();
    return this.isShared;
  }

  private lose(error: unknown = new Error('the connection is closed')): void {
    if (!this.isShared) return;
    this.isShared = false;
    this.onState(this.shared.connectionError ?? error);
    this.probeIn(RETRY_INTERVAL);
  }

  private probeIn(milliseconds: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.probe(), milliseconds).unref();
  }

  private async probe(): Promise<void> {
    const { timer } = this;
    const failure = await failureOf(this.shared.probe());
    // While the probe ran, the counter was closed, or a request noticed the loss.
    if (this.timer !== timer) return;
    if (failure === undefined) {
      this.isShared = true;
      this.onState(undefined);
      this.probeIn(PROBE_INTERVAL);
    } else if (this.isShared) this.lose(failure);
    else {
      this.onState(this.shared.connectionError ?? failure);
      this.probeIn(RETRY_INTERVAL);
    }
  }
}
