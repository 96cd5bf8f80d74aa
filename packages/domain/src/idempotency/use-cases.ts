import { DAY, later } from '../kernel/clock.js';
import { DomainError, errorCodes, invalid, ours } from '../kernel/errors.js';
import type { Transaction } from '../kernel/transaction.js';
import type { IdempotentRequest } from './idempotency-records.js';
import type { IdempotencyPorts } from './ports.js';

export const idempotencyErrors = errorCodes({
  idempotency_key_reused: 'invalid',
  idempotency_key_in_use: 'conflict',
});

/** How long an answer is kept. */
export const ANSWER_TTL = DAY;
/** In bytes: an adapter gives each byte of the key as one character. */
export const MAX_KEY_LENGTH = 255;

/** Runs a request once, so that a client that doesn't know whether it arrived can safely repeat it. */
export class AnswerOnce {
  constructor(private readonly ports: Pick<IdempotencyPorts, 'idempotency' | 'clock'>) {}

  /**
   * Returns the answer of `work`, which runs once for each idempotency key of an account within 24 hours. Its changes
   * in the given transaction are stored together with its answer.
   *
   * @throws DomainError `invalid_parameter`; `idempotency_key_reused` if the key was used for another request;
   * `idempotency_key_in_use` if a request with it is still in progress after a short wait. An error of `work` is passed
   * on, and `work` then has changed nothing.
   */
  async execute(
    { accountId, key, fingerprint }: Pick<IdempotentRequest, 'accountId' | 'key' | 'fingerprint'>,
    work: (transaction: Transaction) => Promise<string>,
  ): Promise<{ readonly answer: string; readonly isReplay: boolean }> {
    if (key === '' || key.length > MAX_KEY_LENGTH)
      throw invalid('Idempotency-Key', ours`must have 1 to ${MAX_KEY_LENGTH} bytes`);
    const now = this.ports.clock.now();
    const expiredUntil = later(now, -ANSWER_TTL);
    const recorded = await this.ports.idempotency.once({ accountId, key, fingerprint, now, expiredUntil }, work);
    if (recorded.fingerprint !== fingerprint) {
      throw new DomainError(
        idempotencyErrors.idempotency_key_reused,
        ours`this Idempotency-Key was used for another request`,
      );
    }
    return { answer: recorded.answer, isReplay: recorded.isReplay };
  }
}
