import {
  ACCOUNT_MAIL_KINDS,
  type Backlog,
  type Clock,
  type DeliverAccountMails,
  type MessageReport,
  type DeliverMessages,
  type DeliverWebhooks,
  type MessageSender,
  type PublishEvents,
  type SendsMail,
} from '@adoption-store/domain';
import type { Readings } from '@adoption-store/infrastructure';
import { Metrics, type Page } from '@adoption-store/telemetry';
import { within } from './waiting.js';

const SCRAPE_TIMEOUT_MS = 2_000;
const OUTCOMES = ['sent', 'postponed', 'failed'] as const satisfies readonly MessageReport['outcome'][];
const SENDING_SECONDS = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const WAITING_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 60, 600, 3_600, 86_400];

export interface Queues {
  readonly deliverMessages: DeliverMessages;
  readonly deliverAccountMails: DeliverAccountMails;
  readonly deliverWebhooks: DeliverWebhooks;
  readonly publishEvents: PublishEvents;
  readonly sendsMail: SendsMail;
}

export class WorkerMetrics extends Metrics {
  readonly ordersExpired = this.counter('adoption_store_orders_expired_total', 'Orders that have expired');
  readonly purged = this.counter('adoption_store_purged_total', 'Expired records that were deleted, by kind', ['kind']);
  readonly purgeCompleted = this.gauge(
    'adoption_store_purge_completed_timestamp_seconds',
    'When all expired records of that kind were last deleted; before the first time, when the worker started',
    ['kind'],
  );
  readonly jobFailures = this.counter('adoption_store_loop_failures_total', 'Failed rounds of each loop', ['loop']);

  readonly deliveries = this.counter('adoption_store_message_deliveries_total', 'Attempts to send a message', [
    'outcome',
  ]);
  private readonly sending = this.histogram(
    'adoption_store_message_send_seconds',
    'Duration of one attempt',
    SENDING_SECONDS,
  );
  private readonly waiting = this.histogram(
    'adoption_store_message_created_to_delivered_seconds',
    'From the acceptance of a message to its delivery',
    WAITING_SECONDS,
  );
  private readonly queued = this.gauge(
    'adoption_store_messages_queued',
    'Messages that are neither sent nor failed, of which at most 10,000 are counted',
  );
  private readonly oldest = this.gauge(
    'adoption_store_message_oldest_age_seconds',
    'Age of the oldest of them; 0 without any',
  );

  readonly accountMails = this.counter(
    'adoption_store_account_mail_deliveries_total',
    'Attempts to send a mail to an account, or to somebody who signs up',
    ['kind', 'outcome'],
  );
  private readonly accountMailsQueued = this.gauge(
    'adoption_store_account_mails_queued',
    'Mails of that kind that wait to be sent, of which at most 10,000 are counted',
  );
  private readonly mailServerMissing = this.gauge(
    'adoption_store_mail_server_missing',
    '1 if this worker has no SMTP_URL although accounts begin with a mail, so another worker must send it',
  );
  private readonly oldestAccountMail = this.gauge(
    'adoption_store_account_mail_oldest_age_seconds',
    'Age of the oldest of them; 0 without any',
  );

  readonly webhookDeliveries = this.counter(
    'adoption_store_webhook_deliveries_total',
    'Attempts to deliver an event to a webhook',
    ['outcome'],
  );
  readonly unreadableWebhooks = this.gauge(
    'adoption_store_webhooks_unreadable',
    'Enabled webhooks to which this worker sends nothing, because no secret of WEBHOOK_SECRET decrypts theirs',
  );
  private readonly oldestEvent = this.gauge(
    'adoption_store_event_oldest_undelivered_age_seconds',
    'For how long the store itself delays events: the age of the oldest one that is not published, or the time since a ' +
      'receiver that does not fail should have been called, whichever is more; 0 without any',
  );
  private readonly webhookEventsWaiting = this.gauge(
    'adoption_store_webhook_deliveries_waiting',
    'Events and retries that wait to be delivered to enabled webhooks, of which at most 10,000 are counted',
  );
  private readonly webhooksFailing = this.gauge(
    'adoption_store_webhooks_failing',
    'Enabled webhooks to which the last attempts have all failed, of which at most 10,000 are counted',
  );

  constructor(
    private readonly clock: Clock,
    read: () => Readings,
  ) {
    super(read);
    for (const outcome of OUTCOMES) {
      this.deliveries.inc({ outcome }, 0);
      this.webhookDeliveries.inc({ outcome }, 0);
    }
    for (const kind of ACCOUNT_MAIL_KINDS) {
      for (const outcome of [...OUTCOMES, 'dropped']) this.accountMails.inc({ kind, outcome }, 0);
    }
  }

  timing(sender: MessageSender): MessageSender {
    return {
      send: async (message, timeout) => {
        const end = this.sending.startTimer();
        await sender.send(message, timeout).finally(end);
        this.waiting.observe((this.clock.now() - message.createdAt) / 1_000);
      },
    };
  }

  /** The page with the state of the queues: NaN if the database doesn't answer. */
  async pageWith(
    { deliverMessages, deliverAccountMails, deliverWebhooks, publishEvents, sendsMail }: Queues,
    hasMailServer: boolean,
  ): Promise<Page> {
    const [messages, mails, webhooks, events, isMailSent] = await Promise.all([
      within(SCRAPE_TIMEOUT_MS, deliverMessages.backlog()),
      within(SCRAPE_TIMEOUT_MS, deliverAccountMails.backlog()),
      within(SCRAPE_TIMEOUT_MS, deliverWebhooks.backlog()),
      within(SCRAPE_TIMEOUT_MS, publishEvents.backlog()),
      within(SCRAPE_TIMEOUT_MS, sendsMail.execute()),
    ]);
    this.queued.set(messages?.queued ?? Number.NaN);
    this.oldest.set(this.ageOf(messages));
    this.accountMailsQueued.set(mails?.queued ?? Number.NaN);
    this.oldestAccountMail.set(this.ageOf(mails));
    this.mailServerMissing.set(!hasMailServer && isMailSent === true ? 1 : 0);
    this.oldestEvent.set(Math.max(this.ageOf(events), this.ageOf(webhooks && { oldest: webhooks.dueSince })));
    this.webhookEventsWaiting.set(webhooks?.waiting ?? Number.NaN);
    this.webhooksFailing.set(webhooks?.failing ?? Number.NaN);
    return this.page();
  }

  private ageOf(backlog: Pick<Backlog, 'oldest'> | undefined): number {
    const now = this.clock.now();
    // A mail that waits for an hour is created after it.
    return backlog === undefined ? Number.NaN : Math.max(0, now - (backlog.oldest ?? now)) / 1_000;
  }
}
