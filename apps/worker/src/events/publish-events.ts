import { type PublishEvents, SECOND, type WakeWebhooks } from '@adoption-store/domain';
import { type BackgroundJobs, every } from '../background-jobs.js';

interface UseCases {
  readonly publishEvents: PublishEvents;
  readonly wakeWebhooks: WakeWebhooks;
}

/** Publishes events. Calls `onWoken` if webhooks want some of those that are published. */
export function publishEvents(
  jobs: BackgroundJobs,
  { publishEvents: publish, wakeWebhooks }: UseCases,
  onWoken: () => void,
): void {
  jobs.start({
    name: 'publish events',
    async work() {
      const { mayHaveMore } = await publish.execute();
      if ((await wakeWebhooks.execute()) > 0) onWoken();
      return mayHaveMore;
    },
    rest: every(SECOND),
  });
}
