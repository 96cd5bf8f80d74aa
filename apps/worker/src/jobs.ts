import {
  type Clock,
  type ExpireOrders,
  HOUR,
  MINUTE,
  type PublishEvents,
  PURGED_KINDS,
  type PurgeExpired,
  type ReencryptWebhooks,
  SECOND,
  type WakeWebhooks,
  type WebhookId,
} from '@adoption-store/domain';
import type { Logger } from '@adoption-store/telemetry';
import { type BackgroundJobs, every } from './background-jobs.js';
import type { WorkerMetrics } from './metrics.js';

export interface Surroundings {
  readonly jobs: BackgroundJobs;
  readonly log: Logger;
  readonly metrics: WorkerMetrics;
  readonly clock: Clock;
  /** Throws if this machine's clock is wrong. */
  readonly checkClock: () => Promise<void>;
}

/** Publishes events. Calls `onWoken` if webhooks want some of those that are published. */
export function publishEvents(
  { jobs }: Surroundings,
  useCases: { readonly publishEvents: PublishEvents; readonly wakeWebhooks: WakeWebhooks },
  onWoken: () => void,
): void {
  jobs.start({
    name: 'publish events',
    async work() {
      const { mayHaveMore } = await useCases.publishEvents.execute();
      if ((await useCases.wakeWebhooks.execute()) > 0) onWoken();
      return mayHaveMore;
    },
    rest: every(SECOND),
  });
}

export function expireOrders({ jobs, log, metrics, checkClock }: Surroundings, useCase: ExpireOrders): void {
  jobs.start({
    name: 'expire orders',
    async work() {
      // A clock that is ahead would expire orders too early.
      await checkClock();
      const { expired, mayHaveMore } = await useCase.execute();
      metrics.ordersExpired.inc(expired.length);
      if (expired.length > 0) log.info({ orders: expired.map(({ id }) => String(id)) }, 'orders expired');
      return mayHaveMore;
    },
    rest: every(SECOND),
  });
}

/** Deletes expired records, each kind in a job of its own. */
export function purgeExpired({ jobs, metrics, clock, checkClock }: Surroundings, useCase: PurgeExpired): void {
  for (const kind of PURGED_KINDS) {
    metrics.purged.inc({ kind }, 0);
    const isUpToDate = () => {
      metrics.purgeCompleted.set({ kind }, clock.now() / SECOND);
    };
    isUpToDate();
    jobs.start({
      name: `purge ${kind}`,
      async work() {
        // A clock that is ahead would delete rows that are still needed.
        await checkClock();
        metrics.purged.inc({ kind }, await useCase.execute(kind));
        isUpToDate();
        return false;
      },
      rest: every(HOUR),
    });
  }
}

/** Encrypts webhooks' secrets with the first key in WEBHOOK_SECRET. Logs each webhook once whose secret none decrypts. */
export function reencryptSecrets({ jobs, log, metrics }: Surroundings, useCase: ReencryptWebhooks): void {
  let reported: ReadonlySet<WebhookId> = new Set();
  jobs.start({
    name: 'encrypt webhooks',
    async work() {
      const found = await useCase.execute(() => jobs.areStopping);
      for (const { id } of found) {
        if (!reported.has(id)) log.error({ webhook: id }, "no secret of WEBHOOK_SECRET decrypts the webhook's secret");
      }
      reported = new Set(found.map(({ id }) => id));
      metrics.unreadableWebhooks.set(found.filter(({ status }) => status === 'enabled').length);
      return false;
    },
    rest: every(MINUTE),
  });
}
