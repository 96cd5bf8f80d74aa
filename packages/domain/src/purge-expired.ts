import { ANSWER_TTL } from './idempotency/use-cases.js';
import { DAY, HOUR, type Instant, later } from './kernel/clock.js';
import type { Ports } from './ports.js';
import { HOURS_SHOWN } from './limits/get-usage.js';

/** How long daily usage is kept: a year and a month, so that a month can be compared with that of the year before. */
const USAGE_TTL = 400 * DAY;
/** How long hourly usage is kept: a little longer than it is shown. */
const HOURLY_USAGE_TTL = (HOURS_SHOWN + 2) * HOUR;
/** How long a refused request is kept. */
const FAILED_REQUEST_TTL = 7 * DAY;
/** How long a key is kept after it ended: as long as its usage. */
const PAST_KEY_TTL = USAGE_TTL;
/** How long a sent or failed message is kept, counted from its creation. */
export const DEFAULT_MESSAGE_RETENTION = 90 * DAY;
/** How long an event is kept. */
export const DEFAULT_EVENT_RETENTION = 30 * DAY;

export interface PurgeOptions {
  /** Milliseconds that a sent or failed message is kept. Default: 90 days. */
  readonly messageRetention: number;
  /** Milliseconds that an event is kept. Default: 30 days. */
  readonly eventRetention: number;
}

/** Deletes the expired records of one kind. Returns their number. */
type Purger = (ports: Ports, now: Instant, options: PurgeOptions) => Promise<number>;

const PURGERS = {
  counts: ({ requests }, now) => requests.purge(now),
  answers: ({ idempotency }, now) => idempotency.purge(later(now, -ANSWER_TTL)),
  resets: ({ credentials }, now) => credentials.purgeLinks(now),
  mails: ({ accountMails }, now) => accountMails.purge(now),
  attempts: ({ attempts }, now) => attempts.purge(now),
  sessions: ({ sessions }, now) => sessions.purge(now),
  usage: ({ requestRecords }, now) => requestRecords.purgeUsage('day', later(now, -USAGE_TTL)),
  hours: ({ requestRecords }, now) => requestRecords.purgeUsage('hour', later(now, -HOURLY_USAGE_TTL)),
  failedRequests: ({ requestRecords }, now) => requestRecords.purgeFailedRequests(later(now, -FAILED_REQUEST_TTL)),
  messages: ({ messages }, now, { messageRetention }) => messages.purge(later(now, -messageRetention)),
  events: ({ events }, now, { eventRetention }) => events.purge(later(now, -eventRetention)),
  pings: ({ webhookQueue }, now, { eventRetention }) => webhookQueue.purgePings(later(now, -eventRetention)),
  deliveries: ({ webhookQueue }) => webhookQueue.purgeForgotten(),
  keys: ({ apiKeys }, now) => apiKeys.purge(later(now, -PAST_KEY_TTL)),
} satisfies Readonly<Record<string, Purger>>;

export type PurgedKind = keyof typeof PURGERS;
export const PURGED_KINDS = Object.keys(PURGERS) as readonly PurgedKind[];

/** Deletes expired records. Each kind is deleted separately, so that a failure with one doesn't stop the others. */
export class PurgeExpired {
  constructor(
    private readonly ports: Ports,
    private readonly options: PurgeOptions,
  ) {}

  /** Deletes the expired records of that kind. Returns their number. */
  async execute(kind: PurgedKind): Promise<number> {
    return PURGERS[kind](this.ports, this.ports.clock.now(), this.options);
  }
}
