import { MINUTE, type ReencryptWebhooks, type WebhookId } from '@adoption-store/domain';
import type { Logger } from '@adoption-store/telemetry';
import { type BackgroundJobs, every } from '../background-jobs.js';

interface Reports {
  readonly log: Pick<Logger, 'error'>;
  /** A gauge: the number of enabled webhooks whose secret can't be decrypted. */
  readonly unreadable: { set(count: number): void };
}

/** Encrypts webhooks' secrets with the first key in WEBHOOK_SECRET. Logs once each webhook that none decrypts. */
export function reencryptSecrets(jobs: BackgroundJobs, useCase: ReencryptWebhooks, { log, unreadable }: Reports): void {
  let reported: ReadonlySet<WebhookId> = new Set();
  jobs.start({
    name: 'encrypt webhooks',
    async work() {
      const found = (await useCase.execute(() => jobs.areStopping)).unreadable;
      for (const { id } of found) {
        if (!reported.has(id)) log.error({ webhook: id }, "no secret of WEBHOOK_SECRET decrypts the webhook's secret");
      }
      reported = new Set(found.map(({ id }) => id));
      unreadable.set(found.filter(({ status }) => status === 'enabled').length);
      return false;
    },
    rest: every(MINUTE),
  });
}
