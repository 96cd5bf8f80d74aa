import type { Instant } from '../kernel/clock.js';
import type { Transaction } from '../kernel/transaction.js';
import type { IdempotencyRecords, IdempotentRequest, RecordedAnswer } from '../idempotency/idempotency-records.js';

interface Recorded {
  readonly answer: string;
  readonly fingerprint: string;
  readonly answeredAt: Instant;
}

/** Runs one request at a time. Nothing else writes meanwhile, so that a failed request can be undone. */
export class InMemoryIdempotencyRecords implements IdempotencyRecords {
  private readonly answers = new Map<string, Recorded>();
  private last: Promise<unknown> = Promise.resolve();

  /** @param remember saves the state of all adapters and returns a function that restores it. */
  constructor(private readonly remember: () => () => void) {}

  async once(request: IdempotentRequest, work: (transaction: Transaction) => Promise<string>): Promise<RecordedAnswer> {
    const answered = this.last.then(() => this.answer(request, work));
    this.last = answered.catch(() => undefined);
    return answered;
  }

  async purge(until: Instant): Promise<number> {
    const expired = [...this.answers].filter(([, { answeredAt }]) => answeredAt <= until);
    for (const [id] of expired) this.answers.delete(id);
    return expired.length;
  }

  private async answer(
    { accountId, key, fingerprint, now, expiredUntil }: IdempotentRequest,
    work: (transaction: Transaction) => Promise<string>,
  ): Promise<RecordedAnswer> {
    const id = `${accountId} ${key}`;
    const recorded = this.answers.get(id);
    if (recorded !== undefined && recorded.answeredAt > expiredUntil) {
      return { answer: recorded.answer, fingerprint: recorded.fingerprint, isReplay: true };
    }
    const putBack = this.remember();
    try {
      const answer = await work({} as Transaction);
      this.answers.set(id, { answer, fingerprint, answeredAt: now });
      return { answer, fingerprint, isReplay: false };
    } catch (error) {
      putBack();
      throw error;
    }
  }
}

/** Saves the content of a map. Returns a function that restores it. */
export function remember<Key, Value>(map: Map<Key, Value>): () => void {
  const entries = [...map];
  return () => {
    map.clear();
    for (const [key, value] of entries) map.set(key, value);
  };
}
