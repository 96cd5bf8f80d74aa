import { MINUTE, type ReencryptWebhooks, type WebhookId } from '@adoption-store/domain';
import type { Logger } from '@adoption-store/telemetry';
import { type BackgroundJobs, every } from '../background-jobs.js';

interface Reports {
  readonly log: Pick<Logger, 'error'>;
  /** Gets the number of enabled webhooks whose secret can't be decrypted. */
  readonly unreadable: { set(count: number): void };
}

/** Encrypts the secrets of webhooks with the first one of WEBHOOK_SECRET. Reports once each webhook whose secret none decrypts. */
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
