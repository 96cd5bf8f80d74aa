import { type ExpireOrders, SECOND } from '@adoption-store/domain';
import type { Logger } from '@adoption-store/telemetry';
import { type BackgroundJobs, every } from '../background-jobs.js';
import type { WorkerMetrics } from '../metrics.js';

interface Options {
  readonly log: Pick<Logger, 'info'>;
  readonly metrics: Pick<WorkerMetrics, 'ordersExpired'>;
  /** Throws if this machine's clock is wrong. */
  readonly checkClock: () => Promise<void>;
}

export function expireOrders(jobs: BackgroundJobs, useCase: ExpireOrders, { log, metrics, checkClock }: Options): void {
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
