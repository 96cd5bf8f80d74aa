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

interface PurgedPorts {
  readonly requests: RequestCounter;
  readonly idempotency: IdempotencyRecords;
  readonly credentials: CredentialRepository;
  readonly accountMails: AccountMailQueue;
  readonly attempts: AttemptCounter;
  readonly sessions: SessionRepository;
  readonly requestRecords: RequestRecords;
  readonly messages: MessageQueue;
  readonly apiKeys: ApiKeyRepository;
  readonly clock: Clock;
}

/** Deletes expired records. Each kind is deleted separately, so that a failure with one doesn't stop the others. */
export class PurgeExpired {
  constructor(
    private readonly ports: PurgedPorts,
    private readonly messageRetention: number,
  ) {}

  /** Deletes the expired records of that kind. Returns their number. */
  async execute(kind: PurgedKind): Promise<number> {
    const { ports, messageRetention } = this;
    const now = ports.clock.now();
    const purge: Readonly<Record<PurgedKind, () => Promise<number>>> = {
      counts: () => ports.requests.purge(now),
      answers: () => ports.idempotency.purge(later(now, -ANSWER_TTL)),
      resets: () => ports.credentials.purgeLinks(now),
      mails: () => ports.accountMails.purge(now),
      attempts: () => ports.attempts.purge(now),
      sessions: () => ports.sessions.purge(now),
      usage: () => ports.requestRecords.purgeUsage('day', later(now, -USAGE_TTL)),
      hours: () => ports.requestRecords.purgeUsage('hour', later(now, -HOURLY_USAGE_TTL)),
      refusals: () => ports.requestRecords.purgeRefusals(later(now, -REFUSAL_TTL)),
      messages: () => ports.messages.purge(later(now, -messageRetention)),
      keys: () => ports.apiKeys.purge(later(now, -PAST_KEY_TTL)),
    };
    return purge[kind]();
  }
}
