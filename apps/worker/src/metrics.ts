import type { Clock, Delivery, DeliverMessages, MessageSender } from '@adoption-store/domain';
import type { Readings } from '@adoption-store/infrastructure';
import { Metrics, type Page } from '@adoption-store/telemetry';
import { within } from './pauses.js';

const SCRAPE_TIMEOUT_MS = 2_000;
const OUTCOMES: readonly Delivery['outcome'][] = ['sent', 'postponed', 'failed'];
const SENDING_SECONDS = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const WAITING_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 60, 600, 3_600, 86_400];

/** The worker's metrics for Prometheus. */
export class WorkerMetrics {
  private readonly metrics = new Metrics();

  readonly ordersExpired = this.metrics.counter('adoption_store_orders_expired_total', 'Orders that have expired');
  readonly purged = this.metrics.counter('adoption_store_purged_total', 'Expired records that were deleted, by kind', [
    'kind',
  ]);
  readonly loopFailures = this.metrics.counter('adoption_store_loop_failures_total', 'Failed rounds of each loop', [
    'loop',
  ]);

  private readonly deliveries = this.metrics.counter(
    'adoption_store_message_deliveries_total',
    'Attempts to send a message',
    ['outcome'],
  );
  private readonly sending = this.metrics.histogram(
    'adoption_store_message_send_seconds',
    'Duration of one attempt',
    SENDING_SECONDS,
  );
  private readonly waiting = this.metrics.histogram(
    'adoption_store_message_created_to_delivered_seconds',
    'From the acceptance of a message to its delivery',
    WAITING_SECONDS,
  );
  private readonly queued = this.metrics.gauge(
    'adoption_store_messages_queued',
    'Messages that are neither sent nor failed',
  );
  private readonly oldest = this.metrics.gauge(
    'adoption_store_message_oldest_age_seconds',
    'Age of the oldest of them; 0 without any',
  );

  constructor(
    private readonly clock: Clock,
    read: () => Readings,
  ) {
    this.metrics.describePool(() => read().pool);
    this.metrics.describeDependencies(() => read().dependencies);
    for (const outcome of OUTCOMES) this.deliveries.inc({ outcome }, 0);
  }

  countDelivery({ outcome }: Delivery): void {
    this.deliveries.inc({ outcome });
  }

  /** The sender, with its attempts timed. */
  timing(sender: MessageSender): MessageSender {
    return {
      send: async (message, timeout) => {
        const end = this.sending.startTimer();
        await sender.send(message, timeout).finally(end);
        this.waiting.observe((this.clock.now() - message.createdAt) / 1_000);
      },
    };
  }

  /** If the database doesn't answer, the page has all metrics except the queue's. */
  async page(messages: DeliverMessages): Promise<Page> {
    const backlog = await within(SCRAPE_TIMEOUT_MS, messages.backlog());
    const now = this.clock.now();
    this.queued.set(backlog?.queued ?? Number.NaN);
    this.oldest.set(backlog === undefined ? Number.NaN : (now - (backlog.oldest ?? now)) / 1_000);
    return this.metrics.page();
  }
}
