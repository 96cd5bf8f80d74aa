import type { AccountMailQueue } from './accounts/account-mail-queue.js';
import type { ApiKeyRepository } from './accounts/api-key-repository.js';
import type { AttemptCounter } from './accounts/attempt-counter.js';
import type { CredentialRepository } from './accounts/credential-repository.js';
import { ANSWER_TTL } from './idempotency/answer-once.js';
import type { IdempotencyRecords } from './idempotency/idempotency-records.js';
import { type Clock, DAY, HOUR, later } from './kernel/clock.js';
import type { MessageQueue } from './messages/message-queue.js';
import type { RequestCounter } from './quotas/request-counter.js';
import type { RequestRecords } from './quotas/request-records.js';
import { HOURS_SHOWN } from './quotas/show-usage.js';
import type { SessionRepository } from './sessions/session-repository.js';

/**
 * How long daily usage is kept: a year and a month, so that a month can be compared with the same month of the year
 * before.
 */
const USAGE_TTL = 400 * DAY;
/** How long hourly usage is kept: a little longer than it is shown. */
const HOURLY_USAGE_TTL = (HOURS_SHOWN + 2) * HOUR;
/** How long a refused request is kept. */
const REFUSAL_TTL = 7 * DAY;
/** How long a key is kept after it ended: as long as its usage. */
const PAST_KEY_TTL = USAGE_TTL;
/** How long a sent or failed message is kept, counted from its creation. */
export const DEFAULT_MESSAGE_RETENTION = 90 * DAY;

export const PURGED_KINDS = [
  'counts',
  'answers',
  'resets',
  'mails',
  'attempts',
  'sessions',
  'usage',
  'hours',
  'refusals',
  'messages',
  'keys',
] as const;
export type PurgedKind = (typeof PURGED_KINDS)[number];

/** Deletes expired records. Each kind is deleted separately, so that a failure with one doesn't stop the others. */
export class PurgeExpired {
  constructor(
    private readonly requests: RequestCounter,
    private readonly idempotency: IdempotencyRecords,
    private readonly credentials: CredentialRepository,
    private readonly accountMails: AccountMailQueue,
    private readonly attempts: AttemptCounter,
    private readonly sessions: SessionRepository,
    private readonly requestRecords: RequestRecords,
    private readonly messages: MessageQueue,
    private readonly apiKeys: ApiKeyRepository,
    private readonly clock: Clock,
    private readonly messageRetention: number,
  ) {}

  /** Deletes the expired records of that kind. Returns their number. */
  async execute(kind: PurgedKind): Promise<number> {
    const now = this.clock.now();
    const purge: Readonly<Record<PurgedKind, () => Promise<number>>> = {
      counts: () => this.requests.purge(now),
      answers: () => this.idempotency.purge(later(now, -ANSWER_TTL)),
      resets: () => this.credentials.purgeLinks(now),
      mails: () => this.accountMails.purge(now),
      attempts: () => this.attempts.purge(now),
      sessions: () => this.sessions.purge(now),
      usage: () => this.requestRecords.purgeUsage('day', later(now, -USAGE_TTL)),
      hours: () => this.requestRecords.purgeUsage('hour', later(now, -HOURLY_USAGE_TTL)),
      refusals: () => this.requestRecords.purgeRefusals(later(now, -REFUSAL_TTL)),
      messages: () => this.messages.purge(later(now, -this.messageRetention)),
      keys: () => this.apiKeys.purge(later(now, -PAST_KEY_TTL)),
    };
    return purge[kind]();
  }
}
