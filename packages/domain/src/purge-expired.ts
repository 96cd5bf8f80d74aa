import type { ApiKeyRepository } from './accounts/api-key-repository.js';
import type { AttemptCounter } from './accounts/attempt-counter.js';
import type { CredentialRepository } from './accounts/credential-repository.js';
import { ANSWER_TTL } from './idempotency/answer-once.js';
import type { IdempotencyRecords } from './idempotency/idempotency-records.js';
import { type Clock, DAY, later } from './kernel/clock.js';
import type { MessageQueue } from './messages/message-queue.js';
import type { RequestCounter } from './quotas/request-counter.js';
import type { UsageRecords } from './quotas/usage-records.js';
import type { SessionRepository } from './sessions/session-repository.js';

/** How long usage by day is kept: a year and a month, so that a month can be held against that of the year before. */
export const USAGE_TTL = 400 * DAY;
/** How long a key is kept once it is over, which is as long as its usage. */
export const PAST_KEY_TTL = USAGE_TTL;
/** How long a message is kept once it is sent or has failed, counted from when it was written. */
export const DEFAULT_MESSAGE_RETENTION = 90 * DAY;

export const PURGED_KINDS = [
  'counts',
  'answers',
  'resets',
  'attempts',
  'sessions',
  'usage',
  'messages',
  'keys',
] as const;
export type PurgedKind = (typeof PURGED_KINDS)[number];

/** Clears away what has run out, each kind by itself: one that can't be cleared away holds up no other. */
export class PurgeExpired {
  constructor(
    private readonly requests: RequestCounter,
    private readonly idempotency: IdempotencyRecords,
    private readonly credentials: CredentialRepository,
    private readonly attempts: AttemptCounter,
    private readonly sessions: SessionRepository,
    private readonly usage: UsageRecords,
    private readonly messages: MessageQueue,
    private readonly apiKeys: ApiKeyRepository,
    private readonly clock: Clock,
    private readonly messageRetention: number,
  ) {}

  /** How many of that kind were cleared away. */
  async execute(kind: PurgedKind): Promise<number> {
    const now = this.clock.now();
    const purge: Readonly<Record<PurgedKind, () => Promise<number>>> = {
      counts: () => this.requests.purge(now),
      answers: () => this.idempotency.forget(later(now, -ANSWER_TTL)),
      resets: () => this.credentials.forgetResets(now),
      attempts: () => this.attempts.purge(now),
      sessions: () => this.sessions.forget(now),
      usage: () => this.usage.forget(later(now, -USAGE_TTL)),
      messages: () => this.messages.forget(later(now, -this.messageRetention)),
      keys: () => this.apiKeys.forgetPast(later(now, -PAST_KEY_TTL)),
    };
    return purge[kind]();
  }
}
