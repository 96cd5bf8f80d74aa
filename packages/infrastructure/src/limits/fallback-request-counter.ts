import type { ApiKeyId, CountedRequest, Instant, KeyRequester, RequestCounter, Verdict } from '@adoption-store/domain';
import { failureOf } from '../kernel/answers.js';
import { AdmittedHere } from './admitted-here.js';
import type { InProcessRequestCounter } from './in-process-request-counter.js';
import type { RedisRequestCounter } from './redis-request-counter.js';

/** Milliseconds between two probes, whether Redis answers or is lost. */
const PROBE_INTERVAL = 400;
const RETRY_INTERVAL = 100;

/**
 * Decides with Redis and, while Redis is lost, in this process. A call that fails is decided in this process; whether
 * Redis is lost is decided by a probe, because one slow call delays only its own requests. While Redis is lost, probes
 * in the background notice when it answers again.
 */
export class FallbackRequestCounter implements RequestCounter {
  /** Requests that this process decided by itself. */
  fallbacks = 0;
  /** Whether the instances currently count together. */
  isShared = true;
  private readonly admitted = new AdmittedHere();
  private timer: NodeJS.Timeout | undefined;
  private isProbing = false;
  /** The ended connections of which `admitted` knows. */
  private endedConnections: number;

  /** @param onState called with the failure each time Redis fails, and with undefined each time it answers a probe. */
  constructor(
    private readonly shared: RedisRequestCounter,
    private readonly local: InProcessRequestCounter,
    private readonly onState: (failure: unknown) => void,
  ) {
    this.endedConnections = shared.endedConnections;
    this.probeIn(PROBE_INTERVAL);
    if (shared.isReady) onState(undefined);
    else this.lose();
  }

  /** Without async functions, because each promise of each request costs. */
  count(request: CountedRequest): Verdict | Promise<Verdict> {
    if (!this.isUsable()) return this.countHere(request);
    const refusal = this.local.refusalOf(request);
    if (refusal !== undefined) return this.concluded(request, refusal);
    return this.shared.decide(request).then(
      (decision) => {
        // If Redis is lost, this process continues from these counts, so that no account's day starts at zero.
        if (this.isShared) this.local.remember(request, decision);
        return this.concluded(request, decision.verdict);
      },
      () => {
        this.probeNow();
        return this.countHere(request);
      },
    );
  }

  /** For an address it doesn't ask Redis: anybody can send such requests, so they must stay cheap. */
  async peek(request: CountedRequest): Promise<Verdict> {
    if ('address' in request.requester) return this.local.peek(request);
    return this.admitted.peek(request, await this.read((counter) => counter.peek(request)));
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
    } catch {
      this.probeNow();
      return ask(this.local);
    }
  }

  private async countHere(request: CountedRequest): Promise<Verdict> {
    this.fallbacks += 1;
    const verdict = await this.local.count(request);
    this.admitted.bind(verdict);
    return this.concluded(request, verdict);
  }

  /** A connection may have ended and come back between two requests, and Redis may have lost its counts meanwhile. */
  private concluded(request: CountedRequest, verdict: Verdict): Verdict {
    const { endedConnections } = this.shared;
    if (endedConnections !== this.endedConnections) this.admitted.bind(verdict);
    this.endedConnections = endedConnections;
    return this.admitted.count(request, verdict);
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

  private probeNow(): void {
    if (this.isUsable() && !this.isProbing) this.probeIn(0);
  }

  private probeIn(milliseconds: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.probe(), milliseconds).unref();
  }

  private async probe(): Promise<void> {
    const { timer } = this;
    this.isProbing = true;
    const failure = await failureOf(this.shared.probe());
    this.isProbing = false;
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
